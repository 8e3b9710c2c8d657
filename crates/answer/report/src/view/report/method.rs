//! How the results were measured, for readers who have only the page.

use model::{EstimateMethod, Outcome, percent};

use super::{OWN_TABLES, ReportInput};
use crate::words::{distinct, quoted};
use crate::{Block, DocumentSection};

pub(super) fn section(input: &ReportInput, names: &[String]) -> DocumentSection {
    let estimates = || input.runs.iter().flat_map(|run| &run.results).filter_map(|result| result.outcome.estimate());
    let mut items = Vec::new();
    if estimates().any(|e| {
        matches!(
            e.method,
            EstimateMethod::OrderStatistic | EstimateMethod::PairedOrderStatistic | EstimateMethod::WidenedExtremes
        )
    }) {
        items.push(
            "A result is the median over samples; a sample is the median batch of one fresh process. Samples of all \
             results alternate in random order, so that drift affects them equally."
                .to_owned(),
        );
        items.push(
            "Intervals are order statistics of samples. One process alone gets no interval, because most variation lies \
             between processes."
                .to_owned(),
        );
        items.push(
            "Small differences are measured within one sample. If the interval includes zero, the result is an upper \
             bound, written with <."
                .to_owned(),
        );
    }
    if input.runs.iter().flat_map(|run| &run.results).any(|f| matches!(f.outcome, Outcome::Modes(_))) {
        items.push(
            "If samples form separate groups, each group is shown with its share instead of one number.".to_owned(),
        );
    }
    if estimates().any(|e| e.method == EstimateMethod::None) {
        items.push(
            "\"No error bars\" marks values that were published without them, so no test is possible. They count as \
             probably slower or faster only beyond rounding, normal run-to-run variation and 30%."
                .to_owned(),
        );
    }
    if let Some(comparison) = input.comparison.filter(|comparison| comparison.tests > 0) {
        items.push(format!(
            "Ratios between runs include normal run-to-run variation. Slower or faster: significant in {} tests together \
             (Holm), and the interval lies outside ±{band}. No change: inside ±{band}. Inconclusive: neither.",
            comparison.tests,
            band = percent(comparison.band)
        ));
    }
    items.push("MB is 10^6 bytes, MiB 2^20. Bandwidth names the bytes that it counts.".to_owned());
    let left_out = if input.runs.len() > OWN_TABLES {
        "batches and samples (the CSV has the samples)"
    } else {
        "batches and what was read around them"
    };
    items.push(format!("The JSON of this page leaves out {left_out}. Complete: prony show RUN --format json."));
    for (run, name) in input.runs.iter().zip(names) {
        let origin = run.origin.as_ref();
        let by = origin.map_or_else(|| format!("Prony {}", run.session.version), |origin| origin.tool.clone());
        items.push(format!("{name}: {by}, suite {}, seed {}.", run.plan.suite, run.plan.seed));
    }
    DocumentSection::of("Method", Block::list(items))
}

/// The commands that make the runs and this page again.
pub(super) fn reproduce(input: &ReportInput) -> Option<DocumentSection> {
    let plain = |word: &String| !word.chars().any(crate::words::is_control);
    let mut commands: Vec<String> = Vec::new();
    for run in input.runs.iter().filter(|run| run.origin.is_none()) {
        let words = &run.session.command;
        if let Some((program, rest)) = words.split_first().filter(|_| words.iter().all(plain)) {
            let name = program.rsplit('/').next().unwrap_or(program);
            let line: Vec<String> = std::iter::once(quoted(name)).chain(rest.iter().map(|word| quoted(word))).collect();
            commands.push(line.join(" "));
        }
    }
    let mut commands = distinct(commands);
    if !input.handles.is_empty() && input.handles.iter().all(plain) {
        let runs: Vec<String> = input.handles.iter().map(|handle| quoted(handle)).collect();
        commands.push(format!("prony report {}", runs.join(" ")));
    }
    (!commands.is_empty()).then(|| DocumentSection::of("Reproduce", Block::Commands(commands)))
}
