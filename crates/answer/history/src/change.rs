//! Change points of one series, found as its runs arrive.
//!
//! After every run the mean of the last few runs is compared with the runs before them, for several numbers of last
//! runs: the change-point model of statistical process control, whose level and noise are not known beforehand
//! (Hawkins, Qiu and Kang, Journal of Quality Technology 35, 2003). What was found after a run stays found, so that
//! looking every night does not raise the number of false alarms. The place of a change is then the split with the
//! smallest sum of squares.
//!
//! Benchmarks have single bad nights, which are no changes. A run farther out than the noise allows therefore counts
//! only as much as the share of such runs in the whole family says: its tail probability is that of a mixture of a
//! normal distribution with this share of spikes, and probabilities are combined as by Stouffer (1949).

use std::collections::HashMap;

use stats::distribution::{normal_cdf, normal_quantile, student_t_quantile};

/// Numbers of last runs that are compared with those before. Fewer than three are a spike.
pub(crate) const WIDTHS: [usize; 6] = [3, 4, 6, 9, 14, 21];

/// Runs before them that count.
const BASELINE: usize = 180;

/// Runs on either side of a change that say how large it is.
const AROUND: usize = 30;

/// Fewest runs before a change where nothing is known about the noise.
pub(crate) const FEWEST: usize = 8;

/// Fewest runs since the last change.
const FEWEST_AGAIN: usize = 3;

/// Share of the runs on each side whose distance is that of the next one (Tukey and McLaughlin, Sankhya A 25, 1963),
/// and the standard deviation of a normal variable treated so.
const WINSORISED: (f64, f64) = (0.1, 0.8238);

/// Runs that the noise of the class is worth. It keeps a few runs that happen to agree from looking noiseless.
const PRIOR: f64 = 4.0;

/// Distance from the middle, in standard deviations, from which a single run is a spike.
pub(crate) const SPIKE: f64 = 4.5;

/// Distance from which a run next to it belongs to the same disturbance.
const BESIDE: f64 = 2.0;

/// One metric over the runs that have it: logarithms of what one unit of work costs, so that more is slower.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// Logarithms.
    pub(crate) logs: Vec<f64>,
    /// Standard errors of each.
    pub(crate) errors: Vec<f64>,
    /// Standard deviation between sessions that is usual for its class.
    pub(crate) usual: f64,
    /// Places at which another machine begins: nothing is compared across them.
    pub(crate) borders: Vec<usize>,
    /// Standard deviation by the differences of neighbours, in which a change of level counts once: the median absolute
    /// difference, which is 0.954 standard deviations of a normal variable.
    pub(crate) scatter: f64,
}

/// What a false alarm may cost, and how often single runs are far out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caution {
    /// Probability of a false alarm in one direction at one look.
    pub(crate) error: f64,
    /// Share of spikes towards slower and towards faster.
    pub(crate) spikes: [f64; 2],
    /// Correlation of neighbouring runs.
    pub(crate) correlation: f64,
}

/// A change that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Alarm {
    /// First run of the new level.
    pub(crate) at: usize,
    /// The run after which it was found.
    pub(crate) found: usize,
}

/// Middle and scatter of some runs.
#[derive(Debug, Clone, Copy)]
struct Level {
    middle: f64,
    variance: f64,
    degrees: f64,
    count: f64,
}

impl Level {
    /// From logarithms in any order, which are left sorted.
    fn of(sorted: &mut [f64]) -> Self {
        sorted.sort_unstable_by(f64::total_cmp);
        let count = sorted.len();
        let cut = (WINSORISED.0 * count as f64).floor() as usize;
        let (low, high) = (sorted[cut], sorted[count - 1 - cut]);
        let middle = sorted.iter().map(|log| log.clamp(low, high)).sum::<f64>() / count as f64;
        let squares: f64 = sorted.iter().map(|log| (log.clamp(low, high) - middle).powi(2)).sum();
        let factor = if cut > 0 { WINSORISED.1 } else { 1.0 };
        let degrees = (count - 2 * cut).saturating_sub(1) as f64;
        let variance = squares / (count - 1).max(1) as f64 / (factor * factor);
        Self { middle, variance, degrees, count: count as f64 }
    }

    /// With what is known about the scatter besides: of earlier levels, and of the class. A class quieter than the runs
    /// themselves lowers nothing.
    fn with(self, carried: Option<(f64, f64)>, usual: f64) -> Self {
        let (variance, degrees) = carried.unwrap_or_default();
        let all = self.degrees + degrees;
        let own = if all > 0.0 { (self.variance * self.degrees + variance * degrees) / all } else { 0.0 };
        let usual = usual * usual;
        let moderated = if usual > 0.0 { (own * all + usual * PRIOR) / (all + PRIOR) } else { own };
        Self { variance: moderated.max(own), degrees: all.max(1.0), ..self }
    }
}

/// Where a search stands.
struct Search {
    /// First run of the present level.
    start: usize,
    /// Variance and degrees of freedom of the levels before.
    carried: Option<(f64, f64)>,
    caution: Caution,
    /// The usual standard error of a run.
    typical: f64,
    /// Limits by degrees of freedom.
    limits: HashMap<u64, f64>,
    /// The present level by the last run that counts: every width comes to the same ones.
    levels: HashMap<usize, Level>,
}

impl Series {
    pub(crate) fn new(logs: Vec<f64>, errors: Vec<f64>, usual: f64, borders: Vec<usize>) -> Self {
        let inside = (1..logs.len()).filter(|at| !borders.contains(at));
        let steps: Vec<f64> = inside.map(|at| (logs[at] - logs[at - 1]).abs()).collect();
        let scatter = stats::median(&steps).unwrap_or(0.0) / 0.954;
        Self { logs, errors, usual, borders, scatter }
    }

    /// Changes in the order of time.
    pub(crate) fn alarms(&self, caution: Caution) -> Vec<Alarm> {
        let mut found: Vec<Alarm> = Vec::new();
        let typical = stats::median(&self.errors).unwrap_or(0.0);
        let mut search =
            Search { start: 0, carried: None, caution, typical, limits: HashMap::new(), levels: HashMap::new() };
        for now in 1..=self.logs.len() {
            if self.borders.contains(&(now - 1)) {
                (search.start, search.carried) = (now - 1, None);
                search.levels.clear();
            }
            let fewest = if search.carried.is_some() { FEWEST_AGAIN } else { FEWEST };
            let widths = WIDTHS.into_iter().take_while(|width| now >= search.start + width + fewest);
            let Some(width) = widths.collect::<Vec<_>>().into_iter().find(|w| self.differs(now - w, now, &mut search))
            else {
                continue;
            };
            let from = search.start.max((now - width).saturating_sub(BASELINE));
            let at = self.split(from, now, now - width);
            let level = Level::of(&mut self.logs[from..at].to_vec()).with(search.carried, 0.0);
            found.push(Alarm { at, found: now - 1 });
            (search.start, search.carried) = (at, Some((level.variance, level.degrees.min(BASELINE as f64))));
            search.levels.clear();
        }
        found
    }

    /// Whether the runs from `cut` to `now` differ from those from `start` to `cut`.
    fn differs(&self, cut: usize, now: usize, search: &mut Search) -> bool {
        let before = &self.logs[search.start.max(cut.saturating_sub(BASELINE))..cut];
        let known = || Level::of(&mut before.to_vec()).with(search.carried, self.usual);
        let level = *search.levels.entry(cut).or_insert_with(known);
        let width = (now - cut) as f64;
        let degrees = level.degrees.round().max(1.0);
        let error = search.caution.error;
        let limit = *search.limits.entry(degrees as u64).or_insert_with(|| -student_t_quantile(error, degrees));
        // The level before is uncertain for all runs after it alike.
        let deviation = (level.variance * (1.0 + width / level.count)).sqrt();
        // A run that is less certain than most counts less.
        let score = |run: usize| {
            let more = (self.errors[run].powi(2) - search.typical.powi(2)).max(0.0).sqrt();
            (self.logs[run] - level.middle) / deviation.hypot(more).max(f64::MIN_POSITIVE)
        };
        let scores: Vec<f64> = (cut..now).map(score).collect();
        let sum = scores.iter().sum::<f64>();
        // What follows only lowers it.
        if sum.abs() / width.sqrt() < limit {
            return false;
        }
        let way = sum.signum();
        let share = search.caution.spikes[usize::from(way < 0.0)];
        let bounded = |score: &f64| {
            let tail = share + (1.0 - share) * normal_cdf(-score * way);
            // Beyond what a normal tail can hold, the score itself is exact enough.
            if tail > 0.0 { -normal_quantile(tail.min(1.0 - 1e-12)) } else { score * way }
        };
        let sum: f64 = scores.iter().map(bounded).sum();
        sum / (width * inflation(before, search.caution.correlation)).sqrt() >= limit
    }

    /// The split of the runs from `start` to `end` with the smallest sum of squares, not far from where it was noticed.
    pub(crate) fn split(&self, start: usize, end: usize, near: usize) -> usize {
        let far = WIDTHS[WIDTHS.len() - 1];
        let range = (start + 1).max(near.saturating_sub(far))..=(end - 1).min(near + far);
        let squares = |cut: &usize| self.squares(start, *cut) + self.squares(*cut, end);
        range.min_by(|a, b| squares(a).total_cmp(&squares(b))).unwrap_or(near)
    }

    /// Splits that are about as likely as the best one: their likelihood is at least a twentieth of it.
    pub(crate) fn likely_splits(&self, start: usize, end: usize, best: usize) -> Vec<usize> {
        let least = self.squares(start, best) + self.squares(best, end);
        let variance = (least / (end - start).saturating_sub(2).max(1) as f64).max(f64::MIN_POSITIVE);
        let range = (start + 1).max(best.saturating_sub(3))..end.min(best + 4);
        let likely = |cut: &usize| {
            let squares = self.squares(start, *cut) + self.squares(*cut, end);
            (squares - least) / (2.0 * variance) <= 20.0_f64.ln()
        };
        range.filter(likely).collect()
    }

    /// Sum of squares about the mean, in which a run counts at most as a spike.
    pub(crate) fn squares(&self, start: usize, end: usize) -> f64 {
        let logs = &self.logs[start..end];
        let Some(middle) = stats::median(logs) else { return 0.0 };
        let most = SPIKE * self.scatter;
        let bounded = || logs.iter().map(|log| (log - middle).clamp(-most, most));
        let mean = bounded().sum::<f64>() / logs.len() as f64;
        bounded().map(|off| (off - mean).powi(2)).sum()
    }

    /// Change of the logarithm at a run, with its standard error, by the runs around it.
    pub(crate) fn change_at(&self, cut: usize) -> Option<(f64, f64)> {
        let border = |border: &&usize| **border <= cut;
        let low = self.borders.iter().filter(border).fold(0, |low, border| low.max(*border));
        let low = low.max(cut.saturating_sub(AROUND));
        let high = (cut + AROUND).min(self.logs.len());
        let (before, after) = (self.logs.get(low..cut)?, self.logs.get(cut..high)?);
        let change = stats::median(after)? - stats::median(before)?;
        let counts = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
        // A median is less certain than a mean by this factor.
        let factor = std::f64::consts::FRAC_PI_2;
        Some((change, self.scatter * (factor * counts).sqrt()))
    }

    /// Correlation of neighbouring runs by their differences, in which a change of level counts once: the correlation of
    /// neighbouring differences of a first-order autoregression is half of it less a half.
    pub(crate) fn correlation(&self) -> Option<f64> {
        let steps: Vec<f64> = self.logs.windows(2).map(|two| two[1] - two[0]).collect();
        stats::autocorrelation::lag1(&steps).map(|lag| 1.0 + 2.0 * lag.coefficient)
    }

    /// Runs far from those before them towards slower and towards faster, one or two in a row and then none: three are
    /// another level, and what the last ones are is not known yet.
    pub(crate) fn spikes(&self) -> [Vec<usize>; 2] {
        let scatter = self.scatter;
        let mut found = [Vec::new(), Vec::new()];
        let mut run = 1;
        while run < self.logs.len() && scatter > 0.0 {
            let border = self.borders.iter().copied().filter(|border| *border <= run).fold(0, usize::max);
            let before = &self.logs[border.max(run.saturating_sub(20))..run];
            let level = stats::median(before).unwrap_or(self.logs[run]);
            let off = |at: usize| (self.logs[at] - level) / scatter;
            let way = off(run).signum();
            let block = (run..self.logs.len()).take_while(|at| off(*at) * way > BESIDE).count();
            let far = (run..run + block).any(|at| off(at) * way > SPIKE);
            if far && block < WIDTHS[0] && run + block < self.logs.len() {
                found[usize::from(way < 0.0)].extend(run..run + block);
            }
            run += block.max(1);
        }
        found
    }
}

/// Factor by which runs that resemble their neighbours inflate the variance of a mean (Bayley and Hammersley, Journal of
/// the Royal Statistical Society Supplement 8, 1946): by the correlation that is known, or that these runs surely have.
fn inflation(logs: &[f64], known: f64) -> f64 {
    let own = stats::autocorrelation::lag1(logs).map_or(0.0, |lag| lag.coefficient);
    let correlation = known.max(own - 1.5 / (logs.len() as f64).sqrt()).clamp(0.0, 0.9);
    (1.0 + correlation) / (1.0 - correlation)
}
