//! Diffusion on a grid by a stencil of five sets of parameters.

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const SIDE: usize = 1024;
const STEPS: usize = 200;

pub(crate) struct Stencil(Vec<f64>);

impl Stencil {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(24);
        Box::new(Self((0..SIDE * SIDE).map(|_| random.uniform()).collect()))
    }
}

impl RatingWork for Stencil {
    fn run(&mut self) -> Result<u64, String> {
        let mut now = self.0.clone();
        let mut next = now.clone();
        for _ in 0..STEPS {
            for row in 1..SIDE - 1 {
                let (above, rest) = now[(row - 1) * SIDE..].split_at(SIDE);
                let (here, below) = rest.split_at(SIDE);
                let out = &mut next[row * SIDE..][..SIDE];
                for column in 1..SIDE - 1 {
                    let around = above[column] + below[column] + here[column - 1] + here[column + 1];
                    out[column] = 0.6 * here[column] + 0.1 * around;
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        let mut sum = Checksum::default();
        now.iter().step_by(4099).for_each(|value| sum.rounded(*value));
        Ok(sum.value())
    }
}
