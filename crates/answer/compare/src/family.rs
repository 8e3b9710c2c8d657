//! Geometric means of ratios, by family and overall.
//!
//! The geometric mean is the only mean of ratios that does not depend on the reference (Fleming and Wallace,
//! Communications of the ACM 29, 1986). The means of several machines are over results that all of them have. A
//! benchmark counts once, whatever its number of sets of parameters.

use std::collections::HashMap;

use model::{BenchmarkResult, Class};
use stats::ratio::{RatioMember, Scores};
use stats::{Interval, geometric_mean};

use super::options::{CompareOptions, Normalise};
use super::result::GeometricMean;
use super::shift::CompareShift;
use super::together::{MeanPart, in_common};
use super::verdict::sign;

/// Monte Carlo draws.
const DRAWS: usize = 2000;

/// Input of the means: a row for each result, with the shift of every machine that has one.
pub(crate) struct Rows<'a> {
    pub(crate) names: &'a [String],
    pub(crate) reference: usize,
    pub(crate) results: Vec<&'a BenchmarkResult>,
    /// By row and machine; `None` for the reference and without a single ratio.
    pub(crate) shifts: Vec<Vec<Option<&'a CompareShift>>>,
    /// By row and machine, with their samples.
    pub(crate) launched: Vec<&'a [Option<&'a BenchmarkResult>]>,
}

/// The means of every machine: families in the order of their first results, then overall. They include only ratios
/// with an interval. If there is none at all, they include values without error bars.
pub(crate) fn geometric_means(mut rows: Rows, options: &CompareOptions) -> Vec<GeometricMean> {
    let any = rows.shifts.iter().flatten().flatten().any(|shift| shift.bounded().is_some());
    for (shifts, launched) in rows.shifts.iter_mut().zip(&rows.launched) {
        let printed = launched.iter().flatten().all(|result| result.samples.is_empty());
        let counts = |shift: &&CompareShift| if any { shift.bounded().is_some() } else { printed };
        shifts.iter_mut().for_each(|shift| *shift = shift.filter(counts));
    }
    let rows = &rows;
    let (scores, classes) = scores(rows, options.seed);
    let mut families: Vec<Option<&str>> = Vec::new();
    for result in &rows.results {
        if !families.contains(&Some(result.family())) {
            families.push(Some(result.family()));
        }
    }
    families.push(None);
    let mut means = Vec::new();
    for family in families {
        let within: Vec<usize> = (0..rows.results.len())
            .filter(|row| family.is_none_or(|family| rows.results[*row].family() == family))
            .collect();
        let machines: Vec<usize> =
            (0..rows.names.len()).filter(|run| within.iter().any(|row| rows.shifts[*row][*run].is_some())).collect();
        let everywhere = |row: &usize| machines.iter().all(|run| rows.shifts[*row][*run].is_some());
        let common: Vec<usize> = within.iter().copied().filter(everywhere).collect();
        if machines.is_empty() || common.is_empty() {
            continue;
        }
        let set = CommonSet::new(rows, family, &within, common, options);
        let mean = |run: usize| {
            let members = set.members(rows, run, &classes, options.level);
            let found = geometric_mean(&members, &scores, options.level)?;
            let together = set.together(rows, run, &members);
            set.mean(&rows.names[run], &set.with_clocks(widened(found, together), rows, run))
        };
        if family.is_none() {
            means.push(set.reference(&rows.names[rows.reference]));
        }
        means.extend(machines.iter().filter_map(|run| mean(*run)));
    }
    means
}

/// A column of scores for every result and every class of results, and the column of each class.
fn scores(rows: &Rows, seed: u64) -> (Scores, HashMap<Class, usize>) {
    let mut classes: HashMap<Class, usize> = HashMap::new();
    for result in &rows.results {
        let next = classes.len();
        classes.entry(result.class).or_insert(next);
    }
    (Scores::new(rows.results.len(), classes.len(), DRAWS, seed), classes)
}

/// Number of results that some machine has and another lacks.
fn left_out(rows: &Rows, within: &[usize], common: &[usize]) -> usize {
    let has = |row: &&usize| rows.shifts[**row].iter().any(Option::is_some);
    within.iter().filter(has).count() - common.len()
}

/// Gains if directions differ between the results, else the normalisation of the comparison.
fn of(rows: &Rows, common: &[usize], options: &CompareOptions) -> Normalise {
    let better = |row: &usize| rows.results[*row].metric.better;
    let one_way = common.iter().all(|row| better(row) == better(&common[0]));
    if one_way { options.normalise } else { Normalise::Gain }
}

/// The results of one mean.
struct CommonSet<'a> {
    family: Option<&'a str>,
    common: Vec<usize>,
    left_out: usize,
    of: Normalise,
    /// Number of sets of parameters of every benchmark among them.
    points: HashMap<&'a str, usize>,
}

impl<'a> CommonSet<'a> {
    fn new(
        rows: &Rows<'a>,
        family: Option<&'a str>,
        within: &[usize],
        common: Vec<usize>,
        options: &CompareOptions,
    ) -> Self {
        let mut points: HashMap<&str, usize> = HashMap::new();
        for row in &common {
            *points.entry(rows.results[*row].benchmark.as_str()).or_default() += 1;
        }
        let of = of(rows, &common, options);
        Self { family, left_out: left_out(rows, within, &common), of, points, common }
    }

    /// The ratios of a machine, all in one direction, each benchmark with a total weight of 1.
    fn members(&self, rows: &Rows, run: usize, classes: &HashMap<Class, usize>, level: f64) -> Vec<RatioMember> {
        let z = stats::distribution::normal_quantile(0.5 + level / 2.0);
        let member = |&row: &usize| {
            let (result, shift) = (rows.results[row], rows.shifts[row][run]?);
            let sign = sign(&result.metric, self.of);
            Some(RatioMember {
                shift: sign * shift.log,
                samples: shift.bounded().map(|known| samples(known, sign)),
                floor: shift.bounded().map_or(0.0, |known| {
                    // The error of the clocks is that of all core results at once.
                    let (whole, clock) = (known.floor_half_width / z, shift.clock.unwrap_or(0.0));
                    (whole * whole - clock * clock).max(0.0).sqrt()
                }),
                class: classes[&result.class],
                result: row,
                weight: 1.0 / self.points[result.benchmark.as_str()] as f64,
            })
        };
        self.common.iter().filter_map(member).collect()
    }

    /// The mean with the error of the two clocks, which moves the times of all core results together and does not
    /// average out.
    fn with_clocks(&self, found: stats::Estimated, rows: &Rows, run: usize) -> stats::Estimated {
        let weight = |row: &usize| 1.0 / self.points[rows.results[*row].benchmark.as_str()] as f64;
        let error = |row: &usize| rows.shifts[*row][run].and_then(|shift| shift.clock).unwrap_or(0.0);
        let moved: f64 = self.common.iter().map(|row| weight(row) * error(row)).sum();
        widened(found, moved / self.common.iter().map(weight).sum::<f64>())
    }

    /// The common part of the samples of a round, in a mean of these members: a standard deviation.
    fn together(&self, rows: &Rows, run: usize, members: &[RatioMember]) -> f64 {
        let total: f64 = members.iter().map(|member| member.weight).sum();
        let side = |of: usize, against: usize| {
            let part = |member: &RatioMember| {
                let launched = rows.launched[member.result];
                let (own, other) = (launched[of]?, launched[against]?);
                let interval = member.samples?;
                let z = stats::distribution::normal_quantile(0.5 + interval.level / 2.0);
                let sign = sign(&own.metric, self.of);
                Some(MeanPart::of(own, other, sign * member.weight / total * interval.half_width() / z))
            };
            let parts: Vec<MeanPart> = members.iter().filter_map(part).collect();
            in_common(&parts)
        };
        (side(rows.reference, run) + side(run, rows.reference)).sqrt()
    }

    fn mean(&self, machine: &str, found: &stats::Estimated) -> Option<GeometricMean> {
        let interval = found.interval;
        let finite = [found.value, interval.low, interval.high].into_iter().all(|x| x.is_finite() && x > 0.0);
        let known = interval.level > 0.0;
        finite.then(|| GeometricMean {
            family: self.family.map(str::to_owned),
            machine: machine.to_owned(),
            value: found.value,
            low: known.then_some(interval.low),
            high: known.then_some(interval.high),
            results: self.common.len(),
            benchmarks: self.points.len(),
            left_out: self.left_out,
            of: self.of,
        })
    }

    /// The reference's own mean, which is 1.
    fn reference(&self, machine: &str) -> GeometricMean {
        GeometricMean {
            family: None,
            machine: machine.to_owned(),
            value: 1.0,
            low: None,
            high: None,
            results: self.common.len(),
            benchmarks: self.points.len(),
            left_out: self.left_out,
            of: self.of,
        }
    }
}

/// A mean with a further error of a standard deviation, as a logarithm.
fn widened(mut found: stats::Estimated, error: f64) -> stats::Estimated {
    let level = found.interval.level;
    if error > 0.0 && level > 0.0 && level < 1.0 {
        let half = stats::distribution::normal_quantile(0.5 + level / 2.0) * error;
        let (down, up) = ((found.value / found.interval.low).ln(), (found.interval.high / found.value).ln());
        found.interval.low = found.value / down.hypot(half).exp();
        found.interval.high = found.value * up.hypot(half).exp();
    }
    found
}

/// The interval of a shift without the session noise, which all results of a class share.
fn samples(known: &stats::RatioEstimate, sign: f64) -> Interval {
    let floor = known.floor_half_width * known.floor_half_width;
    let side = |half: f64| (half * half - floor).max(0.0).sqrt();
    let (down, up) = (side(known.shift - known.interval.low), side(known.interval.high - known.shift));
    let (down, up) = if sign < 0.0 { (up, down) } else { (down, up) };
    let centre = sign * known.shift;
    Interval::new(centre - down, centre + up, known.level)
}
