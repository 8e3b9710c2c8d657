//! Which hits lie within a road around a circle, and on which side of their wires the circle passes.

use crate::simulate::Hit;
use crate::{Chamber, Circle};

/// A hit taken for a track, with its drift distance signed: positive where the wire is to the left of the track.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assigned {
    /// Index of the hit in the event.
    pub hit: usize,
    /// Signed drift distance, cm.
    pub drift: f64,
}

/// The nearest free hit of every layer that lies within `road` cm of a circle. `first` holds where each layer's hits begin.
#[must_use]
pub fn gather(
    chamber: &Chamber,
    hits: &[Hit],
    free: &[bool],
    first: &[usize],
    circle: Circle,
    road: f64,
) -> Vec<Assigned> {
    let directed = circle.directed();
    let mut found = Vec::with_capacity(chamber.layers.len());
    for (index, layer) in chamber.layers.iter().enumerate() {
        let Some((x, y)) = directed.at_radius(layer.radius) else { break };
        // A track that slants leaves its cell by more than half a cell and the road.
        let reach = 2.0 * layer.half_cell() + road;
        let mut best: Option<(f64, Assigned)> = None;
        for hit in first[index]..first[index + 1] {
            let wire = layer.wires[usize::from(hits[hit].cell)];
            if !free[hit] || (wire.0 - x).abs() > reach || (wire.1 - y).abs() > reach {
                continue;
            }
            let Some(distance) = directed.distance(wire) else { continue };
            let drift = if distance < 0.0 { -hits[hit].drift } else { hits[hit].drift };
            let miss = (drift - distance).abs();
            if miss < road && best.as_ref().is_none_or(|(least, _)| miss < *least) {
                best = Some((miss, Assigned { hit, drift }));
            }
        }
        found.extend(best.map(|(_, assigned)| assigned));
    }
    found
}
