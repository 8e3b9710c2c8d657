//! A Kalman filter (Fruehwirth, Nuclear Instruments and Methods A 262 (1987) 444): tracks of five parameters through
//! planes that measure two coordinates, with multiple scattering between them.

use nalgebra::{Matrix2, Matrix2x5, Matrix5, Vector2, Vector5};

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const TRACKS: usize = 12_000;
const PLANES: usize = 24;
const PASSES: usize = 6;

pub(crate) struct Kalman(Vec<[Vector2<f64>; PLANES]>);

impl Kalman {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(27);
        let mut draw = || random.uniform() - 0.5;
        let tracks = (0..TRACKS)
            .map(|_| {
                let (x, y, a, b, bend) = (draw(), draw(), draw(), draw(), 0.02 * draw());
                std::array::from_fn(|plane| {
                    let z = plane as f64;
                    let noise = [0.02 * draw(), 0.02 * draw()];
                    Vector2::new(x + a * z + bend * z * z + noise[0], y + b * z + noise[1])
                })
            })
            .collect();
        Box::new(Self(tracks))
    }
}

impl RatingWork for Kalman {
    fn run(&mut self) -> Result<u64, String> {
        let mut step = Matrix5::identity();
        (step[(0, 2)], step[(1, 3)], step[(0, 4)], step[(2, 4)]) = (1.0, 1.0, 1.0, 2.0);
        let mut look = Matrix2x5::zeros();
        (look[(0, 0)], look[(1, 1)]) = (1.0, 1.0);
        let scatter = Matrix5::from_diagonal(&Vector5::new(0.0, 0.0, 1e-6, 1e-6, 1e-9));
        let error = Matrix2::identity() * (0.02 * 0.02 / 12.0);
        let (mut total, mut all) = (0.0, Checksum::default());
        for track in (0..PASSES).flat_map(|_| &self.0) {
            let mut state = Vector5::zeros();
            let mut covariance = Matrix5::identity();
            for (plane, seen) in track.iter().enumerate() {
                if plane > 0 {
                    state = step * state;
                    covariance = step * covariance * step.transpose() + scatter;
                }
                let residual = seen - look * state;
                let spread = look * covariance * look.transpose() + error;
                let inverse = spread.try_inverse().ok_or("a covariance has no inverse")?;
                let gain = covariance * look.transpose() * inverse;
                state += gain * residual;
                covariance = (Matrix5::identity() - gain * look) * covariance;
                total += (residual.transpose() * inverse * residual)[0];
            }
            all.rounded(state[4]);
        }
        all.rounded(total);
        Ok(all.value())
    }
}
