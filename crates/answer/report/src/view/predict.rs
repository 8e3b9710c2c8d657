//! Predictions of an application on machines where it never ran.

use model::{Metric, percent};
use predict::{Forecast, ForecastStanding, IntervalMethod, Prediction};

use crate::words::plural;
use crate::{Block, Cell, Column, Document, EmbeddedJson, PrintedQuantity, Records, Table, TableRow, Tone};

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
    document.add("", Block::Table(forecasts(prediction)));
    let items = prediction.sentences();
    document.add("", Block::list(items));
    if let Some(first) = prediction.forecasts.first().filter(|forecast| !forecast.methods.is_empty()) {
        let methods = first.methods.iter().map(|(method, weight)| (percent(*weight), method.words())).collect();
        let blocks = vec![Block::Facts(methods)];
        let folded = Block::Folded { title: format!("how {} was predicted", first.machine), blocks };
        document.add("", folded);
    }
    document.data = EmbeddedJson::of(prediction).ok();
    document.records = Some(records(prediction));
    document
}

fn forecasts(prediction: &Prediction) -> Table {
    let columns = Column::list("machine|#predicted|#interval|");
    let row = |forecast: &Forecast| {
        let machine = Cell::text(&forecast.machine);
        let Some(quantity) = quantity(forecast, &prediction.metric) else {
            let why = format!("not predicted: {}", forecast.reasons.join("; "));
            return TableRow::of(vec![machine, Cell::Across(why, Tone::Bad)]);
        };
        let standing = match forecast.standing {
            ForecastStanding::Widened => Cell::Text(format!("widened: {}", forecast.reasons.join("; ")), Tone::Caution),
            _ => Cell::text(forecast.reasons.join("; ")),
        };
        let interval = if quantity.has_interval() { Cell::Interval(quantity) } else { Cell::Empty };
        TableRow::of(vec![machine, Cell::Value(quantity), interval, standing])
    };
    Table::plain(columns, prediction.forecasts.iter().map(row).collect())
}

fn quantity(forecast: &Forecast, metric: &Metric) -> Option<PrintedQuantity> {
    let value = forecast.value?;
    let quantity = match forecast.low.zip(forecast.high) {
        Some((low, high)) => PrintedQuantity::interval(value, low, high, metric.unit),
        None => PrintedQuantity::bare(value, metric.unit),
    };
    Some(quantity.in_metric(metric))
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
                Some(IntervalMethod::Moderated) => "moderated",
                Some(IntervalMethod::FamiliesLeftOut) => "families_left_out",
                Some(IntervalMethod::MakersLeftOut) => "makers_left_out",
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
    let header = "application machine value low high level interval standing reasons".split(' ').collect();
    Records { header, rows: prediction.forecasts.iter().map(row).collect() }
}
