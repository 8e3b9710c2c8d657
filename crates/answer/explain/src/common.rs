//! The common factor of all work in user mode.

use stats::distribution::normal_quantile;

use super::clock::ClockEvidence;
use super::follows::Follows;
use super::test::{ExplainedResult, FEWEST};

/// Location of the logarithms of user-mode time ratios.
pub(crate) struct CommonFactorFit {
    /// Logarithm that is removed from every test; 0 without a common factor.
    pub(crate) log: f64,
    /// Its standard deviation; 0 without a common factor.
    pub(crate) error: f64,
    /// Whether it comes from the sensors.
    pub(crate) read: bool,
    /// Whether it is the clock, by the sensors or in agreement with the clocks.
    pub(crate) is_clock: bool,
    /// Median, where there are enough results.
    pub(crate) median: Option<f64>,
    /// Interval of the median as logarithms, including the session floor.
    pub(crate) interval: Option<(f64, f64)>,
}

impl CommonFactorFit {
    /// Standard deviation of a test's residual. A core result without the clock is its cycles, which the clock's error
    /// does not affect, and the factor's error comes with the factor.
    pub(crate) fn error_left(&self, test: &ExplainedResult) -> Option<f64> {
        test.error.map(|error| {
            if (self.read && test.in_cycles) || test.removed == 0.0 { error } else { error.hypot(self.error) }
        })
    }
}

impl Follows {
    /// Logarithm of the factor that is removed from a test outside user mode whose time changed by `log`. A test that
    /// follows by an unknown part keeps only the residual that no part of the factor explains. So does every test if
    /// the factor's kind is unknown.
    pub(crate) fn removed(self, log: f64, common: &CommonFactorFit) -> f64 {
        match self {
            Self::Whole if common.is_clock => common.log,
            Self::NotTheClock if common.read => 0.0,
            _ => log.clamp(common.log.min(0.0), common.log.max(0.0)),
        }
    }
}

/// The ratio of the clocks from the sensors of both runs, unless results in user mode contradict it; else the median
/// over those results. It counts as a common factor when its interval, widened by the floor that the tests share, lies
/// wholly outside the band.
pub(crate) fn common_factor(
    tests: &[ExplainedResult],
    clock: Option<&ClockEvidence>,
    one_session: bool,
    band: f64,
    level: f64,
) -> CommonFactorFit {
    let z = normal_quantile(0.5 + level / 2.0);
    let by_tests = by_tests(tests, one_session, band, level);
    let agrees = |clock: &ClockEvidence| clock.agrees(by_tests.log, band + z * by_tests.error);
    let is_clock = by_tests.log != 0.0 && clock.is_some_and(agrees);
    let of_tests = CommonFactorFit { is_clock, ..by_tests };
    let Some((log, error)) = clock.and_then(|clock| Some((clock.ratio.ln(), clock.read?))) else { return of_tests };
    // Without results in user mode any core result follows the clock.
    let followed = of_tests.median.map_or_else(
        || tests.iter().any(|test| test.in_cycles),
        |median| (median - log).abs() <= band + z * error.hypot(of_tests.error),
    );
    match (followed, log.abs() - z * error > band) {
        (true, true) => {
            let interval = Some((log - z * error, log + z * error));
            CommonFactorFit { log, error, interval, read: true, is_clock: true, ..of_tests }
        }
        (true, false) => CommonFactorFit { log: 0.0, error: 0.0, is_clock: false, ..of_tests },
        (false, _) => of_tests,
    }
}

/// The median over user-mode tests.
fn by_tests(tests: &[ExplainedResult], one_session: bool, band: f64, level: f64) -> CommonFactorFit {
    let logs: Vec<f64> = tests.iter().filter(|test| test.pure_user).map(|test| test.log).collect();
    let spread = tests.iter().any(|test| test.pure_user && test.error.is_some());
    let none = CommonFactorFit { log: 0.0, error: 0.0, read: false, is_clock: false, median: None, interval: None };
    let Some(median) = stats::median(&logs).filter(|_| logs.len() >= FEWEST) else { return none };
    let z = normal_quantile(0.5 + level / 2.0);
    // Without spread the floor is unknown too, and the scatter of the results is the only measure.
    let floor = if one_session || !spread {
        0.0
    } else {
        let floors = tests.iter().filter(|test| test.pure_user).map(|test| test.class.session_noise());
        z * std::f64::consts::SQRT_2 * floors.fold(0.0, f64::max)
    };
    let interval = stats::median_interval(&logs, level).map(|found| {
        (median - (median - found.interval.low).hypot(floor), median + (found.interval.high - median).hypot(floor))
    });
    let (low, high) = interval.unwrap_or((median - floor, median + floor));
    if low <= band && high >= -band {
        return CommonFactorFit { median: Some(median), interval, ..none };
    }
    CommonFactorFit { log: median, error: (high - low) / (2.0 * z), median: Some(median), interval, ..none }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_factor_explains_what_lies_between() {
        let factor = |log: f64, is_clock: bool| CommonFactorFit {
            log,
            error: 0.0,
            read: is_clock,
            is_clock,
            median: None,
            interval: None,
        };
        let clock = factor(0.7, true);
        assert!((Follows::Whole.removed(0.0, &clock) - 0.7).abs() < 1e-12);
        assert!(Follows::NotTheClock.removed(0.7, &clock).abs() < 1e-12);
        for (log, expected) in [(-0.2, 0.0), (0.0, 0.0), (0.3, 0.3), (0.7, 0.7), (0.9, 0.7)] {
            assert!((Follows::Part.removed(log, &clock) - expected).abs() < 1e-12, "{log}");
            assert!((Follows::Part.removed(-log, &factor(-0.7, true)) + expected).abs() < 1e-12, "-{log}");
            for follows in [Follows::Whole, Follows::NotTheClock] {
                assert!(
                    (follows.removed(log, &factor(0.7, false)) - expected).abs() < 1e-12,
                    "not known to be the clock"
                );
            }
        }
    }
}
