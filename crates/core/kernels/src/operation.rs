//! Add, multiply and divide: latency if each operation waits for the one before, and throughput if none waits.
//!
//! The chains are those of lmbench's `lat_ops`: x + s, x * s, and s / x, which alternates between two values forever. A
//! latency loop has one chain of sixteen operations per iteration, a throughput loop eight chains of two. To detect a
//! missing division, the value of the first chain is also summed, once per iteration.

use std::hint::black_box;

use super::LoopCost;
use super::counted_loop::CountedLoop;

/// Operations per iteration.
pub(super) const OPS: u64 = 16;
/// Independent chains of a throughput loop.
pub(super) const CHAINS: u64 = 8;

pub(super) const ITERATION: LoopCost =
    LoopCost { elements: OPS, ops: OPS, bytes_read: 0, bytes_written: 0, loads: 0, stores: 0, flops: 0 };
pub(super) const ITERATION_FLOAT: LoopCost = LoopCost { flops: OPS, ..ITERATION };

/// First value of chain 0 and the constant s, by type and operation. Chain k starts k higher.
pub(super) mod start {
    pub(crate) const INTEGER: u64 = 1_000_007;
    pub(crate) const ADD: u64 = 0x1234_5677;
    pub(crate) const MULTIPLY: u64 = 0x0d68_8dd1;
    /// Approximately the square of the start, so that quotients stay as large as divisors.
    pub(crate) const DIVIDE_I64: u64 = 1_000_000_000_000;
    pub(crate) const DIVIDE_I32: u64 = 2_000_000_000;
    pub(crate) const FLOAT: u32 = 1;
    /// Exact for fewer than 2^53 steps (2^24 for a float, which then stops changing).
    pub(crate) const FLOAT_ADD: u32 = 1;
    pub(crate) const FLOAT_DIVIDE: u32 = 3;
    /// The next number above 1: the product grows so slowly that it never overflows in a batch.
    pub(crate) const F64_MULTIPLY: u64 = 0x3ff0_0000_0000_0001;
    pub(crate) const F32_MULTIPLY: u32 = 0x3f80_0001;
}

/// One operation in one type: the expected result of a loop, and the loop in Rust.
///
/// In the portable loop every step reads s through a volatile load without dependencies, so that the compiler cannot
/// merge two steps.
macro_rules! operation {
    ($module:ident, $type:ty, $swings:literal, |$x:ident, $s:ident| $step:expr, $first:expr, $constant:expr, $next:expr, $join:expr) => {
        pub(super) mod $module {
            use super::*;

            fn step($x: $type, $s: $type) -> $type {
                $step
            }

            /// The last value of the chain, joined; for a division also its values at the ends of iterations.
            fn chain(number: u64, iterations: u64, ops: u64, s: impl Fn() -> $type) -> u64 {
                let mut x = (0..number).fold($first, |x, _| $next(x));
                let mut total = 0_u64;
                for _ in 0..iterations {
                    x = (0..ops).fold(x, |x, _| step(x, s()));
                    total = total.wrapping_add(if $swings && number == 0 { $join(x) } else { 0 });
                }
                total.wrapping_add($join(x))
            }

            pub(crate) fn latency_expected(iterations: u64) -> u64 {
                chain(0, iterations, OPS, || $constant)
            }

            pub(crate) fn throughput_expected(iterations: u64) -> u64 {
                let last = |number| chain(number, iterations, OPS / CHAINS, || $constant);
                (0..CHAINS).fold(0_u64, |total, number| total.wrapping_add(last(number)))
            }

            #[inline(never)]
            pub(super) fn latency(iterations: u64) -> u64 {
                let s = black_box($constant);
                // SAFETY: a reference is readable.
                chain(0, iterations, OPS, || unsafe { std::ptr::read_volatile(&raw const s) })
            }

            #[inline(never)]
            pub(super) fn throughput(iterations: u64) -> u64 {
                let s = black_box($constant);
                let mut chains: [$type; CHAINS as usize] =
                    std::array::from_fn(|number| (0..number).fold($first, |x, _| $next(x)));
                let mut total = 0_u64;
                for _ in 0..iterations {
                    for _ in 0..OPS / CHAINS {
                        // SAFETY: a reference is readable.
                        chains = chains.map(|x| step(x, unsafe { std::ptr::read_volatile(&raw const s) }));
                    }
                    total = total.wrapping_add(if $swings { $join(chains[0]) } else { 0 });
                }
                chains.iter().fold(total, |total, x| total.wrapping_add($join(*x)))
            }
        }
    };
}

operation!(
    add_i32,
    u32,
    false,
    |x, s| x.wrapping_add(s),
    start::INTEGER as u32,
    start::ADD as u32,
    |x| x + 1,
    u64::from
);
operation!(add_i64, u64, false, |x, s| x.wrapping_add(s), start::INTEGER, start::ADD, |x| x + 1, u64::from);
operation!(
    multiply_i32,
    u32,
    false,
    |x, s| x.wrapping_mul(s),
    start::INTEGER as u32,
    start::MULTIPLY as u32,
    |x| x + 1,
    u64::from
);
operation!(multiply_i64, u64, false, |x, s| x.wrapping_mul(s), start::INTEGER, start::MULTIPLY, |x| x + 1, u64::from);
operation!(
    divide_i32,
    u32,
    true,
    |x, s| s.cast_signed().wrapping_div(x.cast_signed()).cast_unsigned(),
    start::INTEGER as u32,
    start::DIVIDE_I32 as u32,
    |x| x + 1,
    u64::from
);
operation!(
    divide_i64,
    u64,
    true,
    |x, s| s.cast_signed().wrapping_div(x.cast_signed()).cast_unsigned(),
    start::INTEGER,
    start::DIVIDE_I64,
    |x| x + 1,
    u64::from
);
operation!(add_f32, f32, false, |x, s| x + s, start::FLOAT as f32, start::FLOAT_ADD as f32, |x| x + 1.0, |x: f32| {
    u64::from(x.to_bits())
});
operation!(
    add_f64,
    f64,
    false,
    |x, s| x + s,
    f64::from(start::FLOAT),
    f64::from(start::FLOAT_ADD),
    |x| x + 1.0,
    f64::to_bits
);
operation!(
    multiply_f32,
    f32,
    false,
    |x, s| x * s,
    start::FLOAT as f32,
    f32::from_bits(start::F32_MULTIPLY),
    |x| x + 1.0,
    |x: f32| u64::from(x.to_bits())
);
operation!(
    multiply_f64,
    f64,
    false,
    |x, s| x * s,
    f64::from(start::FLOAT),
    f64::from_bits(start::F64_MULTIPLY),
    |x| x + 1.0,
    f64::to_bits
);
operation!(
    divide_f32,
    f32,
    true,
    |x, s| s / x,
    start::FLOAT as f32,
    start::FLOAT_DIVIDE as f32,
    |x| x + 1.0,
    |x: f32| { u64::from(x.to_bits()) }
);
operation!(
    divide_f64,
    f64,
    true,
    |x, s| s / x,
    f64::from(start::FLOAT),
    f64::from(start::FLOAT_DIVIDE),
    |x| x + 1.0,
    f64::to_bits
);

/// Both rows of a type and an operation.
macro_rules! rows {
    ($($module:ident $latency:literal $throughput:literal $iteration:expr;)+) => {
        pub(super) static PORTABLE: [CountedLoop; 24] = [ $(
            CountedLoop {
                name: $latency, isa: "portable", iteration: $iteration, instruction: "", each: 1,
                symbol: concat!("operation::", stringify!($module), "::latency"), needs: "nothing", present: || true,
                body: $module::latency, expected: $module::latency_expected,
            },
            CountedLoop {
                name: $throughput, isa: "portable", iteration: $iteration, instruction: "", each: 1,
                symbol: concat!("operation::", stringify!($module), "::throughput"), needs: "nothing", present: || true,
                body: $module::throughput, expected: $module::throughput_expected,
            },
        )+ ];
    };
}

rows! {
    add_i32 "add_latency_i32" "add_throughput_i32" ITERATION;
    add_i64 "add_latency_i64" "add_throughput_i64" ITERATION;
    add_f32 "add_latency_f32" "add_throughput_f32" ITERATION_FLOAT;
    add_f64 "add_latency_f64" "add_throughput_f64" ITERATION_FLOAT;
    multiply_i32 "multiply_latency_i32" "multiply_throughput_i32" ITERATION;
    multiply_i64 "multiply_latency_i64" "multiply_throughput_i64" ITERATION;
    multiply_f32 "multiply_latency_f32" "multiply_throughput_f32" ITERATION_FLOAT;
    multiply_f64 "multiply_latency_f64" "multiply_throughput_f64" ITERATION_FLOAT;
    divide_i32 "divide_latency_i32" "divide_throughput_i32" ITERATION;
    divide_i64 "divide_latency_i64" "divide_throughput_i64" ITERATION;
    divide_f32 "divide_latency_f32" "divide_throughput_f32" ITERATION_FLOAT;
    divide_f64 "divide_latency_f64" "divide_throughput_f64" ITERATION_FLOAT;
}
