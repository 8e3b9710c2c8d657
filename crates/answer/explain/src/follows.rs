//! How much of the common factor a result's time follows.

use model::{BenchmarkResult, Domain, Primitive};

/// Primitives of a benchmark that runs at the core's speed.
pub(crate) const CORE: &[Primitive] = &[
    Primitive::CoreClock,
    Primitive::IntegerAlu,
    Primitive::FloatingPoint,
    Primitive::Divide,
    Primitive::Vector,
    Primitive::Aes,
    Primitive::Sha,
    Primitive::IntMatrix,
    Primitive::BitCounting,
    Primitive::Branch,
];

/// How a result's time follows what moves everything in user mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follows {
    /// In full: the core alone decides it.
    Whole,
    /// Not the clock: memory, a device or a timer decides it, as both runs' samples say.
    NotTheClock,
    /// By an unknown part.
    Part,
}

impl Follows {
    /// By the domains that both runs recorded. Without them only results of the core alone are known to follow.
    pub(crate) fn of(a: &BenchmarkResult, b: &BenchmarkResult, primitive: Primitive) -> Self {
        let domain = |result: &BenchmarkResult| result.sensors.as_ref().map(|sensors| sensors.domain);
        let beyond = |domain| matches!(domain, Domain::Memory | Domain::Device | Domain::Timer);
        match (domain(a), domain(b)) {
            (Some(Domain::Core), Some(Domain::Core)) => Self::Whole,
            (Some(x), Some(y)) if beyond(x) && beyond(y) => Self::NotTheClock,
            (None, None) if CORE.contains(&primitive) => Self::Whole,
            _ => Self::Part,
        }
    }
}
