//! Conjugate gradient (Hestenes and Stiefel 1952) on the sparse matrix of a grid, in compressed rows.

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const SIDE: usize = 320;
const STEPS: usize = 220;

pub(crate) struct Gradient {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    right: Vec<f64>,
}

impl Gradient {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(25);
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..SIDE {
            for column in 0..SIDE {
                let mut put = |row: usize, column: usize, value: f64| {
                    columns.push((row * SIDE + column) as u32);
                    values.push(value);
                };
                if row > 0 {
                    put(row - 1, column, -1.0);
                }
                if column > 0 {
                    put(row, column - 1, -1.0);
                }
                put(row, column, 4.01);
                if column + 1 < SIDE {
                    put(row, column + 1, -1.0);
                }
                if row + 1 < SIDE {
                    put(row + 1, column, -1.0);
                }
                starts.push(columns.len());
            }
        }
        let right = (0..SIDE * SIDE).map(|_| random.uniform()).collect();
        Box::new(Self { starts, columns, values, right })
    }

    fn times(&self, x: &[f64], out: &mut [f64]) {
        for (row, out) in out.iter_mut().enumerate() {
            let range = self.starts[row]..self.starts[row + 1];
            let pairs = self.columns[range.clone()].iter().zip(&self.values[range]);
            *out = pairs.map(|(column, value)| value * x[*column as usize]).sum();
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl RatingWork for Gradient {
    fn run(&mut self) -> Result<u64, String> {
        let mut x = vec![0.0; self.right.len()];
        let mut residual = self.right.clone();
        let mut direction = residual.clone();
        let mut image = vec![0.0; x.len()];
        let mut square = dot(&residual, &residual);
        for _ in 0..STEPS {
            self.times(&direction, &mut image);
            let step = square / dot(&direction, &image);
            x.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
            residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= step * i);
            let next = dot(&residual, &residual);
            let share = next / square;
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + share * *d);
            square = next;
        }
        let mut sum = Checksum::default();
        x.iter().step_by(997).for_each(|value| sum.rounded(*value));
        Ok(sum.value())
    }
}
