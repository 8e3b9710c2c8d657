//! Curves: memory hierarchy, bandwidth over block size, quantiles.

use super::scale::{AxisScale, position};
use super::sheet::{AXIS, Size, draw as sheet, series};
use crate::{Chart, Curves, Error, PrintedQuantity, Series};

pub(super) const SIZE: Size = Size { width: 760, height: 400, left: 84, right: 0 };
/// One of many.
pub(super) const SMALL: Size = Size { width: 400, height: 260, left: 76, right: 0 };
/// Series with colours of their own; further ones reuse the colours with hollow dots.
const COLOURS: usize = 7;

pub(super) fn draw(chart: &Chart, curves: &Curves, size: Size) -> Result<Option<String>, Error> {
    let points = || curves.series.iter().flat_map(|series| &series.points);
    let ends = |q: &PrintedQuantity| if q.has_interval() { vec![q.low, q.value, q.high] } else { vec![q.value] };
    let x = AxisScale::over(&curves.x, points().map(|(x, _)| *x));
    let y = AxisScale::over(&curves.y, points().flat_map(|(_, quantity)| ends(quantity)));
    let (Some(x), Some(y)) = (x, y) else { return Ok(None) };
    sheet(chart, size, (x, y), (&curves.x.title, &curves.y.title), |sheet| {
        let ((left, bottom), (right, top)) = sheet.corners();
        let mut row = 0;
        for mark in &curves.marks {
            let Some(at) = position(curves.x.division, mark.x).filter(|at| (left..=right).contains(at)) else {
                continue;
            };
            sheet.line(&[(at, bottom), (at, top)], AXIS, 1)?;
            sheet.words((at, top), (4, 13 + 14 * (row % 3)), "start", &mark.text);
            row += 1;
        }
        for one in &curves.series {
            curve(sheet, curves, one)?;
        }
        Ok(())
    })
}

fn curve(sheet: &mut super::sheet::ChartSheet, curves: &Curves, one: &Series) -> Result<(), Error> {
    let colour = series(one.colour);
    let place = |x: f64, y: f64| Some((position(curves.x.division, x)?, position(curves.y.division, y)?));
    let drawn: Vec<(f64, f64)> = one.points.iter().filter_map(|(x, q)| place(*x, q.value)).collect();
    sheet.line(&drawn, colour, if one.variant > 0 { 1 } else { 2 })?;
    for (x, quantity) in &one.points {
        let Some(at) = place(*x, quantity.value) else { continue };
        if quantity.has_interval()
            && let (Some(low), Some(high)) = (place(*x, quantity.low), place(*x, quantity.high))
        {
            sheet.line(&[low, high], colour, 1)?;
        }
        sheet.dot(at, 3, colour, one.variant > 0 || one.colour >= COLOURS)?;
        let at_x = match curves.x.division {
            crate::Division::Nines if *x >= 1.0 => "maximum".to_owned(),
            crate::Division::Nines => format!("{}%", x * 100.0),
            _ => PrintedQuantity::bare(*x, curves.x.unit).text(),
        };
        sheet.hover(at, &format!("{}, {at_x}: {}", one.name, quantity.text_with_interval()));
    }
    Ok(())
}
