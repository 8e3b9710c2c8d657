//! How much of the common factor a figure's time follows.

use model::{Domain, Figure, Primitive};

use super::common::CommonFactorFit;
use super::test::CORE;

/// How a figure's time follows what moves everything in user mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follows {
    /// In full: the core alone decides it.
    Whole,
    /// Not the clock: memory, a device or a timer decides it, as both runs' launches say.
    NotTheClock,
    /// By an unknown part.
    Part,
}

impl Follows {
    /// By the domains that both runs recorded. Without them only what the core alone does is known to follow.
    pub(crate) fn of(a: &Figure, b: &Figure, primitive: Primitive) -> Self {
        let domain = |figure: &Figure| figure.references.as_ref().map(|references| references.domain);
        let beyond = |domain| matches!(domain, Domain::Memory | Domain::Device | Domain::Timer);
        match (domain(a), domain(b)) {
            (Some(Domain::Core), Some(Domain::Core)) => Self::Whole,
            (Some(x), Some(y)) if beyond(x) && beyond(y) => Self::NotTheClock,
            (None, None) if CORE.contains(&primitive) => Self::Whole,
            _ => Self::Part,
        }
    }

    /// Logarithm of the factor that is removed from a test outside user mode whose time changed by `log`. A test that
    /// follows by an unknown part is left with what no part of the factor explains, and so is each where it is not
    /// known what the factor is.
    pub(crate) fn removed(self, log: f64, common: &CommonFactorFit) -> f64 {
        match self {
            Self::Whole if common.is_clock => common.log,
            Self::NotTheClock if common.read => 0.0,
            _ => log.clamp(common.log.min(0.0), common.log.max(0.0)),
        }
    }
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
