//! The report of a fleet: every node with its outcome, the spread, and explanations of outliers.

use std::collections::BTreeMap;

use anyhow::Result;
use compare::SessionRecord;
use compare::fleet::{FleetSpread, OutlierNode, ResultSpread};
use explain::Explanation;
use launcher::suite::{Measured, NodeEnd, NodeState};
use model::{Estimate, EstimateMethod, Outcome, Run, Unit, percent};
use report::words::{factor, grouped, label, list, plural};
use report::{
    Block, Cell, Column, Document, DocumentSection, EmbeddedJson, PrintedQuantity, RowGroup, Table, TableRow, Tone,
};
use serde_json::json;

use crate::ExitStatus;

/// Most outliers that are explained; further ones get a suggested command.
const EXPLAINED: usize = 3;

/// A node and the number of its run in the store.
pub(super) struct ReportedNode {
    pub(super) measured: Measured,
    number: Option<u64>,
}

impl ReportedNode {
    /// Whether it measured as far as was asked for, and anything at all: a partial run does not represent the whole.
    pub(super) fn is_whole(&self) -> bool {
        let ended = matches!(self.measured.state, NodeState::Measured(NodeEnd::Complete | NodeEnd::TimeLimit));
        ended && self.measured.run.as_ref().is_some_and(|run| counted(run) > 0)
    }

    /// What became of it, and why it is not what was asked for.
    fn words(&self) -> (&'static str, Option<&str>) {
        match &self.measured.state {
            NodeState::Measured(NodeEnd::Stopped) => ("stopped", Some("stopped; the finished results are kept")),
            NodeState::Measured(NodeEnd::TimeLimit) if !self.is_whole() => {
                ("nothing", Some("stopped at the time limit before any result had a value"))
            }
            NodeState::Measured(_) if !self.is_whole() => ("nothing", Some("no result could be measured")),
            NodeState::Measured(NodeEnd::Complete) => ("measured", None),
            NodeState::Measured(NodeEnd::TimeLimit) => {
                ("measured", Some("stopped at the time limit; some results are less precise"))
            }
            NodeState::Lost(reason) => ("lost", Some(reason)),
            NodeState::Missing(reason) => ("missing", Some(reason)),
        }
    }
}

/// The contents of the report.
pub(super) struct FleetReport {
    launcher: String,
    pub(super) nodes: Vec<ReportedNode>,
    pub(super) spread: Option<FleetSpread>,
    explanations: Vec<(OutlierNode, Option<Explanation>)>,
}

impl FleetReport {
    pub(super) fn of(
        launcher: &str,
        all: Vec<Measured>,
        numbers: &BTreeMap<String, u64>,
        history: &dyn Fn(&[&Run]) -> Result<Vec<SessionRecord>>,
    ) -> Result<Self> {
        let number = |measured: &Measured| measured.run.as_ref().and_then(|run| numbers.get(&run.id)).copied();
        let nodes: Vec<ReportedNode> =
            all.into_iter().map(|measured| ReportedNode { number: number(&measured), measured }).collect();
        let whole: Vec<(&str, &Run)> = nodes
            .iter()
            .filter(|node| node.is_whole())
            .filter_map(|node| Some((node.measured.node.as_str(), node.measured.run.as_ref()?)))
            .collect();
        let (mut spread, mut explanations) = (None, Vec::new());
        if whole.len() > 1 {
            let runs: Vec<&Run> = whole.iter().map(|(_, run)| *run).collect();
            let names: Vec<String> = whole.iter().map(|(name, _)| (*name).to_owned()).collect();
            let history = history(&runs)?;
            let options = compare::CompareOptions { history: &history, ..compare::CompareOptions::default() };
            let found = compare::fleet::spread(&runs, &names, &options)?;
            let find = |name: &str| whole.iter().find(|(node, _)| *node == name).map(|(_, run)| *run);
            for outlier in found.outliers.iter().take(EXPLAINED) {
                let pair = find(&outlier.baseline).zip(find(&outlier.node));
                let handles = vec![outlier.baseline.clone(), outlier.node.clone()];
                let options = explain::ExplainOptions {
                    catalogue: benchmarks::catalogue(),
                    history: &history,
                    mean: true,
                    label,
                    handles,
                    ..Default::default()
                };
                let why = pair.and_then(|(a, b)| explain::explain(a, b, &options).ok());
                explanations.push((outlier.clone(), why));
            }
            spread = Some(found);
        }
        Ok(Self { launcher: launcher.to_owned(), nodes, spread, explanations })
    }

    /// The exit code if outliers are to fail; `None` if there is none. It is inconclusive if nodes could not be
    /// compared, or if two nodes differ, of which either may be the outlier.
    pub(super) fn outlier(&self) -> Option<ExitStatus> {
        let Some(spread) = &self.spread else { return Some(ExitStatus::Inconclusive) };
        let unclear = spread.nodes.len() < 3 && spread.results.iter().any(|result| !result.different.is_empty());
        match () {
            () if !spread.outliers.is_empty() => Some(ExitStatus::Found),
            () if spread.tests == 0 || unclear => Some(ExitStatus::Inconclusive),
            () => None,
        }
    }

    pub(super) fn document(&self) -> Document {
        let whole = self.nodes.iter().filter(|node| node.is_whole()).count();
        let mut document = Document::new(format!(
            "Fleet by {}: {whole} of {} measured",
            self.launcher,
            plural(self.nodes.len(), "node")
        ));
        document.add("", Block::Table(nodes(&self.nodes)));
        if let Some(spread) = &self.spread {
            document.add(format!("spread between nodes (baseline {})", spread.typical), Block::Table(results(spread)));
            document.summary.push(summary(spread));
        }
        for (outlier, why) in &self.explanations {
            let mut blocks = vec![Block::list(outlier.results.iter().take(5).map(apart).collect())];
            match why {
                Some(why) => blocks.extend(why.sentences().into_iter().map(Block::Text)),
                None => blocks.push(Block::Text("No explanation: the two runs share too few results.".to_owned())),
            }
            document.sections.push(DocumentSection {
                title: format!("why {} is an outlier (baseline {})", outlier.node, outlier.baseline),
                blocks,
            });
            let number = |name: &str| self.nodes.iter().find(|node| node.measured.node == name)?.number;
            if let Some((a, b)) = number(&outlier.baseline).zip(number(&outlier.node)) {
                document.next.push(format!("prony explain {a} {b} --details"));
            }
        }
        document.data = EmbeddedJson::of(&self.data()).ok();
        document
    }

    fn data(&self) -> serde_json::Value {
        let node = |node: &ReportedNode| {
            let (state, reason) = node.words();
            json!({
                "node": node.measured.node,
                "state": state,
                "reason": reason,
                "number": node.number,
                "run": node.measured.run.as_ref().map(|run| &run.id),
                "host": node.measured.run.as_ref().map(|run| &run.machine.name),
                "results": node.measured.run.as_ref().map(counted),
            })
        };
        let explanations: Vec<_> = self
            .explanations
            .iter()
            .map(|(outlier, why)| json!({ "node": outlier.node, "baseline": outlier.baseline, "explanation": why }))
            .collect();
        json!({
            "launcher": self.launcher,
            "nodes": self.nodes.iter().map(node).collect::<Vec<_>>(),
            "spread": self.spread,
            "explanations": explanations,
        })
    }
}

/// Results with a value.
fn counted(run: &Run) -> usize {
    let value = |outcome: &Outcome| matches!(outcome, Outcome::Measured(_) | Outcome::Below { .. } | Outcome::Modes(_));
    run.results.iter().filter(|result| value(&result.outcome)).count()
}

fn nodes(nodes: &[ReportedNode]) -> Table {
    let columns = Column::list("node||run|host|#results|~reason");
    let row = |node: &ReportedNode| {
        let (state, reason) = node.words();
        let tone = if node.is_whole() { Tone::Good } else { Tone::Bad };
        let run = node.measured.run.as_ref();
        TableRow::of(vec![
            Cell::text(&node.measured.node),
            Cell::Text(state.to_owned(), tone),
            Cell::text(node.number.map(|number| number.to_string()).unwrap_or_default()),
            Cell::text(run.map(|run| run.machine.name.clone()).unwrap_or_default()),
            run.map_or(Cell::Empty, |run| Cell::Count(counted(run) as u64)),
            Cell::text(reason.unwrap_or_default()),
        ])
    };
    Table::plain(columns, nodes.iter().map(row).collect())
}

fn results(spread: &FleetSpread) -> Table {
    let columns = Column::list("|#min|#median|#max|#spread|~outlier");
    // Families stand once each, in the order of their first result.
    let family =
        |result: &ResultSpread| report::words::family_title(result.benchmark.split('.').next().unwrap_or_default());
    let groups = grouped(spread.results.iter().map(|result| (family(result), row(result))));
    let groups = groups.into_iter().map(|(title, rows)| RowGroup { title, note: String::new(), rows }).collect();
    Table { columns, groups }
}

fn row(result: &ResultSpread) -> TableRow {
    let value = |one: &Estimate| Cell::Value(PrintedQuantity::of(one, result.metric.unit).in_metric(&result.metric));
    // As many digits as the nodes agree in.
    let median = Estimate {
        value: result.median,
        low: result.least.value,
        high: result.most.value,
        method: EstimateMethod::Range,
        ..result.least
    };
    let outlier = if result.outliers.is_empty() && !result.different.is_empty() {
        format!(
            "no majority ({} {})",
            list(&result.different),
            if result.different.len() == 1 { "differs" } else { "differ" }
        )
    } else {
        list(&result.outliers)
    };
    TableRow::of(vec![
        Cell::text(label(&result.title, &result.metric, &result.parameters)),
        value(&result.least),
        value(&median),
        value(&result.most),
        Cell::text(percent(result.range)),
        Cell::Text(outlier, Tone::Caution),
    ])
}

fn apart(result: &compare::fleet::OutlierResult) -> String {
    let gain = match result.interval {
        Some((low, high)) => PrintedQuantity::ratio(result.gain, low, high),
        None => PrintedQuantity::bare(result.gain, Unit::Ratio),
    };
    format!("{}: {}", result.title, factor(gain, result.unit).text_with_interval())
}

fn summary(spread: &FleetSpread) -> String {
    let outliers: Vec<String> = spread
        .outliers
        .iter()
        .map(|node| format!("{} in {}", node.node, plural(node.results.len(), "result")))
        .collect();
    if spread.nodes.len() < 3 {
        let apart = spread.results.iter().filter(|result| !result.different.is_empty()).count();
        return format!(
            "The two nodes differ in {apart} of {}. A third node is needed to tell which is the outlier.",
            plural(spread.results.len(), "result")
        );
    }
    let tests = plural(spread.tests, "comparison");
    if outliers.is_empty() {
        return format!("No outlier: in {tests} no node differs by more than 2% and run-to-run variation.");
    }
    let noun = if outliers.len() == 1 { "Outlier" } else { "Outliers" };
    format!("{noun}: {} ({tests}; chance of any false alarm: at most 5%).", list(&outliers))
}
