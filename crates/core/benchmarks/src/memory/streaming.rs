//! Common parts of copy, scale, add, triad, read and write: a streaming kernel on arrays.

use kernels::stream::{self, Stores, StreamKind, Variant, Width};

use super::arrays::{ArrayUser, Arrays, Pass, SHARES, arrays};
use super::visits::ArrayDivision;
use crate::prelude::*;
use crate::trials;

/// Common fields of STREAM's loops.
pub(super) const STREAM: Benchmark = Benchmark {
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read + written"),
    class: Class::Bandwidth,
    stresses: &[Primitive::DramRead, Primitive::DramWrite],
    parties: Parties::Threads,
    shares: Some(SHARES),
    ..Benchmark::BLANK
};

/// The parameter of stores; `best` is the fastest of a few variants, or nearly so, which is then noted.
pub(super) const fn stores(defaults: &'static [&'static str]) -> Parameter {
    Parameter::choice("stores", &["normal", "streaming", "best"], defaults)
}

/// Working sets: all arrays of all threads together.
pub(super) const fn working_set() -> Parameter {
    Parameter::doubling("working_set", KIB, GIB, &["256MiB"]).of_memory()
}

/// Page sizes.
pub(super) const fn pages() -> Parameter {
    Parameter::choice("pages", &["base", "huge"], &["base"])
}

/// The factor of scale and triad, and the value that write writes.
const Q: f64 = 3.0;
/// Pieces that a brief trial of a variant walks. With four, what stores left in buffers decided.
const TRIAL: u64 = 12;
/// Trials of each variant, and the margin within which the first of equally fast variants is taken. Within 8%, eight
/// runs of one machine chose two variants of `memory.triad`, one with 42 to 52 GB/s and one with 47 to 48; within 12%
/// they chose one in seven.
const TRIALS: usize = 12;
const EQUAL: f64 = 0.12;

pub(super) fn prepare(kind: StreamKind, at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let memory = arrays(at, context)?;
    let arrays = kind.inputs() + usize::from(kind.writes());
    let (division, elements, threads, small) = {
        let mut team = memory.borrow_mut();
        let threads = 1 + team.tids().len();
        let own = team.own();
        (own.division(arrays), own.piece(arrays), threads, own.is_small(arrays))
    };
    let variant = choose(kind, at, elements, context, &memory)?;
    let walk = Pass { arrays, pieces: [0].into() };
    let user = memory.user();
    Ok(Trial::one(Streaming { memory, user, variant, division, walk, next: 0, elements, threads, small }))
}

/// The variant that the parameters name, or the fastest of a few in brief trials. A run keeps its choice. Only variants
/// count whose iterations divide `elements`. The rest is walked one by one, and of a short array that would be most of
/// it.
fn choose(
    kind: StreamKind,
    at: &Parameters,
    elements: usize,
    context: &mut BenchmarkContext,
    memory: &Arrays,
) -> Result<&'static Variant, Unsupported> {
    if let Some(name) = context.variant() {
        return stream::variants(kind)
            .find(|variant| variant.name == name)
            .ok_or_else(|| Unsupported::new(format!("this machine does not have the variant {name}")));
    }
    let fits = |variant: &Variant| (elements as u64).is_multiple_of(variant.iteration.elements);
    // Stores of the same kind: a loop that walks four parts at once may have shorter iterations.
    let widest = |stores: Stores| {
        let alike = stream::variants(kind).filter(|variant| variant.stores == stores && variant.streams == 1);
        alike.filter(|variant| fits(variant)).map(|variant| variant.width).max().unwrap_or(Width::Compiled)
    };
    let width = |stores: Stores| match at.get("width") {
        Some("integer") => Width::Integer,
        Some("double") => Width::Double,
        _ => widest(stores),
    };
    let asked = (at.get("stores").unwrap_or("normal"), at.get("width").unwrap_or("vector"));
    let variant = match asked {
        ("best", _) | (_, "best") => fastest(kind, fits, memory)?,
        ("streaming", _) => stream::find(kind, width(Stores::Streaming), Stores::Streaming, 1),
        _ => stream::find(kind, width(Stores::Normal), Stores::Normal, 1),
    };
    let variant = variant.ok_or_else(|| {
        let (stores, width) = asked;
        Unsupported::new(format!("this CPU, or this program on it, has no {stores} stores from {width} registers"))
    })?;
    context.choose(variant.name);
    Ok(variant)
}

/// The fastest in brief trials, each over memory that was accessed as long ago as in a measurement. Each variant first
/// walks untimed until the caches hold its own data. Ordinary stores reach memory only at eviction, which the next
/// variant would pay for: variants with such stores then seem a fifth faster than they are.
fn fastest(
    kind: StreamKind,
    fits: impl Fn(&Variant) -> bool,
    memory: &Arrays,
) -> Result<Option<&'static Variant>, BenchmarkError> {
    let mut candidates: Vec<_> = stream::candidates(kind).filter(|variant| fits(variant)).collect();
    if candidates.is_empty() {
        candidates = stream::variants(kind).filter(|variant| fits(variant)).collect();
    }
    let arrays = kind.inputs() + usize::from(kind.writes());
    let division = memory.borrow_mut().own().division(arrays);
    let (user, mut next) = (memory.user(), 0);
    trials::fastest(candidates, TRIALS, EQUAL, |variant| {
        let variant = *variant;
        let mut timed = |pieces: u64| -> Result<u64, BenchmarkError> {
            let (walked, after) = memory.pass(user, &division, next, pieces)?;
            next = after;
            let walk = Pass { arrays, pieces: walked };
            let mut team = memory.borrow_mut();
            team.prepare(pieces, move |chunk| chunk.walk(&walk, |arrays| run(variant, arrays, 1)))?;
            let began = kernels::clock::now();
            team.start(pieces)?;
            Ok(kernels::clock::now() - began)
        };
        timed(memory.pieces_of_caches(&division))?;
        Ok(timed(TRIAL)? as f64)
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
    memory: Rc<Arrays>,
    user: ArrayUser,
    variant: &'static Variant,
    division: ArrayDivision,
    /// The pieces of a batch, and the step of the walk after them.
    walk: Pass,
    next: u64,
    /// Elements of a piece.
    elements: usize,
    threads: usize,
    /// Whether a piece is the whole array: operations are then passes over it.
    small: bool,
}

impl Streaming {
    fn passes(&self, ops: u64) -> usize {
        if self.small { ops as usize } else { 1 }
    }

    /// The sum of the parts of all threads in a batch of a reading kernel.
    fn sums(&self, ops: u64) -> Result<u64, BenchmarkError> {
        let (variant, walk, passes) = (self.variant, self.walk.clone(), self.passes(ops));
        self.memory.borrow_mut().run(move |chunk| chunk.walk(&walk, |[first, _, _]| repeated(variant, first, passes)))
    }

    /// The expected and the found sums of the marked element of every piece, over all threads, and the same for the
    /// last piece alone.
    fn written(&self) -> Result<(Written, Written), BenchmarkError> {
        let (kind, walk, last) = (self.variant.kind, &self.walk, &self.walk.last());
        let mut team = self.memory.borrow_mut();
        let mut expected = |walk: &Pass| {
            let walk = walk.clone();
            team.run(move |chunk| {
                chunk.marks(&walk, |[_, b, c], mark| kind.value(at(b, mark), at(c, mark), Q).map(f64::to_bits))
            })
        };
        let expected = Written { all: expected(walk)?, last: expected(last)? };
        let mut found = |walk: &Pass| {
            let walk = walk.clone();
            team.run(move |chunk| chunk.marks(&walk, |[a, _, _], mark| Some(a[mark].to_bits())))
        };
        Ok((expected, Written { all: found(walk)?, last: found(last)? }))
    }
}

/// Sums of the bits of marked elements.
#[derive(Debug, PartialEq, Eq)]
struct Written {
    all: u64,
    last: u64,
}

fn at(array: &[f64], element: usize) -> f64 {
    array.get(element).copied().unwrap_or(0.0)
}

impl Kernel for Streaming {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let token = self.memory.borrow_mut().start(ops)?;
        let passed = if self.variant.kind.writes() { self.next + ops } else { 0 };
        Ok(BatchWork { ops, token: token.wrapping_add(passed) })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        if !self.variant.kind.writes() {
            return BenchmarkError::unless_equal(done.token, self.sums(done.ops)?);
        }
        let (expected, found) = self.written()?;
        BenchmarkError::unless_equal(done.token, expected.last.wrapping_add(self.next + done.ops))?;
        BenchmarkError::unless_equal(found, expected)
    }

    fn ready(&mut self, ops: u64) -> Result<(), BenchmarkError> {
        if !self.small {
            (self.walk.pieces, self.next) = self.memory.pass(self.user, &self.division, self.next, ops)?;
        }
        let (variant, walk, passes) = (self.variant, self.walk.clone(), self.passes(ops));
        let mut team = self.memory.borrow_mut();
        if variant.kind.writes() {
            let walk = walk.clone();
            team.run(move |chunk| {
                chunk.marks(&walk, |[a, _, _], mark| {
                    a[mark] = f64::NAN;
                    None
                })
            })?;
        }
        let last = walk.last();
        team.prepare(ops, move |chunk| {
            let sum = chunk.walk(&walk, |arrays| run(variant, arrays, passes));
            // One of the written elements proves that the piece was written.
            if variant.kind.writes() { chunk.marks(&last, |[a, _, _], mark| Some(a[mark].to_bits())) } else { sum }
        })
    }

    fn amount(&self) -> f64 {
        let arrays = self.variant.kind.inputs() + usize::from(self.variant.kind.writes());
        (self.elements * arrays * 8 * self.threads) as f64
    }

    fn displaces(&self) -> u64 {
        if self.small { 0 } else { self.amount() as u64 }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleSetting;

    /// A loop with long iterations would leave most of a short array to be walked one by one.
    #[test]
    fn the_loop_of_a_result_covers_its_arrays() {
        for set in ["1KiB", "1100B", "2KiB", "3KiB", "4KiB", "100KiB", "3MiB", "4MiB"] {
            for (kind, stores) in StreamKind::ALL.into_iter().flat_map(|kind| [(kind, "normal"), (kind, "best")]) {
                let mut context = BenchmarkContext::new(SampleSetting::within("."));
                let at: Parameters = format!("working_set={set},stores={stores}").parse().unwrap();
                let Trial::One(mut kernel) = prepare(kind, &at, &mut context).unwrap() else { panic!("one kernel") };
                let name = context.variant().unwrap().to_owned();
                let variant = stream::variants(kind).find(|variant| variant.name == name).unwrap();
                let bytes = variant.iteration.bytes_read + variant.iteration.bytes_written;
                assert_eq!(kernel.amount() as u64 % bytes, 0, "{kind:?} at {at}: {} by {name}", kernel.amount());
                kernel.ready(3).unwrap();
                let done = kernel.batch(3).unwrap();
                kernel.check(&done).unwrap();
            }
        }
    }
}
