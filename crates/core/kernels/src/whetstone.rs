//! The synthetic program of H. J. Curnow and B. A. Wichmann, "A synthetic benchmark" (The Computer Journal 19, 1976):
//! the eight modules that every version runs, with the published weights. The text is this project's own.
//!
//! One loop represents 100,000 instructions of the Whetstone compiler. Each module starts from the same numbers in
//! every loop, and constants and counters pass through `black_box`, so that no module can be precomputed.

use std::hint::black_box;

/// Whetstone instructions of one loop.
pub const INSTRUCTIONS: u64 = 100_000;

/// Iterations of each module in a loop.
mod iterations {
    pub(super) const ARRAY: u32 = 12;
    pub(super) const PARAMETER: u32 = 14;
    pub(super) const JUMPS: u32 = 345;
    pub(super) const INTEGERS: u32 = 210;
    pub(super) const TRIGONOMETRY: u32 = 32;
    pub(super) const CALLS: u32 = 899;
    pub(super) const REFERENCES: u32 = 616;
    pub(super) const FUNCTIONS: u32 = 93;
}

type Array = [f64; 4];

/// The three constants.
#[derive(Debug, Clone, Copy)]
struct WhetstoneConstants {
    t: f64,
    t1: f64,
    t2: f64,
}

const CONSTANTS: WhetstoneConstants = WhetstoneConstants { t: 0.499_975, t1: 0.500_250, t2: 2.0 };
const START: Array = [1.0, -1.0, -1.0, -1.0];

/// Does a number of loops; the sum depends on all results of all modules.
#[must_use]
pub fn loops(loops: u64) -> u64 {
    (0..loops).fold(0, |sum, _| fold(sum, one_loop(black_box(CONSTANTS))))
}

/// Expected result of [`loops`]: the result of one loop, joined as often.
#[must_use]
pub fn expected(loops: u64) -> u64 {
    let one = one_loop(CONSTANTS);
    (0..loops).fold(0, |sum, _| fold(sum, one))
}

fn fold(sum: u64, one: u64) -> u64 {
    sum.wrapping_mul(0x100_0000_01b3).wrapping_add(one)
}

fn one_loop(constants: WhetstoneConstants) -> u64 {
    results(constants).into_iter().fold(0, |sum, result| fold(sum, result.to_bits()))
}

/// The results of the modules, in order.
fn results(constants: WhetstoneConstants) -> [f64; 8] {
    let array = array(constants);
    let parameter = parameter(array, constants);
    [
        array[3],
        parameter[3],
        jumps().into(),
        integers(parameter),
        trigonometry(constants),
        calls(constants),
        sensors(),
        functions(constants),
    ]
}

#[inline(never)]
fn array(WhetstoneConstants { t, .. }: WhetstoneConstants) -> Array {
    let mut e = START;
    for _ in 0..iterations::ARRAY {
        e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
        e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
        e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
        e[3] = (-e[0] + e[1] + e[2] + e[3]) * t;
    }
    e
}

#[inline(never)]
fn parameter(mut e: Array, constants: WhetstoneConstants) -> Array {
    for _ in 0..iterations::PARAMETER {
        six_times(&mut e, constants);
    }
    e
}

#[inline(never)]
fn six_times(e: &mut Array, WhetstoneConstants { t, t2, .. }: WhetstoneConstants) {
    for _ in 0..6 {
        e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
        e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
        e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
        e[3] = (-e[0] + e[1] + e[2] + e[3]) / t2;
    }
}

#[inline(never)]
fn jumps() -> i32 {
    let mut j = 1;
    for _ in 0..iterations::JUMPS {
        // Opaque, otherwise the three conditions become one exclusive or.
        j = black_box(if j == 1 { 2 } else { 3 });
        j = if j > 2 { 0 } else { 1 };
        j = if black_box(j) < 1 { 1 } else { 0 };
    }
    j
}

#[inline(never)]
fn integers(mut e: Array) -> f64 {
    let (mut j, mut k, mut l) = black_box((1_i64, 2_i64, 3_i64));
    for _ in 0..iterations::INTEGERS {
        j = j * (k - j) * (l - k);
        k = l * k - (l - j) * k;
        l = (l - k) * (k + j);
        e[place(l - 2)] = (j + k + l) as f64;
        e[place(k - 2)] = (j * k * l) as f64;
    }
    e[0] + e[1]
}

fn place(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[inline(never)]
fn trigonometry(WhetstoneConstants { t, t2, .. }: WhetstoneConstants) -> f64 {
    let (mut x, mut y) = black_box((0.5_f64, 0.5_f64));
    for _ in 0..iterations::TRIGONOMETRY {
        x = t * (t2 * x.sin() * x.cos() / ((x + y).cos() + (x - y).cos() - 1.0)).atan();
        y = t * (t2 * y.sin() * y.cos() / ((x + y).cos() + (x - y).cos() - 1.0)).atan();
    }
    x + y
}

#[inline(never)]
fn calls(constants: WhetstoneConstants) -> f64 {
    let (x, y, mut z) = black_box((1.0, 1.0, 1.0));
    for _ in 0..iterations::CALLS {
        called(x, y, &mut z, constants);
        // Every call has the same arguments: its result must not be taken from the previous one.
        black_box(&mut z);
    }
    z
}

#[inline(never)]
fn called(x: f64, y: f64, z: &mut f64, WhetstoneConstants { t, t2, .. }: WhetstoneConstants) {
    let first = t * (x + y);
    let second = t * (first + y);
    *z = (first + second) / t2;
}

#[inline(never)]
fn sensors() -> f64 {
    let mut e = [1.0, 2.0, 3.0, 0.0];
    let at = black_box([0_usize, 1, 2]);
    for _ in 0..iterations::REFERENCES {
        swap(black_box(&mut e), at);
    }
    e[0] + 10.0 * e[1] + 100.0 * e[2]
}

#[inline(never)]
fn swap(e: &mut Array, [j, k, l]: [usize; 3]) {
    e[j] = e[k];
    e[k] = e[l];
    e[l] = e[j];
}

#[inline(never)]
fn functions(WhetstoneConstants { t1, .. }: WhetstoneConstants) -> f64 {
    let mut x = black_box(0.75_f64);
    for _ in 0..iterations::FUNCTIONS {
        x = (x.ln() / t1).exp().sqrt();
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_find_what_their_mathematics_says() {
        let [array, parameter, jumps, integers, trigonometry, calls, sensors, functions] = results(CONSTANTS);
        // With t exactly 1/2 the first element stays 1 and the last goes to -1 - 1/8 or so.
        assert!((-1.2..-1.0).contains(&array) && (-1.2..-1.0).contains(&parameter), "{array} {parameter}");
        // An odd number of iterations, which alternate between 1 and 0.
        assert_eq!(jumps, 0.0);
        // j, k and l come back to 1, 2 and 3: their product and their sum.
        assert_eq!(integers, 12.0);
        // x = t atan(tan(2x)) = 2tx near 1/2 in each iteration.
        assert!((trigonometry / 2.0 - 0.5 * (2.0 * CONSTANTS.t).powi(32)).abs() < 1e-3, "{trigonometry}");
        assert!((calls - 1.0).abs() < 1e-3, "{calls}");
        // An even number of iterations: 1, 2, 3 become 2, 3, 2 and then 3, 2, 3 alternately.
        assert_eq!(sensors, 323.0);
        // ln x is divided by 2 t1 in each iteration.
        let power = (2.0 * CONSTANTS.t1).powi(iterations::FUNCTIONS as i32).recip();
        assert!((functions - 0.75_f64.powf(power)).abs() < 1e-12, "{functions}");
    }

    #[test]
    fn a_loop_too_few_is_noticed() {
        for count in [0, 1, 2, 10] {
            assert_eq!(loops(count), expected(count));
            assert_ne!(loops(count), expected(count + 1));
        }
    }
}
