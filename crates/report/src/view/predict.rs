//! Predictions of an application on machines where it never ran, and their evaluation.

use analyse::predict::{Forecast, ForecastStanding, IntervalMethod, Prediction, PredictionRecord};
use model::Unit;

use crate::words::plural;
use crate::{
    Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, PrintedQuantity, PrintedSpread, Records,
    Table, TableRow, Tone,
};

/// The report of `prony predict`; its JSON is the [`Prediction`].
#[must_use]
pub fn predict(prediction: &Prediction) -> Document {
    let title = format!(
        "{} on {}, from {}",
        prediction.application,
        plural(prediction.forecasts.len(), "machine"),
        plural(prediction.measured_on.len(), "machine")
    );
    let mut document = Document::new(title);
    document.sections.push(DocumentSection::of("", Block::Table(forecasts(prediction))));
    let items = prediction.sentences();
    document.sections.push(DocumentSection::of("", Block::List { numbered: false, items }));
    if let Some(first) = prediction.forecasts.first().filter(|forecast| !forecast.methods.is_empty()) {
        let methods = first.methods.iter().map(|(method, weight)| (percent(*weight), method.words())).collect();
        let blocks = vec![Block::Facts(methods)];
        let folded = Block::Folded { title: format!("how {} was predicted", first.machine), blocks };
        document.sections.push(DocumentSection::of("", folded));
    }
    document.data = EmbeddedJson::of(prediction).ok();
    document.records = Some(records(prediction));
    document
}

fn forecasts(prediction: &Prediction) -> Table {
    let columns = vec![
        Column::new("machine", ColumnKind::Label),
        Column::new("predicted", ColumnKind::Number),
        Column::new("interval", ColumnKind::Number),
        Column::new("", ColumnKind::Words),
    ];
    let row = |forecast: &Forecast| {
        let machine = Cell::text(&forecast.machine);
        let Some(quantity) = quantity(forecast, prediction.metric.unit) else {
            let why = format!("refused: {}", forecast.reasons.join("; "));
            return TableRow { cells: vec![machine, Cell::Across(why, Tone::Bad)] };
        };
        let standing = match forecast.standing {
            ForecastStanding::Widened => Cell::Text(format!("widened: {}", forecast.reasons.join("; ")), Tone::Caution),
            _ => Cell::text(forecast.reasons.join("; ")),
        };
        let interval = if quantity.has_interval() { Cell::Interval(quantity) } else { Cell::Empty };
        TableRow { cells: vec![machine, Cell::Value(quantity), interval, standing] }
    };
    Table::plain(columns, prediction.forecasts.iter().map(row).collect())
}

fn quantity(forecast: &Forecast, unit: Unit) -> Option<PrintedQuantity> {
    let value = forecast.value?;
    Some(match forecast.low.zip(forecast.high) {
        Some((low, high)) => PrintedQuantity { value, low, high, unit, spread: PrintedSpread::Interval },
        None => PrintedQuantity::bare(value, unit),
    })
}

fn records(prediction: &Prediction) -> Records {
    let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let row = |forecast: &Forecast| {
        vec![
            prediction.application.clone(),
            forecast.machine.clone(),
            text(forecast.value),
            text(forecast.low),
            text(forecast.high),
            forecast.level.to_string(),
            match forecast.interval {
                Some(IntervalMethod::JackknifePlus) => "jackknife_plus",
                Some(IntervalMethod::Stretched) => "stretched",
                Some(IntervalMethod::StoreWide) => "store_wide",
                None => "",
            }
            .to_owned(),
            match forecast.standing {
                ForecastStanding::Sound => "sound",
                ForecastStanding::Widened => "widened",
                ForecastStanding::Refused => "refused",
            }
            .to_owned(),
            forecast.reasons.join("; "),
        ]
    };
    Records {
        header: vec!["application", "machine", "value", "low", "high", "level", "interval", "standing", "reasons"],
        rows: prediction.forecasts.iter().map(row).collect(),
    }
}

/// The report of `prony predict --evaluate`; its JSON is the [`PredictionRecord`].
#[must_use]
pub fn evaluation(evaluation: &PredictionRecord) -> Document {
    let mut document = Document::new(format!(
        "Predicting {}: honest errors on {}",
        evaluation.application,
        plural(evaluation.models, "model of CPU").replace("model of CPUs", "models of CPU")
    ));
    let columns =
        ["machines learnt from", "median error", "worst tenth", "single probe", "its worst tenth", "intervals held"]
            .iter()
            .enumerate()
            .map(|(place, title)| Column::new(*title, if place == 0 { ColumnKind::Label } else { ColumnKind::Number }))
            .collect();
    let rows = evaluation
        .sizes
        .iter()
        .map(|size| TableRow {
            cells: vec![
                Cell::text(size.machines.to_string()),
                Cell::text(percent(size.median_error)),
                Cell::text(percent(size.worst_tenth)),
                Cell::text(percent(size.rating_median)),
                Cell::text(percent(size.rating_worst_tenth)),
                size.coverage.map_or(Cell::Empty, |coverage| Cell::text(percent(coverage))),
            ],
        })
        .collect();
    document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
    document.summary = vec![format!(
        "Each machine was predicted by machines of other models of CPU alone; {} of the intervals should hold.",
        percent(evaluation.level)
    )];
    document.data = EmbeddedJson::of(evaluation).ok();
    document.records = Some(sizes(evaluation));
    document
}

/// One record for each number of training machines.
fn sizes(evaluation: &PredictionRecord) -> Records {
    let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    Records {
        header: vec![
            "machines",
            "predictions",
            "median_error",
            "worst_tenth",
            "rating_median",
            "rating_worst_tenth",
            "coverage",
        ],
        rows: evaluation
            .sizes
            .iter()
            .map(|size| {
                vec![
                    size.machines.to_string(),
                    size.predictions.to_string(),
                    size.median_error.to_string(),
                    size.worst_tenth.to_string(),
                    size.rating_median.to_string(),
                    size.rating_worst_tenth.to_string(),
                    text(size.coverage),
                ]
            })
            .collect(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
