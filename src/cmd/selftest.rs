//! `prony selftest`: the machine against itself. Every difference is a false alarm, and a planted one is to be found.

use anyhow::Result;
use clap::Args;
use compare::{CompareOptions, Relation, relation, self_test};
use measure::{
    EndReason, MeasureSession, MockResult, MockSubject, NullObserver, Observer, RunRequest, Saver, Stopper, Subject,
};
use model::{Identity, Machine, Plan, Run};
use store::Detail;

use super::run::workers;
use super::session::watch_for_signals;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::exit::StoppedEarly;
use crate::progress::{ProgressLine, ProgressMode};
use crate::run_options::draw_seed;
use crate::{output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony selftest --pairs 3
  prony selftest 1 2 3    stored runs")]
pub(crate) struct Arguments {
    /// Stored runs of one machine to compare in pairs, instead of measuring
    #[arg(value_name = "RUN", conflicts_with_all = ["pairs", "suite", "benchmark", "simulate", "seed"])]
    runs: Vec<String>,
    /// Measure and compare this many pairs of runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pairs: u32,
    /// Measure this suite twice
    #[arg(long, value_name = "NAME", default_value = "quick")]
    suite: String,
    /// Measure this benchmark instead of a suite
    #[arg(long, value_name = "BENCHMARK")]
    benchmark: Vec<String>,
    /// Simulate the samples, in seconds
    #[arg(long)]
    simulate: bool,
    /// Print every threshold that affects a value, and why
    #[arg(long, conflicts_with_all = ["runs", "pairs", "suite", "benchmark", "simulate", "seed"])]
    rules: bool,
    /// Set the seed of orders, memory layouts and simulated noise [default: random]
    #[arg(long, help_heading = "Sampling")]
    seed: Option<u64>,
}

/// Saves nothing.
struct Nowhere;

impl Saver for Nowhere {
    fn save(&mut self, _: &Run) -> Result<(), String> {
        Ok(())
    }
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    if arguments.rules {
        output::print(&report::view::rules(), common)?;
        return Ok(ExitStatus::Fine);
    }
    let stopper = watch_for_signals()?;
    let found = if arguments.runs.is_empty() {
        let pairs = measured(arguments, &stopper)?;
        let pairs: Vec<(&Run, &Run)> = pairs.iter().map(|(a, b)| (a, b)).collect();
        self_test(&pairs, &CompareOptions::default())?
    } else {
        let runs = stored(&arguments.runs, common)?;
        self_test(&every_two(&runs), &CompareOptions::default())?
    };
    output::print(&report::view::self_test(&found), common)?;
    if stopper.asked() {
        return Ok(ExitStatus::Stopped);
    }
    Ok(match () {
        () if found.results == 0 => ExitStatus::Inconclusive,
        () if !found.broken().is_empty() => ExitStatus::Found,
        () => ExitStatus::Fine,
    })
}

/// Sessions of one machine by their names.
fn stored(names: &[String], common: &CommonOptions) -> Result<Vec<Run>> {
    let found = run_finder::find(names, common, Detail::Values)?;
    anyhow::ensure!(found.len() > 1, "one run makes no pair: name two or more");
    let (first, others) = (&found[0], &found[1..]);
    for other in others {
        anyhow::ensure!(
            relation(&first.run, &other.run) != Relation::AnotherMachine,
            "runs {} and {} are not known to be of one machine",
            first.handle,
            other.handle
        );
    }
    for (at, one) in found.iter().enumerate() {
        let again = found[at + 1..].iter().find(|other| relation(&one.run, &other.run) == Relation::SameSession);
        if let Some(again) = again {
            anyhow::bail!("runs {} and {} are the same run: leave one of them out", one.handle, again.handle);
        }
    }
    Ok(found.into_iter().map(|named| named.run).collect())
}

/// Every two of some sessions, the earlier named one first in every second pair.
fn every_two(runs: &[Run]) -> Vec<(&Run, &Run)> {
    let pairs = (0..runs.len()).flat_map(|a| (a + 1..runs.len()).map(move |b| (a, b)));
    pairs
        .enumerate()
        .map(|(pair, (a, b))| if pair % 2 == 0 { (&runs[a], &runs[b]) } else { (&runs[b], &runs[a]) })
        .collect()
}

/// Pairs of sessions, measured now.
fn measured(arguments: &Arguments, stopper: &Stopper) -> Result<Vec<(Run, Run)>> {
    let seed = arguments.seed.unwrap_or_else(draw_seed);
    let mut pairs = Vec::new();
    for pair in 0..u64::from(arguments.pairs) {
        let mut sides = [None, None];
        for side in order(pair) {
            sides[side] = session(arguments, seed.wrapping_add(2 * pair + side as u64), stopper)?;
        }
        let [Some(a), Some(b)] = sides else {
            break;
        };
        pairs.push((a, b));
    }
    anyhow::ensure!(!pairs.is_empty(), StoppedEarly("stopped before a pair of sessions was measured"));
    Ok(pairs)
}

/// The sides of a pair in the order of measuring: each is first in every second pair, so that drift between sessions
/// favours neither.
fn order(pair: u64) -> [usize; 2] {
    if pair.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}

/// One session; `None` when it was stopped.
fn session(arguments: &Arguments, seed: u64, stopper: &Stopper) -> Result<Option<Run>> {
    let suite = arguments.benchmark.is_empty().then_some(arguments.suite.as_str());
    let entries = measure::select(suite, &arguments.benchmark, 0.02)?;
    let directory = std::env::current_dir()?.to_string_lossy().into_owned();
    let suite_of = suite.and_then(benchmarks::suite).filter(|suite| suite.fills());
    let time_limit = suite_of.map(|suite| suite.seconds);
    let plan = Plan {
        suite: suite.unwrap_or("benchmarks").to_owned(),
        seed,
        time_limit,
        spacing: if time_limit.is_some() || arguments.simulate { 0.0 } else { model::SPACING },
        directory: Some(directory.clone()),
        sensors: true,
        entries,
        ..Plan::default()
    };
    let (order, mut subject, mut listener): (RunRequest, Box<dyn Subject>, Box<dyn Observer>) = if arguments.simulate {
        let machine =
            Machine { name: "simulated".to_owned(), fingerprint: "simulated".to_owned(), ..Machine::default() };
        let identity = Identity { fingerprint: "simulated".to_owned(), ..Identity::default() };
        let order = RunRequest::new(plan, machine, identity, vec![0, 1])?;
        (order, Box::new(MockSubject::new(seed, MockResult::stable(1e-6))), Box::new(NullObserver))
    } else {
        let machine = measure::machine(&[directory.into()]);
        let order = RunRequest::new(plan, machine, measure::identity(), kernels::affinity::allowed()?)?;
        (order, Box::new(workers()?), Box::new(ProgressLine::new(ProgressMode::new(false))))
    };
    let mut ended = MeasureSession::measure(order, subject.as_mut(), listener.as_mut(), &mut Nowhere, stopper.clone())?;
    if arguments.simulate {
        // Simulated sessions take no time: equal start times would make them one session.
        ended.run.session.started = format!("simulated session {seed}");
    }
    Ok((ended.ending != EndReason::Stopped).then_some(ended.run))
}

#[cfg(test)]
mod tests {
    use model::Run;

    use super::{every_two, order};

    #[test]
    fn each_side_comes_first_in_every_second_pair() {
        let sides: Vec<usize> = (0..4).flat_map(order).collect();
        assert_eq!(sides, [0, 1, 1, 0, 0, 1, 1, 0]);
    }

    #[test]
    fn seven_sessions_make_twenty_one_pairs() {
        let text = include_str!("../../crates/core/model/tests/run.json");
        let named = |id: usize| Run { id: id.to_string(), ..serde_json::from_str(text).unwrap() };
        let runs: Vec<Run> = (0..7).map(named).collect();
        let pairs = every_two(&runs);
        let mut found: Vec<[&str; 2]> = pairs.iter().map(|(a, b)| [a.id.as_str(), b.id.as_str()]).collect();
        assert_eq!(found.iter().filter(|[a, b]| a < b).count(), 11, "either side comes first");
        found.iter_mut().for_each(|pair| pair.sort_unstable());
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 21);
    }
}
