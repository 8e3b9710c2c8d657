//! The level stretches of a latency curve.
//!
//! Noise differs along the curve (a private cache has little, a shared one more), so the slope alone decides whether a
//! stretch is level. It is the median of the slopes between all pairs of neighbouring points (Theil 1950, Sen 1968), on
//! logarithmic scales, over half a doubling to either side in private caches and a whole one in shared caches.

/// Working sets of one level, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) from: u64,
    pub(super) to: u64,
}

/// Fewest sets of parameters on either side from which a slope is computed.
const SIDE: usize = 2;
/// Size from which on caches are taken for shared ones, bytes, and the doublings to either side below and above it, a
/// rounding of sizes to lines included.
const SHARED: f64 = 4.0 * 1024.0 * 1024.0;
const NEAR: f64 = 0.55;
const FAR: f64 = 1.05;
/// Steepest slope of a level: the exponent of latency over size. Steps are steeper than 1/2.
const FLAT: f64 = 0.3;
/// Smallest ratio of sizes in a level.
const SPAN: f64 = 1.9;
/// Smallest ratio of the latencies of two levels.
const STEP: f64 = 1.3;
/// Ratio of sizes at the end of the curve that count as main memory if even that is not level.
const END: f64 = 2.0;

/// The levels of a curve of positive latencies over increasing sizes, by size; the last is main memory and extends to
/// the end of the curve.
pub(super) fn levels(sizes: &[f64], latencies: &[f64]) -> Vec<Level> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for index in 0..sizes.len() {
        match runs.last_mut() {
            _ if slope(sizes, latencies, index) > FLAT => {}
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => runs.push((index, index)),
        }
    }
    runs.retain(|(first, last)| sizes[*last] / sizes[*first] >= SPAN);
    let Some(end) = sizes.len().checked_sub(1) else { return Vec::new() };
    if runs.last().is_none_or(|(_, last)| *last < end) {
        let first = sizes.iter().position(|size| size * END >= sizes[end]).unwrap_or(end);
        let first = runs.last().map_or(first, |(_, last)| first.max(last + 1));
        runs.push((first, end));
    }
    let height = |run: (usize, usize)| stats::median(&latencies[run.0..=run.1]).unwrap_or_default();
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for run in runs {
        match joined.last_mut() {
            Some(before) if height(run) < STEP * height(*before) => before.1 = run.1,
            _ => joined.push(run),
        }
    }
    joined.iter().map(|(first, last)| Level { from: sizes[*first] as u64, to: sizes[*last] as u64 }).collect()
}

/// Merges each level with the one before if it is no longer a step when measured again, at these latencies.
pub(super) fn joined(levels: &[Level], latencies: &[f64]) -> Vec<Level> {
    let mut kept: Vec<(Level, f64)> = Vec::new();
    for (level, latency) in levels.iter().zip(latencies) {
        match kept.last_mut() {
            Some((before, height)) if *latency < STEP * *height => before.to = level.to,
            _ => kept.push((*level, *latency)),
        }
    }
    kept.into_iter().map(|(level, _)| level).collect()
}

/// Slope of the curve around a set of parameters.
fn slope(sizes: &[f64], latencies: &[f64], at: usize) -> f64 {
    let reach = if sizes[at] < SHARED { NEAR } else { FAR }.exp2();
    let (low, high) = (sizes[at] / reach, sizes[at] * reach);
    let (first, last) = (sizes.partition_point(|size| *size < low), sizes.partition_point(|size| *size <= high) - 1);
    // Both ends of the curve use the same number of points as its middle.
    let first = first.min(at.saturating_sub(SIDE)).min(sizes.len().saturating_sub(2 * SIDE + 1));
    let last = last.max(first + 2 * SIDE).min(sizes.len() - 1);
    let pairs = (first..last).flat_map(|left| (left + 1..=last).map(move |right| (left, right)));
    let slopes: Vec<f64> =
        pairs.map(|(l, r)| (latencies[r] / latencies[l]).ln() / (sizes[r] / sizes[l]).ln()).collect();
    stats::median(&slopes).unwrap_or(0.0)
}

/// Whether a curve has ended: its last sets of parameters are in a level over a factor of eight.
pub(super) fn has_ended(sizes: &[f64], latencies: &[f64]) -> bool {
    let found = levels(sizes, latencies);
    found.len() > 1 && found.last().is_some_and(|last| last.to >= 8 * last.from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server core in a virtual machine: size in KiB and latency in nanoseconds. Its third level is shared with other
    /// machines, and its memory is not level.
    const SERVER: [(f64, f64); 53] = [
        (4.0, 1.393),
        (4.75, 1.392),
        (5.625, 1.339),
        (6.6875, 1.286),
        (7.9375, 1.285),
        (9.4375, 1.285),
        (11.25, 1.285),
        (13.375, 1.285),
        (15.875, 1.285),
        (18.875, 1.285),
        (22.4375, 1.285),
        (26.6875, 1.285),
        (31.75, 1.285),
        (37.75, 1.285),
        (44.875, 1.288),
        (53.375, 5.701),
        (63.5, 3.804),
        (75.5, 4.124),
        (89.8125, 3.813),
        (106.8125, 3.817),
        (127.0, 3.816),
        (151.0, 3.819),
        (179.5625, 3.817),
        (213.5625, 3.819),
        (254.0, 3.817),
        (302.0625, 3.817),
        (359.1875, 3.819),
        (427.125, 3.996),
        (507.9375, 4.224),
        (604.0625, 4.438),
        (718.375, 4.615),
        (854.3125, 4.752),
        (1015.9375, 4.863),
        (1208.1875, 6.474),
        (1436.8125, 10.384),
        (1708.6875, 15.526),
        (2032.0, 35.018),
        (2416.5, 20.967),
        (2873.75, 24.295),
        (3417.5, 32.846),
        (4064.125, 34.156),
        (4833.125, 36.605),
        (6835.0, 42.392),
        (9666.125, 46.980),
        (13669.9375, 45.743),
        (19332.1875, 53.927),
        (27339.8125, 55.647),
        (38664.3125, 48.359),
        (54679.625, 49.883),
        (77328.3125, 67.189),
        (109359.25, 103.512),
        (154657.3125, 115.227),
        (218718.5, 138.732),
    ];

    fn of(curve: impl Iterator<Item = (f64, f64)>) -> Vec<Level> {
        let (sizes, latencies): (Vec<f64>, Vec<f64>) = curve.unzip();
        levels(&sizes, &latencies)
    }

    #[test]
    fn a_noisy_curve_of_three_caches_has_four_levels() {
        let found = of(SERVER.into_iter().map(|(size, latency)| (size * 1024.0, latency)));
        assert_eq!(found.len(), 4, "{found:?}");
        let within = |level: usize, kib: f64| {
            let bytes = (kib * 1024.0) as u64;
            found[level].from <= bytes && bytes <= found[level].to
        };
        assert!(within(0, 32.0) && within(1, 512.0) && within(2, 20_000.0) && within(3, 218_000.0), "{found:?}");
        assert!(!within(0, 50.0) && !within(1, 2048.0) && !within(2, 100_000.0), "{found:?}");
    }

    #[test]
    fn known_hierarchies_are_found() {
        let sizes = (0..=64).map(|step| 4096.0 * (f64::from(step) / 4.0).exp2());
        let latency = |size: f64| match size {
            s if s <= 32_768.0 => 1.0,
            s if s <= 1_048_576.0 => 4.0,
            _ => 80.0,
        };
        let found = of(sizes
            .clone()
            .map(|size| (size, latency(size) * if (size as u64).is_multiple_of(3) { 1.02 } else { 1.0 })));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].to <= 32_768 && found[1].from > 32_768 && found[1].to <= 1_048_576, "{found:?}");
        assert_eq!(found[2].to, 268_435_456);
        assert_eq!(of(sizes.map(|size| (size, 5.0))).len(), 1, "no caches at all");
    }

    /// Sets of parameters of a survey: four a doubling to 64 MiB, then two.
    fn surveyed_sizes() -> Vec<f64> {
        let mib = 1024.0 * 1024.0;
        let fine = (0..56).map(|step| 4096.0 * (f64::from(step) / 4.0).exp2());
        fine.chain((0..=4).map(|step| 64.0 * mib * (f64::from(step) / 2.0).exp2())).collect()
    }

    /// Latency with gradual edges, as random replacement makes them: each cache serves the share of the set that it
    /// holds.
    fn blurred(size: f64, caches: &[(f64, f64)], memory: f64) -> f64 {
        let mut left = 1.0;
        let mut latency = 0.0;
        for (bytes, nanos) in caches {
            let held = (bytes / size).powi(2).min(1.0);
            latency += left * held * nanos;
            left *= 1.0 - held;
        }
        latency + left * memory
    }

    #[test]
    fn a_shared_cache_is_found_through_its_noise_and_none_where_none_is() {
        let mut rng = stats::simulate::generator(7);
        let sizes = surveyed_sizes();
        let (private, shared) = ([(49_152.0, 1.2), (2_097_152.0, 5.0)], (70e6, 45.0));
        let mut found = [0, 0];
        for (with, found) in [true, false].into_iter().zip(&mut found) {
            let caches: Vec<(f64, f64)> = private.into_iter().chain(with.then_some(shared)).collect();
            for _ in 0..300 {
                // The least of three readings removes most interference; private caches have hardly any.
                let mut noise = |size: f64| {
                    let others = if size < 2e6 { 0.005 } else { 0.4 };
                    let once = |_| others * stats::simulate::standard_normal(&mut rng).abs();
                    (0..3).map(once).fold(f64::INFINITY, f64::min)
                };
                let curve: Vec<f64> =
                    sizes.iter().map(|size| blurred(*size, &caches, 160.0) * noise(*size).exp()).collect();
                *found += usize::from(levels(&sizes, &curve).len() == if with { 4 } else { 3 });
            }
        }
        assert!(found.iter().all(|found| *found >= 297), "{found:?} of 300");
    }

    #[test]
    fn a_level_that_is_none_when_measured_again_is_a_part_of_the_one_before() {
        let level = |from, to| Level { from, to };
        let found = [
            level(4096, 27_328),
            level(45_952, 154_624),
            level(8_323_264, 79_184_704),
            level(158_369_408, 223_968_192),
        ];
        assert_eq!(joined(&found, &[1.3, 4.0, 170.0, 185.0]), [found[0], found[1], level(8_323_264, 223_968_192)]);
        assert_eq!(joined(&found, &[1.3, 4.0, 40.0, 185.0]), found);
        assert_eq!(joined(&found[..1], &[1.3]), found[..1]);
        assert!(joined(&[], &[]).is_empty());
    }

    #[test]
    fn short_curves_do_not_panic() {
        assert!(of(std::iter::empty()).is_empty());
        assert_eq!(of([(4096.0, 1.0)].into_iter()).len(), 1);
        assert_eq!(of([(4096.0, 1.0), (8192.0, 9.0)].into_iter()).len(), 1);
    }

    #[test]
    fn a_curve_has_ended_when_memory_is_level_for_long() {
        let sizes: Vec<f64> = (0..=64).map(|step| 4096.0 * (f64::from(step) / 4.0).exp2()).collect();
        let step = |edge: f64| sizes.iter().map(|size| if *size <= edge { 1.0 } else { 50.0 }).collect::<Vec<_>>();
        assert!(has_ended(&sizes, &step(16e6)));
        assert!(!has_ended(&sizes, &step(100e6)), "memory was seen for too short");
        assert!(!has_ended(&sizes, &step(1e12)), "no step was seen");
    }
}
