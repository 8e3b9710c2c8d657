//! Differences between two runs other than their results, as far as both recorded them.

use model::{BenchmarkResult, COMPILER, CpuDistance, Fact, FactValue, Primitive, Run};

use super::result::{DifferenceKind, RunDifference};
use super::rules::{RULES, is_fact};

/// Numbers that differ by less than this are equal up to reading errors.
const NOISE: f64 = 0.01;

/// Momentary facts, which differ between any two runs and do not characterise the machine.
const MOMENTARY: &[&str] = &[
    "cpu.clock.current",
    "cpu.core_throttled",
    "cpu.package_throttled",
    "memory.available",
    "memory.swap_free",
    "memory.corrected_errors",
    "memory.uncorrected_errors",
    "interrupts.busiest_cpu",
    "kernel.uptime",
    "filesystem.*.free",
];

/// Facts, settings and notes that differ. A fact differs only if both runs recorded a value. Facts that neither declare
/// what they affect nor occur in a rule are omitted.
#[must_use]
pub fn differences(a: &Run, b: &Run) -> Vec<RunDifference> {
    let mut found: Vec<RunDifference> = Vec::new();
    for fact in &a.machine.facts {
        let momentary = MOMENTARY.iter().any(|id| is_fact(id, &fact.name));
        if let Some(other) = b.machine.fact(&fact.name).filter(|_| !momentary)
            && !found.iter().any(|known| known.name == fact.name)
            && let Some(difference) = both(fact, other)
            && matters(&difference, a, b)
        {
            found.push(difference);
        }
    }
    if let (Some(x), Some(y)) = (&a.plan.directory, &b.plan.directory)
        && x != y
    {
        found.push(plain(DifferenceKind::Plan, "plan.directory", x.clone(), y.clone()));
    }
    found.extend(compiler(a, b));
    found.extend(neighbour(a, b));
    found.extend(distances(a, b));
    found.extend(notes(a, b));
    found
}

/// The compilers that two results noted, where both did and they differ.
pub(crate) fn compilers(a: &BenchmarkResult, b: &BenchmarkResult) -> Option<(String, String)> {
    let of =
        |result: &BenchmarkResult| result.notes.iter().find_map(|note| note.strip_prefix(COMPILER)).map(str::to_owned);
    of(a).zip(of(b)).filter(|(a, b)| a != b)
}

/// The compiler that both runs timed, where it differs. Its results note it, since only they run it.
fn compiler(a: &Run, b: &Run) -> Option<RunDifference> {
    let of = |result: &BenchmarkResult| compilers(result, b.result(&result.key())?);
    let (x, y) = a.results.iter().find_map(of)?;
    let difference = plain(DifferenceKind::Fact, "software.compiler", x, y);
    Some(RunDifference { affects: vec![Primitive::Compiler], ..difference })
}

/// Shares of the time with another thread on the core that lie within this distance or within this factor are alike.
const ALIKE: (f64, f64) = (0.05, 1.25);

/// The share of both runs' time in which another thread was on their core, where the references of both read it and it
/// differs.
fn neighbour(a: &Run, b: &Run) -> Option<RunDifference> {
    let share = |run: &Run| Some(run.session.sensors.as_ref()?.core_shared?.get());
    let (x, y) = (share(a)?, share(b)?);
    let apart = (x - y).abs() > ALIKE.0 && x.max(y) > ALIKE.1 * x.min(y);
    let said = || plain(DifferenceKind::Fact, model::CORE_SHARED, format!("{x:.4}"), format!("{y:.4}"));
    apart.then(|| RunDifference { unit: Some("share".to_owned()), ..said() })
}

/// Pairs of CPUs that a host had nearer to each other in one run than in the other.
fn distances(a: &Run, b: &Run) -> Vec<RunDifference> {
    let of = |run: &Run| run.session.sensors.as_ref().map(|read| read.distances.clone()).unwrap_or_default();
    let others = of(b);
    let differs = |one: CpuDistance| {
        let other = others.iter().find(|other| other.cpus == one.cpus && !other.is_like(one.picos))?;
        let words = |picos: u32| format!("{:.1} ns", f64::from(picos) * 1e-3);
        let name = format!("cpu.distance {}-{}", one.cpus[0], one.cpus[1]);
        let difference = plain(DifferenceKind::Fact, &name, words(one.picos), words(other.picos));
        Some(RunDifference { affects: vec![Primitive::CoreToCore], ..difference })
    };
    of(a).into_iter().filter_map(differs).collect()
}

fn plain(kind: DifferenceKind, name: &str, a: String, b: String) -> RunDifference {
    RunDifference { kind, name: name.to_owned(), a, b, affects: Vec::new(), unit: None }
}

/// The difference of a fact that both runs know; `None` if one does not, or they agree.
fn both(a: &Fact, b: &Fact) -> Option<RunDifference> {
    let (x, y) = match (&a.value, &b.value) {
        (FactValue::Unknown(_), _) | (_, FactValue::Unknown(_)) => return None,
        (FactValue::Number(x), FactValue::Number(y)) if (x - y).abs() <= NOISE * x.abs().max(y.abs()) => return None,
        (FactValue::List(x), FactValue::List(y)) => (only(x, y), only(y, x)),
        (x, y) => (text(x), text(y)),
    };
    if x == y {
        return None;
    }
    let mut affects = a.affects.clone();
    affects.extend(b.affects.iter().filter(|primitive| !a.affects.contains(primitive)));
    let unit = a.unit.clone().filter(|unit| b.unit.as_ref() == Some(unit));
    Some(RunDifference { affects, unit, ..plain(DifferenceKind::Fact, &a.name, x, y) })
}

/// The items that the other list lacks: lists of CPU flags are long and nearly equal.
fn only(items: &[String], other: &[String]) -> String {
    let rest: Vec<&str> = items.iter().filter(|item| !other.contains(item)).map(String::as_str).collect();
    if rest.is_empty() { "nothing more".to_owned() } else { rest.join(" ") }
}

fn text(value: &FactValue) -> String {
    let text = value.text();
    if text.is_empty() { "none".to_owned() } else { text }
}

/// Whether a difference can matter between these two machines: by a rule or by the fact itself, unless other records
/// contradict it.
fn matters(difference: &RunDifference, a: &Run, b: &Run) -> bool {
    let known = !difference.affects.is_empty() || RULES.iter().any(|rule| rule.names(difference));
    known && !without_idle_driver(&difference.name, a, b) && !another_disk(&difference.name, a, b)
}

/// Without an idle driver on both sides, governor and idle states have no effect.
fn without_idle_driver(name: &str, a: &Run, b: &Run) -> bool {
    let driver =
        |run: &Run| run.machine.text("cpu.idle_driver").is_some_and(|driver| !driver.is_empty() && driver != "none");
    matches!(name, "cpu.idle_governor" | "cpu.idle_states" | "cpu.halt_polling") && !(driver(a) && driver(b))
}

/// A fact of a disk that has the target directory of neither run.
fn another_disk(name: &str, a: &Run, b: &Run) -> bool {
    let Some(disk) = name.strip_prefix("disk.").and_then(|rest| rest.split_once('.')).map(|(disk, _)| disk) else {
        return false;
    };
    let elsewhere = |run: &Run| {
        let source = run.machine.text("filesystem.target.source");
        source
            .and_then(|source| source.strip_prefix("/dev/").map(str::to_owned))
            .is_some_and(|device| !device.starts_with(disk))
    };
    elsewhere(a) && elsewhere(b)
}

/// Notes that only one run has. Notes that differ only in their numbers are one row with both.
fn notes(a: &Run, b: &Run) -> Vec<RunDifference> {
    let only = |x: &Run, y: &Run| -> Vec<String> {
        x.session.notes.iter().filter(|note| !y.session.notes.contains(note)).cloned().collect()
    };
    let absent = || "no such note".to_owned();
    let note = |x: String, y: String| plain(DifferenceKind::Note, "session note", x, y);
    let mut of_b = only(b, a);
    let mut found = Vec::new();
    for of_a in only(a, b) {
        let alike = of_b.iter().position(|other| without_numbers(other) == without_numbers(&of_a));
        let other = alike.map_or_else(absent, |place| of_b.remove(place));
        found.push(note(of_a, other));
    }
    found.extend(of_b.into_iter().map(|text| note(absent(), text)));
    found
}

/// A note with one sign for every number.
fn without_numbers(note: &str) -> String {
    let mut words = String::new();
    for letter in note.chars() {
        let digit = letter.is_ascii_digit() || letter == '.' && words.ends_with('#');
        if !digit {
            words.push(letter);
        } else if !words.ends_with('#') {
            words.push('#');
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::without_numbers;

    #[test]
    fn notes_that_differ_in_their_numbers_alone_are_alike() {
        let of = |note| without_numbers(note);
        assert_eq!(of("the load was 1.2 on 2 CPUs"), of("the load was 13 on 16 CPUs"));
        assert_ne!(of("the load was 1.2 on 2 CPUs"), of("2 CPUs were stolen from"));
        assert_eq!(of("it ended. 3 are left."), "it ended. # are left.");
    }
}
