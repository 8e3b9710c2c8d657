//! Which runs a list shall hold.

use model::FigureKey;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};
use wildmatch::WildMatch;

use crate::{Error, Summary, index};

/// Figures named by a glob over `probe` or `probe:axis=value,...`, as in `memory.*` or `memory.copy:*threads=1*`.
///
/// A pattern without a colon is about the probe at whatever point. `*` is any text, `?` any one character.
#[derive(Debug, Clone)]
pub struct FigurePattern {
    probe: WildMatch,
    point: Option<WildMatch>,
}

impl FigurePattern {
    /// The pattern of a glob.
    #[must_use]
    pub fn new(glob: &str) -> Self {
        match glob.split_once(':') {
            Some((probe, point)) => Self { probe: WildMatch::new(probe), point: Some(WildMatch::new(point)) },
            None => Self { probe: WildMatch::new(glob), point: None },
        }
    }

    /// Whether a figure is meant. Its point counts in its own order and in alphabetical order.
    #[must_use]
    pub fn matches(&self, key: &FigureKey) -> bool {
        self.probe.matches(&key.probe)
            && self.point.as_ref().is_none_or(|point| {
                point.matches(&key.point.to_string()) || point.matches(&crate::key::canonical(&key.point))
            })
    }
}

/// Conditions on runs; the empty one holds for every run.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Glob over the machine's name, or the beginning of its fingerprint.
    pub machine: Option<String>,
    /// Glob over the label.
    pub label: Option<String>,
    /// Started then or later.
    pub since: Option<OffsetDateTime>,
    /// Started before then.
    pub until: Option<OffsetDateTime>,
    /// Holds a figure of this pattern, however it came out.
    pub figure: Option<FigurePattern>,
    /// Only complete, or only incomplete ones.
    pub complete: Option<bool>,
    /// Only the newest so many.
    pub newest: Option<usize>,
}

impl Filter {
    /// Whether a run passes the conditions that its summary can answer: all but `figure` and `newest`.
    #[must_use]
    pub fn accepts(&self, run: &Summary) -> bool {
        let started = i128::from(index::moment(&run.started)) * 1000;
        self.machine.as_ref().is_none_or(|name| {
            WildMatch::new(name).matches(&run.machine)
                || (!name.is_empty() && run.fingerprint.starts_with(name.as_str()))
        }) && self
            .label
            .as_ref()
            .is_none_or(|glob| run.label.as_ref().is_some_and(|label| WildMatch::new(glob).matches(label)))
            && self.since.is_none_or(|since| started >= since.unix_timestamp_nanos())
            && self.until.is_none_or(|until| started < until.unix_timestamp_nanos())
            && self.complete.is_none_or(|complete| run.complete == complete)
    }

    /// Reads a moment: RFC 3339, or a date, which means its midnight in UTC.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn moment(text: &str) -> Result<OffsetDateTime, Error> {
        OffsetDateTime::parse(text, &Rfc3339)
            .or_else(|_| {
                Date::parse(text, format_description!("[year]-[month]-[day]")).map(|date| date.midnight().assume_utc())
            })
            .map_err(|_| Error::Moment(text.to_owned()))
    }
}
