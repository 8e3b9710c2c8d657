//! Both sets, or those asked for: measured, kept, printed.

use anyhow::{Context, Result};
use measure::{EndReason, RunResult, Saver};
use model::{Outcome, Run};
use rating::{REFERENCE_MACHINE, RatingSet, SETS};
use report::view::RunContext;

use super::round::measure;
use super::{Arguments, RatePart, work};
use crate::cli::CommonOptions;
use crate::cmd::run::watch_for_signals;
use crate::progress::ProgressLine;
use crate::run_saver::RunSaver;
use crate::{ExitStatus, output};

/// What is measured.
pub(super) struct Request {
    pub(super) sets: Vec<RatingSet>,
    pub(super) copies: Vec<u32>,
    pub(super) target: f64,
    pub(super) time_limit: Option<f64>,
    pub(super) label: Option<String>,
    pub(super) program: String,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    match &arguments.part {
        Some(RatePart::List) => return work::list(common),
        Some(RatePart::Work { component }) => return work::run(component),
        None => {}
    }
    let request = request(arguments)?;
    let stopper = watch_for_signals()?;
    let mut saver = RunSaver::open(&arguments.saving, common)?;
    let visible = !arguments.quiet && std::io::IsTerminal::is_terminal(&std::io::stderr());
    let mut progress = ProgressLine::new(arguments.target, visible);
    let (RunResult { run, ending }, optimised) = measure(&request, &mut saver, &mut progress, &stopper)?;
    let kept = match ending {
        EndReason::NotSaved(reason) => Err(reason),
        _ => saver.save(&run),
    };
    kept.map_err(|reason| anyhow::anyhow!("the rating could not be kept: {reason}"))?;
    let handle = saver.number.map(|number| number.to_string());
    let mut document = report::view::run(&run, &RunContext { stored: handle.is_some(), handle, previous: None });
    document.notes.push(format!("Ratios to the reference machine: {REFERENCE_MACHINE}."));
    if !optimised {
        let slow = "The components were built for development, not for use: this rating is not one of the machine.";
        document.notes.push(slow.to_owned());
    }
    output::print(&document, common)?;
    if stopper.asked() {
        output::remark("stopped; what was measured is kept");
        return Ok(ExitStatus::Stopped);
    }
    Ok(if valid(&run) { ExitStatus::Fine } else { ExitStatus::Failed })
}

fn request(arguments: &Arguments) -> Result<Request> {
    let wanted = |set: &RatingSet| arguments.sets.is_empty() || arguments.sets.iter().any(|name| name == set.name());
    let cpus = sys::affinity::allowed().map_or(1, |allowed| allowed.len());
    let mut copies = vec![1, arguments.copies.unwrap_or(u32::try_from(cpus).unwrap_or(1))];
    copies.truncate(if arguments.speed_only { 1 } else { 2 });
    let program = match &arguments.program {
        None => std::env::current_exe().context("could not find this program's own file")?,
        Some(path) => path.canonicalize().with_context(|| format!("could not find the program {}", path.display()))?,
    };
    Ok(Request {
        sets: SETS.into_iter().filter(wanted).collect(),
        copies,
        target: arguments.target,
        time_limit: arguments.time_limit,
        label: arguments.saving.label.clone(),
        program: program.to_string_lossy().into_owned(),
    })
}

fn valid(run: &Run) -> bool {
    !run.figures.iter().any(|figure| matches!(figure.outcome, Outcome::Failed(_)))
}
