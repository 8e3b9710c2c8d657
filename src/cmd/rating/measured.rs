//! A frozen set, or both: measured, saved, printed.

use anyhow::{Context, Result, bail};
use model::{Outcome, Run};
use rating::{REFERENCE_MACHINE, RatingSet, SETS};

use super::RatingOptions;
use super::round::{Rating, RatingPart};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::cmd::session::LocalSession;
use crate::output;
use crate::run_options::MeasureOptions;

/// Measures the frozen sets of a suite, or the rest of a run of it.
pub(crate) fn measure(
    suite: &str,
    resumed: Option<Run>,
    options: &RatingOptions,
    measure: &MeasureOptions,
    common: &CommonOptions,
) -> Result<ExitStatus> {
    let sets = SETS.into_iter().filter(|set| suite == "rating" || suite == set.name());
    let parts = match &resumed {
        None => new_parts(sets, &options.copies),
        Some(_) if !options.copies.is_empty() => bail!("--resume has the copies of its run; leave --copies out"),
        Some(run) => parts_of(run),
    };
    let program = match &options.build {
        None => std::env::current_exe().context("could not find this program's own file")?,
        Some(path) => path.canonicalize().with_context(|| format!("could not find the program {}", path.display()))?,
    };
    let measure = &measure.of_suite();
    let mut session = LocalSession::open(&format!("run, suite {suite}"), measure, common)?.needing_intervals();
    let rounds = &measure.rounds;
    let mut fresh =
        application::document(suite, rounds.seed(), rounds.target(), rounds.time_limit, std::env::temp_dir());
    let mut rating = Rating::new(&mut fresh, &parts, program.to_string_lossy().into_owned(), rounds.time_limit)?;
    let least = rating.least_seconds();
    if let Some(limit) = rounds.time_limit.filter(|limit| *limit < least && resumed.is_none() && !measure.quiet) {
        let [least, limit] = [least, limit].map(report::words::duration);
        output::remark(&format!(
            "an interval needs two samples of every component, which take {least} on the reference machine; \
             --time-limit gives {limit}"
        ));
    }
    let order = session.order(fresh, resumed)?;
    let result = session.measure(order, &mut rating)?;
    let draw = |run: &Run, context: &report::view::RunContext| {
        let mut document = report::view::run(run, context);
        document.notes.push(format!("Ratios to the reference machine: {REFERENCE_MACHINE}."));
        if !rating.optimised {
            let slow = "The components were built for development, not for use: this rating is not one of the machine.";
            document.notes.push(slow.to_owned());
        }
        Ok(document)
    };
    session.conclude(result, draw, valid)
}

/// Every set with every number of copies: one copy is the speed, more are a rate.
fn new_parts(sets: impl Iterator<Item = RatingSet>, copies: &[u32]) -> Vec<RatingPart> {
    let cpus = kernels::affinity::allowed().map_or(1, |allowed| u32::try_from(allowed.len()).unwrap_or(1));
    let modes: Vec<(u32, &'static str)> = match copies {
        [] => vec![(1, SPEED), (cpus, RATE)],
        // Both with one copy, as on a machine with one CPU.
        [1, 1] => vec![(1, SPEED), (1, RATE)],
        given => given.iter().map(|copies| (*copies, if *copies == 1 { SPEED } else { RATE })).collect(),
    };
    sets.flat_map(|set| modes.iter().map(move |(copies, mode)| RatingPart { set, copies: *copies, mode })).collect()
}

const SPEED: &str = "speed";
const RATE: &str = "rate";

/// The parts of an interrupted run, by its geometric means.
fn parts_of(run: &Run) -> Vec<RatingPart> {
    let part = |entry: &model::PlanEntry| {
        let copies = entry.parameters.get("copies")?.parse().ok()?;
        let mean = |set: RatingSet, mode: &str| entry.benchmark == format!("rating.{}_{mode}", set.id());
        let both = SETS.into_iter().flat_map(|set| [SPEED, RATE].map(|mode| (set, mode)));
        both.into_iter().find(|(set, mode)| mean(*set, mode)).map(|(set, mode)| RatingPart { set, copies, mode })
    };
    run.plan.entries.iter().filter_map(part).collect()
}

/// Whether no component failed: a rating with a wrong component is invalid.
fn valid(run: &Run) -> bool {
    !run.results.iter().any(|result| matches!(result.outcome, Outcome::Failed(_)))
}
