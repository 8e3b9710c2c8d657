//! OpenMetrics text, version 1.0 (github.com/prometheus/OpenMetrics, specification/OpenMetrics.md): gauges. One family
//! has a result's value, one each the ends of its interval, and the runs are an info family.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;

use model::{BenchmarkResult, Outcome, Run, Unit};

use crate::Error;

/// Suffix of the families of confidence levels.
const LEVEL: &str = "_level";

/// A family: help, unit, and lines of labels and value.
#[derive(Default)]
struct MetricFamily {
    help: String,
    unit: &'static str,
    lines: Vec<String>,
}

pub(super) fn write(runs: &[Run], out: &mut dyn Write) -> Result<(), Error> {
    let mut families: BTreeMap<String, MetricFamily> = BTreeMap::new();
    let mut seen = HashSet::new();
    for run in runs {
        for result in &run.results {
            let Outcome::Measured(estimate) = &result.outcome else { continue };
            let labels = labels(run, result);
            let spread = estimate.low < estimate.high;
            // The ends of a range have separate names; an interval has its level.
            let (low, high) = if estimate.is_range() { ("_least", "_greatest") } else { ("_low", "_high") };
            let interval = spread && !estimate.is_range() && estimate.level > 0.0;
            let parts = [
                ("", Some(estimate.value)),
                (low, spread.then_some(estimate.low)),
                (high, spread.then_some(estimate.high)),
                (LEVEL, interval.then_some(estimate.level)),
            ];
            for (part, value) in parts {
                let Some(value) = value.filter(|value| value.is_finite()) else { continue };
                let name = family_name(result, part);
                // One sample for each family and set of labels, even if a run is given twice.
                if !seen.insert((name.clone(), labels.clone())) {
                    continue;
                }
                let family = families.entry(name).or_default();
                if family.lines.is_empty() {
                    family.help = help(result, part);
                    family.unit = if part == LEVEL { "ratio" } else { unit(result.metric.unit) };
                }
                family.lines.push(format!("{{{labels}}} {value:?}"));
            }
        }
    }
    for (name, family) in &families {
        writeln!(out, "# TYPE {name} gauge")?;
        if !family.unit.is_empty() {
            writeln!(out, "# UNIT {name} {}", family.unit)?;
        }
        writeln!(out, "# HELP {name} {}", escape(&family.help))?;
        for line in &family.lines {
            writeln!(out, "{name}{line}")?;
        }
    }
    info(runs, out)?;
    out.write_all(b"# EOF\n")?;
    Ok(())
}

fn info(runs: &[Run], out: &mut dyn Write) -> Result<(), Error> {
    if runs.is_empty() {
        return Ok(());
    }
    writeln!(out, "# TYPE prony_run info\n# HELP prony_run Runs that the results are of.")?;
    let mut seen = HashSet::new();
    for run in runs.iter().filter(|run| seen.insert(&run.id)) {
        let origin = run.origin.clone().unwrap_or_default();
        let labels = [
            ("run", run.id.as_str()),
            ("label", run.name()),
            ("machine", &run.machine.name),
            ("started", &run.session.started),
            ("tool", &origin.tool),
            ("attribution", origin.attribution.as_deref().unwrap_or_default()),
        ];
        let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value)));
        writeln!(out, "prony_run_info{{{}}} 1", labels.collect::<Vec<_>>().join(","))?;
    }
    Ok(())
}

/// If the metric has a unit, its name must end in the unit.
fn family_name(result: &BenchmarkResult, part: &str) -> String {
    let unit = if part == LEVEL { "ratio" } else { unit(result.metric.unit) };
    let name = format!("prony_{}{part}", identifier(&result.benchmark));
    if unit.is_empty() { name } else { format!("{name}_{unit}") }
}

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "seconds",
        Unit::BytesPerSecond => "bytes_per_second",
        Unit::PerSecond => "per_second",
        Unit::Hertz => "hertz",
        Unit::Bytes => "bytes",
        Unit::Count => "",
        Unit::Ratio => "ratio",
        Unit::Watts => "watts",
        Unit::Joules => "joules",
    }
}

fn help(result: &BenchmarkResult, part: &str) -> String {
    let which = match part {
        "_low" => ": lower end of the interval",
        "_high" => ": upper end of the interval",
        "_least" => ": least of too few samples for an interval",
        "_greatest" => ": greatest of too few samples for an interval",
        LEVEL => ": confidence of the interval",
        _ => "",
    };
    let better = match result.metric.better {
        model::Better::Lower => "lower is better",
        model::Better::Higher => "higher is better",
    };
    format!("{}{which}; {}, {better}.", result.title, result.metric.per)
}

/// Labels: run, machine, benchmark and parameters. A parameter whose name is taken gets a number.
fn labels(run: &Run, result: &BenchmarkResult) -> String {
    let mut labels = vec![
        ("run".to_owned(), run.id.as_str()),
        ("machine".to_owned(), run.machine.name.as_str()),
        ("benchmark".to_owned(), result.benchmark.as_str()),
    ];
    for (parameter, value) in result.parameters.iter() {
        let base = identifier(parameter);
        let free = |name: &String| labels.iter().all(|(taken, _)| taken != name);
        let name = (1..).map(|number| if number == 1 { base.clone() } else { format!("{base}_{number}") }).find(free);
        labels.extend(name.map(|name| (name, value)));
    }
    let label = |(name, value): &(String, &str)| format!("{name}=\"{}\"", escape(value));
    labels.iter().map(label).collect::<Vec<_>>().join(",")
}

/// Letters, digits and underscores, without a digit or underscore at the beginning (names that begin with two
/// underscores are reserved).
fn identifier(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let plain = plain.trim_matches('_');
    match plain.chars().next() {
        None => "unnamed".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{plain}"),
        Some(_) => plain.to_owned(),
    }
}

fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            c => escaped.push(c),
        }
        escaped
    })
}
