//! Monte Carlo with transcendental functions: lengths, angles and losses of random walks. The functions come from the
//! crate `libm`, so that every machine computes the same values.

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const WALKS: u64 = 300_000;
const STEPS: usize = 24;

pub(crate) struct MonteCarlo;

impl MonteCarlo {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        Box::new(Self)
    }
}

impl RatingWork for MonteCarlo {
    fn run(&mut self) -> Result<u64, String> {
        let mut sum = Checksum::default();
        for part in 0..10 {
            let mut total = 0.0;
            for walk in 0..WALKS / 10 {
                let mut random = SplitMix::new(part * WALKS + walk);
                let (mut x, mut y, mut angle, mut energy) = (0.0, 0.0, 0.0, 1.0_f64);
                for _ in 0..STEPS {
                    let length = -libm::log(1.0 - random.uniform());
                    angle += 0.3 * (random.uniform() - 0.5);
                    x += length * libm::cos(angle);
                    y += length * libm::sin(angle);
                    energy *= libm::exp(-0.05 * length);
                }
                total += energy * (x * x + y * y).sqrt();
            }
            sum.rounded(total);
        }
        Ok(sum.value())
    }
}
