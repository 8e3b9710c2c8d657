//! Gravity of all pairs, by leapfrog steps with softening.

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const BODIES: usize = 1500;
const STEPS: usize = 24;
const STEP: f64 = 1e-3;
const SOFTENING: f64 = 1e-2;

pub(crate) struct Bodies(Vec<[f64; 3]>);

impl Bodies {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(22);
        Box::new(Self((0..BODIES).map(|_| [0; 3].map(|_: i32| random.uniform() - 0.5)).collect()))
    }
}

impl RatingWork for Bodies {
    fn run(&mut self) -> Result<u64, String> {
        let mut places = self.0.clone();
        let mut speeds = vec![[0.0; 3]; BODIES];
        for _ in 0..STEPS {
            for (body, speed) in speeds.iter_mut().enumerate() {
                let pull = pull(&places, places[body]);
                speed.iter_mut().zip(pull).for_each(|(speed, pull)| *speed += STEP * pull / BODIES as f64);
            }
            for (place, speed) in places.iter_mut().zip(&speeds) {
                place.iter_mut().zip(speed).for_each(|(place, speed)| *place += STEP * speed);
            }
        }
        let mut sum = Checksum::default();
        places.iter().flatten().step_by(50).for_each(|value| sum.rounded(*value));
        Ok(sum.value())
    }
}

fn pull(places: &[[f64; 3]], at: [f64; 3]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for place in places {
        let d = [place[0] - at[0], place[1] - at[1], place[2] - at[2]];
        let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + SOFTENING * SOFTENING;
        let weight = 1.0 / (square * square.sqrt());
        sum = [sum[0] + weight * d[0], sum[1] + weight * d[1], sum[2] + weight * d[2]];
    }
    sum
}
