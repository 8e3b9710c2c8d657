//! The levels of the memory hierarchy, found on the latency curve and then measured one by one.
//!
//! The calibrating sample surveys the curve: working sets from 4 KiB until main memory has been level over a factor of
//! eight, or to 256 MiB. Its level stretches are the levels of the run. Their ranges are the variant of the run, so
//! that every sample refers to the same levels. Each sample measures their latencies again and, by bisection, where one
//! ends and the next begins. Only requested values are measured.

use kernels::memory::{Arena, Pages, PreparationHelpers};
use kernels::ring::{ChasePattern, ChaseRing};

use super::levels::{Level, has_ended, joined, levels};
use crate::prelude::*;

/// Smallest and largest working set of a survey, bytes.
const SMALLEST: u64 = 4 * KIB;
const LARGEST: u64 = 256 * MIB;
/// Sets of parameters per doubling: more up to `LEAST`, where sets of parameters take little time.
const FINE: f64 = 4.0;
/// Passes over the curve, whose fastest counts, and the most passes if the number of levels differs from the reported
/// caches. Other users of a shared cache blur the curve, and a step of the clock adds a level.
const PASSES: usize = 3;
const MOST_PASSES: usize = 8;
/// Times that each level found is measured again before it counts.
const CONFIRMATIONS: usize = 3;
/// The survey continues at least to this size, bytes.
const LEAST: u64 = 64 * MIB;
/// Smallest ratio of the latencies of two levels that a sample counts as separate.
const STEP: f64 = 1.15;
/// Loads of one timing, and the timings of a set of parameters.
const LOADS: u64 = 32 * 1024;
const TIMINGS: usize = 3;
/// Working sets up to which a sample measures several places of its memory, and their number. The pages of a set decide
/// its conflicts in a cache of its size. Samples of one place differed by 12% in the size of a second level.
const SCATTERED: u64 = 4 * MIB;
const PLACES: u64 = 8;
/// Bisections of the gap between two levels.
const HALVINGS: u32 = 4;
/// Main memory is measured at this multiple of the smallest working set that only it can hold.
const MAIN_MEMORY_FACTOR: u64 = 8;
const LINE: u64 = 64;
/// Working sets up to which other CPUs do not help to write and visit a chain. Starting them would take longer than
/// small chains need, and larger ones leave little in the caches of this core.
const WRITTEN_ALONE: u64 = 2 * MIB;
const VISITED_ALONE: u64 = 64 * MIB;
/// The parts of a variant.
const BEFORE: &str = model::SURVEYED_LEVELS;
const HUGE: &str = " on huge pages";
const BASE: &str = " on base pages";

/// The levels, the memory in which they are measured, and the results of this sample so far.
pub(super) struct HierarchyCurve {
    arena: Arena,
    seed: u64,
    helpers: PreparationHelpers,
    levels: Vec<Level>,
    latencies: Vec<Option<f64>>,
    sizes: Vec<Option<f64>>,
}

impl HierarchyCurve {
    /// The curve with known levels, or surveyed now. It uses huge pages, which exclude address translation, or base
    /// pages if the system has no others.
    pub(super) fn new(known: Option<&str>, seed: u64, helpers: &PreparationHelpers) -> Result<Self, Unsupported> {
        let available = os::usage::available_bytes()?;
        if LARGEST > available / 2 {
            let [needed, available] = [2 * LARGEST, available].map(model::spoken_size);
            return Err(Unsupported::new(format!("it needs {needed} of free memory, and {available} are available")));
        }
        match known {
            Some(text) => {
                let (levels, pages) =
                    parse(text).ok_or_else(|| Unsupported::new(format!("no levels can be read from '{text}'")))?;
                let used = levels.iter().map(|level| level.to).max().unwrap_or(0);
                let used = used.max(levels.last().map_or(0, |last| main_memory(*last))).min(LARGEST);
                Ok(Self::over(Arena::populated_by(used as usize, pages, helpers)?, seed, helpers, levels))
            }
            None => Self::surveyed(Pages::Huge, seed, helpers).or_else(|_| Self::surveyed(Pages::Base, seed, helpers)),
        }
    }

    fn over(arena: Arena, seed: u64, helpers: &PreparationHelpers, levels: Vec<Level>) -> Self {
        let nothing = vec![None; levels.len()];
        Self { arena, seed, helpers: helpers.clone(), levels, latencies: nothing.clone(), sizes: nothing }
    }

    fn surveyed(pages: Pages, seed: u64, helpers: &PreparationHelpers) -> Result<Self, Unsupported> {
        let mut curve = Self::over(Arena::populated_by(LARGEST as usize, pages, helpers)?, seed, helpers, Vec::new());
        let levels = curve.survey().map_err(|fault| Unsupported::new(fault.to_string()))?;
        Ok(Self::over(curve.arena, seed, helpers, levels))
    }

    /// The levels and the page size in the stored and displayed form.
    pub(super) fn variant(&self) -> String {
        let size = |bytes: u64| model::format_size(bytes);
        let ranges: Vec<_> =
            self.levels.iter().map(|level| format!("{}-{}", size(level.from), size(level.to))).collect();
        format!("{}{}{}", BEFORE, ranges.join(", "), if self.arena.pages() == Pages::Huge { HUGE } else { BASE })
    }

    /// Number of levels, main memory included.
    pub(super) fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Number of levels that this sample confirms: the first, and each that is slower than the one before by `STEP`.
    pub(super) fn steps(&mut self) -> Result<usize, BenchmarkError> {
        let latencies = (0..self.levels.len()).map(|index| self.latency(index)).collect::<Result<Vec<_>, _>>()?;
        Ok(1 + latencies.windows(2).filter(|pair| pair[1] > STEP * pair[0]).count())
    }

    /// Latency of a level in seconds: the median of three working sets well inside it, or for main memory one far
    /// beyond the caches.
    pub(super) fn latency(&mut self, index: usize) -> Result<f64, BenchmarkError> {
        if let Some(known) = self.latencies[index] {
            return Ok(known);
        }
        let level = self.levels[index];
        let latency = if index + 1 == self.levels.len() {
            self.parameters(main_memory(level))?
        } else {
            let inside = [0.25, 0.5, 0.75].map(|share| self.parameters(between(level.from, level.to, share)));
            let inside = inside.into_iter().collect::<Result<Vec<_>, _>>()?;
            stats::median(&inside).ok_or_else(|| BenchmarkError::new("a level has no latency"))?
        };
        self.latencies[index] = Some(latency);
        Ok(latency)
    }

    /// Size of a level in bytes: the working set at which the latency crosses the logarithmic middle between it and the
    /// next, by bisection and linear interpolation at the end.
    pub(super) fn size(&mut self, index: usize) -> Result<f64, BenchmarkError> {
        if let Some(known) = self.sizes[index] {
            return Ok(known);
        }
        let (mut below, mut above) = (self.latency(index)?, self.latency(index + 1)?);
        let middle = (below * above).sqrt();
        let (mut low, mut high) = (self.levels[index].to, self.levels[index + 1].from);
        for _ in 0..HALVINGS {
            let size = between(low, high, 0.5);
            if size <= low || size >= high {
                break;
            }
            let found = self.parameters(size)?;
            if found < middle { (low, below) = (size, found) } else { (high, above) = (size, found) }
        }
        let share = if above > below { (middle / below).ln() / (above / below).ln() } else { 0.5 };
        let size = low as f64 * (high as f64 / low as f64).powf(share);
        self.sizes[index] = Some(size);
        Ok(size)
    }

    /// Latency over one working set, in seconds: the median of three timings, or of one in each of several places.
    fn parameters(&mut self, bytes: u64) -> Result<f64, BenchmarkError> {
        let apart = bytes.next_multiple_of(kernels::memory::page_size() as u64);
        let places = if bytes > SCATTERED { 1 } else { (self.arena.len() as u64 / apart).clamp(1, PLACES) };
        if places == 1 {
            return self.timed(0, bytes, TIMINGS);
        }
        let latencies = (0..places).map(|place| self.timed(place * apart, bytes, 1)).collect::<Result<Vec<_>, _>>()?;
        stats::median(&latencies).ok_or_else(|| BenchmarkError::new("nothing was timed"))
    }

    /// Latency over one working set that begins at a byte of the memory, in seconds: the median of some timings after a
    /// lap that fills the caches.
    fn timed(&mut self, from: u64, bytes: u64, timings: usize) -> Result<f64, BenchmarkError> {
        let alone = PreparationHelpers::none();
        let words = self.arena.words_mut().get_mut((from / 8) as usize..((from + bytes) / 8) as usize);
        let writers = if bytes > WRITTEN_ALONE { &self.helpers } else { &alone };
        let ring = words.and_then(|words| ChaseRing::written_by(words, ChasePattern::Random, self.seed, writers));
        let mut ring = ring.ok_or_else(|| BenchmarkError::new("a working set does not fit its memory"))?;
        if bytes > VISITED_ALONE {
            ring.visit(&self.helpers);
        } else {
            // Eight chains at once fill the caches like one, in an eighth of the time.
            let mut chains = ring.starts(8);
            ring.chase_parallel(&mut chains, ring.lap().div_ceil(8));
        }
        let mut nanos = Vec::new();
        for _ in 0..timings {
            let from = ring.position();
            let began = kernels::clock::now();
            let arrived = ring.chase(LOADS);
            nanos.push((kernels::clock::now() - began) as f64);
            BenchmarkError::unless_equal(Some(arrived), ring.position_after(from, LOADS))?;
        }
        let median = stats::median(&nanos).ok_or_else(|| BenchmarkError::new("nothing was timed"))?;
        Ok(median * 1e-9 / LOADS as f64)
    }

    /// Measures the curve from small to large until it has ended, and finds its levels. Most sets of parameters are
    /// measured several times and the fastest counts, so that other users of a shared cache do not appear as a step.
    fn survey(&mut self) -> Result<Vec<Level>, BenchmarkError> {
        let (mut sizes, mut latencies): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut size = SMALLEST;
        while size <= LARGEST {
            sizes.push(size as f64);
            latencies.push(self.timed(0, size, TIMINGS)?);
            if size >= LEAST && has_ended(&sizes, &latencies) {
                break;
            }
            let per_doubling = if size < LEAST { FINE } else { FINE / 2.0 };
            size = lines(size as f64 * (1.0 / per_doubling).exp2());
        }
        let caches = reported_caches();
        let mut passes = 1;
        loop {
            let (found, last) = (levels(&sizes, &latencies), passes == MOST_PASSES);
            if last || passes >= PASSES && (caches == 0 || found.len() == caches + 1) {
                let confirmed = self.confirmed(&found)?;
                if last || caches == 0 || confirmed.len() == found.len() {
                    return Ok(confirmed);
                }
            }
            for (size, latency) in sizes.iter().zip(&mut latencies).filter(|(size, _)| **size <= LEAST as f64) {
                *latency = latency.min(self.timed(0, *size as u64, TIMINGS)?);
            }
            passes += 1;
        }
    }

    /// The levels that are levels again when each is measured as samples do it. A survey reads its last sets of
    /// parameters once, so other users of the memory can create a false level, such as one of 158 to 224 MB on a
    /// machine whose largest cache has 32.
    fn confirmed(&mut self, found: &[Level]) -> Result<Vec<Level>, BenchmarkError> {
        let mut readings = vec![Vec::new(); found.len()];
        for _ in 0..CONFIRMATIONS {
            self.levels = found.to_vec();
            self.latencies = vec![None; found.len()];
            for (index, of_level) in readings.iter_mut().enumerate() {
                of_level.push(self.latency(index)?);
            }
        }
        let heights: Vec<f64> = readings.iter().filter_map(|of_level| stats::median(of_level)).collect();
        Ok(joined(found, &heights))
    }
}

/// Levels of caches for data that the system reports for this CPU.
fn reported_caches() -> usize {
    let (Ok(machine), cpu) = (os::topology::read(), kernels::affinity::current()) else { return 0 };
    machine.caches(cpu).filter(|(cache, _)| cache.kind != model::CacheKind::Instruction).count()
}

/// A working set between two others, at a fraction of the distance on a logarithmic scale.
fn between(low: u64, high: u64, share: f64) -> u64 {
    lines(low as f64 * (high as f64 / low as f64).powf(share))
}

/// Rounds to whole cache lines.
fn lines(bytes: f64) -> u64 {
    (bytes / LINE as f64).round() as u64 * LINE
}

/// The working set at which main memory is measured. The end of its level in a survey is not reproducible: on one
/// machine it was 79 MB in one run and 224 MB in the next, with 98 and 160 ns a load.
fn main_memory(level: Level) -> u64 {
    LARGEST.min(level.from.saturating_mul(MAIN_MEMORY_FACTOR)) / LINE * LINE
}

fn parse(text: &str) -> Option<(Vec<Level>, Pages)> {
    let level = |range: &str| {
        let range = model::surveyed_level(range)?;
        Some(Level { from: *range.start(), to: *range.end() })
    };
    let text = text.strip_prefix(BEFORE)?;
    let huge = text.strip_suffix(HUGE).map(|ranges| (ranges, Pages::Huge));
    let (ranges, pages) = huge.or_else(|| Some((text.strip_suffix(BASE)?, Pages::Base)))?;
    Some((ranges.split(", ").map(level).collect::<Option<_>>()?, pages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_levels_are_read_back() {
        let (levels, pages) = parse("level over 4KiB-40KiB, 64KiB-1304KiB, 32MiB-256MiB on base pages").unwrap();
        assert_eq!((levels[1], pages), (Level { from: 64 * KIB, to: 1304 * KIB }, Pages::Base));
        let curve =
            HierarchyCurve::over(Arena::reserve(4096, pages).unwrap(), 1, &PreparationHelpers::none(), levels.clone());
        assert_eq!(parse(&curve.variant()), Some((levels, pages)));
        assert!(parse("avx512").is_none() && parse("level over 4KiB on huge pages").is_none());
    }

    #[test]
    fn main_memory_is_measured_far_out_wherever_a_survey_saw_it_end() {
        let ended = |from, to| main_memory(Level { from, to });
        assert_eq!(ended(79_184_704, 79_184_704), LARGEST);
        assert_eq!(ended(158_369_408, 223_968_192), LARGEST);
        assert_eq!(
            ended(2 * MIB, 256 * MIB),
            16 * MIB,
            "on a machine with small caches it takes no longer than it must"
        );
    }

    #[test]
    fn whole_lines_between_two_sizes() {
        assert_eq!(between(4096, 16384, 0.5), 8192);
        assert_eq!((between(4096, 8192, 0.0), between(4096, 8192, 1.0)), (4096, 8192));
        assert_eq!(between(64 * KIB, 77_312, 0.3) % LINE, 0);
    }
}
