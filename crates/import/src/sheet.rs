//! What a source says, before it becomes a run: one sheet for each machine and session, one reading for each figure.

use model::{Better, Fact, FactValue, Metric, Point, Primitive, Unit};

/// What a source says of one machine in one session.
#[derive(Debug, Default)]
pub(crate) struct SourceSheet {
    /// Version of the tool, where stated.
    pub(crate) version: Option<String>,
    /// Name of the machine, where stated.
    pub(crate) machine: String,
    /// One line on the machine, where stated.
    pub(crate) summary: String,
    /// What else it says of the machine.
    pub(crate) facts: Vec<Fact>,
    /// When it began, RFC 3339 in UTC, where stated.
    pub(crate) started: String,
    /// Command line, where stated.
    pub(crate) command: Vec<String>,
    /// What a reader of every figure should know.
    pub(crate) notes: Vec<String>,
    /// The figures.
    pub(crate) readings: Vec<SourceReading>,
}

/// How far the value may be off, as the source says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SourceSpread {
    /// Nothing is said.
    None,
    /// Least and greatest of repetitions inside one process: shown, but no ground for a claim.
    Range(f64, f64),
    /// An interval at a level that the source states.
    Interval { low: f64, high: f64, level: f64 },
    /// Values of executions in processes of their own, in time order.
    Launches(Vec<f64>),
}

/// One figure as the source gives it.
#[derive(Debug, Clone)]
pub(crate) struct SourceReading {
    /// Our id where the definition is continued, else `tool.name`.
    pub(crate) id: String,
    /// Where on its axes.
    pub(crate) point: Point,
    /// What the source calls it.
    pub(crate) title: String,
    /// The value, in `metric`'s unit.
    pub(crate) value: f64,
    /// Unit and direction; the catalogue's take precedence where it knows the id.
    pub(crate) metric: Metric,
    /// How far the value may be off.
    pub(crate) spread: SourceSpread,
    /// Half a unit in the last printed digit, relative to the value, where the source's digits are known.
    pub(crate) rounding: Option<f64>,
    /// Fresh processes that it rests on.
    pub(crate) launches: u32,
    /// Repetitions inside one.
    pub(crate) batches: u32,
    /// Quantiles of single operations: quantile and value.
    pub(crate) quantiles: Vec<(f64, f64)>,
    /// What it measures, where the source says so and the catalogue's definition does not: the first one above all.
    pub(crate) stresses: Vec<Primitive>,
    /// What a reader should know.
    pub(crate) notes: Vec<String>,
}

impl SourceReading {
    /// A value and nothing else.
    pub(crate) fn new(id: impl Into<String>, title: impl Into<String>, value: f64, metric: Metric) -> Self {
        Self {
            id: id.into(),
            point: Point::origin(),
            title: title.into(),
            value,
            metric,
            spread: SourceSpread::None,
            rounding: None,
            launches: 1,
            batches: 1,
            quantiles: Vec::new(),
            stresses: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(crate) fn at(mut self, axis: &str, value: impl Into<String>) -> Self {
        self.point = self.point.with(axis, value);
        self
    }

    pub(crate) fn spread(mut self, spread: SourceSpread) -> Self {
        self.spread = spread;
        self
    }

    /// Keeps how precisely a number is printed; relative, so that no conversion of units changes it.
    pub(crate) fn printed(mut self, text: &str) -> Self {
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = 0.5 * 10.0_f64.powi(-i32::try_from(decimals).unwrap_or(0));
        self.rounding =
            text.parse::<f64>().ok().map(|value| half / value.abs()).filter(|rounding| rounding.is_finite());
        self
    }

    pub(crate) fn counts(mut self, launches: u32, batches: u32) -> Self {
        (self.launches, self.batches) = (launches.max(1), batches.max(1));
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// A time per something, of which less is better.
pub(crate) fn seconds(per: &'static str) -> Metric {
    Metric::lower(Unit::Seconds, per)
}

/// A rate per second, of which more is better.
pub(crate) fn rate(of: &'static str) -> Metric {
    Metric::higher(Unit::PerSecond, of)
}

/// A data rate, of which more is better.
pub(crate) fn bytes_per_second(of: &'static str) -> Metric {
    Metric::higher(Unit::BytesPerSecond, of)
}

/// A metric whose words come from the source.
pub(crate) fn metric(unit: Unit, per: &str, better: Better) -> Metric {
    Metric { unit, per: per.to_owned().into(), better }
}

/// A fact in words. Empty words make none.
pub(crate) fn text(name: &str, value: &str, source: &str, affects: &[Primitive]) -> Option<Fact> {
    let value = value.trim();
    (!value.is_empty()).then(|| fact(name, FactValue::Text(value.to_owned()), None, source, affects))
}

/// A fact in numbers.
pub(crate) fn number(name: &str, value: f64, unit: &str, source: &str, affects: &[Primitive]) -> Fact {
    fact(name, FactValue::Number(value), Some(unit.to_owned()), source, affects)
}

fn fact(name: &str, value: FactValue, unit: Option<String>, source: &str, affects: &[Primitive]) -> Fact {
    Fact { name: name.to_owned(), value, unit, source: source.to_owned(), affects: affects.to_vec() }
}
