//! Determining the ratio of an exclusive core from the readings of a run.
//!
//! On an exclusive core the contention sensor always takes the same number of cycles; on a shared one it takes more,
//! depending on the other thread. The ratios of a run with both conditions are in a sharp lower mode and a broad upper
//! part. If there is only one mode, the readings do not show whether the core was never shared or always.

use model::{ExclusiveCore, ExclusiveSource, RULES, Share};

/// Range of plausible ratios: from ten adds per cycle to one and a half cycles per add.
const LEAST: f64 = 0.08;
const GREATEST: f64 = 1.5;
/// Relative width of a bin.
const BIN: f64 = 0.0005;
/// Bins on either side of the centre of a mode that belong to its peak: 0.4%.
const PEAK: usize = 8;
/// Bins on either side in which a mode is the maximum and its width is judged: 3%.
const AROUND: usize = 60;
/// A known ratio from another source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KnownRatio {
    pub(crate) ratio: f64,
    pub(crate) source: ExclusiveSource,
}

#[derive(Debug, Clone)]
pub(crate) struct RatioHistogram {
    bins: Vec<u32>,
    readings: u32,
}

impl Default for RatioHistogram {
    fn default() -> Self {
        let bins = ((GREATEST / LEAST).ln() / BIN).ceil() as usize;
        Self { bins: vec![0; bins], readings: 0 }
    }
}

impl RatioHistogram {
    /// Adds a reading. Implausible ratios, for example with an interrupt, are ignored.
    pub(crate) fn add(&mut self, ratio: f64) {
        if (LEAST..GREATEST).contains(&ratio) {
            let at = bin(ratio).min(self.bins.len() - 1);
            self.bins[at] += 1;
            self.readings += 1;
        }
    }

    fn between(&self, from: usize, to: usize) -> u32 {
        self.bins[from.min(self.bins.len())..(to + 1).min(self.bins.len())].iter().sum()
    }

    fn peak(&self, at: usize) -> u32 {
        self.between(at.saturating_sub(PEAK), at + PEAK)
    }

    /// Readings in the neighbourhood of a bin, on both sides.
    fn around(&self, at: usize) -> u32 {
        self.between(at.saturating_sub(AROUND), at + AROUND)
    }

    fn share(&self, readings: u32) -> f64 {
        f64::from(readings) / f64::from(self.readings.max(1))
    }

    /// Centre of the peak around a bin: the median of its readings.
    fn centre(&self, at: usize) -> f64 {
        let from = at.saturating_sub(PEAK);
        let half = self.peak(at).div_ceil(2);
        let mut sum = 0;
        for place in from..=(at + PEAK).min(self.bins.len() - 1) {
            sum += self.bins[place];
            if sum >= half {
                return ratio_of(place);
            }
        }
        ratio_of(at)
    }

    /// Sharp modes in rising order.
    fn modes(&self) -> Vec<usize> {
        let peaks: Vec<u32> = (0..self.bins.len()).map(|at| self.peak(at)).collect();
        let mut modes = Vec::new();
        for at in 0..peaks.len() {
            let near = &peaks[at.saturating_sub(AROUND)..(at + AROUND + 1).min(peaks.len())];
            let highest = peaks[at] > 0 && near.iter().all(|other| *other <= peaks[at]);
            // The first of equal neighbours.
            let first = !peaks[at.saturating_sub(AROUND)..at].contains(&peaks[at]);
            if highest && first && f64::from(peaks[at]) >= RULES.quality.mode_sharp * f64::from(self.around(at)) {
                modes.push(at);
            }
        }
        modes
    }

    /// Centre of the highest peak of readings that began without another thread. The peak must be sharp, have at least
    /// `fewest` readings, and have hardly any below it.
    pub(super) fn lowest_peak(&self, fewest: u32) -> Option<f64> {
        let highest = self.modes().into_iter().max_by_key(|at| (self.peak(*at), std::cmp::Reverse(*at)))?;
        let peak = self.peak(highest);
        let below = self.between(0, highest.saturating_sub(AROUND));
        let enough = peak >= fewest
            && self.share(peak) >= RULES.quality.lowest_peak
            && self.share(below) <= RULES.quality.below_lowest_peak;
        enough.then(|| self.centre(highest))
    }

    /// Relative distance between the quartiles of all readings.
    fn quartiles_apart(&self) -> f64 {
        let quartile = |share: f64| {
            let (mut sum, wanted) = (0.0, share * f64::from(self.readings));
            self.bins.iter().position(|count| {
                sum += f64::from(*count);
                sum >= wanted
            })
        };
        quartile(0.75).unwrap_or(0).abs_diff(quartile(0.25).unwrap_or(0)) as f64 * BIN
    }
}

fn bin(ratio: f64) -> usize {
    ((ratio / LEAST).ln() / BIN) as usize
}

fn ratio_of(bin: usize) -> f64 {
    LEAST * ((bin as f64 + 0.5) * BIN).exp()
}

/// The ratio of the exclusive core, from readings and known values. `alone` means that the machine itself shows that no
/// other thread shares the core.
pub(crate) fn learn(histogram: &RatioHistogram, known: &[KnownRatio], alone: bool) -> ExclusiveCore {
    let unknown = ExclusiveCore { readings: histogram.readings, ..ExclusiveCore::default() };
    if histogram.readings < RULES.quality.ratio_readings {
        return unknown;
    }
    let Some((at, source)) = exclusive_mode(histogram, known, alone) else { return unknown };
    let ratio = histogram.centre(at);
    let within = histogram.between(
        bin(ratio * (1.0 - 5.0 * RULES.quality.ratio_agrees)),
        bin(ratio * (1.0 + 5.0 * RULES.quality.ratio_agrees)),
    );
    let exclusive = Share::of(f64::from(within), f64::from(histogram.readings));
    ExclusiveCore { ratio: Some(ratio), source, exclusive, ..unknown }
}

/// Compares a known ratio with readings that [`learn`] cannot place. If nearly all are above it, the core was shared
/// all of the time. Such a run stores no ratio, since no batch of it would be clean.
pub(crate) fn shared_throughout(histogram: &RatioHistogram, known: &[KnownRatio]) -> Option<ExclusiveCore> {
    let known = known.first().filter(|_| histogram.readings >= RULES.quality.ratio_readings)?;
    let beyond =
        histogram.between(bin(known.ratio * (1.0 + 5.0 * RULES.quality.ratio_agrees)) + 1, histogram.bins.len() - 1);
    let below = histogram.between(0, bin(known.ratio * (1.0 - RULES.quality.ratio_agrees)));
    let exclusive = Share::of(f64::from(histogram.readings - beyond), f64::from(histogram.readings));
    (histogram.share(beyond) >= RULES.quality.throughout && histogram.share(below) < RULES.quality.at_known).then_some(
        ExclusiveCore {
            ratio: Some(known.ratio),
            source: known.source,
            exclusive,
            readings: histogram.readings,
            ..ExclusiveCore::default()
        },
    )
}

fn exclusive_mode(histogram: &RatioHistogram, known: &[KnownRatio], alone: bool) -> Option<(usize, ExclusiveSource)> {
    let modes = histogram.modes();
    let agrees = |at: usize, known: &KnownRatio| (ratio_of(at) / known.ratio - 1.0).abs() <= RULES.quality.ratio_agrees;
    // The peak near a known ratio, even if the core is nearly always shared and few readings are in it.
    for known in known {
        let (from, to) = (
            bin(known.ratio * (1.0 - RULES.quality.ratio_agrees)),
            bin(known.ratio * (1.0 + RULES.quality.ratio_agrees)),
        );
        let best = (from..=to).max_by_key(|at| (histogram.peak(*at), std::cmp::Reverse(*at)))?;
        if histogram.share(histogram.peak(best)) >= RULES.quality.at_known {
            let is_lower_mode = lower_mode(histogram, &modes).is_some_and(|mode| agrees(mode, known));
            return Some((best, if is_lower_mode { ExclusiveSource::LowerMode } else { known.source }));
        }
    }
    if let Some(mode) = lower_mode(histogram, &modes) {
        // Two kinds of steady neighbours also make two modes. If an exclusive core is known to be faster, the lower one
        // is not exclusive either.
        let shared = known.iter().any(|known| ratio_of(mode) > known.ratio * (1.0 + RULES.quality.ratio_agrees));
        return (!shared).then_some((mode, ExclusiveSource::LowerMode));
    }
    let single = modes.first().filter(|_| histogram.quartiles_apart() <= RULES.quality.single_mode);
    single.filter(|_| alone).map(|mode| (*mode, ExclusiveSource::Siblings))
}

/// The lowest sharp mode with enough readings, if enough others are above it and hardly any below.
fn lower_mode(histogram: &RatioHistogram, modes: &[usize]) -> Option<usize> {
    let lowest = *modes.iter().find(|mode| histogram.share(histogram.peak(**mode)) >= RULES.quality.lower_mode)?;
    let beyond = histogram.between(lowest + AROUND, histogram.bins.len() - 1);
    let below = histogram.between(0, lowest.saturating_sub(AROUND));
    let apart =
        histogram.share(beyond) >= RULES.quality.mode_beyond && histogram.share(below) < RULES.quality.lower_mode;
    apart.then_some(lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings that are evenly spread over `width` around a centre.
    fn spread(histogram: &mut RatioHistogram, centre: f64, width: f64, readings: u32) {
        for at in 0..readings {
            let place = (f64::from(at) + 0.5) / f64::from(readings) - 0.5;
            histogram.add(centre * (1.0 + width * place));
        }
    }

    fn of(parts: &[(f64, f64, u32)]) -> RatioHistogram {
        let mut histogram = RatioHistogram::default();
        parts.iter().for_each(|(centre, width, readings)| spread(&mut histogram, *centre, *width, *readings));
        histogram
    }

    const KNOWN: [KnownRatio; 1] = [KnownRatio { ratio: 0.2498, source: ExclusiveSource::EarlierRuns }];

    #[test]
    fn readings_beyond_a_known_ratio_are_of_a_shared_core() {
        let shared = of(&[(0.36, 0.4, 995), (0.25, 0.004, 5)]);
        assert_eq!(learn(&shared, &KNOWN, false).ratio, None, "too few are at the known ratio");
        let found = shared_throughout(&shared, &KNOWN).unwrap();
        assert_eq!((found.ratio, found.source), (Some(0.2498), ExclusiveSource::EarlierRuns));
        assert!(found.exclusive.unwrap().get() < 0.05, "{found:?}");
        assert_eq!(shared_throughout(&shared, &[]), None);
        // Readings below a known ratio show that it belongs to another core.
        assert_eq!(shared_throughout(&of(&[(0.36, 0.3, 950), (0.2, 0.01, 50)]), &KNOWN), None);
        assert_eq!(shared_throughout(&of(&[(0.36, 0.3, 600), (0.257, 0.01, 400)]), &KNOWN), None);
    }

    #[test]
    fn a_sharp_lower_mode_below_a_broad_part_is_the_exclusive_core() {
        let found = learn(&of(&[(0.25, 0.006, 400), (0.36, 0.4, 600)]), &[], false);
        assert_eq!(found.source, ExclusiveSource::LowerMode);
        assert!((found.ratio.unwrap_or(0.0) / 0.25 - 1.0).abs() < 0.002, "{found:?}");
        assert!(found.exclusive.is_some_and(|share| (0.38..0.45).contains(&share.get())), "{found:?}");
        // Below it are a few readings with interrupts.
        assert!(learn(&of(&[(0.25, 0.006, 400), (0.36, 0.4, 600), (0.17, 0.2, 20)]), &[], false).ratio.is_some());
    }

    #[test]
    fn a_core_that_is_shared_all_the_time_is_unknown() {
        assert_eq!(learn(&of(&[(0.36, 0.4, 1000)]), &[], false).source, ExclusiveSource::Unknown, "no mode at all");
        assert_eq!(learn(&of(&[(0.5, 0.003, 1000)]), &[], false).ratio, None, "one narrow mode, of a steady neighbour");
        assert_eq!(learn(&of(&[(0.5, 0.003, 1000)]), &KNOWN, false).ratio, None, "which is not the known one");
        let few = of(&[(0.25, 0.003, 30), (0.36, 0.4, 970)]);
        assert_eq!(learn(&few, &[], false).ratio, None, "3% may be anything");
        assert!(learn(&few, &KNOWN, false).ratio.is_some(), "unless it is known");
        assert_eq!(learn(&of(&[(0.25, 0.003, 60)]), &KNOWN, true).ratio, None, "too few");
    }

    #[test]
    fn two_kinds_of_neighbours_are_no_exclusive_core_where_one_is_known() {
        let never_exclusive = of(&[(0.33, 0.004, 500), (0.45, 0.004, 500)]);
        assert_eq!(learn(&never_exclusive, &KNOWN, false).source, ExclusiveSource::Unknown);
        let faster = of(&[(0.2, 0.004, 500), (0.33, 0.004, 500)]);
        assert_eq!(learn(&faster, &KNOWN, false).source, ExclusiveSource::LowerMode, "another core than the known one");
    }

    #[test]
    fn a_single_mode_is_believed_where_something_else_says_so() {
        let single = of(&[(0.25, 0.003, 1000)]);
        assert_eq!(learn(&single, &[], false).ratio, None);
        assert_eq!(learn(&single, &KNOWN, false).source, ExclusiveSource::EarlierRuns);
        assert_eq!(learn(&single, &[], true).source, ExclusiveSource::Siblings);
        let broad = of(&[(0.25, 0.05, 1000)]);
        assert_eq!(learn(&broad, &[], true).ratio, None, "siblings said to be idle, and yet no narrow mode");
    }
}
