//! What copy, scale, add, triad, read and write have in common: a streaming kernel on a field.

use sys::kernel::stream::{self, Kind, Stores, Variant, Width};

use super::field::{Field, Walk, field};
use crate::prelude::*;

/// The axis of how stores leave the core; `best` is the fastest of a few variants, which is then named.
pub(super) const fn stores(usual: &'static [&'static str]) -> Axis {
    Axis::choice("stores", &["normal", "streaming", "best"], usual)
}

/// Working sets: all arrays of all threads together.
pub(super) const fn working_set() -> Axis {
    Axis::doubling("working_set", KIB, GIB, &["256MiB"])
}

/// Page sizes.
pub(super) const fn pages() -> Axis {
    Axis::choice("pages", &["base", "huge"], &["base"])
}

/// The factor of scale and triad, and what write writes.
const Q: f64 = 3.0;
/// Pieces of a brief trial of a variant.
const TRIAL: u64 = 12;

pub(super) fn prepare(kind: Kind, at: &Point, bench: &mut Bench) -> Result<Trial, Unfit> {
    let field = field(at, bench)?;
    let arrays = kind.inputs() + usize::from(kind.writes());
    let (elements, threads, small) = {
        let mut team = field.borrow_mut();
        (team.own().piece(arrays), 1 + team.tids().len(), team.own().is_small(arrays))
    };
    let variant = choose(kind, at, bench, &field)?;
    let walk = Walk { arrays, from: 0, pieces: 1 };
    Ok(Trial::one(Streaming { field, variant, walk, elements, threads, small, marks: Vec::new() }))
}

/// The variant that the point names, or the fastest of a few in a brief trial; once chosen it holds for the whole run.
fn choose(kind: Kind, at: &Point, bench: &mut Bench, field: &Field) -> Result<&'static Variant, Unfit> {
    if let Some(name) = bench.variant() {
        return stream::variants(kind)
            .find(|variant| variant.name == name)
            .ok_or_else(|| Unfit::new(format!("this machine has no variant {name}")));
    }
    let widest = stream::candidates(kind).map(|variant| variant.width).max().unwrap_or(Width::Compiled);
    let width = match at.get("width") {
        Some("integer") => Width::Integer,
        Some("double") => Width::Double,
        _ => widest,
    };
    let asked = (at.get("stores").unwrap_or("normal"), at.get("width").unwrap_or("vector"));
    let variant = match asked {
        ("best", _) | (_, "best") => fastest(kind, field),
        ("streaming", _) => stream::find(kind, width, Stores::Streaming, 1),
        _ => stream::find(kind, width, Stores::Normal, 1),
    };
    let variant = variant.ok_or_else(|| Unfit::new("this CPU has no such registers or stores"))?;
    bench.choose(variant.name);
    Ok(variant)
}

fn fastest(kind: Kind, field: &Field) -> Option<&'static Variant> {
    let arrays = kind.inputs() + usize::from(kind.writes());
    let mut team = field.borrow_mut();
    let mut time = |variant: &'static Variant| {
        let walk = Walk { arrays, from: 0, pieces: TRIAL };
        let once = |_| {
            team.wake();
            let began = sys::clock::now();
            team.run(move |plot| plot.walk(walk, |arrays| run(variant, arrays, 1)));
            sys::clock::now() - began
        };
        (0..3).map(once).min()
    };
    stream::candidates(kind).min_by_key(|variant| time(variant))
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
    walk: Walk,
    /// Elements of a piece.
    elements: usize,
    threads: usize,
    /// Whether a piece is the whole array: operations are then passes over it.
    small: bool,
    /// Elements of the caller's plot that were spoiled before the batch, which must have been written: piece, element, expected.
    marks: Vec<(u64, usize, f64)>,
}

impl Streaming {
    fn next(&self, ops: u64) -> Walk {
        Walk { pieces: if self.small { 1 } else { ops }, ..self.walk }
    }
}

impl Kernel for Streaming {
    fn batch(&mut self, ops: u64) -> Result<Work, Fault> {
        let (variant, walk) = (self.variant, self.next(ops));
        let passes = if self.small { ops as usize } else { 1 };
        let sum = self.field.borrow_mut().run(move |plot| plot.walk(walk, |arrays| run(variant, arrays, passes)));
        // A writing kernel shows its work in memory; what it returns only says how far it came.
        let token = if variant.kind.writes() { walk.from + ops } else { sum };
        Ok(Work { ops, token })
    }

    fn check(&mut self, done: &Work) -> Result<(), Fault> {
        let (variant, walk) = (self.variant, self.next(done.ops));
        let passes = if self.small { done.ops as usize } else { 1 };
        if !variant.kind.writes() {
            let expected = self.field.borrow_mut().run(move |plot| {
                plot.walk(walk, |[first, _, _]| {
                    if passes == 1 { variant.expected_sum(first, 1) } else { repeated(variant, first, passes) }
                })
            });
            return Fault::unless_equal(done.token, expected);
        }
        Fault::unless_equal(done.token, walk.from + done.ops)?;
        let mut team = self.field.borrow_mut();
        for (piece, element, _) in &self.marks {
            let [a, b, c] = team.own().arrays(walk.arrays, *piece);
            let at = |input: &[f64]| input.get(*element).copied().unwrap_or(0.0);
            let expected = variant.kind.value(at(b), at(c), Q).unwrap_or(0.0);
            Fault::unless_equal(a[*element], expected)?;
        }
        let marked = self.marks.len() as u64;
        let walked = if self.small { done.ops.min(1) } else { done.ops };
        Fault::unless_equal(walked.min(MOST_MARKS), marked)
    }

    fn ready(&mut self, ops: u64) -> Result<(), Fault> {
        let mut team = self.field.borrow_mut();
        team.wake();
        if !self.small {
            self.walk.from = self.walk.from.wrapping_add(self.walk.pieces);
            self.walk.pieces = ops;
        }
        self.marks.clear();
        if self.variant.kind.writes() {
            let pieces = if self.small { 1 } else { ops };
            // Marks are spread over the walk's pieces, at another element in each.
            for mark in 0..pieces.min(MOST_MARKS) {
                let piece = self.walk.from + mark * pieces / pieces.min(MOST_MARKS);
                let element = (piece as usize).wrapping_mul(7919) % self.elements;
                let [a, _, _] = team.own().arrays(self.walk.arrays, piece);
                a[element] = f64::NAN;
                self.marks.push((piece, element, 0.0));
            }
        }
        Ok(())
    }

    fn amount(&self) -> f64 {
        let arrays = self.variant.kind.inputs() + usize::from(self.variant.kind.writes());
        (self.elements * arrays * 8 * self.threads) as f64
    }

    fn declared(&self) -> Option<Declared> {
        let all = (self.elements * 8 * self.threads) as f64;
        Some(Declared {
            bytes_read: all * self.variant.kind.inputs() as f64,
            bytes_written: if self.variant.kind.writes() { all } else { 0.0 },
            operations: self.variant.kind.flops() as f64 * (self.elements * self.threads) as f64,
        })
    }
}

/// Pieces of a batch that are verified.
const MOST_MARKS: u64 = 16;

/// The sum of many passes from the sum of one: adding bit patterns wraps, adding doubles of whole numbers is exact.
fn repeated(variant: &Variant, array: &[f64], passes: usize) -> u64 {
    let once = variant.expected_sum(array, 1);
    match variant.width {
        Width::Double => (f64::from_bits(once) * passes as f64).to_bits(),
        _ => once.wrapping_mul(passes as u64),
    }
}
