//! Common parts of the results of counted instructions: one counted loop, on one CPU or on all.

use kernels::counted::{self, CountedLoop};

use crate::prelude::*;
use crate::team::ThreadTeam;
use crate::trials;

/// Most iterations of a batch: a float chain that grows by one stops at 2^24 steps, and an iteration has sixteen.
pub(super) const BATCH: BatchRule = BatchRule::at_most(1_000_000);
/// The same for peak rates: a chain grows by one per iteration.
pub(super) const PEAK: BatchRule = BatchRule::at_most(4_000_000);

/// The parameter of the four arithmetic types.
pub(super) const fn types(defaults: &'static [&'static str]) -> Parameter {
    Parameter::choice("type", &["int", "long", "float", "double"], defaults)
}

/// The parameter of latency (each operation waits for the one before) and throughput (independent operations).
pub(super) const fn what(defaults: &'static [&'static str]) -> Parameter {
    Parameter::choice("what", &["latency", "throughput"], defaults)
}

/// A C type in the names of the loops.
fn short_name(of: &str) -> &'static str {
    match of {
        "int" => "i32",
        "long" => "i64",
        "float" => "f32",
        _ => "f64",
    }
}

/// Name of the loop of an operation at a set of parameters with a `type`, and with `what` if the benchmark has that
/// parameter: `add_latency_i32`, `fma_f64`.
pub(super) fn name(operation: &str, at: &Parameters) -> Result<String, Unsupported> {
    let kind = short_name(at.choice("type")?);
    Ok(match at.get("what") {
        Some(what) => format!("{operation}_{what}_{kind}"),
        None => format!("{operation}_{kind}"),
    })
}

/// The preferred loop of a name. `amount` is the count of an iteration.
pub(super) fn strongest(
    name: &str,
    amount: fn(&CountedLoop) -> u64,
    context: &mut BenchmarkContext,
) -> Result<Trial, Unsupported> {
    let found = counted::find(name).map_err(|_| unavailable(name, |_| true))?;
    trial(found, amount, context)
}

/// The fastest of the loops of a name that `wanted` accepts, found in brief trials and noted. A run keeps its choice.
pub(super) fn fastest(
    name: &str,
    wanted: fn(&CountedLoop) -> bool,
    amount: fn(&CountedLoop) -> u64,
    context: &mut BenchmarkContext,
) -> Result<Trial, Unsupported> {
    let known = context.variant().map(str::to_owned);
    let candidates = counted::all()
        .filter(|one| one.name == name && wanted(one) && one.check().is_ok())
        .filter(|one| known.as_deref().is_none_or(|known| known == one.isa));
    let found = trials::fastest(candidates, TRIALS, EQUAL, |one| Ok(time_per_count(one, amount)))?;
    let found = found.ok_or_else(|| unavailable(name, wanted))?;
    context.choose(found.isa);
    trial(found, amount, context)
}

/// Short runs of each loop, and the part of their time within which two are equally fast.
const TRIALS: usize = 8;
const EQUAL: f64 = 0.005;

/// Nanoseconds of a short run, divided by the count of an iteration.
fn time_per_count(one: &CountedLoop, amount: fn(&CountedLoop) -> u64) -> f64 {
    const TURNS: u64 = 4096;
    let began = kernels::clock::now();
    std::hint::black_box(one.run(TURNS).unwrap_or_default());
    (kernels::clock::now() - began) as f64 / amount(one) as f64
}

/// Why no loop of a name can run here.
fn unavailable(name: &str, wanted: fn(&CountedLoop) -> bool) -> Unsupported {
    let needs: Vec<_> = counted::all().filter(|one| one.name == name && wanted(one)).map(|one| one.needs).collect();
    match needs.is_empty() {
        true => Unsupported::new("this program has no such loop for this architecture"),
        false => Unsupported::new(format!("this CPU lacks {}", needs.join(", and also "))),
    }
}

fn trial(
    found: &'static CountedLoop,
    amount: fn(&CountedLoop) -> u64,
    context: &mut BenchmarkContext,
) -> Result<Trial, Unsupported> {
    let team = ThreadTeam::spawn(context.cpus(), |_| Ok(()))?;
    for (member, tid) in team.tids().iter().enumerate() {
        context.watch(member + 1, *tid);
    }
    Ok(Trial::one(Counting { found, team, amount: amount(found), known: Vec::new() }))
}

struct Counting {
    found: &'static CountedLoop,
    team: ThreadTeam<()>,
    /// Count of one iteration of one thread.
    amount: u64,
    /// Iterations and the result that the loop must return for them: slow to compute, and the same for every batch. All
    /// batches have one number of iterations; the untimed ones after a reading have another.
    known: Vec<(u64, u64)>,
}

impl Counting {
    fn threads(&self) -> u64 {
        1 + self.team.tids().len() as u64
    }
}

impl Kernel for Counting {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        Ok(BatchWork { ops, token: self.team.start(ops)? })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let known = self.known.iter().find(|(iterations, _)| *iterations == done.ops).map(|(_, expected)| *expected);
        let expected = known.unwrap_or_else(|| self.found.expected(done.ops));
        if known.is_none() {
            self.known.push((done.ops, expected));
        }
        BenchmarkError::unless_equal(done.token, expected.wrapping_mul(self.threads()))
    }

    fn ready(&mut self, ops: u64) -> Result<(), BenchmarkError> {
        let found = self.found;
        self.team.prepare(ops, move |()| found.run(ops).unwrap_or_default())
    }

    fn amount(&self) -> f64 {
        (self.amount * self.threads()) as f64
    }

    fn declared(&self) -> Option<DeclaredCost> {
        let times = |count: u64| (count * self.threads()) as f64;
        let iteration = &self.found.iteration;
        Some(DeclaredCost {
            bytes_read: times(iteration.bytes_read),
            bytes_written: times(iteration.bytes_written),
            operations: times(iteration.ops),
        })
    }
}
