//! Fast Fourier transforms, forward and backward.

use std::sync::Arc;

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const SIZE: usize = 1 << 20;
const TURNS: usize = 5;

pub(crate) struct Fourier {
    signal: Vec<Complex<f64>>,
    there: Arc<dyn Fft<f64>>,
    back: Arc<dyn Fft<f64>>,
}

impl Fourier {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(21);
        let signal = (0..SIZE).map(|_| Complex::new(random.uniform() - 0.5, random.uniform() - 0.5)).collect();
        let mut planner = FftPlanner::new();
        Box::new(Self { signal, there: planner.plan_fft_forward(SIZE), back: planner.plan_fft_inverse(SIZE) })
    }
}

impl RatingWork for Fourier {
    fn run(&mut self) -> Result<u64, String> {
        let mut sum = Checksum::default();
        let mut data = self.signal.clone();
        for _ in 0..TURNS {
            self.there.process(&mut data);
            let (low, high) = data.split_at(SIZE / 2);
            let power = |half: &[Complex<f64>]| half.iter().map(Complex::norm_sqr).sum::<f64>();
            sum.rounded(power(low));
            sum.rounded(power(high));
            self.back.process(&mut data);
            data.iter_mut().for_each(|value| *value /= SIZE as f64);
        }
        let worst = data.iter().zip(&self.signal).map(|(a, b)| (a - b).norm_sqr()).fold(0.0, f64::max);
        if worst < 1e-20 { Ok(sum.value()) } else { Err(format!("the inverse transform is off by {worst}")) }
    }
}
