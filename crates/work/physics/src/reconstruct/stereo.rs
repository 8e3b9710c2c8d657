//! The dip of a known circle, by voting of stereo hits.
//!
//! A stereo wire comes within its drift distance of a known circle at one or two positions along it, one for each side.
//! The right positions of one track lie on a straight line of z over arc length that passes near z = 0; wrong ones
//! scatter.

use super::road::Free;
use crate::helix::Flight;
use crate::{Chamber, Circle};

/// Largest tangent of a dip: with a larger one, a track leaves through the end before the first stereo layer.
const LARGEST: f64 = 3.6;
/// Bins in the tangent of the dip.
const BINS: usize = 180;
/// Largest |z| of a track at the axis, cm: four standard deviations of the beam region.
const SPREAD: f64 = 4.0;

/// The tangents of the dip with the most stereo layers, best first: at most `most`, each with at least `least` layers.
#[must_use]
pub(super) fn dips(chamber: &Chamber, event: Free<'_>, circle: Circle, least: u16, most: usize) -> Vec<f64> {
    let directed = circle.directed();
    let mut bins = [0_u16; BINS];
    for (index, layer) in chamber.layers.iter().enumerate().filter(|(_, layer)| layer.is_stereo()) {
        let mut seen = [false; BINS];
        let Some((x, y)) = directed.at_radius(layer.radius) else { break };
        // Largest distance of a wire from its position at z = 0.
        let reach = layer.tilt.abs() * chamber.half_length + 2.0 * layer.half_cell();
        for hit in event.first[index]..event.first[index + 1] {
            let one = &event.hits[hit];
            let wire = layer.wires[usize::from(one.cell)];
            if !event.free[hit] || (wire.0 - x).abs() > reach || (wire.1 - y).abs() > reach {
                continue;
            }
            for side in [one.drift, -one.drift] {
                let place = Flight::place(&directed, layer, usize::from(one.cell), side, chamber.half_length);
                let Some((arc, z)) = place.filter(|(arc, _)| *arc > 0.0) else { continue };
                seen[bin((z - SPREAD) / arc)..=bin((z + SPREAD) / arc)].fill(true);
            }
        }
        bins.iter_mut().zip(seen).for_each(|(bin, seen)| *bin += u16::from(seen));
    }
    peaks(bins, least, most)
}

fn bin(tangent: f64) -> usize {
    // Casts saturate: values beyond the ends fall into the last bin.
    (((tangent + LARGEST) * (0.5 * BINS as f64 / LARGEST)) as usize).min(BINS - 1)
}

/// The centres of the highest plateaus; the neighbours of a plateau are cleared.
fn peaks(mut bins: [u16; BINS], least: u16, most: usize) -> Vec<f64> {
    let mut found = Vec::new();
    while found.len() < most {
        let highest = bins.iter().copied().max().unwrap_or(0);
        if highest < least {
            break;
        }
        let Some(first) = bins.iter().position(|bin| *bin == highest) else { break };
        let end = first + bins[first..].iter().take_while(|bin| **bin == highest).count();
        found.push(LARGEST * ((first + end) as f64 / BINS as f64 - 1.0));
        for bin in &mut bins[first.saturating_sub(2)..(end + 2).min(BINS)] {
            *bin = 0;
        }
    }
    found
}
