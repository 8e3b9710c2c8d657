//! What copy, scale, add, triad, read and write have in common: a streaming kernel on a field.

use sys::kernel::stream::{self, Stores, StreamKind, Variant, Width};

use super::field::{Field, Pass, field};
use crate::contest;
use crate::prelude::*;

/// The axis of how stores leave the core; `best` is the fastest of a few variants, which is then named.
pub(super) const fn stores(usual: &'static [&'static str]) -> Axis {
    Axis::choice("stores", &["normal", "streaming", "best"], usual)
}

/// Working sets: all arrays of all threads together.
pub(super) const fn working_set() -> Axis {
    Axis::doubling("working_set", KIB, GIB, &["256MiB"]).of_memory()
}

/// Page sizes.
pub(super) const fn pages() -> Axis {
    Axis::choice("pages", &["base", "huge"], &["base"])
}

/// The factor of scale and triad, and what write writes.
const Q: f64 = 3.0;
/// Pieces that a brief trial of a variant walks.
const TRIAL: u64 = 12;
/// Trials of each variant.
const TRIALS: usize = 4;

pub(super) fn prepare(kind: StreamKind, at: &Point, bench: &mut ProbeContext) -> Result<Trial, Unsupported> {
    let field = field(at, bench)?;
    let arrays = kind.inputs() + usize::from(kind.writes());
    let (elements, threads, small) = {
        let mut team = field.borrow_mut();
        (team.own().piece(arrays), 1 + team.tids().len(), team.own().is_small(arrays))
    };
    let variant = choose(kind, at, bench, &field)?;
    let walk = Pass { arrays, from: 0, pieces: 1 };
    Ok(Trial::one(Streaming { field, variant, walk, elements, threads, small }))
}

/// The variant that the point names, or the fastest of a few in a brief trial; once chosen it holds for the whole run.
fn choose(
    kind: StreamKind,
    at: &Point,
    bench: &mut ProbeContext,
    field: &Field,
) -> Result<&'static Variant, Unsupported> {
    if let Some(name) = bench.variant() {
        return stream::variants(kind)
            .find(|variant| variant.name == name)
            .ok_or_else(|| Unsupported::new(format!("this machine has no variant {name}")));
    }
    let widest = stream::candidates(kind).map(|variant| variant.width).max().unwrap_or(Width::Compiled);
    let width = match at.get("width") {
        Some("integer") => Width::Integer,
        Some("double") => Width::Double,
        _ => widest,
    };
    let asked = (at.get("stores").unwrap_or("normal"), at.get("width").unwrap_or("vector"));
    let variant = match asked {
        ("best", _) | (_, "best") => fastest(kind, field)?,
        ("streaming", _) => stream::find(kind, width, Stores::Streaming, 1),
        _ => stream::find(kind, width, Stores::Normal, 1),
    };
    let variant = variant.ok_or_else(|| {
        let (stores, width) = asked;
        Unsupported::new(format!("this CPU, or this program on it, has no {stores} stores from {width} registers"))
    })?;
    bench.choose(variant.name);
    Ok(variant)
}

/// The fastest in a brief trial. Trials of all variants follow each other through the whole field, so that each meets memory
/// that was last touched as long ago as it will be when it counts.
fn fastest(kind: StreamKind, field: &Field) -> Result<Option<&'static Variant>, ProbeError> {
    let arrays = kind.inputs() + usize::from(kind.writes());
    let mut team = field.borrow_mut();
    let mut walk = Pass { arrays, from: 0, pieces: TRIAL };
    contest::fastest(stream::candidates(kind), TRIALS, |variant| {
        let variant = *variant;
        team.prepare(TRIAL, move |plot| plot.walk(walk, |arrays| run(variant, arrays, 1)))?;
        let began = sys::clock::now();
        team.start(TRIAL)?;
        let nanos = sys::clock::now() - began;
        walk.from += TRIAL;
        Ok(nanos as f64)
    })
}

fn run(variant: &Variant, arrays: [&mut [f64]; 3], passes: usize) -> u64 {
    let [first, second, third] = arrays;
    if variant.kind.writes() {
        variant.run(first, second, third, Q, passes)
    } else {
        variant.run(&mut [], first, &[], Q, passes)
    }
}

struct Streaming {
    field: Rc<Field>,
    variant: &'static Variant,
    walk: Pass,
    /// Elements of a piece.
    elements: usize,
    threads: usize,
    /// Whether a piece is the whole array: operations are then passes over it.
    small: bool,
}

impl Streaming {
    fn walk(&self, ops: u64) -> Pass {
        Pass { pieces: if self.small { 1 } else { ops }, ..self.walk }
    }

    fn passes(&self, ops: u64) -> usize {
        if self.small { ops as usize } else { 1 }
    }

    /// What every thread's part of a batch of a reading kernel adds up to.
    fn sums(&self, ops: u64) -> Result<u64, ProbeError> {
        let (variant, walk, passes) = (self.variant, self.walk(ops), self.passes(ops));
        self.field.borrow_mut().run(move |plot| plot.walk(walk, |[first, _, _]| repeated(variant, first, passes)))
    }

    /// What the marked element of every piece must hold, all threads' together, and what it holds; with those of the last piece
    /// alone.
    fn written(&self, ops: u64) -> Result<(Written, Written), ProbeError> {
        let (kind, walk) = (self.variant.kind, self.walk(ops));
        let last = Pass { from: walk.from + walk.pieces - 1, pieces: 1, ..walk };
        let mut team = self.field.borrow_mut();
        let mut expected = |walk: Pass| {
            team.run(move |plot| {
                plot.marks(walk, |[_, b, c], mark| kind.value(at(b, mark), at(c, mark), Q).map(f64::to_bits))
            })
        };
        let expected = Written { all: expected(walk)?, last: expected(last)? };
        let mut found = |walk: Pass| team.run(move |plot| plot.marks(walk, |[a, _, _], mark| Some(a[mark].to_bits())));
        Ok((expected, Written { all: found(walk)?, last: found(last)? }))
    }
}

/// Bits of marked elements, added up.
#[derive(Debug, PartialEq, Eq)]
struct Written {
    all: u64,
    last: u64,
}

fn at(array: &[f64], element: usize) -> f64 {
    array.get(element).copied().unwrap_or(0.0)
}

impl Kernel for Streaming {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        let token = self.field.borrow_mut().start(ops)?;
        let passed = if self.variant.kind.writes() { self.walk.from + ops } else { 0 };
        Ok(BatchWork { ops, token: token.wrapping_add(passed) })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        if !self.variant.kind.writes() {
            return ProbeError::unless_equal(done.token, self.sums(done.ops)?);
        }
        let (expected, found) = self.written(done.ops)?;
        ProbeError::unless_equal(done.token, expected.last.wrapping_add(self.walk.from + done.ops))?;
        ProbeError::unless_equal(found, expected)
    }

    fn ready(&mut self, ops: u64) -> Result<(), ProbeError> {
        if !self.small {
            self.walk.from = self.walk.from.wrapping_add(self.walk.pieces);
            self.walk.pieces = ops;
        }
        let (variant, walk, passes) = (self.variant, self.walk(ops), self.passes(ops));
        let last = Pass { from: walk.from + walk.pieces - 1, pieces: 1, ..walk };
        let mut team = self.field.borrow_mut();
        if variant.kind.writes() {
            team.run(move |plot| {
                plot.marks(walk, |[a, _, _], mark| {
                    a[mark] = f64::NAN;
                    None
                })
            })?;
        }
        team.prepare(ops, move |plot| {
            let sum = plot.walk(walk, |arrays| run(variant, arrays, passes));
            // One element of what was just written says that it was.
            if variant.kind.writes() { plot.marks(last, |[a, _, _], mark| Some(a[mark].to_bits())) } else { sum }
        })
    }

    fn amount(&self) -> f64 {
        let arrays = self.variant.kind.inputs() + usize::from(self.variant.kind.writes());
        (self.elements * arrays * 8 * self.threads) as f64
    }

    fn declared(&self) -> Option<DeclaredCost> {
        let all = (self.elements * 8 * self.threads) as f64;
        Some(DeclaredCost {
            bytes_read: all * self.variant.kind.inputs() as f64,
            bytes_written: if self.variant.kind.writes() { all } else { 0.0 },
            operations: self.variant.kind.flops() as f64 * (self.elements * self.threads) as f64,
        })
    }
}

/// The sum of many passes from the sum of one: adding bit patterns wraps, adding doubles of whole numbers is exact.
fn repeated(variant: &Variant, array: &[f64], passes: usize) -> u64 {
    let once = variant.expected_sum(array, 1);
    match variant.width {
        Width::Double => (f64::from_bits(once) * passes as f64).to_bits(),
        _ => once.wrapping_mul(passes as u64),
    }
}
