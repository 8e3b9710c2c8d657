//! The run document of a campaign.

use model::{Better, Class, Entry, Figure, Flag, Footprint, Metric, Outcome, Point, Primitive, RECORD, Run, Unit};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::build::{Build, Built};
use crate::launch::Report;
use crate::manifest::Application;

const NOT_REACHED: &str = "the run ended before it was measured";

/// An empty run on this machine: named, dated, with the machine's facts.
#[must_use]
pub fn document(suite: &str, seed: u64, target: f64, time_limit: Option<f64>, directory: std::path::PathBuf) -> Run {
    let began = OffsetDateTime::now_utc();
    let machine = measure::machine(std::slice::from_ref(&directory));
    let allowed = sys::affinity::allowed().unwrap_or_default();
    let notes = measure::notes(&machine, &allowed);
    let identity = measure::identity_of(&machine);
    let part = u64::from(began.nanosecond()) ^ u64::from(std::process::id()) << 8 ^ seed;
    let id = format!(
        "{:04}{:02}{:02}-{:02}{:02}{:02}-{:06x}",
        began.year(),
        u8::from(began.month()),
        began.day(),
        began.hour(),
        began.minute(),
        began.second(),
        part.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
    );
    Run {
        schema: model::SCHEMA,
        id,
        label: None,
        origin: None,
        session: model::Session {
            started: stamp(began),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: std::env::args().collect(),
            began_on: identity,
            notes,
            ..model::Session::default()
        },
        machine,
        plan: model::Plan {
            suite: suite.to_owned(),
            seed,
            target,
            batches: 1,
            time_limit,
            directory: Some(directory.display().to_string()),
            ..model::Plan::default()
        },
        figures: Vec::new(),
    }
}

/// Ends a run.
pub fn close(run: &mut Run, seconds: f64, complete: bool) {
    run.session.ended = Some(stamp(OffsetDateTime::now_utc()));
    run.session.ended_on = Some(measure::identity());
    run.session.seconds = seconds;
    run.session.complete = complete;
}

fn stamp(moment: OffsetDateTime) -> String {
    moment.replace_nanosecond(0).unwrap_or(moment).format(&Rfc3339).unwrap_or_default()
}

/// A figure that nothing is known of yet.
pub(crate) fn figure(probe: String, point: Point, title: String, metric: Metric) -> Figure {
    Figure {
        probe,
        point,
        title,
        metric,
        class: Class::Application,
        stresses: vec![Primitive::CoreClock],
        outcome: Outcome::Unfit(NOT_REACHED.to_owned()),
        flags: vec![Flag::Unfinished],
        ops: 1,
        amount: 1.0,
        variant: None,
        resolution: None,
        quantiles: Vec::new(),
        notes: Vec::new(),
        footprint: Footprint::default(),
        launches: Vec::new(),
    }
}

/// Adds the figures of one build and number of copies, and says where they are.
pub(super) fn figures(
    run: &mut Run,
    application: &Application,
    build: &Build,
    built: &Built,
    copies: u32,
) -> Vec<usize> {
    let name = &application.name;
    let point = Point::origin().with("build", build.name.clone()).with("copies", copies.to_string());
    let per = |unit: Unit, per: String, better| Metric { unit, per: per.into(), better };
    let unit = &application.work.unit;
    let mut wanted = vec![
        (format!("application.{name}"), name.clone(), per(Unit::PerSecond, format!("{unit}s"), Better::Higher)),
        (
            format!("application.{name}_memory"),
            format!("{name}, peak memory"),
            per(Unit::Bytes, "process".to_owned(), Better::Lower),
        ),
    ];
    if application.startup.is_some() {
        let metric = per(Unit::Seconds, "start".to_owned(), Better::Lower);
        wanted.push((format!("application.{name}_startup"), format!("{name}, start-up"), metric));
    }
    let mut places = Vec::new();
    for (probe, title, metric) in wanted {
        let mut figure = figure(probe.clone(), point.clone(), title, metric);
        if let Some(reason) = &built.failed {
            figure.outcome = Outcome::Failed(reason.clone());
            figure.flags.clear();
        }
        if places.is_empty() {
            figure.amount = application.work.amount * f64::from(copies);
            figure.notes.clone_from(&built.notes);
            let run: Vec<&str> = application.run.iter().map(crate::Template::text).collect();
            figure.notes.push(format!("{RECORD}run by: {}", run.join(" ")));
        }
        places.push(run.figures.len());
        run.plan.entries.push(Entry { probe, point: point.clone(), target: run.plan.target, shares: None });
        run.figures.push(figure);
    }
    places
}

/// Adds what building took and made.
pub(super) fn built(run: &mut Run, application: &Application, build: &Build, built: &Built) {
    let point = Point::origin().with("build", build.name.clone());
    let mut add = |what: &str, title: &str, value: Option<f64>, unit: Unit| {
        let Some(value) = value else { return };
        let metric = Metric { unit, per: "build".into(), better: Better::Lower };
        let probe = format!("application.{}_{what}", application.name);
        let mut figure = figure(probe, point.clone(), format!("{}, {title}", application.name), metric);
        // A single build and the size of its program: facts, not estimates with a spread.
        figure.outcome = Outcome::Measured(model::Estimate::without_spread(value));
        figure.flags.clear();
        run.figures.push(figure);
    };
    add("build_time", "time to build", built.seconds, Unit::Seconds);
    add("text_size", "size of its text", built.text_size.map(|size| size as f64), Unit::Bytes);
}

/// The figure of a copy's efficiency beside that of the rate.
pub(super) fn efficiency(application: &Application, rate: &Figure, outcome: Outcome) -> Figure {
    let metric = Metric { unit: Unit::Ratio, per: "copy".into(), better: Better::Higher };
    let probe = format!("application.{}_efficiency", application.name);
    let title = format!("{}, efficiency of a copy", application.name);
    let mut figure = figure(probe, rate.point.clone(), title, metric);
    figure.outcome = outcome;
    figure.flags.clear();
    figure
}

/// What a launch used.
pub(super) fn footprint(report: &Report) -> Footprint {
    Footprint {
        operations: 1,
        user_seconds: Some(report.user_seconds),
        system_seconds: Some(report.system_seconds),
        voluntary_switches: Some(report.voluntary_switches),
        involuntary_switches: Some(report.involuntary_switches),
        minor_faults: Some(report.minor_faults),
        major_faults: Some(report.major_faults),
        ..Footprint::default()
    }
}
