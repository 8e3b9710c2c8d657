//! Streaming kernels as this compiler generates them from plain code.

use std::hint::black_box;

use crate::native;
use crate::stream_variant::{Body, OnSlices, Stores, StreamKind, Variant, Width};

const fn row(kind: StreamKind, symbol: &'static str, body: OnSlices) -> Variant {
    Variant {
        kind,
        name: "compiled",
        width: Width::Compiled,
        stores: Stores::Normal,
        streams: 1,
        iteration: kind.iteration(8, 8),
        symbol,
        present: || true,
        body: Body::Compiled(body),
    }
}

pub(crate) static VARIANTS: [Variant; 6] = [
    row(StreamKind::Copy, "portable::stream::copy", copy),
    row(StreamKind::Scale, "portable::stream::scale", scale),
    row(StreamKind::Add, "portable::stream::add", add),
    row(StreamKind::Triad, "portable::stream::triad", triad),
    row(StreamKind::Read, "portable::stream::read", read),
    row(StreamKind::Write, "portable::stream::write", write),
];

/// Stores that the optimiser must keep separate: it would replace a plain copy or fill by a library call.
fn store(to: &mut f64, value: f64) {
    // SAFETY: `to` is a valid, aligned and exclusive reference, and a double is as large as a word.
    unsafe { native::access::store(std::ptr::from_mut(to).cast(), value.to_bits()) }
}

#[inline(never)]
fn copy(a: &mut [f64], b: &[f64], _: &[f64], _: f64, passes: usize) -> u64 {
    for _ in 0..passes {
        for (a, b) in a.iter_mut().zip(black_box(b)) {
            store(a, *b);
        }
    }
    0
}

#[inline(never)]
fn scale(a: &mut [f64], b: &[f64], _: &[f64], q: f64, passes: usize) -> u64 {
    for _ in 0..passes {
        for (a, b) in black_box(&mut *a).iter_mut().zip(b) {
            *a = q * *b;
        }
    }
    0
}

#[inline(never)]
fn add(a: &mut [f64], b: &[f64], c: &[f64], _: f64, passes: usize) -> u64 {
    for _ in 0..passes {
        for ((a, b), c) in black_box(&mut *a).iter_mut().zip(b).zip(c) {
            *a = *b + *c;
        }
    }
    0
}

#[inline(never)]
fn triad(a: &mut [f64], b: &[f64], c: &[f64], q: f64, passes: usize) -> u64 {
    for _ in 0..passes {
        for ((a, b), c) in black_box(&mut *a).iter_mut().zip(b).zip(c) {
            *a = *b + q * *c;
        }
    }
    0
}

#[inline(never)]
fn read(_: &mut [f64], b: &[f64], _: &[f64], _: f64, passes: usize) -> u64 {
    let mut sum = 0_u64;
    for _ in 0..passes {
        sum = black_box(b).iter().fold(sum, |sum, x| sum.wrapping_add(x.to_bits()));
    }
    sum
}

#[inline(never)]
fn write(a: &mut [f64], _: &[f64], _: &[f64], q: f64, passes: usize) -> u64 {
    for _ in 0..passes {
        for a in a.iter_mut() {
            store(a, q);
        }
    }
    0
}
