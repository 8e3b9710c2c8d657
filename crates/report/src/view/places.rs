//! Where a host had pairs of CPUs: a row of the picture and a sentence.

use analyse::places::PairPlaces;
use model::{Unit, percent};

use super::spells::lasting;
use crate::{PrintedQuantity, TimelineRow};

/// What a cache line took between two CPUs: an empty place is one without a reading.
pub(super) fn distance_row(pair: &PairPlaces) -> TimelineRow {
    let most = pair.cells.iter().flatten().copied().fold(0.0, f64::max);
    let [own, other] = pair.cpus;
    TimelineRow {
        label: format!("CPUs {own}, {other} apart"),
        range: format!("0 – {}", nanoseconds(most)),
        heights: pair.cells.iter().map(|cell| cell.map(|transfer| transfer / most.max(f64::MIN_POSITIVE))).collect(),
        colour: 2,
    }
}

fn nanoseconds(seconds: f64) -> String {
    PrintedQuantity::bare(seconds, Unit::Seconds).short()
}

/// Where the host had a pair of CPUs, such as "CPU 0 and CPU 1: a cache line from one to the other took 40.3 ns for 70%
/// of the readings, in 2 spells, ...; 180 ns for 30% of the readings, once for 3.0 s; the host moved them".
pub(super) fn place(pair: &PairPlaces) -> String {
    let [own, other] = pair.cpus;
    let one = pair.places.len() < 2;
    let places = pair.places.iter().map(|place| {
        let lasted = format!(" for {} of the readings, {}", percent(place.share.get()), lasting(&place.spells));
        format!("{}{}", nanoseconds(place.transfer), if one { "" } else { &lasted })
    });
    let places: Vec<String> = places.collect();
    let moved = if one { "" } else { "; the host moved them" };
    format!("CPU {own} and CPU {other}: a cache line from one to the other took {}{moved}", places.join("; "))
}
