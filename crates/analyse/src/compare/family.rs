//! Geometric means of ratios, by family and over all, with Monte-Carlo intervals.
//!
//! The geometric mean is the one mean of ratios that does not depend on the reference (Fleming and Wallace,
//! Communications of the ACM 29, 1986). Errors of launches are independent from figure to figure; session floors are
//! drawn once for all figures of a class, since what shifts a session shifts its class together.

use std::collections::BTreeMap;

use model::{Class, Metric};
use rand::seq::SliceRandom;
use stats::distribution::normal_quantile;

use super::options::{Normalise, Options};
use super::result::GeometricMean;
use super::shift::Shift;
use super::verdict::sign;

/// Draws of the Monte-Carlo. With stratified draws the ends of the interval are stable within about 2% of its width.
const DRAWS: usize = 2000;

/// One figure of one machine, as the means need it.
pub(crate) struct Member<'a> {
    pub(crate) row: usize,
    pub(crate) family: &'a str,
    pub(crate) class: Class,
    pub(crate) metric: &'a Metric,
    pub(crate) shift: &'a Shift,
}

/// Standard normal scores: a column for every figure and every class, the same for all machines. Columns are
/// stratified (Latin hypercube: McKay, Beckman and Conover, Technometrics 21, 1979).
pub(crate) struct Scores {
    rows: Vec<Vec<f64>>,
    classes: BTreeMap<String, Vec<f64>>,
}

impl Scores {
    pub(crate) fn new(classes: &[Class], seed: u64) -> Self {
        let mut rng = stats::simulate::generator(seed);
        let strata: Vec<f64> = (0..DRAWS).map(|i| normal_quantile((i as f64 + 0.5) / DRAWS as f64)).collect();
        let mut column = || {
            let mut column = strata.clone();
            column.shuffle(&mut rng);
            column
        };
        let mut shared = BTreeMap::new();
        for class in classes {
            shared.entry(format!("{class:?}")).or_insert_with(&mut column);
        }
        Self { rows: classes.iter().map(|_| column()).collect(), classes: shared }
    }
}

/// The means of one machine: each family in the order of its first figure, then all.
pub(crate) fn geometric_means(
    machine: &str,
    members: &[Member],
    scores: &Scores,
    options: &Options,
) -> Vec<GeometricMean> {
    let mut families: Vec<&str> = Vec::new();
    for member in members {
        if !families.contains(&member.family) {
            families.push(member.family);
        }
    }
    let mut means: Vec<GeometricMean> = families
        .iter()
        .map(|family| {
            let chosen: Vec<&Member> = members.iter().filter(|member| member.family == *family).collect();
            mean(machine, Some(family), &chosen, scores, options)
        })
        .collect();
    if !members.is_empty() {
        means.push(mean(machine, None, &members.iter().collect::<Vec<_>>(), scores, options));
    }
    means
}

/// The reference's own mean, 1 by definition: it stands in tables beside the others.
pub(crate) fn reference_mean(machine: &str, figures: usize, options: &Options) -> GeometricMean {
    GeometricMean {
        family: None,
        machine: machine.to_owned(),
        value: 1.0,
        low: 1.0,
        high: 1.0,
        level: options.level,
        figures,
        of: options.normalise,
    }
}

fn mean(machine: &str, family: Option<&str>, members: &[&Member], scores: &Scores, options: &Options) -> GeometricMean {
    let one_way = members.iter().all(|member| member.metric.better == members[0].metric.better);
    let of = if one_way { options.normalise } else { Normalise::Gain };
    let count = members.len() as f64;
    let value = (members.iter().map(|m| sign(m.metric, of) * m.shift.log).sum::<f64>() / count).exp();
    let mut sums = vec![0.0; DRAWS];
    let known =
        members.iter().all(|member| add_draws(&mut sums, member, sign(member.metric, of), scores, options.level));
    let (low, high, level) = if known {
        sums.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - options.level) / 2.0;
        let at = |p: f64| (sums[((p * DRAWS as f64) as usize).min(DRAWS - 1)] / count).exp();
        (at(tail).min(value), at(1.0 - tail).max(value), options.level)
    } else {
        (value, value, 0.0)
    };
    GeometricMean {
        family: family.map(str::to_owned),
        machine: machine.to_owned(),
        value,
        low,
        high,
        level,
        figures: members.len(),
        of,
    }
}

/// Adds a figure's draws of its signed logarithm; false when its spread is unknown. Launch errors are two half normals
/// with the widths of the interval's two sides.
fn add_draws(sums: &mut [f64], member: &Member, sign: f64, scores: &Scores, level: f64) -> bool {
    let Some(known) = &member.shift.known else { return false };
    let z = normal_quantile(0.5 + level / 2.0);
    let floor = known.floor_half_width / z;
    let side = |half: f64| (half * half - known.floor_half_width * known.floor_half_width).max(0.0).sqrt() / z;
    let (down, up) = (side(known.shift - known.interval.low), side(known.interval.high - known.shift));
    let own = &scores.rows[member.row];
    let shared = &scores.classes[&format!("{:?}", member.class)];
    for ((sum, own), shared) in sums.iter_mut().zip(own).zip(shared) {
        *sum += sign * (known.shift + own * if *own < 0.0 { down } else { up } + floor * shared);
    }
    true
}
