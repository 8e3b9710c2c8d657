//! The strongest basis for an expectation of a result.

use model::{BenchmarkResult, Machine, Parameters, Primitive, Run};

use crate::judge::CheckContext;
use crate::limit;
use crate::population::Population;
use crate::result::{Basis, ExpectedRange};

/// Fewest earlier runs that tell what is usual.
const PAST: usize = 3;

/// What is expected of a result; `None` without a basis.
pub(crate) fn of(
    run: &Run,
    result: &BenchmarkResult,
    peers: &[&Run],
    context: &CheckContext<'_>,
) -> Option<ExpectedRange> {
    let described = context.catalogue.get(&result.benchmark);
    let agrees = |at: &Parameters| at.iter().all(|(name, value)| result.parameters.get(name) == Some(value));
    let share = described.and_then(|one| one.expected.iter().find(|share| agrees(&share.at)));
    let by_limit = share.and_then(|share| limit::by_parts(run, result, share));
    if by_limit.as_ref().is_some_and(|range| range.basis == Basis::Parts) {
        return by_limit;
    }
    elsewhere(run, result, peers, context).or_else(|| past(run, result, context)).or(by_limit)
}

/// What machines agree in that should be equally fast.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MachineKind {
    cpu: String,
    design: Option<String>,
    guest: bool,
    memory: Option<String>,
}

impl MachineKind {
    /// The kind of a machine; `None` if its CPU is unknown.
    pub(crate) fn of(machine: &Machine) -> Option<Self> {
        let (design, memory) = (machine.text("cpu.model_number"), machine.text("memory.type"));
        Some(Self { cpu: machine.text("cpu.model")?, design, guest: machine.is_guest(), memory })
    }

    /// Whether two kinds are one, as far as is known: the kind of memory needs privileges.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let memory = self.memory.is_none() || other.memory.is_none() || self.memory == other.memory;
        memory && (&self.cpu, &self.design, self.guest) == (&other.cpu, &other.design, other.guest)
    }
}

fn elsewhere(run: &Run, result: &BenchmarkResult, peers: &[&Run], context: &CheckContext<'_>) -> Option<ExpectedRange> {
    let all_cpus = result.parameters.get("threads").is_some_and(|threads| threads != "1");
    let equal = |peer: &&&Run| !all_cpus || peer.machine.number("cpu.online") == run.machine.number("cpu.online");
    let values = values(run, result, peers.iter().filter(equal).copied());
    let range = Population::of(&values)?;
    let near = context.public.near(&run.machine, result).filter(|near| near.low < range.high && range.low < near.high);
    let says = match &near {
        Some(near) => format!(
            "{} machines here and {} of a public table, whose near definition widens it",
            range.count, near.count
        ),
        None => format!("{} machines", range.count),
    };
    let range = near.iter().fold(range, |range, near| range.widened(near));
    Some(ExpectedRange { low: range.low, high: range.high, basis: Basis::SameModel, says })
}

fn past(run: &Run, result: &BenchmarkResult, context: &CheckContext<'_>) -> Option<ExpectedRange> {
    let place = |run: &Run| run.machine.text("filesystem.target.source");
    let there = context.past.iter().filter(|past| !of_a_disk(result) || place(past) == place(run));
    let values = values(run, result, there.copied());
    let range = Population::of(&values).filter(|range| range.count >= PAST)?;
    Some(ExpectedRange {
        low: range.low,
        high: range.high,
        basis: Basis::OwnPast,
        says: format!("{} runs", range.count),
    })
}

/// Sure values of the same result in other runs: one of a disk, in those with the same kind of disk.
fn values<'a>(run: &Run, result: &BenchmarkResult, others: impl Iterator<Item = &'a Run>) -> Vec<f64> {
    let (key, any_disk) = (result.key(), !of_a_disk(result));
    let of = |run: &Run| run.result(&key)?.outcome.estimate().filter(|one| one.is_sure()).map(|one| one.value);
    others.filter(|other| any_disk || disks(&run.machine) == disks(&other.machine)).filter_map(of).collect()
}

fn of_a_disk(result: &BenchmarkResult) -> bool {
    let disk = [Primitive::DiskRead, Primitive::DiskWrite, Primitive::Durability];
    result.stresses.iter().any(|one| disk.contains(one))
}

/// What tells the kind of disk, and of file system on it. A CPU model says nothing about them.
fn disks(machine: &Machine) -> Vec<(&str, String)> {
    let tells = |name: &str| {
        let of_disk = [".model", ".driver", ".rotational"].iter().any(|end| name.ends_with(end));
        name == "filesystem.target.type" || (of_disk && name.starts_with("disk."))
    };
    let names = machine.facts.iter().map(|fact| fact.name.as_str()).filter(|name| tells(name));
    names.filter_map(|name| Some((name, machine.text(name)?))).collect()
}
