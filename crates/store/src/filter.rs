//! Which runs a list includes.

use model::FigureKey;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};
use wildmatch::WildMatch;

use crate::{Error, Summary, index};

/// Figures selected by a glob over `probe` or `probe:axis=value,...`, such as `memory.*` or `memory.copy:*threads=1*`.
///
/// A pattern without a colon matches the probe at every point. `*` is any text, `?` any one character.
#[derive(Debug, Clone)]
pub struct FigurePattern {
    probe: WildMatch,
    point: Option<WildMatch>,
}

impl FigurePattern {
    /// Parses a glob.
    #[must_use]
    pub fn new(glob: &str) -> Self {
        match glob.split_once(':') {
            Some((probe, point)) => Self { probe: WildMatch::new(probe), point: Some(WildMatch::new(point)) },
            None => Self { probe: WildMatch::new(glob), point: None },
        }
    }

    /// Whether a figure matches. The point is compared in its own order of axes and in alphabetical order.
    #[must_use]
    pub fn matches(&self, key: &FigureKey) -> bool {
        self.probe.matches(&key.probe)
            && self.point.as_ref().is_none_or(|point| {
                point.matches(&key.point.to_string()) || point.matches(&crate::key::canonical(&key.point))
            })
    }
}

/// Conditions on runs; the empty filter accepts every run.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Glob over the machine's name, or the beginning of its fingerprint.
    pub machine: Option<String>,
    /// Glob over the label.
    pub label: Option<String>,
    /// Started at this time or later.
    pub since: Option<OffsetDateTime>,
    /// Started before this time.
    pub until: Option<OffsetDateTime>,
    /// Has a figure that matches this pattern, whatever its outcome.
    pub figure: Option<FigurePattern>,
    /// Only complete runs, or only incomplete ones.
    pub complete: Option<bool>,
    /// Only this many of the newest runs.
    pub newest: Option<usize>,
}

impl Filter {
    /// Whether a run meets the conditions that its summary can answer: all but `figure` and `newest`.
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

    /// Parses a time: RFC 3339, or a date, which means midnight in UTC.
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
