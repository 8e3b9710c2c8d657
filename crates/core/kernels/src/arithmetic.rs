//! The arithmetic tests of the BYTE benchmark: terms of the sum of x²/(x²-1) for x from 2 to 101.
//!
//! An iteration is one such sum in one type; the same loop also exists without arithmetic. The integer types follow C:
//! a short is computed as an int and truncated. Present compilers reduce the original to nothing; these loops are
//! checked in the disassembly or kept by `black_box`.

use std::hint::black_box;

use super::LoopCost;
use super::counted_loop::CountedLoop;

/// Terms of one iteration.
pub const TERMS: u64 = 100;
const LAST: u8 = 101;

/// Multiply, subtract, divide and add in each term.
pub(super) const ITERATION: LoopCost =
    LoopCost { elements: TERMS, ops: 4 * TERMS, bytes_read: 0, bytes_written: 0, loads: 0, stores: 0, flops: 0 };
pub(super) const ITERATION_FLOAT: LoopCost = LoopCost { flops: 4 * TERMS, ..ITERATION };
pub(super) const ITERATION_EMPTY: LoopCost = LoopCost { ops: TERMS, ..ITERATION };

/// The result of one iteration: x + y + z at its end, as bits; for the empty loop the number at which it ended.
macro_rules! one_sum {
    ($name:ident, |$i:ident| $x:expr, $type:ty, $zero:expr, $one:expr, $mul:expr, $sub:expr, $bits:expr) => {
        #[inline(always)]
        fn $name(opaque: impl Fn(u8) -> u8) -> u64 {
            let (mut x, mut y, mut z): ($type, $type, $type) = ($zero, $zero, $zero);
            for $i in 2..=LAST {
                let $i = opaque($i);
                x = $x;
                y = $mul(x, x);
                z += y / $sub(y, $one);
            }
            $bits(x + y + z)
        }
    };
}

one_sum!(short, |i| i16::from(i), i16, 0, 1, |a, b| a * b, |a, b| a - b, |sum: i16| sum.cast_unsigned().into());
one_sum!(int, |i| i32::from(i), i32, 0, 1, |a, b| a * b, |a, b| a - b, |sum: i32| sum.cast_unsigned().into());
one_sum!(long, |i| i64::from(i), i64, 0, 1, |a, b| a * b, |a, b| a - b, |sum: i64| sum.cast_unsigned());
one_sum!(float, |i| f32::from(i), f32, 0.0, 1.0, |a, b| a * b, |a, b| a - b, |sum: f32| sum.to_bits().into());
one_sum!(double, |i| f64::from(i), f64, 0.0, 1.0, |a, b| a * b, |a, b| a - b, |sum: f64| sum.to_bits());

#[inline(always)]
fn empty(opaque: impl Fn(u8) -> u8) -> u64 {
    let mut i = 2;
    while i <= LAST {
        i = opaque(i) + 1;
    }
    i.into()
}

/// The functions of the table for one type.
macro_rules! forms {
    ($($module:ident)+) => { $(
        pub(super) mod $module {
            use super::black_box;
            /// By a slow path: the sum is the same every time.
            pub(crate) fn expected(iterations: u64) -> u64 {
                super::$module(|i| i).wrapping_mul(iterations)
            }
            #[inline(never)]
            pub(super) fn portable(iterations: u64) -> u64 {
                (0..iterations).fold(0_u64, |total, _| total.wrapping_add(super::$module(black_box)))
            }
        }
    )+ };
}
forms!(empty short int long float double);

const fn row(
    name: &'static str,
    symbol: &'static str,
    iteration: LoopCost,
    body: fn(u64) -> u64,
    expected: fn(u64) -> u64,
) -> CountedLoop {
    CountedLoop {
        name,
        isa: "portable",
        iteration,
        instruction: "",
        each: 1,
        symbol,
        needs: "nothing",
        present: || true,
        body,
        expected,
    }
}

pub(super) static PORTABLE: [CountedLoop; 6] = [
    row("arithmetic_empty", "arithmetic::empty::portable", ITERATION_EMPTY, empty::portable, empty::expected),
    row("arithmetic_short", "arithmetic::short::portable", ITERATION, short::portable, short::expected),
    row("arithmetic_int", "arithmetic::int::portable", ITERATION, int::portable, int::expected),
    row("arithmetic_long", "arithmetic::long::portable", ITERATION, long::portable, long::expected),
    row("arithmetic_float", "arithmetic::float::portable", ITERATION_FLOAT, float::portable, float::expected),
    row("arithmetic_double", "arithmetic::double::portable", ITERATION_FLOAT, double::portable, double::expected),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_series() {
        // Each term of the integer series is 1; the real one telescopes to 99/... : sum of 1 + 1/(x²-1).
        assert_eq!(short(|i| i), 101 + 10_201 + 100);
        assert_eq!(int(|i| i), 101 + 10_201 + 100);
        assert_eq!(long(|i| i), 101 + 10_201 + 100);
        // The sum of 1/(x²-1) from 2 to n is 3/4 - (2n+1)/(2n(n+1)).
        let closed = 100.0 + 0.75 - 203.0 / (2.0 * 101.0 * 102.0) + 101.0 + 10_201.0;
        assert!((f64::from_bits(double(|i| i)) - closed).abs() < 1e-9);
        assert!((f64::from(f32::from_bits(u32::try_from(float(|i| i)).unwrap())) - closed).abs() < 0.01);
        assert_eq!(empty(|i| i), 102);
    }
}
