//! Go's benchmark format (golang.org/design/14313-benchmark-format), which benchstat reads: one line for each sample.

use std::collections::BTreeSet;
use std::io::Write;

use model::{BenchmarkResult, Better, Metric, Outcome, Run, Unit};

use crate::Error;

pub(super) fn write(runs: &[Run], out: &mut dyn Write) -> Result<(), Error> {
    // Directions of units come first; without one, benchstat takes lower as better.
    let units: BTreeSet<String> = runs
        .iter()
        .flat_map(|run| &run.results)
        .filter(|result| result.metric.better == Better::Higher)
        .map(|result| unit(&result.metric))
        .collect();
    for unit in units {
        writeln!(out, "Unit {unit} better=higher")?;
    }
    for run in runs {
        writeln!(out, "run: {}\nmachine: {}", line(run.name()), line(&run.machine.name))?;
        for result in &run.results {
            let values = match (&result.outcome, result.values()) {
                (_, values) if !values.is_empty() => values,
                (Outcome::Measured(estimate), _) => vec![estimate.value],
                _ => continue,
            };
            let (name, unit) = (name(result), unit(&result.metric));
            for value in values.iter().filter(|value| value.is_finite()) {
                writeln!(out, "{name} {} {value:?} {unit}", result.ops.max(1))?;
            }
        }
    }
    Ok(())
}

/// `BenchmarkOs.context_switch/processes=2/working_set=0B`
fn name(result: &BenchmarkResult) -> String {
    let mut name = "Benchmark".to_owned();
    let mut letters = result.benchmark.chars();
    name.extend(letters.next().iter().flat_map(|first| first.to_uppercase()));
    name.push_str(&word(letters.as_str()));
    for (parameter, value) in result.parameters.iter() {
        name.push_str(&format!("/{}={}", word(parameter), word(&value.replace('/', ":"))));
    }
    name
}

/// A unit that includes the direction, since benchstat allows one direction for each unit.
fn unit(metric: &Metric) -> String {
    let unit = match metric.unit {
        Unit::Seconds => "sec/op",
        Unit::BytesPerSecond => "B/s",
        Unit::PerSecond => "op/s",
        Unit::Hertz => "Hz",
        Unit::Bytes => "B",
        Unit::Count => "count",
        Unit::Ratio => "ratio",
        Unit::Watts => "W",
        Unit::Joules => "J",
    };
    let usual = if metric.unit.is_rate() { Better::Higher } else { Better::Lower };
    match metric.better {
        better if better == usual => unit.to_owned(),
        Better::Higher => format!("{unit}-gained"),
        Better::Lower => format!("{unit}-lost"),
    }
}

/// A word without blanks, since a blank would end a name.
fn word(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}

fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
