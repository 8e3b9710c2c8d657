//! What version 0.1 printed: the interval of each statistic on a line of its own, below the benchmark's name.

use crate::sheet::{SourceReading, SourceSpread};
use crate::text::{SourceFault, need};

/// Beginnings of lines that state another statistic than the median, progress, or a test against an earlier run.
const NOTHING: [&str; 9] =
    ["mean [", "MAD [", "SD [", "slope [", "R^2 ", "Warming up for ", "Collecting ", "Found ", "p = "];

/// Whether a text has such lines.
pub(super) fn is_early(text: &str) -> bool {
    text.contains("> Estimating the statistics of the sample") && text.contains("median [")
}

/// Lines of one benchmark.
#[derive(Default)]
pub(super) struct EarlyLines {
    benchmark: String,
}

impl EarlyLines {
    /// Takes a line; whether it was one of these, with the reading that it states.
    pub(super) fn take(&mut self, line: &str, at: usize) -> Result<(bool, Option<SourceReading>), SourceFault> {
        let bare = line.trim_start_matches(['>', ' ']);
        if let Some(name) = line.strip_prefix("Benchmarking ") {
            name.trim().clone_into(&mut self.benchmark);
            return Ok((true, None));
        }
        let Some(bounds) = bare.strip_prefix("median [").filter(|_| line.starts_with('>')) else {
            let compared = line.ends_with(": Comparing with previous sample")
                || [" has regressed by ", " has improved by "].iter().any(|words| line.contains(words));
            return Ok((compared || NOTHING.iter().any(|begin| bare.starts_with(begin)), None));
        };
        let words: Vec<&str> = bounds.split(']').next().unwrap_or_default().split_whitespace().collect();
        // A change against an earlier run.
        if words.iter().any(|word| word.ends_with('%')) {
            return Ok((true, None));
        }
        let &[low, low_unit, high, high_unit] = words.as_slice() else {
            return Err(SourceFault::new("the interval does not have two values", at));
        };
        let scaled = |number: &str, unit: &str| {
            let scale = super::scale(unit).ok_or_else(|| super::unknown("time:", at))?;
            Ok(need(number, at)? * scale)
        };
        let (low, high) = (scaled(low, low_unit)?, scaled(high, high_unit)?);
        let spread = SourceSpread::Interval { low, high, level: 0.95 };
        let reading = super::reading(&self.benchmark, f64::midpoint(low, high), spread).note(super::ONE);
        Ok((
            true,
            Some(reading.note("the middle of the median's interval: version 0.1 prints no estimate, and no level")),
        ))
    }
}
