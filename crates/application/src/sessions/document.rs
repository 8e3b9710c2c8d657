//! Sessions as figures of a run.

use model::{Better, Class, Figure, Launch, Metric, Outcome, Plan, Point, Primitive, Run, Unit};

use super::{FileSharing, SessionOrder, SessionReport};
use crate::campaign::{close, document, figure};

/// The run document of several repetitions of the same sessions.
#[must_use]
pub fn session_run(order: &SessionOrder, name: &str, seed: u64, reports: &[SessionReport]) -> Run {
    let folder = order.files.first().and_then(|file| file.parent()).map_or_else(std::env::temp_dir, Into::into);
    let mut run = document("sessions", seed, 0.05, None, folder);
    let point = Point::origin()
        .with("reader", name)
        .with("sessions", order.sessions.to_string())
        .with("files", order.files.len().to_string())
        .with("sharing", if order.sharing == FileSharing::Own { "own" } else { "shared" })
        .with("cache", if order.cached { "cached" } else { "cold" });
    for (id, title, unit, per, better, value) in ROWS {
        let metric = Metric { unit, per: per.into(), better };
        let mut figure = figure(format!("application.{id}"), point.clone(), title.to_owned(), metric);
        (figure.class, figure.stresses) = (Class::FileData, vec![Primitive::DiskRead, Primitive::PageCache]);
        figure.launches = launches(reports, value);
        judge(&mut figure, &run.plan);
        figure.notes.extend(reports.last().map(|report| report.because.clone()));
        run.figures.push(figure);
    }
    let seconds = reports.iter().map(|report| report.wall).sum();
    close(&mut run, seconds, true);
    run.session.rounds = u32::try_from(reports.len()).unwrap_or(u32::MAX);
    run
}

/// What a report says of one figure.
type Value = fn(&SessionReport) -> Option<f64>;

/// Id, title and metric of every figure, and where its values come from.
const ROWS: [(&str, &str, Unit, &str, Better, Value); 7] = [
    ("session_cpu", "CPU use of a session", Unit::Ratio, "session", Better::Higher, |report| {
        mean(report, |used| used.cpu)
    }),
    ("session_asked", "data requested by a session", Unit::BytesPerSecond, "bytes", Better::Higher, |report| {
        mean(report, |used| used.asked)
    }),
    ("session_device", "data from the device for a session", Unit::BytesPerSecond, "bytes", Better::Higher, |report| {
        mean(report, |used| used.device)
    }),
    ("session_waiting", "time a session waits for storage", Unit::Ratio, "session", Better::Lower, |report| {
        mean(report, |used| used.waiting)
    }),
    ("sessions_asked", "data requested by all sessions", Unit::BytesPerSecond, "bytes", Better::Higher, |report| {
        Some(report.sessions.iter().map(|used| used.asked * used.wall).sum::<f64>() / report.wall)
    }),
    ("machine_utilisation", "machine busy", Unit::Ratio, "machine", Better::Higher, |report| Some(report.utilisation)),
    ("machine_iowait", "machine idle waiting for devices", Unit::Ratio, "machine", Better::Lower, |report| {
        report.iowait
    }),
];

/// A launch for every report that states the value.
fn launches(reports: &[SessionReport], value: Value) -> Vec<Launch> {
    let mut launches = Vec::new();
    let mut began = 0.0;
    for (round, report) in reports.iter().enumerate() {
        let Some(value) = value(report).filter(|value| value.is_finite()) else { continue };
        let (round, nanos) = (u32::try_from(round).unwrap_or(u32::MAX), vec![(report.wall * 1e9) as u64]);
        launches.push(Launch { round, began, wall: report.wall, value, nanos, steady: true, ..Launch::default() });
        began += report.wall;
    }
    launches
}

fn judge(figure: &mut Figure, plan: &Plan) {
    let values = figure.values();
    if values.is_empty() {
        figure.outcome = Outcome::Unfit("this system does not report it".to_owned());
    } else if values.iter().all(|value| *value > 0.0) && values.len() > 1 {
        measure::judge(figure, plan, plan.target, sys::clock::tick());
    } else {
        // A share may be zero and has no logarithm then, so there is no interval.
        let middle = stats::median(&values).unwrap_or(0.0);
        figure.outcome = Outcome::Measured(model::Estimate::without_spread(middle));
    }
    measure::end_follower(figure, plan.target);
}

fn mean(report: &SessionReport, value: impl Fn(&super::SessionUse) -> f64) -> Option<f64> {
    let count = report.sessions.len();
    (count > 0).then(|| report.sessions.iter().map(value).sum::<f64>() / count as f64)
}
