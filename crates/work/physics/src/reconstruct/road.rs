//! Finds the hits in a road around a helix, and on which side of their wires it passes.

use crate::simulate::Hit;
use crate::{Chamber, Helix};

/// A hit assigned to a track, with a signed drift distance: positive if the wire is to the left of the track.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assigned {
    /// Index of the hit in the event.
    pub hit: usize,
    /// Signed drift distance, cm.
    pub drift: f64,
    /// Estimated z where the track crosses the hit's layer, cm.
    pub z: f64,
}

/// The hits of an event by layer, and which of them belong to no track yet.
#[derive(Debug, Clone, Copy)]
pub struct Free<'a> {
    /// Hits, by layer.
    pub hits: &'a [Hit],
    /// Whether each is free.
    pub free: &'a [bool],
    /// Index of the first hit of each layer, and the number of hits.
    pub first: &'a [usize],
}

/// The nearest free hit in every layer within `road` cm of a helix; only in axial layers if `axial` is set.
#[must_use]
pub fn assign(chamber: &Chamber, event: Free<'_>, helix: Helix, road: f64, axial: bool) -> Vec<Assigned> {
    let flight = helix.flight();
    let mut found = Vec::with_capacity(chamber.layers.len());
    for (index, layer) in chamber.layers.iter().enumerate() {
        if axial && layer.is_stereo() {
            continue;
        }
        let Some(((x, y), z)) = flight.crossing(layer) else { break };
        if !axial && z.abs() > chamber.half_length + LEEWAY {
            break;
        }
        // An inclined track leaves its cell by more than half a cell and the road.
        let reach = 2.0 * layer.half_cell() + road;
        let mut best: Option<(f64, Assigned)> = None;
        for hit in event.first[index]..event.first[index + 1] {
            let cell = usize::from(event.hits[hit].cell);
            let wire = layer.wire_at(cell, z);
            if !event.free[hit] || (wire.0 - x).abs() > reach || (wire.1 - y).abs() > reach {
                continue;
            }
            let Some(near) = flight.approach(layer, cell, z) else { continue };
            let drift = if near.distance < 0.0 { -event.hits[hit].drift } else { event.hits[hit].drift };
            let miss = (drift - near.distance).abs();
            if miss < road && best.as_ref().is_none_or(|(least, _)| miss < *least) {
                best = Some((miss, Assigned { hit, drift, z }));
            }
        }
        found.extend(best.map(|(_, assigned)| assigned));
    }
    found
}

/// How far beyond the end of the wires a track is followed while its z is uncertain, cm.
const LEEWAY: f64 = 5.0;
