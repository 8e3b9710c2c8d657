//! The common factor of everything that runs in user mode, and what the clocks say it should be.

use model::{FactValue, Machine};
use stats::distribution::normal_quantile;

use super::test::Test;

/// Fewest user-mode figures from which a common factor is read.
pub(crate) const FEWEST: usize = 3;

/// Location of the logarithms of user-mode time ratios.
pub(crate) struct Common {
    /// Logarithm that is removed from every test: 0 when there is no common factor.
    pub(crate) log: f64,
    /// Its standard deviation, 0 when there is none to remove.
    pub(crate) error: f64,
    /// Median, where there are enough figures.
    pub(crate) median: Option<f64>,
    /// Interval of the median as logarithms, session floor included.
    pub(crate) interval: Option<(f64, f64)>,
}

/// The median over user-mode tests. It counts as a common factor when its interval, widened by the floor that the
/// tests share, lies wholly outside the band.
pub(crate) fn common_factor(tests: &[Test], one_session: bool, band: f64, level: f64) -> Common {
    let logs: Vec<f64> = tests.iter().filter(|test| test.pure_user).map(|test| test.log).collect();
    let spread = tests.iter().any(|test| test.pure_user && test.error.is_some());
    let none = Common { log: 0.0, error: 0.0, median: None, interval: None };
    let Some(median) = stats::median(&logs).filter(|_| logs.len() >= FEWEST) else { return none };
    let z = normal_quantile(0.5 + level / 2.0);
    // Without spread nobody knows the floor either: the scatter of the figures is all there is.
    let floor = if one_session || !spread {
        0.0
    } else {
        let floors = tests.iter().filter(|test| test.pure_user).map(|test| test.class.session_floor());
        z * std::f64::consts::SQRT_2 * floors.fold(0.0, f64::max)
    };
    let interval = stats::median_interval(&logs, level).map(|found| {
        (median - (median - found.interval.low).hypot(floor), median + (found.interval.high - median).hypot(floor))
    });
    let (low, high) = interval.unwrap_or((median - floor, median + floor));
    if low <= band && high >= -band {
        return Common { median: Some(median), interval, ..none };
    }
    Common { log: median, error: (high - low) / (2.0 * z), median: Some(median), interval }
}

/// Clock of A over clock of B, and what had to be assumed to read it.
pub(crate) fn clock_ratio(a: &Machine, b: &Machine) -> Option<(f64, Option<String>)> {
    let (x, y) = (clock(a)?, clock(b)?);
    let assumed: Vec<String> = [&x, &y].into_iter().filter_map(|clock| clock.1.clone()).collect();
    Some((x.0 / y.0, (!assumed.is_empty()).then(|| assumed.join("; "))))
}

/// A machine's nominal clock in hertz, from a fact in hertz or from the name of its CPU.
fn clock(machine: &Machine) -> Option<(f64, Option<String>)> {
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

/// Clocks are multiples of a bus clock and are printed rounded: 1.73 GHz is 52 x 33 1/3 MHz. A clock given to 10 MHz is
/// read as the multiple of 33 1/3 MHz that rounds to it, where there is one.
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
