//! Axes: places of values in percent of the axis, and marks.

use model::Unit;

use crate::{Division, PrintedQuantity};

/// An axis with its marks; positions are in the transformed coordinate.
#[derive(Debug, Clone)]
pub(crate) struct AxisScale {
    division: Division,
    low: f64,
    high: f64,
    /// Positions and names, from the low end.
    marks: Vec<(f64, String)>,
}

impl AxisScale {
    /// An axis over values, with a margin on both sides; `None` if there are no valid values. `name` prints a mark.
    pub(crate) fn over(
        division: Division,
        values: impl Iterator<Item = f64>,
        name: &dyn Fn(f64) -> String,
    ) -> Option<Self> {
        let (low, high) = extent(values.filter_map(|value| position(division, value)))?;
        Some(match division {
            Division::Linear => {
                let high = if high > 0.0 { high * 1.08 } else { 1.0 };
                Self { division, low: 0.0, high, marks: steps(0.0, high, name) }
            }
            Division::Octaves => {
                let marks = octaves(low.floor(), high.ceil(), name);
                Self { division, low: low - 0.3, high: high + 0.3, marks }
            }
            Division::Decades => {
                let margin = ((high - low) * 0.06).max(0.04);
                let (low, high) = (low - margin, high + margin);
                Self { division, low, high, marks: decades(low, high, name) }
            }
            Division::Nines => {
                let marks =
                    [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"), (1.0, "max")];
                let place = |q| position(Division::Nines, q);
                let marks = marks.into_iter().filter_map(|(q, text)| Some((place(q)?, text.to_owned()))).collect();
                Self { division, low: low.min(0.2), high: high + 0.2, marks }
            }
        })
    }

    /// An axis of equal steps that begins near the least value, for values that lie close together.
    /// `name` prints a mark, given the distance of two marks.
    pub(crate) fn near(values: impl Iterator<Item = f64>, name: &dyn Fn(f64, f64) -> String) -> Option<Self> {
        let (low, high) = extent(values.filter_map(|value| position(Division::Linear, value)))?;
        let margin = match (high - low) * 0.06 {
            margin if margin > 0.0 => margin,
            _ => (high.abs() * 0.01).max(f64::MIN_POSITIVE),
        };
        let (low, high) = (low - margin, high + margin);
        let places = steps(low, high, &|_| String::new());
        let step = places.windows(2).map(|pair| pair[1].0 - pair[0].0).next().unwrap_or(high - low);
        let marks = places.into_iter().map(|(at, _)| (at, name(at, step))).collect();
        Some(Self { division: Division::Linear, low, high, marks })
    }

    /// An axis of ratios whose range includes a margin around 1.
    pub(crate) fn ratios(values: impl Iterator<Item = f64>, band: f64) -> Option<Self> {
        let around = [1.0 - 2.0 * band, 1.0 + 2.0 * band];
        Self::over(Division::Decades, values.chain(around), &|v| PrintedQuantity::bare(v, Unit::Ratio).short())
    }

    /// Place of a value along the axis in percent, which may lie beyond its ends; `None` if it has none.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        Some(self.share(position(self.division, value)?))
    }

    /// Marks with their places in percent, those within the axis.
    pub(crate) fn marks(&self) -> impl Iterator<Item = (f64, &str)> {
        self.marks
            .iter()
            .filter(|(at, _)| (self.low..=self.high).contains(at))
            .map(|(at, name)| (self.share(*at), name.as_str()))
    }

    fn share(&self, at: f64) -> f64 {
        100.0 * (at - self.low) / (self.high - self.low)
    }
}

/// Position of a value in the transformed coordinate; `None` if it has none.
fn position(division: Division, value: f64) -> Option<f64> {
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
fn steps(low: f64, high: f64, name: &dyn Fn(f64) -> String) -> Vec<(f64, String)> {
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

fn octaves(low: f64, high: f64, name: &dyn Fn(f64) -> String) -> Vec<(f64, String)> {
    let every = ((high - low) / 9.0).ceil().max(1.0);
    let mut marks = Vec::new();
    let mut octave = (low / every).ceil() * every;
    while octave <= high {
        marks.push((octave, name(octave.exp2())));
        octave += every;
    }
    marks
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
        let over = |values: &[f64]| {
            let name = |value: f64| value.to_string();
            let near = AxisScale::near(values.iter().copied(), &|value, _| name(value)).is_some();
            (AxisScale::over(Division::Decades, values.iter().copied(), &name).is_some(), near)
        };
        assert_eq!(over(&[f64::NAN, 0.0, -1.0, f64::INFINITY]), (false, true));
        assert_eq!(over(&[f64::NAN]), (false, false));
        assert!(over(&[f64::MAX, 5e-324]).0);
        assert_eq!(position(Division::Nines, 1.0), Some(5.0));
    }
}
