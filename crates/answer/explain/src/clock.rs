//! The common factor that the clocks of two runs imply.

use model::{FactValue, Machine, Run};

use compare::ShownClock;

/// The clocks of two runs.
pub(crate) struct ClockEvidence {
    /// Clock of A over clock of B.
    pub(crate) ratio: f64,
    /// Whether the runs measured these clocks; otherwise they are nominal ones from the facts.
    pub(crate) seen: bool,
    /// Whether the references read them, over the time of both runs, and the standard deviation of the ratio's
    /// logarithm.
    pub(crate) read: Option<f64>,
    /// How far the logarithm of the ratio may be off, since a clock moved within a run.
    pub(crate) unsure: f64,
    /// The assumption needed to read them.
    pub(crate) assumed: Option<String>,
}

impl ClockEvidence {
    /// Whether a common factor, given as a logarithm, agrees with the clocks within `tolerance`.
    pub(crate) fn agrees(&self, log: f64, tolerance: f64) -> bool {
        let off = (log - self.ratio.ln()).abs();
        // Clocks that changed within a run by as much as the factor agree with nothing. Neither do clocks that moved by
        // less than half of it, however uncertain the factor.
        let moved = self.ratio.ln() * log.signum() >= 0.5 * log.abs() - self.unsure;
        off <= tolerance + self.unsure && self.unsure <= 0.5 * log.abs() && moved
    }
}

/// The clocks from both runs' sensors; else those that both runs measured; else those in both machines' facts.
pub(crate) fn clock_evidence(a: &Run, b: &Run) -> Option<ClockEvidence> {
    let read = || {
        let (x, y) = (ShownClock::of(a)?, ShownClock::of(b)?);
        let error = x.error().hypot(y.error());
        Some(ClockEvidence { ratio: x.hertz / y.hertz, seen: true, read: Some(error), unsure: 0.0, assumed: None })
    };
    let seen = || {
        let ((x, unsure_x), (y, unsure_y)) = (seen_clock(a)?, seen_clock(b)?);
        Some(ClockEvidence { ratio: x / y, seen: true, read: None, unsure: unsure_x.max(unsure_y), assumed: None })
    };
    read().or_else(seen).or_else(|| {
        let (x, y) = (nominal(&a.machine)?, nominal(&b.machine)?);
        let assumed: Vec<String> = [&x, &y].into_iter().filter_map(|clock| clock.1.clone()).collect();
        let assumed = (!assumed.is_empty()).then(|| assumed.join("; "));
        Some(ClockEvidence { ratio: x.0 / y.0, seen: false, read: None, unsure: 0.0, assumed })
    })
}

/// The clock observed by a run, and half of the logarithm of its change: the recorded range, else the median over its
/// samples.
fn seen_clock(run: &Run) -> Option<(f64, f64)> {
    let range = run.session.conditions.clock.filter(|(low, high)| *low > 1e6 && high.is_finite() && low <= high);
    if let Some((low, high)) = range {
        return Some(((low * high).sqrt(), 0.5 * (high / low).ln()));
    }
    let samples = run.results.iter().flat_map(|result| &result.samples);
    let clocks: Vec<f64> = samples
        .filter(|sample| sample.invalid.is_none())
        .filter_map(|sample| sample.frequency)
        .map(|(before, after)| f64::midpoint(before, after))
        .filter(|hertz| *hertz > 1e6 && hertz.is_finite())
        .collect();
    stats::median(&clocks).map(|hertz| (hertz, 0.0))
}

/// A machine's nominal clock, hertz, from a fact or from the name of its CPU.
fn nominal(machine: &Machine) -> Option<(f64, Option<String>)> {
    let number = |name: &str| machine.number(name).filter(|hertz| *hertz > 1e6);
    let stated =
        ["cpu.clock", "cpu.frequency", "cpu.frequency.base", "cpu.frequency.nominal", "cpu.frequency.max", "clock"]
            .iter()
            .find_map(|name| number(name));
    let named = || {
        let facts = machine.facts.iter().filter(|fact| fact.name.to_lowercase().starts_with("cpu"));
        let texts = facts.filter_map(|fact| match &fact.value {
            FactValue::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.chain([machine.summary.as_str(), machine.name.as_str()]).find_map(printed_clock)
    };
    stated.or_else(named).map(unrounded)
}

/// The clock in a name such as `Athlon XP 2100+ (1.73 GHz)`.
fn printed_clock(text: &str) -> Option<f64> {
    let lower = text.to_lowercase();
    for (unit, scale) in [("ghz", 1e9), ("mhz", 1e6)] {
        if let Some(at) = lower.find(unit) {
            let digits: String =
                lower[..at].trim_end().chars().rev().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            if let Ok(value) = digits.chars().rev().collect::<String>().parse::<f64>() {
                return Some(value * scale);
            }
        }
    }
    None
}

/// Clocks are multiples of a bus clock and are printed rounded: 1.73 GHz is 52 x 33 1/3 MHz. A clock printed to 10 MHz
/// is read as the multiple of 33 1/3 MHz that rounds to it, if there is one.
fn unrounded(printed: f64) -> (f64, Option<String>) {
    const BUS: f64 = 100e6 / 3.0;
    let coarse = (printed / 1e7).fract().abs() < 1e-6 || (printed / 1e7).fract() > 1.0 - 1e-6;
    let nearest = (printed / BUS).round() * BUS;
    let moved = (nearest - printed).abs();
    if coarse && moved > 1e3 && moved <= 5e6 {
        let text = format!(
            "a clock printed as {:.2} GHz is {:.1} MHz, a multiple of 33 1/3 MHz",
            printed / 1e9,
            nearest / 1e6
        );
        (nearest, Some(text))
    } else {
        (printed, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_from_names_and_unrounded() {
        let named = |text: &str| printed_clock(text).map(|hertz| (unrounded(hertz).0 / 1e5).round() / 10.0);
        assert_eq!(named("AMD Athlon XP 2100+ (1.73 GHz)"), Some(1733.3));
        assert_eq!(named("AMD Athlon XP 2200+ (1.8 GHz)"), Some(1800.0));
        assert_eq!(named("Intel(R) Xeon(R) CPU @ 2.25GHz"), Some(2250.0));
        assert_eq!(named("DEC Alpha UW/533 MHz"), Some(533.0));
        assert_eq!(named("no clock here, GHz"), None);
    }
}
