//! The run document of a campaign.

use model::{
    BenchmarkResult, Better, Class, Metric, Outcome, Parameters, PlanEntry, Primitive, RECORD, ResultKey, Run, Unit,
};

use crate::build::{Build, Built};
use crate::manifest::Application;

/// An empty run on this machine: id, date and the machine's facts.
#[must_use]
pub fn document(suite: &str, seed: u64, target: f64, time_limit: Option<f64>, directory: std::path::PathBuf) -> Run {
    let machine = measure::machine(std::slice::from_ref(&directory));
    let allowed = kernels::affinity::allowed().unwrap_or_default();
    let notes = measure::notes(&machine, &allowed);
    let identity = measure::identity_of(&machine);
    let plan = model::Plan {
        suite: suite.to_owned(),
        seed,
        target,
        batches: 1,
        time_limit,
        directory: Some(directory.display().to_string()),
        ..model::Plan::default()
    };
    let mut run = measure::begin(plan, machine, identity);
    run.session.command = model::presentable(model::command_line());
    run.session.notes = notes;
    run
}

/// A result that is not measured yet.
pub(crate) fn result(benchmark: String, parameters: Parameters, title: String, metric: Metric) -> BenchmarkResult {
    let key = ResultKey { benchmark, parameters };
    BenchmarkResult {
        ops: 1,
        ..BenchmarkResult::unmeasured(key, title, metric, Class::Application).stressing(&[Primitive::CoreClock])
    }
}

/// Axis of the side in the denominator of a ratio.
pub(crate) const AGAINST: &str = "against";

/// The result of the ratio of the side at `parameters` to another one that ran at the same time.
pub(crate) fn side_by_side(
    benchmark: &str,
    parameters: Parameters,
    title: &str,
    metric: Metric,
    (against, cpus): (&str, [usize; 2]),
) -> BenchmarkResult {
    let parameters = parameters.with(AGAINST, against.to_owned());
    let mut result = result(benchmark.to_owned(), parameters, title.to_owned(), metric);
    result.notes.push(format!("at the same time on CPUs {} and {}, which take turns", cpus[0], cpus[1]));
    result
}

/// Prefix of the note with the command line of a program.
const COMMAND: &str = "run by: ";

/// The command line of the program of a result, from its document.
pub(crate) fn command_of(result: &BenchmarkResult) -> Option<&str> {
    result.notes.iter().find_map(|note| note.strip_prefix(RECORD)?.strip_prefix(COMMAND))
}

/// The note with the command line of a program.
pub(crate) fn note_of_command(line: &str) -> String {
    format!("{RECORD}{COMMAND}{line}")
}

/// Adds the results of one build and number of copies, that of energy where there is a counter. Returns their indices.
pub(super) fn results(
    run: &mut Run,
    application: &Application,
    build: &Build,
    built: &Built,
    (copies, energy): (u32, bool),
) -> Vec<usize> {
    let name = &application.name;
    let parameters = Parameters::none().with("build", build.name.clone()).with("copies", copies.to_string());
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
    let metric = per(Unit::Seconds, unit.clone(), Better::Lower);
    wanted.push((format!("application.{name}_cpu_time"), format!("{name}, CPU time"), metric));
    if energy {
        let metric = per(Unit::Joules, unit.clone(), Better::Lower);
        wanted.push((format!("application.{name}_energy"), format!("{name}, energy"), metric));
    }
    let mut places = Vec::new();
    for (benchmark, title, metric) in wanted {
        let mut result = result(benchmark.clone(), parameters.clone(), title, metric);
        if let Some(reason) = &built.failed {
            result.outcome = Outcome::Failed(reason.clone());
            result.flags.clear();
        }
        if places.is_empty() {
            result.amount = application.work.amount * f64::from(copies);
            result.notes.clone_from(&built.notes);
            let run: Vec<&str> = application.run.iter().map(crate::Template::text).collect();
            result.notes.push(note_of_command(&run.join(" ")));
        }
        places.push(run.results.len());
        // One sample measures all of them.
        let shares = Some(format!("{name} {parameters}"));
        run.plan.entries.push(PlanEntry { benchmark, parameters: parameters.clone(), target: run.plan.target, shares });
        run.results.push(result);
    }
    places
}

/// Adds duration and size of a build.
pub(super) fn built(run: &mut Run, application: &Application, build: &Build, built: &Built) {
    let parameters = Parameters::none().with("build", build.name.clone());
    let mut add = |what: &str, title: &str, value: Option<f64>, unit: Unit| {
        let Some(value) = value else { return };
        let metric = Metric { unit, per: "build".into(), better: Better::Lower };
        let benchmark = format!("application.{}_{what}", application.name);
        let mut result = result(benchmark, parameters.clone(), format!("{}, {title}", application.name), metric);
        // A single build and the size of its program are facts, not estimates with a spread.
        result.outcome = Outcome::Measured(model::Estimate::without_spread(value));
        result.flags.clear();
        run.results.push(result);
    };
    add("build_time", "build time", built.seconds, Unit::Seconds);
    add("text_size", "size of the program text", built.text_size.map(|size| size as f64), Unit::Bytes);
}

/// The result of a copy's efficiency, derived from that of the rate.
pub(super) fn efficiency(application: &Application, rate: &BenchmarkResult, outcome: Outcome) -> BenchmarkResult {
    let metric = Metric { unit: Unit::Ratio, per: "copy".into(), better: Better::Higher };
    let benchmark = format!("application.{}_efficiency", application.name);
    let title = format!("{}, parallel efficiency", application.name);
    let mut result = result(benchmark, rate.parameters.clone(), title, metric);
    result.outcome = outcome;
    result.flags.clear();
    result
}
