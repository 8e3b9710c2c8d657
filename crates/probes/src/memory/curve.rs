//! The levels of the memory hierarchy, found on the latency curve and then measured one by one.
//!
//! The calibrating launch surveys the whole curve: working sets from 4 KiB until latency has stayed level over eight times the
//! last step. Its plateaus are the levels. Their ranges are the variant of the run, so that every launch speaks of the same
//! levels, and each launch measures anew how high they are and, by bisection, where one ends and the next begins.

use sys::kernel::ring::{Order, Ring};
use sys::memory::{Arena, Pages};

use crate::prelude::*;

/// Smallest and largest working set of a survey, bytes.
const SMALLEST: u64 = 4 * KIB;
const LARGEST: u64 = GIB;
/// Points to a doubling: fine below `COARSE`, where points are cheap.
const FINE: f64 = 4.0;
const COARSE: u64 = 4 * MIB;
/// The survey goes on to here at least.
const LEAST: u64 = 64 * MIB;
/// Latency over this many points above `COARSE` tells whether the curve has become level.
const LEVEL_POINTS: usize = 5;
/// A step to the next level is at least this ratio.
const STEP: f64 = 1.15;
/// Loads of one timing, of which a point has three.
const LOADS: u64 = 32 * 1024;
/// Halvings of the gap between two levels.
const HALVINGS: u32 = 5;
/// The last level is measured within this many times its smallest working set.
const REACH: u64 = 8;
const LINE: u64 = 64;

/// Working sets of one level, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    from: u64,
    to: u64,
}

/// What one pass found: of each level its latency in seconds, and of each but the last its size in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pass {
    pub(super) latencies: Vec<f64>,
    pub(super) sizes: Vec<f64>,
}

impl Pass {
    /// How many levels are there: the first, and each that is a step above the one before.
    pub(super) fn levels(&self) -> usize {
        1 + self.latencies.windows(2).filter(|pair| pair[1] > STEP * pair[0]).count()
    }
}

/// The levels and the memory they are measured in.
pub(super) struct Curve {
    arena: Arena,
    seed: u64,
    levels: Vec<Level>,
    passes: Vec<Pass>,
}

impl Curve {
    /// The curve whose levels are known, or surveyed now.
    pub(super) fn new(known: Option<&str>, seed: u64) -> Result<Self, Unfit> {
        let most = LARGEST.min(sys::memory::available_bytes()? / 2).max(LEAST);
        // Huge pages keep address translation out of the curve; without them it is in, and said to be.
        let arena =
            Arena::reserve(most as usize, Pages::Huge).or_else(|_| Arena::reserve(most as usize, Pages::Base))?;
        let mut curve = Self { arena, seed, levels: Vec::new(), passes: Vec::new() };
        curve.levels = match known {
            Some(text) => parse(text).ok_or_else(|| Unfit::new(format!("no levels can be read from '{text}'")))?,
            None => curve.survey(most)?,
        };
        if curve.levels.is_empty() {
            return Err(Unfit::new("the latency curve is nowhere level"));
        }
        Ok(curve)
    }

    /// The levels as the run stores and shows them.
    pub(super) fn variant(&self) -> String {
        let size = |bytes: u64| model::format_size(bytes);
        let ranges: Vec<_> =
            self.levels.iter().map(|level| format!("{}-{}", size(level.from), size(level.to))).collect();
        format!("level over {}", ranges.join(", "))
    }

    /// Levels, main memory included.
    pub(super) fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Share of the memory in use that lies on huge pages.
    pub(super) fn is_huge(&self) -> bool {
        let used = self.levels.last().map_or(0, |level| level.to.min(level.from.saturating_mul(REACH)));
        self.arena.huge_share().is_ok_and(|share| share.huge as f64 >= 0.95 * used as f64)
    }

    /// The pass of this number: the first of its sharers to ask measures it.
    pub(super) fn pass(&mut self, number: usize) -> Result<Pass, Fault> {
        while self.passes.len() <= number {
            let pass = self.measure()?;
            self.passes.push(pass);
        }
        Ok(self.passes[number].clone())
    }

    fn measure(&mut self) -> Result<Pass, Fault> {
        let levels = self.levels.clone();
        let latencies = levels.iter().enumerate().map(|(index, level)| self.height(*level, index + 1 == levels.len()));
        let latencies = latencies.collect::<Result<Vec<_>, _>>()?;
        let sizes = (1..levels.len()).map(|next| {
            let middle = (latencies[next - 1] * latencies[next]).sqrt();
            self.edge(levels[next - 1].to, levels[next].from, middle)
        });
        let sizes = sizes.collect::<Result<Vec<_>, _>>()?;
        Ok(Pass { latencies, sizes })
    }

    /// Latency of a level: the median of three working sets well inside it.
    fn height(&mut self, level: Level, is_last: bool) -> Result<f64, Fault> {
        let (to, shares) = if is_last {
            (level.to.min(level.from.saturating_mul(REACH)), [0.5, 0.75, 1.0])
        } else {
            (level.to, [0.25, 0.5, 0.75])
        };
        let heights = shares.map(|share| self.point(between(level.from, to, share)));
        let heights = heights.into_iter().collect::<Result<Vec<_>, _>>()?;
        stats::median(&heights).ok_or_else(|| Fault::new("a level has no latency"))
    }

    /// The working set between two levels at which latency passes `middle`, by bisection and a straight line at the end.
    fn edge(&mut self, mut low: u64, mut high: u64, middle: f64) -> Result<f64, Fault> {
        let (mut below, mut above) = (self.point(low)?.min(middle), self.point(high)?.max(middle));
        for _ in 0..HALVINGS {
            let size = between(low, high, 0.5);
            if size <= low || size >= high {
                break;
            }
            let found = self.point(size)?;
            if found < middle { (low, below) = (size, found) } else { (high, above) = (size, found) }
        }
        let share = if above > below { (middle / below).ln() / (above / below).ln() } else { 0.5 };
        Ok(low as f64 * (high as f64 / low as f64).powf(share))
    }

    /// Latency over one working set, in seconds: the median of three timings after a lap that fills the caches.
    fn point(&mut self, bytes: u64) -> Result<f64, Fault> {
        let words = self.arena.words_mut().get_mut(..(bytes / 8) as usize);
        let ring = words.and_then(|words| Ring::new(words, Order::Random, self.seed));
        let mut ring = ring.ok_or_else(|| Fault::new("a working set does not fit its memory"))?;
        // Eight chains at once fill the caches as one would, in an eighth of the time.
        let mut chains = ring.starts(8);
        ring.chase_parallel(&mut chains, ring.lap().div_ceil(8));
        let mut nanos = Vec::new();
        for _ in 0..3 {
            let from = ring.position();
            let began = sys::clock::now();
            let arrived = ring.chase(LOADS);
            nanos.push((sys::clock::now() - began) as f64);
            Fault::unless_equal(Some(arrived), ring.position_after(from, LOADS))?;
        }
        let median = stats::median(&nanos).ok_or_else(|| Fault::new("nothing was timed"))?;
        Ok(median * 1e-9 / LOADS as f64)
    }

    /// Measures the curve from small to large until it has become level, and finds its plateaus.
    fn survey(&mut self, most: u64) -> Result<Vec<Level>, Unfit> {
        let (mut sizes, mut latencies): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut size = SMALLEST;
        while size <= most {
            sizes.push(size as f64);
            latencies.push(self.point(size).map_err(|fault| Unfit::new(fault.to_string()))?);
            if size >= LEAST && is_level(&latencies) {
                break;
            }
            let per_doubling = if size < COARSE { FINE } else { FINE / 2.0 };
            size = lines(size as f64 * (1.0 / per_doubling).exp2());
        }
        let plateaus = stats::fit::plateau::plateaus(&sizes, &latencies, 0.95);
        Ok(plateaus.iter().map(|plateau| Level { from: plateau.from as u64, to: plateau.to as u64 }).collect())
    }
}

/// Whether the last points lie within one step of each other.
fn is_level(latencies: &[f64]) -> bool {
    let last = &latencies[latencies.len().saturating_sub(LEVEL_POINTS)..];
    let (low, high) = last.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(*x), high.max(*x)));
    last.len() == LEVEL_POINTS && high < STEP * low
}

/// A working set between two others, by its share of the way on a logarithmic scale.
fn between(low: u64, high: u64, share: f64) -> u64 {
    lines(low as f64 * (high as f64 / low as f64).powf(share))
}

/// Whole cache lines.
fn lines(bytes: f64) -> u64 {
    (bytes / LINE as f64).round() as u64 * LINE
}

fn parse(text: &str) -> Option<Vec<Level>> {
    let level = |range: &str| {
        let (from, to) = range.split_once('-')?;
        Some(Level { from: model::parse_size(from).ok()?, to: model::parse_size(to).ok()? })
    };
    text.strip_prefix("level over ")?.split(", ").map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_survive_being_stored() {
        let levels = parse("level over 4KiB-40KiB, 64KiB-1304KiB, 32MiB-256MiB").unwrap();
        assert_eq!(levels[1], Level { from: 64 * KIB, to: 1304 * KIB });
        let arena = Arena::reserve(4096, Pages::Base).unwrap();
        let curve = Curve { arena, seed: 1, levels: levels.clone(), passes: Vec::new() };
        assert_eq!(parse(&curve.variant()), Some(levels));
        assert!(parse("avx512").is_none() && parse("level over 4KiB").is_none());
    }

    #[test]
    fn only_steps_count_as_levels() {
        let pass = |latencies: &[f64]| Pass { latencies: latencies.to_vec(), sizes: Vec::new() };
        assert_eq!(pass(&[1.2e-9, 4e-9, 20e-9, 90e-9]).levels(), 4);
        assert_eq!(pass(&[1.2e-9, 4e-9, 4.1e-9]).levels(), 2);
    }

    #[test]
    fn a_curve_is_level_when_its_end_is() {
        assert!(is_level(&[1.0, 5.0, 100.0, 101.0, 104.0, 99.0, 103.0]));
        assert!(!is_level(&[1.0, 60.0, 80.0, 99.0, 101.0, 104.0]));
        assert!(!is_level(&[1.0, 1.0]));
    }
}
