//! What is said where readings of the clock tell none.

use model::{BenchmarkResult, CLOCK, Estimate, Unit};

use crate::PrintedQuantity;

/// More than any processor has, hertz: twice what was ever reached by overclocking.
const HIGHEST: f64 = 2e10;

/// More than the highest clock of any processor over its lowest: 400 MHz to 5.5 GHz are a factor of 14.
const FARTHEST: f64 = 16.0;

/// Why a result that is the clock of a run tells none, as an emulated or interrupted reference makes one; `None` for
/// all others.
pub(crate) fn unknown_clock(result: &BenchmarkResult) -> Option<String> {
    let estimate = result.outcome.estimate().filter(|_| result.benchmark == CLOCK)?;
    no_clock(estimate)
}

/// The same for an estimate of a clock, hertz.
pub(crate) fn no_clock(estimate: &Estimate) -> Option<String> {
    let Estimate { low, high, .. } = *estimate;
    if high <= HIGHEST && high <= FARTHEST * low {
        return None;
    }
    let said = |hertz: f64| PrintedQuantity::bare(hertz, Unit::Hertz).short();
    Some(format!("its readings say {} to {}, which no processor's clock does", said(low), said(high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_no_processor_has_is_none() {
        let of = |value: f64, low: f64, high: f64| Estimate { low, high, ..Estimate::without_spread(value) };
        assert_eq!(no_clock(&of(3e9, 4e8, 5.5e9)), None);
        assert_eq!(no_clock(&of(3e9, 3e9, 3e9)), None);
        let said = no_clock(&of(3e9, 2e7, 3.1e9)).unwrap_or_default().replace('\u{a0}', " ");
        assert_eq!(said, "its readings say 20 MHz to 3.1 GHz, which no processor's clock does");
        for (low, high) in [(3e9, 3.1e10), (0.0, 4e9)] {
            assert!(no_clock(&of(3.5e9, low, high)).is_some(), "{low} to {high}");
        }
    }
}
