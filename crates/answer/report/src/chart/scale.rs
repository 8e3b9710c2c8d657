//! Axes: position of values, and tick marks.

use std::ops::Range;

use model::Unit;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::{ChartAxis, Division, PrintedQuantity};

/// An axis with its marks; positions are in the transformed coordinate.
#[derive(Debug, Clone)]
pub(super) struct AxisScale {
    low: f64,
    high: f64,
    marks: Vec<(f64, String)>,
}

impl AxisScale {
    /// An axis over values, with a margin on both sides; `None` if there are no valid values.
    pub(super) fn over(axis: &ChartAxis, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = extent(values.filter_map(|value| position(axis.division, value)))?;
        Some(match axis.division {
            Division::Linear => {
                let high = if high > 0.0 { high * 1.08 } else { 1.0 };
                Self { low: 0.0, high, marks: steps(0.0, high, |v| PrintedQuantity::bare(v, axis.unit).short()) }
            }
            Division::Octaves => {
                let marks = octaves(low.floor(), high.ceil(), axis.unit);
                Self { low: low - 0.3, high: high + 0.3, marks }
            }
            Division::Decades => {
                let margin = ((high - low) * 0.06).max(0.04);
                let (low, high) = (low - margin, high + margin);
                Self { low, high, marks: decades(low, high, &|v| PrintedQuantity::bare(v, axis.unit).short()) }
            }
            Division::Nines => {
                let marks =
                    [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"), (1.0, "max")];
                let place = |q| position(Division::Nines, q);
                let marks = marks.into_iter().filter_map(|(q, text)| Some((place(q)?, text.to_owned()))).collect();
                Self { low: low.min(0.2), high: high + 0.2, marks }
            }
        })
    }

    /// An axis of ratios whose range includes a margin around 1.
    pub(super) fn ratios(values: impl Iterator<Item = f64>, band: f64) -> Option<Self> {
        let around = [1.0 - 2.0 * band, 1.0 + 2.0 * band];
        let (low, high) = extent(values.chain(around).filter_map(|value| position(Division::Decades, value)))?;
        let margin = (high - low) * 0.05;
        let (low, high) = (low - margin, high + margin);
        Some(Self { low, high, marks: decades(low, high, &|v| PrintedQuantity::bare(v, Unit::Ratio).short()) })
    }

    /// Named rows, the first at the top.
    pub(super) fn rows(names: &[String]) -> Self {
        let marks = names.iter().enumerate().map(|(index, name)| (-(index as f64), name.clone())).collect();
        Self { low: 0.7 - names.len().max(1) as f64, high: 0.7, marks }
    }

    /// The label of a mark.
    pub(super) fn name(&self, position: f64) -> String {
        let mark = self.marks.iter().find(|(mark, _)| (mark - position).abs() < 1e-9);
        mark.map(|(_, name)| name.clone()).unwrap_or_default()
    }
}

/// Position of a value in the transformed coordinate; `None` if it has none.
pub(super) fn position(division: Division, value: f64) -> Option<f64> {
    let at = match division {
        Division::Linear => value,
        Division::Decades if value > 0.0 => value.log10(),
        Division::Octaves if value > 0.0 => value.log2(),
        // The maximum is placed one step after the last quantile that reports show.
        Division::Nines if value >= 1.0 => 5.0,
        Division::Nines => -(1.0 - value).log10(),
        _ => return None,
    };
    // Larger values lose their differences in 64 bits.
    (at.is_finite() && at.abs() < 1e15).then_some(at)
}

fn extent(positions: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    positions.fold(None, |range, x| match range {
        None => Some((x, x)),
        Some((low, high)) => Some((f64::min(low, x), f64::max(high, x))),
    })
}

/// Marks at 1, 2, 5 times a power of ten, between six and twelve of them.
fn steps(low: f64, high: f64, name: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    let rough = (high - low) / 6.0;
    if !rough.is_finite() || rough <= 0.0 {
        return Vec::new();
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let first = (low / step).ceil();
    (0..=12).map(|i| (first + f64::from(i)) * step).filter(|v| *v <= high).map(|v| (v, name(v))).collect()
}

/// Marks on a logarithmic axis: even steps within a factor of two, close ones within a decade, 1-2-5 within three,
/// whole decades beyond.
fn decades(low: f64, high: f64, name: &dyn Fn(f64) -> String) -> Vec<(f64, String)> {
    let (from, to) = (10f64.powf(low), 10f64.powf(high));
    if high - low < 0.31 {
        return steps(from, to, name)
            .into_iter()
            .filter(|(v, _)| *v > 0.0)
            .map(|(v, text)| (v.log10(), text))
            .collect();
    }
    let every = ((high - low) / 10.0).ceil().max(1.0);
    let within: &[f64] = match high - low {
        // With only 1, 2 and 5 so short an axis may have a single label, which gives no scale.
        span if span < 1.0 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
        span if span < 3.2 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let mut marks = Vec::new();
    let mut decade = low.floor();
    while decade <= high {
        for digit in within {
            let at = decade + digit.log10();
            if (low..=high).contains(&at) {
                marks.push((at, name(digit * 10f64.powf(decade))));
            }
        }
        decade += every;
    }
    marks
}

fn octaves(low: f64, high: f64, unit: Unit) -> Vec<(f64, String)> {
    let every = ((high - low) / 9.0).ceil().max(1.0);
    let mut marks = Vec::new();
    let mut octave = (low / every).ceil() * every;
    while octave <= high {
        marks.push((octave, PrintedQuantity::bare(octave.exp2(), unit).short()));
        octave += every;
    }
    marks
}

impl Ranged for AxisScale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.low) / (self.high - self.low);
        #[expect(clippy::cast_possible_truncation, reason = "a pixel; the cast saturates")]
        let pixel = (f64::from(limit.0) + share * f64::from(limit.1 - limit.0)).round() as i32;
        pixel
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        let inside = |at: &f64| (self.low..=self.high).contains(at);
        self.marks.iter().map(|(at, _)| *at).filter(inside).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for AxisScale {
    fn format_ext(&self, value: &f64) -> String {
        self.name(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_few_and_inside() {
        for (low, high) in [(-9.0, -6.0), (0.0, 0.01), (0.0, 0.3), (-3.0, 9.0), (2.0, 2.4)] {
            let marks = decades(low, high, &|v| v.to_string());
            assert!((1..=14).contains(&marks.len()), "{low} {high} {marks:?}");
            assert!(marks.iter().all(|(at, _)| *at >= low - 1e-9 && *at <= high + 1e-9));
        }
    }

    #[test]
    fn every_axis_has_two_marks_from_which_its_scale_is_read() {
        for tenths in 0..40 {
            for length in [0.05, 0.2, 0.32, 0.5, 0.8, 1.2, 2.0, 3.0, 3.5, 6.0] {
                let low = -5.0 + f64::from(tenths) * 0.1;
                let marks = decades(low, low + length, &|v| v.to_string());
                assert!((2..=14).contains(&marks.len()), "{low} and {length} more: {marks:?}");
            }
        }
    }

    #[test]
    fn invalid_values_give_no_axis() {
        let axis = ChartAxis { title: String::new(), unit: Unit::Seconds, division: Division::Decades };
        assert!(AxisScale::over(&axis, [f64::NAN, 0.0, -1.0, f64::INFINITY].into_iter()).is_none());
        assert!(AxisScale::over(&axis, [f64::MAX, 5e-324].into_iter()).is_some());
        assert_eq!(position(Division::Nines, 1.0), Some(5.0));
    }
}
