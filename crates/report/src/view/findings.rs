//! Findings one by one, each with what to do: `doctor`, `selftest`.

use model::Topology;
use serde::Serialize;

use crate::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Records, Table, TableRow, Tone};

/// How a finding is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// Nothing to do.
    Fine,
    /// It may disturb figures.
    Attention,
    /// It breaks a promise, or makes measuring impossible.
    Bad,
    /// It could not be found out.
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

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckFinding {
    /// What was looked at.
    pub subject: String,
    /// How it is to be taken.
    pub state: FindingState,
    /// What was found.
    pub says: String,
    /// What to do about it; empty when there is nothing to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

/// Everything that was looked at.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Findings {
    /// One line that names the subject.
    pub title: String,
    /// One a thing looked at, in the order of reading.
    pub findings: Vec<CheckFinding>,
    /// How the machine's CPUs hang together, where that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Sentences that sum it up.
    pub summary: Vec<String>,
    /// Commands that lead on.
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
