//! Growth of dated values by family of CPU.

use decide::trend::{FamilyTrend, FamilyTrends};
use model::{Unit, percent};

use super::trend::date;
use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Curves, Division, Document, EmbeddedJson, PrintedQuantity,
    Records, Series, TableRow, Tone,
};

/// The report of `prony trend --families`; its JSON is the [`FamilyTrends`]. `name` is the name of the values.
#[must_use]
pub fn family_trends(found: &FamilyTrends, name: &str) -> Document {
    let families = if found.families.len() == 1 { "family" } else { "families" };
    let mut document = Document::new(format!("{name}: growth of {} {families}", found.families.len()));
    let columns = Column::list("family|#values|#from|#to|#growth a year|#years to double|");
    let rows = found.families.iter().map(row).collect();
    document.add("", Block::table(columns, rows));
    let items = found.sentences();
    document.add("", Block::list(items));
    document.add("", Block::Chart(chart(found, name)));
    document.data = EmbeddedJson::of(found).ok();
    document.records = Some(records(found));
    document
}

/// Every value over the years and the line of each family, in one colour.
fn chart(found: &FamilyTrends, name: &str) -> Chart {
    let first = found.families.iter().map(|family| family.trend.span.0).fold(f64::INFINITY, f64::min);
    // A linear parameter begins at 0: years are counted from the first one.
    let origin = if first.is_finite() { first.floor() } else { 0.0 };
    let unit = found.families.first().map_or(Unit::Count, |family| family.trend.unit());
    let bare = |time: f64, value: f64| (time - origin, PrintedQuantity::bare(value, unit));
    let mut series = Vec::new();
    for (colour, family) in found.families.iter().enumerate() {
        let span = family.trend.span;
        let fan = family.trend.fits.first().map(|fit| fit.fan.as_slice()).unwrap_or_default();
        let line = fan.iter().filter(|parameters| (span.0..=span.1).contains(&parameters.time));
        let points = line.map(|parameters| bare(parameters.time, parameters.value)).collect();
        series.push(Series { name: family.family.clone(), colour, variant: 0, points });
        // A curve connects its sets of parameters; each single value is a curve of its own.
        series.extend(family.trend.data.iter().map(|parameters| Series {
            name: format!("{}, values", family.family),
            colour,
            variant: 1,
            points: vec![bare(parameters.time, parameters.value)],
        }));
    }
    Chart {
        title: format!("{name} by family over the years"),
        about: "Dots: values. Lines: steady growth of each family.".to_owned(),
        plot: ChartPlot::Curves(Curves {
            x: ChartAxis { title: format!("years since {origin:.0}"), unit: Unit::Count, division: Division::Linear },
            y: ChartAxis { title: name.to_owned(), unit, division: Division::Decades },
            series,
            marks: Vec::new(),
        }),
    }
}

fn row(family: &FamilyTrend) -> TableRow {
    let fit = family.trend.fits.first();
    let doubling = fit.and_then(|fit| fit.doubling.as_ref());
    let years = doubling.map_or_else(
        || "no growth".to_owned(),
        |years| {
            let (a, b) = (years.low.abs(), years.high.abs());
            let verb = if years.value < 0.0 { "halves in " } else { "" };
            format!("{verb}{:.2} ({:.2} to {:.2})", years.value.abs(), a.min(b), a.max(b))
        },
    );
    let differs = if family.differs { Cell::Text("differs".to_owned(), Tone::Caution) } else { Cell::Empty };
    TableRow::of(vec![
        Cell::text(&family.family),
        Cell::text(family.trend.points.to_string()),
        Cell::text(date(family.trend.span.0)),
        Cell::text(date(family.trend.span.1)),
        fit.map_or(Cell::Empty, |fit| Cell::text(percent(fit.growth))),
        Cell::text(years),
        differs,
    ])
}

/// One record for each projection of each family, or one without where none was asked for.
fn records(found: &FamilyTrends) -> Records {
    let rows = found.families.iter().flat_map(|family| {
        let fit = family.trend.fits.first();
        let own = |time: String, value: String, low: String, high: String| {
            vec![
                family.family.clone(),
                family.trend.points.to_string(),
                fit.map_or_else(String::new, |fit| fit.growth.to_string()),
                family.differs.to_string(),
                time,
                value,
                low,
                high,
            ]
        };
        let projections = fit.map(|fit| fit.projections.as_slice()).unwrap_or_default();
        if projections.is_empty() {
            return vec![own(String::new(), String::new(), String::new(), String::new())];
        }
        let text = |value: f64| value.to_string();
        projections.iter().map(|p| own(text(p.time), text(p.value), text(p.low), text(p.high))).collect()
    });
    let header = "family values growth differs date value low high".split(' ').collect();
    Records { header, rows: rows.collect() }
}
