//! Molecular dynamics of Lennard-Jones particles in a periodic box, with neighbours found by cells (Allen and
//! Tildesley, Computer Simulation of Liquids, 1987).

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

/// Particles along an edge at the start.
const EDGE: usize = 14;
/// Box size in units of the particle's size; cells are as wide as the range of the force.
const BOX: f64 = 17.5;
const CELLS: usize = 7;
const REACH: f64 = 2.5;
const STEPS: usize = 30;
const STEP: f64 = 0.002;

type V = [f64; 3];

pub(crate) struct Dynamics(Vec<V>, Vec<V>);

impl Dynamics {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(26);
        let place = |at: usize| (at as f64 + 0.5) * BOX / EDGE as f64;
        let places: Vec<V> =
            (0..EDGE.pow(3)).map(|n| [n % EDGE, n / EDGE % EDGE, n / EDGE / EDGE].map(place)).collect();
        let speeds = places.iter().map(|_| [0; 3].map(|_: i32| 2.0 * random.uniform() - 1.0)).collect();
        Box::new(Self(places, speeds))
    }
}

fn cell(place: &V) -> [usize; 3] {
    place.map(|x| ((x / BOX * CELLS as f64) as usize).min(CELLS - 1))
}

fn forces(places: &[V]) -> Vec<V> {
    let mut cells: Vec<Vec<usize>> = vec![Vec::new(); CELLS.pow(3)];
    let index = |[x, y, z]: [usize; 3]| x + CELLS * (y + CELLS * z);
    for (particle, place) in places.iter().enumerate() {
        cells[index(cell(place))].push(particle);
    }
    let mut forces = vec![[0.0; 3]; places.len()];
    for (particle, place) in places.iter().enumerate() {
        let [x, y, z] = cell(place);
        let mut sum = [0.0; 3];
        for near in 0..27 {
            let step = |at: usize, by: usize| (at + by + CELLS - 1) % CELLS;
            let there = index([step(x, near % 3), step(y, near / 3 % 3), step(z, near / 9)]);
            for other in cells[there].iter().filter(|other| **other != particle) {
                let d: V = std::array::from_fn(|parameter| {
                    let gap = place[parameter] - places[*other][parameter];
                    gap - BOX * (gap / BOX).round()
                });
                let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                if square < REACH * REACH {
                    let sixth = 1.0 / (square * square * square);
                    let strength = 24.0 * sixth * (2.0 * sixth - 1.0) / square;
                    sum = [sum[0] + strength * d[0], sum[1] + strength * d[1], sum[2] + strength * d[2]];
                }
            }
        }
        forces[particle] = sum;
    }
    forces
}

impl RatingWork for Dynamics {
    fn run(&mut self) -> Result<u64, String> {
        let (mut places, mut speeds) = (self.0.clone(), self.1.clone());
        let mut pulls = forces(&places);
        for _ in 0..STEPS {
            for (particle, pull) in pulls.iter().enumerate() {
                for parameter in 0..3 {
                    speeds[particle][parameter] += 0.5 * STEP * pull[parameter];
                    let moved = places[particle][parameter] + STEP * speeds[particle][parameter];
                    places[particle][parameter] = moved - BOX * (moved / BOX).floor();
                }
            }
            pulls = forces(&places);
            for (speed, pull) in speeds.iter_mut().zip(&pulls) {
                speed.iter_mut().zip(pull).for_each(|(speed, pull)| *speed += 0.5 * STEP * pull);
            }
        }
        let mut sum = Checksum::default();
        let energy: f64 = speeds.iter().flatten().map(|speed| 0.5 * speed * speed).sum();
        sum.rounded(energy);
        places.iter().flatten().step_by(97).for_each(|value| sum.rounded(*value));
        Ok(sum.value())
    }
}
