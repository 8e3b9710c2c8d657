//! Growth of dated values by family of CPU.

use analyse::trend::{FamilyTrend, FamilyTrends};
use model::percent;

use super::trend::date;
use crate::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Records, Table, TableRow, Tone};

/// The report of `prony trend --families`; its JSON is the [`FamilyTrends`]. `name` is the name of the values.
#[must_use]
pub fn family_trends(found: &FamilyTrends, name: &str) -> Document {
    let mut document = Document::new(format!("{name}: growth of {} families", found.families.len()));
    let titles = ["family", "values", "from", "to", "growth a year", "years to double", ""];
    let kinds = [ColumnKind::Label, ColumnKind::Number, ColumnKind::Number, ColumnKind::Number, ColumnKind::Number];
    let columns = titles.iter().enumerate().map(|(i, title)| {
        let last = if i == 6 { ColumnKind::Words } else { ColumnKind::Number };
        Column::new(*title, kinds.get(i).copied().unwrap_or(last))
    });
    let rows = found.families.iter().map(row).collect();
    document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns.collect(), rows))));
    let items = found.sentences();
    document.sections.push(DocumentSection::of("", Block::List { numbered: false, items }));
    document.data = EmbeddedJson::of(found).ok();
    document.records = Some(records(found));
    document
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
    TableRow {
        cells: vec![
            Cell::text(&family.family),
            Cell::text(family.trend.points.to_string()),
            Cell::text(date(family.trend.span.0)),
            Cell::text(date(family.trend.span.1)),
            fit.map_or(Cell::Empty, |fit| Cell::text(percent(fit.growth))),
            Cell::text(years),
            differs,
        ],
    }
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
    Records {
        header: vec!["family", "values", "growth", "differs", "date", "value", "low", "high"],
        rows: rows.collect(),
    }
}
