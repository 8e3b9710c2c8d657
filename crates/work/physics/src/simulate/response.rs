//! The response of the chamber: which cells fire, and their drift distances.

use crate::chamber::Chamber;
use crate::helix::Helix;
use crate::random::EventRandom;

/// Streams of random numbers: one for each particle from here on, and one for noise.
const PARTICLES: u32 = 1 << 8;
const NOISE: u32 = 1 << 16;

/// One cell that fired.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Layer, from the inside.
    pub layer: u16,
    /// Cell in the layer.
    pub cell: u16,
    /// Particle that made it, from 0; `None` for noise.
    pub particle: Option<u16>,
    /// Measured distance between wire and track, cm; the side is unknown.
    pub drift: f64,
}

/// The hits of an event, by layer and cell. If a cell fires more than once, the shortest drift arrives first and is
/// kept.
#[must_use]
pub fn respond(chamber: &Chamber, particles: &[Helix], seed: u64, event: u64) -> Vec<Hit> {
    let mut hits = Vec::with_capacity(particles.len() * chamber.layers.len() * 3 / 2);
    for (index, particle) in particles.iter().enumerate() {
        let mut random = EventRandom::new(seed, event, PARTICLES + index as u32);
        cross(chamber, particle, index as u16, &mut random, &mut hits);
    }
    noise(chamber, seed, event, &mut hits);
    tidy(&mut hits);
    hits
}

/// Adds the cells that fire without a particle.
pub(super) fn noise(chamber: &Chamber, seed: u64, event: u64, hits: &mut Vec<Hit>) {
    let mut random = EventRandom::new(seed, event, NOISE);
    for (index, layer) in chamber.layers.iter().enumerate() {
        // Gaps between noisy cells are geometric: equivalent to drawing for every cell, and much cheaper.
        let rate = -libm::log1p(-chamber.noise);
        let mut cell = (random.exponential() / rate) as usize;
        while chamber.noise > 0.0 && cell < layer.wires.len() {
            let drift = layer.half_cell() * random.uniform();
            hits.push(Hit { layer: index as u16, cell: cell as u16, particle: None, drift });
            cell += 1 + (random.exponential() / rate) as usize;
        }
    }
}

/// Sorts hits by layer and cell and keeps the shortest drift of each cell.
pub(super) fn tidy(hits: &mut Vec<Hit>) {
    hits.sort_by(|a, b| (a.layer, a.cell).cmp(&(b.layer, b.cell)).then(a.drift.total_cmp(&b.drift)));
    hits.dedup_by_key(|hit| (hit.layer, hit.cell));
}

fn cross(chamber: &Chamber, particle: &Helix, index: u16, random: &mut EventRandom, hits: &mut Vec<Hit>) {
    let flight = particle.flight();
    for (number, layer) in chamber.layers.iter().enumerate() {
        let Some((point, z)) = flight.crossing(layer) else { return };
        if z.abs() > chamber.half_length {
            return;
        }
        // Drawn even if unused, so that one layer's hits do not depend on another layer's random numbers.
        let (seen, smear) = (random.uniform() < chamber.efficiency, random.normal());
        let cell = layer.cell_at(libm::atan2(point.1, point.0), z);
        let Some(near) = flight.approach(layer, cell, z).filter(|_| seen) else { continue };
        let drift = (near.distance + chamber.resolution * smear).abs();
        hits.push(Hit { layer: number as u16, cell: cell as u16, particle: Some(index), drift });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Generator, simulate};

    #[test]
    fn hits_are_sorted_unique_per_cell_and_as_many_as_expected() {
        let chamber = Chamber::default();
        let (mut noise, mut cells) = (0, 0);
        for number in 0..50 {
            let event = simulate(&chamber, &Generator::default(), 1, number);
            assert!(event.hits.windows(2).all(|pair| (pair[0].layer, pair[0].cell) < (pair[1].layer, pair[1].cell)));
            assert!(event.hits.iter().all(|hit| hit.drift >= 0.0 && hit.drift < 2.0));
            noise += event.hits.iter().filter(|hit| hit.particle.is_none()).count();
            cells += chamber.layers.iter().map(|layer| layer.wires.len()).sum::<usize>();
        }
        let rate = noise as f64 / cells as f64;
        assert!((0.0175..0.0205).contains(&rate), "{rate}: 2% less noise hidden by tracks");
    }
}
