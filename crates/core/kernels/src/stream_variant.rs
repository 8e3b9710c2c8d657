//! Streaming kernels over arrays of doubles: copy, scale, add, triad, read and write.
//!
//! The four with arithmetic are those of STREAM (McCalpin, "Memory bandwidth and machine balance in current high
//! performance computers", IEEE TCCA newsletter, 1995); read and write are those of lmbench's `bw_mem`.

use std::hint::black_box;

use super::LoopCost;

/// The operation on each element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamKind {
    /// `a = b`
    Copy,
    /// `a = q * b`
    Scale,
    /// `a = b + c`
    Add,
    /// `a = b + q * c`, product and sum each rounded: never fused, so that all variants agree to the last bit.
    Triad,
    /// Sum of `b`.
    Read,
    /// `a = q`
    Write,
}

impl StreamKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [Self::Copy, Self::Scale, Self::Add, Self::Triad, Self::Read, Self::Write];

    /// Whether the kernel stores to `a`.
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// Number of arrays that the kernel loads from: none, `b`, or `b` and `c`.
    #[must_use]
    pub const fn inputs(self) -> usize {
        match self {
            Self::Write => 0,
            Self::Copy | Self::Scale | Self::Read => 1,
            Self::Add | Self::Triad => 2,
        }
    }

    /// Floating-point operations per element, as STREAM counts them.
    #[must_use]
    pub const fn flops(self) -> u64 {
        match self {
            Self::Copy | Self::Read | Self::Write => 0,
            Self::Scale | Self::Add => 1,
            Self::Triad => 2,
        }
    }

    /// One iteration over `bytes` of each array, in loads and stores of `unit` bytes.
    pub(crate) const fn iteration(self, bytes: u64, unit: u64) -> LoopCost {
        let (inputs, outputs) = (self.inputs() as u64, if self.writes() { 1 } else { 0 });
        LoopCost {
            elements: bytes / 8,
            bytes_read: inputs * bytes,
            bytes_written: outputs * bytes,
            loads: inputs * bytes / unit,
            stores: outputs * bytes / unit,
            flops: self.flops() * bytes / 8,
            ops: bytes / 8,
        }
    }

    /// Expected value of an element of `a` afterwards, for spot checks outside the clock. `None` for a kernel that only
    /// reads.
    #[must_use]
    pub fn value(self, b: f64, c: f64, q: f64) -> Option<f64> {
        match self {
            Self::Copy => Some(b),
            Self::Scale => Some(q * b),
            Self::Add => Some(b + c),
            Self::Triad => Some(b + q * c),
            Self::Read => None,
            Self::Write => Some(q),
        }
    }
}

/// The registers that hold the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// The registers that the compiler chooses for a plain loop.
    Compiled,
    /// 64-bit integer registers.
    Integer,
    /// One double at a time.
    Double,
    /// 128-bit vectors (SSE2, NEON).
    Vector128,
    /// 256-bit vectors (AVX2).
    Vector256,
    /// 512-bit vectors (AVX-512F).
    Vector512,
}

/// The kind of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stores {
    /// Through the caches.
    Normal,
    /// Non-temporal, past the caches; fenced before the kernel returns.
    Streaming,
}

/// One implementation of one kind of kernel.
#[derive(Debug)]
pub struct Variant {
    /// The operation on each element.
    pub kind: StreamKind,
    /// Unique within a kind: `avx512_streaming_x4`.
    pub name: &'static str,
    /// The registers that hold the data.
    pub width: Width,
    /// The kind of stores.
    pub stores: Stores,
    /// Parts of the array that are walked concurrently: 1, or 4 quarters.
    pub streams: usize,
    /// One iteration of the loop.
    pub iteration: LoopCost,
    /// Path of the loop's function inside this crate's `kernel` module, as in the disassembly.
    pub symbol: &'static str,
    pub(super) present: fn() -> bool,
    pub(super) body: Body,
}

/// A kernel on whole slices: `a`, `b`, `c`, `q`, passes.
pub(super) type OnSlices = fn(&mut [f64], &[f64], &[f64], f64, usize) -> u64;

pub(super) enum Body {
    /// Whole slices, in Rust.
    Compiled(OnSlices),
    /// Whole iterations from aligned addresses, in assembly.
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(dead_code, reason = "no assembly here")
    )]
    Assembly(unsafe fn(&StreamPass) -> u64),
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Compiled(_) => "Compiled",
            Self::Assembly(_) => "Assembly",
        })
    }
}

/// Parameters of an assembly loop. The pointers used by the kind are valid for `streams * span` bytes, and the first
/// array in use starts on a cache line. `span` is a positive multiple of the bytes that one iteration processes in each
/// stream, and `passes` is positive.
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), expect(dead_code, reason = "no assembly here"))]
pub(super) struct StreamPass {
    pub(super) a: *mut f64,
    pub(super) b: *const f64,
    pub(super) c: *const f64,
    pub(super) q: f64,
    /// Bytes of one stream.
    pub(super) span: usize,
    pub(super) passes: usize,
}

/// Alignment of the start of a walk, bytes: a cache line.
const LINE: usize = 64;

impl Variant {
    /// Runs the kernel `passes` times over the slices and returns the sum of a reading kernel (0 otherwise).
    ///
    /// `a` is the destination, `b` and `c` the inputs; unused ones may be empty, the others have the same length. The
    /// sum of the `Double` variant is the bit pattern of a double, exact if the values are whole numbers and their
    /// total over all passes is below 2^53. Every other variant adds bit patterns as 64-bit integers and wraps.
    ///
    /// # Panics
    /// If the slices in use differ in length, or if this CPU lacks the instructions (see [`Variant::is_available`]).
    pub fn run(&self, a: &mut [f64], b: &[f64], c: &[f64], q: f64, passes: usize) -> u64 {
        let n = self.length(a, b, c);
        assert!(self.is_available(), "{} needs instructions that this CPU lacks", self.name);
        if passes == 0 {
            return 0;
        }
        let body = match self.body {
            Body::Compiled(body) => return body(a, b, c, q, passes),
            Body::Assembly(body) => body,
        };
        let first = if self.kind.writes() { a.as_ptr() } else { b.as_ptr() };
        let head = first.align_offset(LINE).min(n);
        let elements = usize::try_from(self.iteration.elements).unwrap_or(usize::MAX);
        let tail = head + (n - head) / elements * elements;
        let mut sum = self.edge(a, b, c, q, passes, 0..head);
        if tail > head {
            let walk = StreamPass {
                a: if self.kind.writes() { a[head..tail].as_mut_ptr() } else { std::ptr::null_mut() },
                b: if self.kind.inputs() > 0 { b[head..tail].as_ptr() } else { std::ptr::null() },
                c: if self.kind.inputs() > 1 { c[head..tail].as_ptr() } else { std::ptr::null() },
                q,
                span: (tail - head) * size_of::<f64>() / self.streams,
                passes,
            };
            // SAFETY: the pointers come from slices that contain head..tail, which the spans cover exactly; the span is
            // a number of whole iterations because tail - head is; `head` was chosen so that the first array starts on a
            // line; `is_available` confirmed that the CPU has the instructions.
            let walked = unsafe { body(&walk) };
            sum = if self.kind.writes() { 0 } else { self.join(sum, walked) };
        }
        self.join(sum, self.edge(a, b, c, q, passes, tail..n))
    }

    /// Whether this CPU, with the register state that the system supports, can run the variant.
    #[must_use]
    pub fn is_available(&self) -> bool {
        (self.present)()
    }

    /// Expected result of a reading kernel for `b` read `passes` times, by a slow plain path; 0 for the others.
    #[must_use]
    pub fn expected_sum(&self, b: &[f64], passes: usize) -> u64 {
        if self.kind.writes() {
            return 0;
        }
        (0..passes).fold(0, |sum, _| self.join(sum, self.sum(b)))
    }

    fn length(&self, a: &[f64], b: &[f64], c: &[f64]) -> usize {
        let n = if self.kind.writes() { a.len() } else { b.len() };
        assert!(self.kind.inputs() < 1 || b.len() == n, "b has {} elements where {n} are needed", b.len());
        assert!(self.kind.inputs() < 2 || c.len() == n, "c has {} elements where {n} are needed", c.len());
        n
    }

    /// The few elements before the first line and after the last iteration, in every pass like the others: a short
    /// array may consist of nothing else.
    fn edge(&self, a: &mut [f64], b: &[f64], c: &[f64], q: f64, passes: usize, part: std::ops::Range<usize>) -> u64 {
        if part.is_empty() {
            return 0;
        }
        if !self.kind.writes() {
            let edge = &b[part];
            return (0..passes).fold(0, |sum, _| self.join(sum, self.sum(black_box(edge))));
        }
        for _ in 0..passes {
            let a = black_box(&mut *a);
            for i in part.clone() {
                let (left, right) = (b.get(i).copied().unwrap_or(0.0), c.get(i).copied().unwrap_or(0.0));
                a[i] = self.kind.value(left, right, q).unwrap_or(0.0);
            }
        }
        0
    }

    fn sum(&self, b: &[f64]) -> u64 {
        match self.width {
            Width::Double => b.iter().sum::<f64>().to_bits(),
            _ => b.iter().fold(0, |sum, x| sum.wrapping_add(x.to_bits())),
        }
    }

    fn join(&self, left: u64, right: u64) -> u64 {
        match self.width {
            Width::Double => (f64::from_bits(left) + f64::from_bits(right)).to_bits(),
            _ => left.wrapping_add(right),
        }
    }
}
