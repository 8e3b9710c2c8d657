//! The report of a farm.

use ::farm::Story;
use model::Run;
use report::view::RunContext;
use report::{Block, Document, DocumentSection, EmbeddedJson};
use serde_json::json;

/// What the run was compared with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FarmChecked<'a> {
    /// The expected digest.
    pub(super) expected: Option<u64>,
    /// What is wrong with the products, where they were looked at.
    pub(super) products: &'a [String],
}

/// The answer, the integrity checks, the results, the nodes, the timeline and the event log.
pub(super) fn document(story: &Story, run: &Run, handle: Option<String>, checked: &FarmChecked<'_>) -> Document {
    let stored = handle.is_some();
    let mut document = report::view::run(run, &RunContext { handle, stored, ..RunContext::default() });
    document.title = format!("Farm {}: {}", story.farm.id, answer(story, checked));
    // How sure its rates are says nothing about whether the production is right.
    document.sections.retain(|section| section.blocks.iter().any(|block| matches!(block, Block::Table(_))));
    let checks = DocumentSection::of("Integrity checks", Block::list(integrity(story, checked)));
    document.sections.insert(0, checks);
    document.sections.extend(run.session.farm.iter().flat_map(report::view::farm));
    let totals = &story.invariants.totals;
    let data = json!({
        "farm": story.farm.id,
        "job": story.farm.job,
        "planned": story.invariants.planned,
        "totals": totals,
        "digest": format!("{:016x}", totals.digest),
        "broken": story.invariants.broken(),
        "seconds": story.seconds,
        "utilisation": story.utilisation(),
        "nodes": story.nodes.iter().map(|node| json!({ "node": node.node, "totals": node.totals })).collect::<Vec<_>>(),
        "windows": story.windows,
        "incidents": story.incidents,
        "suspects": story.suspects,
        "products": checked.products,
        "inputs": story.inputs("all"),
        "run": run,
    });
    document.data = EmbeddedJson::of(&data).ok();
    document
}

/// Whether every event was processed exactly once, and how fast.
fn answer(story: &Story, checked: &FarmChecked<'_>) -> String {
    let (totals, events) = (&story.invariants.totals, story.invariants.events);
    let rate = story.rate().map_or_else(String::new, |rate| format!(", {rate:.1} events/s"));
    let name = &story.farm.job.name;
    let wrong_digest = checked.expected.is_some_and(|expected| expected != totals.digest);
    if totals.commits < story.invariants.planned {
        return format!("{} of {events} events of {name} processed so far{rate}", totals.events);
    }
    if wrong_digest || !story.invariants.broken().is_empty() || !checked.products.is_empty() {
        return format!("INTEGRITY CHECK FAILED for {events} events of {name}{rate}");
    }
    let mismatches = match totals.differing {
        0 => String::new(),
        differing => format!("; {differing} repeated chunks have MISMATCHES"),
    };
    format!("all {events} events of {name} processed exactly once{rate}{mismatches}")
}

fn integrity(story: &Story, checked: &FarmChecked<'_>) -> Vec<String> {
    let (planned, events) = (story.invariants.planned, story.invariants.events);
    let totals = &story.invariants.totals;
    let mark = |holds: bool| if holds { "ok" } else { "FAILED" };
    let mut lines = vec![
        format!("chunks committed: {} of {planned}, {}", totals.commits, mark(totals.commits == planned)),
        format!("no chunk committed twice: {} distinct, {}", totals.distinct, mark(totals.distinct == totals.commits)),
        format!("events: {} of {events}, {}", totals.events, mark(totals.events == events)),
        match checked.expected {
            Some(expected) => {
                format!("digest {:016x}, expected {expected:016x}, {}", totals.digest, mark(totals.digest == expected))
            }
            None => format!("digest {:016x} (--expect-digest checks it)", totals.digest),
        },
    ];
    lines.push(format!(
        "{} duplicates, {} mismatches, {:.2} s of CPU time wasted",
        totals.refused - totals.confirmed,
        totals.differing,
        totals.wasted
    ));
    if totals.confirmed > 0 {
        lines.push(format!("{} chunks repeated for verification, same result", totals.confirmed));
    }
    if let Some(folder) = &story.farm.job.products {
        let verdict = match checked.products.len() {
            0 => String::new(),
            faults => format!(", {faults} files FAILED (prony farm status --check lists them)"),
        };
        lines.push(format!("output files in {}{verdict}", folder.display()));
    }
    lines
}
