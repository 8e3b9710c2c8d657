//! Units as tables print them.

use model::{Better, Metric, Unit};

/// A unit as a table prints it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedUnitName {
    /// As printed.
    pub name: &'static str,
    /// The base unit.
    pub unit: Unit,
    /// Its size in base units.
    pub scale: f64,
    per: &'static str,
}

/// Every unit that a description may name.
pub const UNITS: &[PrintedUnitName] = &[
    of("s", Unit::Seconds, 1.0, "operation"),
    of("ms", Unit::Seconds, 1e-3, "operation"),
    of("us", Unit::Seconds, 1e-6, "operation"),
    of("ns", Unit::Seconds, 1e-9, "operation"),
    of("MB/s", Unit::BytesPerSecond, 1e6, "bytes"),
    of("KBps", Unit::BytesPerSecond, 1e3, "bytes"),
    of("per s", Unit::PerSecond, 1.0, "operations"),
    of("lps", Unit::PerSecond, 1.0, "loops"),
    of("lpm", Unit::PerSecond, 1.0 / 60.0, "loops"),
    of("KiB", Unit::Bytes, 1024.0, "bytes"),
    of("J", Unit::Joules, 1.0, "operation"),
    of("%", Unit::Ratio, 0.01, "whole"),
    of("1", Unit::Ratio, 1.0, "whole"),
];

const fn of(name: &'static str, unit: Unit, scale: f64, per: &'static str) -> PrintedUnitName {
    PrintedUnitName { name, unit, scale, per }
}

impl PrintedUnitName {
    /// The unit of a name; `None` if it is unknown.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        UNITS.iter().copied().find(|unit| unit.name == name)
    }

    /// The metric of a result in this unit. A ratio is better when lower, unless stated otherwise.
    pub(super) fn metric(self, per: Option<&str>, better: Option<Better>) -> Metric {
        let usual = if self.unit.is_rate() { Better::Higher } else { Better::Lower };
        crate::sheet::metric(self.unit, per.unwrap_or(self.per), better.unwrap_or(usual))
    }
}
