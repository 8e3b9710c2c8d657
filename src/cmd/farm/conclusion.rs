//! The end of a farm: the integrity checks, the run as a document, what is wrong with which node, and what to do.

use std::path::{Path, PathBuf};

use ::farm::{Ledger, NodeTotals, Story};
use anyhow::Result;
use measure::Saver;

use super::drive::FarmEnd;
use super::{verify, view};
use crate::cli::CommonOptions;
use crate::run_saver::RunSaver;
use crate::{ExitStatus, output};

/// What the user expects.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Expected {
    /// Digest of all events.
    pub(super) digest: Option<u64>,
}

/// Reports the end: the integrity checks, the run as a document, and suggested commands.
pub(super) fn conclude(
    ending: &FarmEnd,
    ledger: &dyn Ledger,
    place: &Path,
    expected: Expected,
    mut saver: RunSaver,
    common: &CommonOptions,
) -> Result<ExitStatus> {
    // It may have been open for weeks.
    if matches!(ending, FarmEnd::Finished) {
        ledger.check_place()?;
    }
    ledger.check_records()?;
    let story = Story::read(ledger)?;
    let mut run = application::document("farm", story.farm.job.seed, 0.02, None, folder_of(place));
    saver.mark(&mut run);
    measure::began_at(&mut run, story.farm.created);
    measure::close(&mut run, story.seconds, story.invariants.broken().is_empty(), measure::identity());
    run.results = story.results();
    run.session.farm = Some(story.record());
    let kept = saver.save(&run);
    let handle = saver.number.map(|number| number.to_string());
    let products = if story.farm.job.products.is_some() { verify::faults(ledger, false)? } else { Vec::new() };
    output::print(
        &view::document(&story, &run, handle, &view::FarmChecked { expected: expected.digest, products: &products }),
        common,
    )?;
    if let Err(reason) = kept {
        output::remark(&format!("could not store the run: {reason}; the ledger has everything"));
        return Ok(ExitStatus::Failed);
    }
    let resume = format!("resume with: prony farm resume {}", place.display());
    Ok(match ending {
        FarmEnd::Stopped => {
            output::remark(&format!("stopped; committed chunks are kept; {resume}"));
            ExitStatus::Stopped
        }
        FarmEnd::Stuck(reason) => {
            output::remark(&format!("could not go on: {reason}; {resume}{}", bad_nodes(&story.nodes)));
            ExitStatus::Failed
        }
        FarmEnd::Finished => verified(&story, expected, &products, &resume),
    })
}

/// Whether a run that came to its end holds what it must; tells what does not.
fn verified(story: &Story, expected: Expected, products: &[String], resume: &str) -> ExitStatus {
    let mut broken = story.invariants.broken();
    let digest = story.invariants.totals.digest;
    if let Some(expected) = expected.digest.filter(|expected| *expected != digest) {
        broken.push(format!("the digest is {digest:016x}, not {expected:016x}"));
    }
    if let [first, rest @ ..] = products {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        broken.push(format!("products do not match the ledger: {first}{more}"));
    }
    let bad = bad_nodes(&story.nodes);
    if !broken.is_empty() {
        output::remark(&format!("could not verify the result: {}; {resume}{bad}", broken.join("; ")));
        return ExitStatus::Failed;
    }
    if story.invariants.totals.differing > 0 {
        output::remark(&format!("repeated chunks have different results: {}", wrong_nodes(story)));
        return ExitStatus::Found;
    }
    if let Some(words) = bad.strip_prefix("; ") {
        output::remark(words);
    }
    ExitStatus::Fine
}

/// The directory of a ledger.
fn folder_of(ledger: &Path) -> PathBuf {
    ledger.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new(".")).to_owned()
}

/// Nodes that failed more chunks than they did, in words that begin with a semicolon; empty if there is none.
fn bad_nodes(nodes: &[NodeTotals]) -> String {
    let bad = nodes.iter().filter(|node| node.totals.failed > node.totals.commits);
    let words = bad.map(|node| {
        let totals = &node.totals;
        let why = node.complaint.as_deref().unwrap_or_default();
        format!("; {} failed {} chunks and completed {}: {why}", node.node, totals.failed, totals.commits)
    });
    words.collect()
}

/// Which machine computes wrongly, as far as the results say.
fn wrong_nodes(story: &Story) -> String {
    let list = |chunks: &[u64]| {
        let shown: Vec<String> = chunks.iter().take(5).map(u64::to_string).collect();
        format!("{}{}", shown.join(", "), if chunks.len() > 5 { " ..." } else { "" })
    };
    let mut words = Vec::new();
    for suspect in &story.suspects {
        if suspect.is_wrong() {
            let chunks = list(&suspect.outvoted);
            let node = &suspect.node;
            words.push(format!(
                "{node} computes wrong results (other nodes disagree with it in chunk {chunks}); none of its results count"
            ));
        }
    }
    let disputed: Vec<&str> =
        story.suspects.iter().filter(|one| !one.disputed.is_empty()).map(|one| one.node.as_str()).collect();
    if !disputed.is_empty() {
        words.push(format!("one of {} computes wrong results; a third node would tell which", disputed.join(" and ")));
    }
    words.join("; ")
}
