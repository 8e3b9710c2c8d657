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

/// The invariants, the results, the nodes, the timeline and the story.
pub(super) fn document(story: &Story, run: &Run, handle: Option<String>, checked: &FarmChecked<'_>) -> Document {
    let stored = handle.is_some();
    let mut document = report::view::run(run, &RunContext { handle, stored, ..RunContext::default() });
    document.title = format!("Farm {}: {} of {} events", story.farm.id, story.farm.job.name, story.farm.job.events);
    let invariants = DocumentSection::of("what must hold", Block::list(invariants(story, checked)));
    document.sections.insert(0, invariants);
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

fn invariants(story: &Story, checked: &FarmChecked<'_>) -> Vec<String> {
    let (planned, events) = (story.invariants.planned, story.invariants.events);
    let totals = &story.invariants.totals;
    let mark = |holds: bool| if holds { "holds" } else { "DOES NOT HOLD" };
    let mut lines = vec![
        format!("chunks committed {} = planned {planned}: {}", totals.commits, mark(totals.commits == planned)),
        format!("all distinct, {} of {}: {}", totals.distinct, totals.commits, mark(totals.distinct == totals.commits)),
        format!("sum of events {} = planned {events}: {}", totals.events, mark(totals.events == events)),
        match checked.expected {
            Some(expected) => {
                format!("digest {:016x} = expected {expected:016x}: {}", totals.digest, mark(totals.digest == expected))
            }
            None => format!("digest {:016x}; --expect-digest compares it", totals.digest),
        },
    ];
    lines.push(format!(
        "{} duplicates refused, {:.2} s of CPU time wasted, {} of them with another result",
        totals.refused - totals.confirmed,
        totals.wasted,
        totals.differing
    ));
    if totals.confirmed > 0 {
        lines.push(format!("{} chunks done a second time on purpose, with the same result", totals.confirmed));
    }
    if let Some(folder) = &story.farm.job.products {
        let faults = checked.products.len();
        let verdict =
            if faults == 0 { String::new() } else { format!(": {faults} FAULTS, see prony farm status --check") };
        lines.push(format!("products in {}{verdict}", folder.display()));
    }
    lines
}
