//! Findings with advice, of `doctor` and `selftest`.

use model::Topology;
use serde::Serialize;

use crate::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Records, Table, TableRow, Tone};

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// No action is needed.
    Fine,
    /// It may disturb figures.
    Attention,
    /// It breaks a promise or prevents measuring.
    Bad,
    /// It could not be determined.
    Unknown,
}

impl FindingState {
    const fn words(self) -> (&'static str, Tone) {
        match self {
            Self::Fine => ("fine", Tone::Good),
            Self::Attention => ("attention", Tone::Caution),
            Self::Bad => ("bad", Tone::Bad),
            Self::Unknown => ("unknown", Tone::Muted),
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckFinding {
    /// Its subject.
    pub subject: String,
    /// Its severity.
    pub state: FindingState,
    /// The observation.
    pub says: String,
    /// Advice; empty when no action is needed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

/// All findings.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Findings {
    /// Title in one line.
    pub title: String,
    /// The findings in reading order.
    pub findings: Vec<CheckFinding>,
    /// How the machine's CPUs hang together, where that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Sentences that sum it up.
    pub summary: Vec<String>,
    /// Commands to run next.
    #[serde(skip)]
    pub next: Vec<String>,
}

/// The report of findings; its JSON is [`Findings`].
#[must_use]
pub fn findings(found: &Findings) -> Document {
    let mut document = Document::new(&found.title);
    let columns = vec![
        Column::new("", ColumnKind::Label),
        Column::new("", ColumnKind::Words),
        Column::new("", ColumnKind::Words),
    ];
    let mut rows = Vec::new();
    for finding in &found.findings {
        let (word, tone) = finding.state.words();
        rows.push(TableRow {
            cells: vec![Cell::text(&finding.subject), Cell::Text(word.to_owned(), tone), Cell::text(&finding.says)],
        });
        if !finding.advice.is_empty() {
            let advice = format!("do: {}", finding.advice);
            rows.push(TableRow { cells: vec![Cell::Empty, Cell::Empty, Cell::Text(advice, Tone::Strong)] });
        }
    }
    document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
    let drawn = found.topology.as_ref().map(super::topology).unwrap_or_default();
    if !drawn.is_empty() {
        document.sections.push(DocumentSection { title: "The machine".to_owned(), blocks: drawn });
    }
    document.summary.clone_from(&found.summary);
    document.next.clone_from(&found.next);
    document.data = EmbeddedJson::of(found).ok();
    document.records = Some(Records {
        header: vec!["subject", "state", "says", "advice"],
        rows: found
            .findings
            .iter()
            .map(|f| vec![f.subject.clone(), f.state.words().0.to_owned(), f.says.clone(), f.advice.clone()])
            .collect(),
    });
    document
}
