//! The index beside a document, by which runs are found without reading them. It is always derived from the document.

use model::{Class, FigureKey, Outcome, Run};
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// One line of a list of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Number in this store: 1, 2, 3, as in "run 3". Numbers are never reused.
    pub number: u64,
    /// Unique name.
    pub id: String,
    /// Name given by the owner.
    pub label: Option<String>,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Duration of measuring, seconds.
    pub seconds: f64,
    /// Completed rounds.
    pub rounds: u32,
    /// Whether everything planned was measured.
    pub complete: bool,
    /// Name of the machine.
    pub machine: String,
    /// Hash that identifies the machine; empty when unknown.
    pub fingerprint: String,
    /// Suite of the plan.
    pub suite: String,
    /// Program or publication that measured, if it was not Prony.
    pub tool: Option<String>,
    /// Version of Prony that measured or imported.
    pub version: String,
    /// Figures in the document.
    pub figures: u32,
    /// Figures with a value.
    pub measured: u32,
}

/// Kind of a figure's outcome, without its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// A value with its interval.
    Measured,
    /// Less than a bound.
    Below,
    /// Several groups, no single value.
    Modes,
    /// Cannot be measured on that machine.
    Unfit,
    /// Measuring failed.
    Failed,
}

impl OutcomeKind {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Measured, "measured"),
        (Self::Below, "below"),
        (Self::Modes, "modes"),
        (Self::Unfit, "unfit"),
        (Self::Failed, "failed"),
    ];

    /// The outcome's name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("failed", |(_, name)| name)
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    const fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Measured(_) => Self::Measured,
            Outcome::Below { .. } => Self::Below,
            Outcome::Modes(_) => Self::Modes,
            Outcome::Unfit(_) => Self::Unfit,
            Outcome::Failed(_) => Self::Failed,
        }
    }
}

/// One figure of a run, without its launches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureRow {
    /// Its name, with axes in alphabetical order.
    pub key: FigureKey,
    /// Kind of its outcome.
    pub kind: OutcomeKind,
    /// Value in the figure's unit, if it has one.
    pub value: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval; for a figure below a bound, the bound.
    pub high: Option<f64>,
    /// Launches behind the value.
    pub launches: u32,
    /// Class of its drift between sessions.
    pub class: Class,
}

/// The value of a figure in one session on a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionValue {
    /// Number of the run.
    pub number: u64,
    /// Id of the run.
    pub id: String,
    /// Start of the session, RFC 3339 in UTC.
    pub started: String,
    /// Value in the figure's unit.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Launches behind the value.
    pub launches: u32,
}

/// The whole index entry of a document.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    pub(crate) summary: Summary,
    /// Start in microseconds since 1970; 0 when unknown.
    pub(crate) moment: i64,
    /// Fingerprint of the machine to whose history the run belongs; `None` for figures that Prony did not measure, and
    /// for a machine without a fingerprint.
    pub(crate) history: Option<String>,
    pub(crate) figures: Vec<FigureRow>,
}

impl Index {
    /// The index entry of a run with this number in the store.
    pub(crate) fn of(number: u64, run: &Run) -> Self {
        let figures: Vec<_> = run.figures.iter().map(FigureRow::of).collect();
        let measured = figures.iter().filter(|row| row.kind == OutcomeKind::Measured).count();
        let fingerprint = run.machine.fingerprint.clone();
        Self {
            moment: moment(&run.session.started),
            history: (run.origin.is_none() && !fingerprint.is_empty()).then(|| fingerprint.clone()),
            summary: Summary {
                number,
                id: run.id.clone(),
                label: run.label.clone(),
                started: run.session.started.clone(),
                seconds: run.session.seconds,
                rounds: run.session.rounds,
                complete: run.session.complete,
                machine: run.machine.name.clone(),
                fingerprint,
                suite: run.plan.suite.clone(),
                tool: run.origin.as_ref().map(|origin| origin.tool.clone()),
                version: run.session.version.clone(),
                figures: figures.len().try_into().unwrap_or(u32::MAX),
                measured: measured.try_into().unwrap_or(u32::MAX),
            },
            figures,
        }
    }
}

impl FigureRow {
    fn of(figure: &model::Figure) -> Self {
        let (value, low, high, launches) = match &figure.outcome {
            Outcome::Measured(e) => (Some(e.value), Some(e.low), Some(e.high), e.launches),
            Outcome::Below { bound } => {
                (None, None, Some(*bound), figure.values().len().try_into().unwrap_or(u32::MAX))
            }
            _ => (None, None, None, figure.values().len().try_into().unwrap_or(u32::MAX)),
        };
        let kind = OutcomeKind::of(&figure.outcome);
        Self { key: figure.key(), kind, value, low, high, launches, class: figure.class }
    }
}

impl SessionValue {
    /// The value of a figure in this run, if it has one.
    pub(crate) fn of(index: &Index, key: &FigureKey) -> Option<Self> {
        let row = index.figures.iter().find(|row| row.key == *key)?;
        Some(Self {
            number: index.summary.number,
            id: index.summary.id.clone(),
            started: index.summary.started.clone(),
            value: row.value?,
            low: row.low?,
            high: row.high?,
            launches: row.launches,
        })
    }
}

/// Microseconds since 1970 of an RFC 3339 time; 0 when it is invalid.
pub(crate) fn moment(text: &str) -> i64 {
    OffsetDateTime::parse(text, &Rfc3339)
        .ok()
        .and_then(|moment| i64::try_from(moment.unix_timestamp_nanos() / 1000).ok())
        .unwrap_or(0)
}

/// A class by its name in the document.
pub(crate) fn class_from_name(name: &str) -> Option<Class> {
    serde_json::from_value(name.into()).ok()
}

/// The name of a class in the document.
pub(crate) fn class_name(class: Class) -> String {
    serde_json::to_value(class).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}
