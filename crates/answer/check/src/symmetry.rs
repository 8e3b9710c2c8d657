//! Equal parts of one machine: every core of a kind, and every node's own memory.

use model::{BenchmarkResult, Estimate, Run};
use stats::median;

use crate::population::Population;
use crate::result::{Basis, ExpectedRange};

/// Results of equal parts, and the one that stands farthest on the bad side.
pub(crate) struct Symmetric<'a> {
    /// What the parts are called.
    pub(crate) parts: &'static str,
    /// How many there are.
    pub(crate) count: usize,
    /// The slowest one.
    pub(crate) slowest: &'a BenchmarkResult,
    /// Its number.
    pub(crate) number: &'a str,
    /// Its value over the median of all, as a loss: 0.1 is 10% worse.
    pub(crate) loss: f64,
    /// What the others expect of it; `None` from fewer than two others.
    pub(crate) expected: Option<ExpectedRange>,
}

/// A result of one part, the number of the part, and its value.
type Member<'a> = (&'a BenchmarkResult, &'a str, Estimate);

/// The number of the part that a result is of.
fn part(result: &BenchmarkResult) -> Option<(&'static str, &str)> {
    let get = |name| result.parameters.get(name);
    if let (Some(cpu), None) = (get("cpu"), get("other")) {
        return Some(("cores", cpu));
    }
    let node = get("cpu_node").filter(|node| get("memory_node") == Some(node))?;
    Some(("nodes", node))
}

/// Whether a result is one of several of equal parts.
pub(crate) fn is_of_a_part(result: &BenchmarkResult) -> bool {
    part(result).is_some() || result.parameters.get("cpu_node").is_some()
}

/// Groups of results of equal parts.
pub(crate) fn groups(run: &Run) -> Vec<Symmetric<'_>> {
    let mut groups: Vec<(String, Vec<Member<'_>>, &'static str)> = Vec::new();
    for result in &run.results {
        let (Some((parts, number)), Some(estimate)) = (part(result), result.outcome.estimate()) else { continue };
        // Cores of different kinds are not alike.
        let class = run.machine.topology.as_ref().and_then(|machine| {
            let cpu = number.parse().ok().filter(|_| parts == "cores")?;
            machine.classes.iter().position(|class| class.cpus.contains(cpu))
        });
        let key = format!("{} {class:?}", result.benchmark);
        let member = (result, number, *estimate);
        match groups.iter_mut().find(|(known, ..)| *known == key) {
            Some((_, members, _)) => members.push(member),
            None => groups.push((key, vec![member], parts)),
        }
    }
    groups.into_iter().filter_map(|(_, members, parts)| symmetric(&members, parts)).collect()
}

fn symmetric<'a>(members: &[Member<'a>], parts: &'static str) -> Option<Symmetric<'a>> {
    let better = members.first()?.0.metric.better;
    let cost = |value: f64| if better == model::Better::Lower { value } else { 1.0 / value };
    let values: Vec<f64> = members.iter().map(|(_, _, estimate)| estimate.value).collect();
    let middle = median(&values)?;
    let (slowest, number, estimate) = *members.iter().max_by(|a, b| cost(a.2.value).total_cmp(&cost(b.2.value)))?;
    let others: Vec<f64> = members.iter().filter(|one| one.1 != number).map(|one| one.2.value).collect();
    let expected = Population::of_parts(&others).filter(|_| others.len() > 1).map(|range| ExpectedRange {
        low: range.low,
        high: range.high,
        basis: Basis::Symmetry,
        says: format!("the other {} {parts}", others.len()),
    });
    Some(Symmetric {
        parts,
        count: members.len(),
        slowest,
        number,
        loss: cost(estimate.value) / cost(middle) - 1.0,
        expected,
    })
}
