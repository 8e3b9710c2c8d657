//! The offered load up to which an event builder keeps up.

/// An offered load and what came of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// Events a second that were offered.
    pub offered: f64,
    /// Events a second that were built.
    pub built: f64,
    /// 99% quantile of the completion times, seconds.
    pub p99: f64,
}

/// Share of the offered events that must be built, and how much longer than at the least load they may take.
const KEPT: f64 = 0.95;
const LONGER: f64 = 3.0;

/// The highest of rising loads that is carried, with all lower ones: 95% of the events are built, and their 99% quantile
/// is at most three times the least of a lower load. `None` if not even the lowest load is.
#[must_use]
pub fn knee(points: &[LoadPoint]) -> Option<f64> {
    let mut least = f64::INFINITY;
    let carried = |point: &&LoadPoint| {
        least = least.min(point.p99);
        point.built >= KEPT * point.offered && point.p99 <= LONGER * least
    };
    points.iter().take_while(carried).last().map(|point| point.offered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_before_the_first_load_that_is_not_carried() {
        let point = |offered, built, p99| LoadPoint { offered, built, p99 };
        let rising = [point(10.0, 10.0, 1.0), point(20.0, 20.0, 2.0), point(40.0, 39.0, 9.0), point(80.0, 50.0, 99.0)];
        assert_eq!(knee(&rising), Some(20.0));
        assert_eq!(knee(&rising[..2]), Some(20.0), "the knee is not reached");
        assert_eq!(knee(&[point(10.0, 5.0, 1.0)]), None);
        assert_eq!(knee(&[]), None);
    }
}
