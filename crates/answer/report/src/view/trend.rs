//! Growth of dated values, with the fan of the fit.

use decide::trend::{Dated, FittedTrend, GrowthTrend, Projection, TrendCurve};
use model::Unit;

use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Curves, Division, Document, EmbeddedJson, Mark, PrintedQuantity,
    Records, Series, Table, TableRow, Tone,
};

/// The report of `prony trend`; its JSON is the [`GrowthTrend`]. `name` is the name of the values.
#[must_use]
pub fn trend(trend: &GrowthTrend, name: &str) -> Document {
    let mut document =
        Document::new(format!("{name}: {} values, {} to {}", trend.points, date(trend.span.0), date(trend.span.1)));
    let items = trend.sentences();
    document.add("", Block::list(items));
    if trend.fits.iter().any(|fit| !fit.projections.is_empty()) {
        document.add("projections", Block::Table(projections(trend)));
    }
    document.add("", Block::Chart(chart(trend, name)));
    document.data = EmbeddedJson::of(trend).ok();
    document.records = Some(records(trend));
    document
}

fn projections(trend: &GrowthTrend) -> Table {
    let unit = trend.unit();
    let columns = Column::list("|#projection|#prediction interval|");
    let rows = trend
        .fits
        .iter()
        .flat_map(|fit| fit.projections.iter().map(move |projection| (fit, projection)))
        .map(|(fit, projection)| {
            let quantity = match projection.scatter_is_known() {
                true => PrintedQuantity::interval(projection.value, projection.low, projection.high, unit),
                false => PrintedQuantity::bare(projection.value, unit),
            };
            let flag = if projection.out_of_reach {
                let spans = projection.extrapolation;
                Cell::Text(format!("too far to trust: {spans:.1} spans beyond the data"), Tone::Bad)
            } else {
                Cell::Empty
            };
            let label = format!("{} {}", word(fit.curve), date(projection.time));
            TableRow::of(vec![Cell::text(label), Cell::Value(quantity), Cell::Interval(quantity), flag])
        })
        .collect();
    Table::plain(columns, rows)
}

fn chart(trend: &GrowthTrend, name: &str) -> Chart {
    // A linear parameter begins at 0: years are counted from the first one shown.
    let all = || trend.data.iter().chain(&trend.outside).map(|parameters| parameters.time);
    let origin = all().fold(trend.span.0, f64::min).floor();
    let points = |data: &[Dated]| {
        data.iter()
            .map(|parameters| (parameters.time - origin, PrintedQuantity::bare(parameters.value, trend.unit())))
            .collect::<Vec<_>>()
    };
    let mut series = Vec::new();
    let fan = |fit: &FittedTrend| {
        let at = |parameters: &decide::trend::FanPoint| {
            (
                parameters.time - origin,
                PrintedQuantity::interval(parameters.value, parameters.wide_low, parameters.wide_high, trend.unit()),
            )
        };
        fit.fan.iter().map(at).collect::<Vec<_>>()
    };
    for (place, fit) in trend.fits.iter().enumerate() {
        let name = format!("{}, with its fan", word(fit.curve));
        series.push(Series { name, colour: place + 1, variant: 0, points: fan(fit) });
    }
    for (name, data) in [("values of the fit", &trend.data), ("other values", &trend.outside)] {
        // A curve connects its sets of parameters; each single value is a curve of its own.
        for parameters in points(data) {
            let colour = if name == "other values" { 5 } else { 0 };
            series.push(Series { name: name.to_owned(), colour, variant: 1, points: vec![parameters] });
        }
    }
    let reach = trend.span.1 + (trend.span.1 - trend.span.0) / 3.0;
    Chart {
        title: format!("{name} over the years"),
        about:
            "Line: fit. Bars: prediction interval with a drifting growth rate. Past the mark: extrapolation too far to \
                trust."
                .to_owned(),
        plot: ChartPlot::Curves(Curves {
            x: ChartAxis { title: format!("years since {origin:.0}"), unit: Unit::Count, division: Division::Linear },
            y: ChartAxis::new(name, trend.unit(), Division::Decades),
            series,
            marks: vec![
                Mark { x: trend.span.1 - origin, text: "end of the fit".to_owned() },
                Mark { x: reach - origin, text: "too far to trust".to_owned() },
            ],
        }),
    }
}

fn records(trend: &GrowthTrend) -> Records {
    let row = |fit: &FittedTrend, kind: &str, p: (f64, f64, f64, f64)| {
        let (time, value, low, high) = p;
        let mut row = vec![word(fit.curve).to_owned(), kind.to_owned()];
        row.extend([time, value, low, high].map(|number| number.to_string()));
        row
    };
    let of = |p: &Projection| (p.time, p.value, p.low, p.high);
    let mut rows = Vec::new();
    for fit in &trend.fits {
        rows.extend(fit.doubling.iter().map(|p| row(fit, "doubling_years", of(p))));
        rows.extend(fit.projections.iter().map(|p| row(fit, "projection", of(p))));
        rows.extend(fit.fan.iter().map(|p| row(fit, "fan", (p.time, p.value, p.wide_low, p.wide_high))));
    }
    Records { header: vec!["curve", "kind", "time", "value", "low", "high"], rows }
}

const fn word(curve: TrendCurve) -> &'static str {
    match curve {
        TrendCurve::Median => "median",
        TrendCurve::Frontier => "frontier",
    }
}

fn date(time: f64) -> String {
    if (time - time.round()).abs() < 0.05 { format!("{time:.0}") } else { format!("{time:.1}") }
}
