//! Linear equations by LU decomposition.

use nalgebra::{DMatrix, DVector};

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const SIZE: usize = 900;

pub(crate) struct Lu(DMatrix<f64>, DVector<f64>);

impl Lu {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(20);
        let matrix = DMatrix::from_fn(SIZE, SIZE, |_, _| random.uniform() - 0.5);
        // The solution is known: 1, 2, 3 ...
        let wanted = DVector::from_fn(SIZE, |row, _| (row + 1) as f64);
        let right = &matrix * wanted;
        Box::new(Self(matrix, right))
    }
}

impl RatingWork for Lu {
    fn run(&mut self) -> Result<u64, String> {
        let mut sum = Checksum::default();
        for _ in 0..2 {
            let found = self.0.clone().lu().solve(&self.1).ok_or("the matrix is singular")?;
            found.iter().for_each(|value| sum.rounded(*value));
        }
        Ok(sum.value())
    }
}
