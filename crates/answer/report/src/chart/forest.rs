//! Forest plot: ratios with their intervals, one below the other (Lewis and Clarke, BMJ 2001).

use super::scale::{AxisScale, position};
use super::sheet::{AXIS, BAND, Size, draw as sheet, shortened, tone};
use crate::{Chart, Division, Error, Forest, ForestRow};

/// How much farther than the farthest usual end the plot goes, on its logarithmic scale.
const FAR: f64 = 1.5;
/// Length of an arrow's head at the end of an interval that is cut, in widths of the plot.
const ARROW: f64 = 0.012;

pub(super) fn draw(chart: &Chart, forest: &Forest) -> Result<Option<String>, Error> {
    let finite = |x: f64| x.is_finite() && x > 0.0;
    let rows: Vec<_> = forest.rows.iter().filter(|row| finite(row.ratio.value)).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let reach = reach(&rows);
    let shown = |value: f64| value.clamp(1.0 / reach, reach);
    let values = rows.iter().flat_map(|row| [shown(row.ratio.low), row.ratio.value, shown(row.ratio.high)]);
    let Some(x) = AxisScale::ratios(values, forest.band) else { return Ok(None) };
    let names: Vec<String> = rows.iter().map(|row| shortened(&row.label)).collect();
    let y = AxisScale::rows(&names);
    #[expect(clippy::cast_possible_truncation, reason = "rows of one page")]
    let height = 64 + 20 * rows.len() as u32;
    let size = Size { width: 860, height, left: 384, right: 96 };
    let at = |value: f64| position(Division::Decades, value);
    sheet(chart, size, (x, y), (&forest.title, ""), |sheet| {
        let ((left, bottom), (right, top)) = sheet.corners();
        if let (Some(low), Some(high)) = (at(1.0 - forest.band), at(1.0 + forest.band)) {
            sheet.area((low, bottom), (high, top), BAND)?;
        }
        sheet.line(&[(0.0, bottom), (0.0, top)], AXIS, 1)?;
        for (index, row) in rows.iter().enumerate() {
            let (y, colour) = (-(index as f64), tone(row.tone));
            let Some(value) = at(row.ratio.value) else { continue };
            if row.ratio.has_interval()
                && let (Some(low), Some(high)) = (at(shown(row.ratio.low)), at(shown(row.ratio.high)))
            {
                sheet.line(&[(low, y), (high, y)], colour, 2)?;
                let head = ARROW * (right - left);
                for (end, cut, back) in
                    [(low, row.ratio.low < 1.0 / reach, head), (high, row.ratio.high > reach, -head)]
                {
                    if cut {
                        sheet.line(&[(end + back, y + 0.3), (end, y), (end + back, y - 0.3)], colour, 2)?;
                    }
                }
            }
            sheet.dot((value, y), 4, colour, !row.ratio.has_interval())?;
            sheet.words_at_edge(y, size, row.words.split(" (").next().unwrap_or_default());
            sheet.hover_row(y, size, &format!("{}: {}, {}", row.label, row.words, row.verdict));
        }
        Ok(())
    })
}

/// The ratio up to which intervals are drawn: that of all values and of nine tenths of the interval's ends. One very
/// uncertain result must not press all others into a point.
fn reach(rows: &[&ForestRow]) -> f64 {
    let away = |ratio: f64| if ratio > 0.0 { ratio.ln().abs() } else { f64::INFINITY };
    let values = rows.iter().map(|row| away(row.ratio.value)).fold(0.0, f64::max);
    let with_interval = rows.iter().filter(|row| row.ratio.has_interval());
    let mut ends: Vec<f64> = with_interval.flat_map(|row| [away(row.ratio.low), away(row.ratio.high)]).collect();
    ends.sort_by(f64::total_cmp);
    let usual = ends.get((ends.len() * 9).div_ceil(10).saturating_sub(1)).copied().filter(|end| end.is_finite());
    let usual = usual.unwrap_or(0.0);
    let longest = ends.last().copied().unwrap_or(0.0);
    let reach = FAR * values.max(usual);
    // A slightly longer interval is drawn to its end.
    let end = if longest <= FAR * reach { longest.max(values) } else { reach };
    // Rounding beyond the end does not cut it.
    end.exp() * (1.0 + 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PrintedQuantity, Tone};

    fn row(value: f64, low: f64, high: f64) -> ForestRow {
        let [label, words, verdict] = ["", "", ""].map(str::to_owned);
        ForestRow { label, ratio: PrintedQuantity::ratio(value, low, high), words, verdict, tone: Tone::Plain }
    }

    #[test]
    fn one_result_of_which_nothing_is_known_does_not_press_the_others_into_a_point() {
        let of = |last: ForestRow| {
            let rows: Vec<ForestRow> = (0..19).map(|_| row(1.0, 0.9, 1.1)).chain([last]).collect();
            reach(&rows.iter().collect::<Vec<_>>())
        };
        assert!(of(row(1.1, 1e-5, 1e5)) < 1.2, "it is cut");
        assert!(of(row(1.1, 0.0, f64::INFINITY)) < 1.2, "so is one without an end");
        assert!((of(row(1.05, 0.87, 1.15)) - 1.15).abs() < 1e-6, "what would be cut by little is not cut");
        assert!(of(row(20.0, 15.0, 25.0)) > 24.9, "a value is shown wherever it is");
    }

    #[test]
    fn a_plot_of_intervals_without_ends_is_drawn() {
        let forest =
            Forest { band: 0.02, title: String::new(), rows: vec![row(1.0, 0.0, f64::INFINITY), row(2.0, 1.5, 2.5)] };
        let chart =
            Chart { title: String::new(), about: String::new(), plot: crate::ChartPlot::Forest(forest.clone()) };
        assert!(draw(&chart, &forest).unwrap().is_some());
    }
}
