//! Offers and demand as TOML; errors are reported with their line.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use toml::Spanned;

use super::error::Error;
use super::plain;
use super::quantity::{Days, Memory, ParsedQuantity, Power, Years};

/// Offers and demand as written. Use [`parse`] to read it and [`Specification::problem`] to make it a problem.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    /// Currency of all money.
    #[serde(deserialize_with = "plain::named")]
    pub(crate) currency: String,
    /// Seed of random numbers.
    #[serde(default = "one")]
    pub(crate) seed: u64,
    /// Draws of unknown values.
    #[serde(default = "thousand")]
    pub(crate) draws: Spanned<usize>,
    pub(crate) demand: DemandWanted,
    #[serde(default, rename = "offer")]
    pub(crate) offers: Vec<OfferWanted>,
    /// Begin of each line; not a field of the text.
    #[serde(skip)]
    pub(crate) lines: Lines,
}

const fn one() -> u64 {
    1
}

fn thousand() -> Spanned<usize> {
    Spanned::new(0..0, 1000)
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DemandWanted {
    pub(crate) rate: Spanned<ParsedQuantity>,
    pub(crate) years: Spanned<Years>,
    #[serde(default, rename = "application")]
    pub(crate) applications: Vec<ApplicationWanted>,
    #[serde(default, deserialize_with = "plain::some_nodes")]
    pub(crate) nodes: Option<u32>,
    pub(crate) rate_per_node: Option<Spanned<ParsedQuantity>>,
    #[serde(default, deserialize_with = "plain::nodes")]
    pub(crate) spare_nodes: u32,
    pub(crate) memory_per_process: Option<Memory>,
    pub(crate) energy_price: Option<Spanned<ParsedQuantity>>,
    pub(crate) cooling: Option<Spanned<f64>>,
    pub(crate) budget: Option<Spanned<ParsedQuantity>>,
    pub(crate) purchase_limit: Option<Spanned<ParsedQuantity>>,
    pub(crate) power_limit: Option<Power>,
    #[serde(default, deserialize_with = "plain::some_at_least_zero")]
    pub(crate) rack_units: Option<f64>,
    pub(crate) delivery_within: Option<Days>,
    pub(crate) confidence: Option<Spanned<f64>>,
    pub(crate) late_premium: Option<Spanned<f64>>,
}

/// One application of the mix.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplicationWanted {
    /// Its name, to which rates of offers refer.
    pub(crate) name: Spanned<String>,
    /// Share of the events.
    pub(crate) share: Option<Spanned<f64>>,
    /// Result of runs that measures it.
    pub(crate) result: Option<String>,
    /// Events in one operation of the result.
    #[serde(default, deserialize_with = "plain::some_above_zero")]
    pub(crate) events: Option<f64>,
}

impl ApplicationWanted {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.get_ref()
    }

    /// The result of runs that measures it; by default its own name.
    #[must_use]
    pub fn result(&self) -> &str {
        self.result.as_deref().unwrap_or_else(|| self.name())
    }

    /// Events in one operation of the result.
    #[must_use]
    pub fn events(&self) -> f64 {
        self.events.unwrap_or(1.0)
    }
}

/// The name of a run, or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "the name of a run or a list of names")]
pub(crate) enum Names {
    One(String),
    Many(Vec<String>),
}

/// Rates of one node by application.
type OfferRates = BTreeMap<Spanned<String>, Spanned<ParsedQuantity>>;

/// Reads rates by application, and explains the format on other input.
fn rates<'de, D: Deserializer<'de>>(from: D) -> Result<OfferRates, D::Error> {
    struct RatesVisitor;

    impl<'de> Visitor<'de> for RatesVisitor {
        type Value = OfferRates;

        fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str("a rate for each application, such as { events = \"12 events/s\" }")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<OfferRates, M::Error> {
            let mut found = OfferRates::new();
            while let Some((name, rate)) = entries.next_entry()? {
                found.insert(name, rate);
            }
            Ok(found)
        }
    }

    from.deserialize_map(RatesVisitor)
}

/// One kind of machine on offer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferWanted {
    pub(crate) name: Spanned<String>,
    pub(crate) runs: Option<Names>,
    #[serde(default, deserialize_with = "rates")]
    pub(crate) rate: OfferRates,
    pub(crate) processes: Option<Spanned<u32>>,
    pub(crate) price: Option<Spanned<ParsedQuantity>>,
    pub(crate) price_per_hour: Option<Spanned<ParsedQuantity>>,
    pub(crate) power: Option<Power>,
    #[serde(default, deserialize_with = "plain::at_least_zero")]
    pub(crate) rack_units: f64,
    pub(crate) memory: Option<Memory>,
    pub(crate) maximum: Option<u32>,
    pub(crate) delivery: Option<Days>,
    pub(crate) availability: Option<Spanned<f64>>,
    #[serde(default, deserialize_with = "plain::at_least_zero")]
    pub(crate) failures_per_year: f64,
    pub(crate) repair: Option<Days>,
    pub(crate) repair_cost: Option<Spanned<ParsedQuantity>>,
    #[serde(default, deserialize_with = "plain::some_at_least_zero")]
    pub(crate) ports: Option<f64>,
    pub(crate) port: Option<Spanned<ParsedQuantity>>,
    pub(crate) card: Option<Spanned<ParsedQuantity>>,
    pub(crate) measurement_cost: Option<Spanned<ParsedQuantity>>,
    /// Fields with placeholder numbers that the reader must replace.
    #[serde(default)]
    pub(crate) placeholders: Vec<String>,
}

impl OfferWanted {
    /// Whether it states no power, so that a run may tell it.
    #[must_use]
    pub const fn states_no_power(&self) -> bool {
        self.power.is_none()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.get_ref()
    }

    /// Names of runs on this kind of machine.
    #[must_use]
    pub fn runs(&self) -> Vec<String> {
        match &self.runs {
            None => Vec::new(),
            Some(Names::One(name)) => vec![name.clone()],
            Some(Names::Many(names)) => names.clone(),
        }
    }

    /// Whether the text gives the rate of an application.
    #[must_use]
    pub fn has_rate(&self, application: &str) -> bool {
        self.rate.keys().any(|name| name.get_ref() == application)
    }
}

impl Specification {
    /// The offers, in the order of the text.
    #[must_use]
    pub fn offers(&self) -> &[OfferWanted] {
        &self.offers
    }

    /// The applications of the mix, in the order of the text.
    #[must_use]
    pub fn applications(&self) -> &[ApplicationWanted] {
        &self.demand.applications
    }

    /// Line of an item in the text, from 1.
    pub(crate) fn line<T>(&self, spanned: &Spanned<T>) -> usize {
        self.lines.place(spanned.span().start).0
    }

    /// An error at an item in the text.
    pub(crate) fn mistake<T>(&self, at: &Spanned<T>, reason: String) -> Error {
        let (line, column) = self.lines.place(at.span().start);
        Error::Text { line, column, reason }
    }
}

/// Offsets at which lines begin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// Line and column of an offset, from 1.
    fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.0.partition_point(|start| *start <= offset).max(1);
        (line, offset - self.0.get(line - 1).copied().unwrap_or(0) + 1)
    }
}

/// Parses offers and demand.
///
/// # Errors
/// At the first error, with its line: invalid TOML, an unknown or missing field, a wrong unit.
pub fn parse(text: &str) -> Result<Specification, Error> {
    let lines = Lines::of(text);
    match toml::from_str::<Specification>(text) {
        Ok(mut specification) => {
            specification.lines = lines;
            specification.check()?;
            Ok(specification)
        }
        Err(error) => {
            let (line, column) = lines.place(error.span().map_or(0, |span| span.start));
            Err(Error::Text { line, column, reason: error.message().replace('\n', " ") })
        }
    }
}
