//! Number of operations per batch, and of batches per sample.

use model::RULES;

/// Whether a batch of this many nanoseconds is long, so that a sample needs only one.
pub(crate) fn is_long(nanos: u64) -> bool {
    nanos as f64 >= RULES.worker.long_batch
}

/// Next number of operations to try, when `ops` took `nanos` and a batch should take `wanted`. It grows at most
/// tenfold, so that one wrong reading of a coarse clock does not cause minutes of work.
pub(crate) fn next(ops: u64, nanos: u64, wanted: u64) -> u64 {
    // A fifth more than necessary, so that the next trial is usually the last.
    let scale = (wanted as f64 * 1.2 / nanos.max(1) as f64).clamp(1.5, 10.0);
    ((ops as f64 * scale).ceil() as u64).max(ops + 1)
}

/// Rounds operations to a multiple of the kernel's granule, within its rule.
pub(crate) fn within(ops: u64, granule: u64, least: u64, most: u64) -> u64 {
    let granule = granule.max(1);
    let most = (most / granule).max(1) * granule;
    (ops.max(least).div_ceil(granule).saturating_mul(granule)).min(most)
}

/// Timed batches of a sample, if one batch takes `nanos`: the number of the plan, or fewer for long batches, at least
/// three, or one that is long. Pairs come in twos, one in each order.
pub(crate) fn batches(planned: u32, nanos: u64, rule: Option<u32>, paired: bool) -> u32 {
    let fitting = (RULES.worker.sample_nanos / nanos.max(1) as f64) as u32;
    let least = if is_long(nanos) { 1 } else { RULES.worker.fewest_batches };
    let batches = rule.unwrap_or_else(|| fitting.clamp(planned.min(least), planned));
    if paired { batches.next_multiple_of(2) } else { batches }
}

/// Fewest warm-up batches: eight of ordinary length, fewer of longer ones, and none of a long one.
pub(crate) fn warmup(nanos: u64) -> u32 {
    let fitting = (RULES.worker.sample_nanos / 2.0 / nanos.max(1) as f64) as u32;
    fitting.clamp(u32::from(!is_long(nanos)), RULES.worker.warmup_batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: u64 = 1_000_000_000;

    #[test]
    fn batches_shrink_only_for_long_operations() {
        assert_eq!(batches(20, 1_200_000, None, false), 20);
        assert_eq!(batches(20, 10_000_000, None, false), 4);
        assert_eq!(batches(20, 500_000_000, None, false), 3);
        assert_eq!(batches(20, 500_000_000, None, true), 4, "a pair in either order");
        assert_eq!((batches(20, LONG, None, false), batches(20, LONG, None, true)), (1, 2));
        assert_eq!(batches(20, 1_000_000, Some(5), false), 5);
        assert_eq!((warmup(1_000_000), warmup(10_000_000), warmup(500_000_000)), (8, 2, 1));
        assert_eq!(warmup(LONG), 0);
    }

    #[test]
    fn operations_come_in_whole_granules() {
        assert_eq!(within(10, 4, 1, u64::MAX), 12);
        assert_eq!(within(10, 4, 1, 10), 8);
        assert_eq!(within(1, 1, 5, 100), 5);
        assert!(next(1, 10, 1_000_000) == 10 && next(100, 900_000, 1_000_000) == 150);
    }
}
