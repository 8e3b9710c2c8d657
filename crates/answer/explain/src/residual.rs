//! Residuals of tests and primitives after removing the common factor.

use std::collections::BTreeMap;

use model::{Primitive, Verdict};
use stats::distribution::normal_cdf;

use super::common::CommonFactorFit;
use super::result::PrimitiveResidual;
use super::test::ExplainedResult;

/// Without spread nothing is significant. A residual beyond this factor still counts as a difference, and the
/// explanation reports that as an assumption.
pub(crate) const WITHOUT_SPREAD: f64 = 1.10;

/// Sets the residual of every test, and whether it differs or is shown to be the same.
///
/// Where no factor is removed, the verdict of the comparison is used. Else residuals are tested including the factor's
/// own error, adjusted by Holm's method, and must be wholly outside the margin.
pub(crate) fn set_residuals(tests: &mut [ExplainedResult], common: &CommonFactorFit, band: f64, level: f64, z: f64) {
    for test in tests.iter_mut() {
        // Clocks within the margin of each other are no common factor, and in no verdict on cycles either.
        let cycles = test.cycles.filter(|_| common.log == 0.0);
        test.at_one_clock = cycles.is_some();
        test.removed = match (cycles, test.pure_user) {
            (Some(cycles), _) => test.log - cycles,
            (None, true) => common.log,
            (None, false) => test.follows.removed(test.log, common),
        };
        test.residual = test.log - test.removed;
    }
    let scored: Vec<f64> = tests
        .iter()
        .map(|test| {
            let error = common.error_left(test).filter(|error| *error > 0.0);
            error.map_or(f64::NAN, |error| 2.0 * normal_cdf(-(test.residual / error).abs()))
        })
        .collect();
    let curves = curve_residuals(tests);
    for (test, p) in tests.iter_mut().zip(stats::holm(&scored)) {
        (test.significant, test.same) = match test.error {
            None => {
                let curve = curves.get(&test.primitive).copied().filter(|_| test.on_curve);
                let differs = curve.unwrap_or(test.residual).abs() > WITHOUT_SPREAD.ln();
                (differs, !differs)
            }
            Some(_) if test.at_one_clock || test.removed == 0.0 => {
                (test.verdict.is_some_and(Verdict::differs), test.verdict == Some(Verdict::NoChange))
            }
            Some(_) if test.is_undetermined() => (false, false),
            Some(error) => {
                let (size, half) = (test.residual.abs(), z * common.error_left(test).unwrap_or(error));
                (p <= 1.0 - level && size - half > band, size + half <= band)
            }
        };
    }
}

/// Median residual of each primitive over its sets of parameters on curves: without spread a single set of parameters
/// shows nothing, but a plateau does.
fn curve_residuals(tests: &[ExplainedResult]) -> BTreeMap<Primitive, f64> {
    let mut points: BTreeMap<Primitive, Vec<f64>> = BTreeMap::new();
    for test in tests.iter().filter(|test| test.on_curve) {
        points.entry(test.primitive).or_default().push(test.residual);
    }
    points.into_iter().filter_map(|(primitive, points)| Some((primitive, stats::median(&points)?))).collect()
}

/// Residual of each primitive: the median over its tests that are not mixtures, in the catalogue's order. Its interval
/// is the median of their lower and of their upper ends, which does not shrink with their number, since they share the
/// session noise.
pub(crate) fn by_primitive(tests: &[ExplainedResult], common: &CommonFactorFit, z: f64) -> Vec<PrimitiveResidual> {
    let mut found = Vec::new();
    for &primitive in Primitive::ALL {
        let members: Vec<&ExplainedResult> =
            tests.iter().filter(|test| test.primitive == primitive && !test.composite).collect();
        let of = |value: &dyn Fn(&ExplainedResult) -> f64| {
            stats::median(&members.iter().map(|test| value(test)).collect::<Vec<_>>())
        };
        let (Some(residual), Some(log)) = (of(&|test| test.residual), of(&|test| test.log)) else { continue };
        let spread = members.iter().all(|test| test.error.is_some() && !test.is_undetermined());
        let end = |sign: f64| {
            let at =
                |test: &ExplainedResult| test.residual + sign * z * common.error_left(test).unwrap_or(common.error);
            of(&at).filter(|_| spread).map(f64::exp)
        };
        found.push(PrimitiveResidual {
            primitive,
            residual: residual.exp(),
            low: end(-1.0),
            high: end(1.0),
            slowdown: log.exp(),
            results: members.len(),
            significant: members.iter().any(|test| test.significant),
        });
    }
    found
}
