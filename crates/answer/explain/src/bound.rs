//! Impossible main causes: a mixture is never slower than its slowest part.

use model::Primitive as P;

use super::result::{Cause, NotRuledOut, RuledOut, Unmeasured};
use super::test::ExplainedResult;

/// Primitives of one kind.
struct PrimitiveGroup {
    title: &'static str,
    primitives: &'static [P],
    /// Primitives of the kind that a result of another one does not measure.
    companions: &'static [P],
}

static KINDS: &[PrimitiveGroup] = &[
    PrimitiveGroup {
        title: "clock",
        primitives: &[P::CoreClock, P::IntegerAlu, P::FloatingPoint, P::Divide, P::Vector, P::Branch],
        companions: &[],
    },
    PrimitiveGroup { title: "caches", primitives: &[P::L1, P::L2, P::L3, P::CacheLatency], companions: &[] },
    PrimitiveGroup {
        title: "memory",
        primitives: &[P::DramRead, P::DramWrite, P::DramLatency, P::Tlb],
        companions: &[],
    },
    PrimitiveGroup { title: "system call entry", primitives: &[P::SyscallEntry], companions: &[] },
    PrimitiveGroup { title: "pipe", primitives: &[P::Pipe, P::KernelCopy], companions: &[] },
    PrimitiveGroup { title: "page cache", primitives: &[P::PageCache], companions: &[] },
    PrimitiveGroup { title: "page fault", primitives: &[P::PageFault, P::AddressSpace], companions: &[] },
    PrimitiveGroup { title: "fork", primitives: &[P::Fork], companions: &[] },
    PrimitiveGroup { title: "context switch", primitives: &[P::ContextSwitch], companions: &[] },
    PrimitiveGroup { title: "exec", primitives: &[P::Exec], companions: &[] },
    PrimitiveGroup {
        title: "disk",
        primitives: &[P::DiskRead, P::DiskWrite],
        companions: &[P::FileMetadata, P::Durability],
    },
];

/// A slowdown to be explained.
struct Target<'a> {
    title: String,
    slowdown: f64,
    primitives: &'a [P],
    /// Primitives that its tests touch.
    touches: Vec<P>,
    tests: Vec<model::ResultKey>,
}

/// Kinds that are ruled out for all or some causes and groups, and those that are not ruled out despite their own
/// results. `common`: whether a common factor of user mode was found.
pub(crate) fn bounds(
    tests: &[ExplainedResult],
    common: bool,
    causes: &[Cause],
    unmeasured: &[Unmeasured],
) -> (Vec<RuledOut>, Vec<NotRuledOut>) {
    let targets = targets(tests, causes, unmeasured);
    let is_named = |kind: &PrimitiveGroup| {
        let is_cause = |cause: &Cause| cause.primitives.iter().any(|p| kind.primitives.contains(p));
        causes.iter().any(is_cause) || (common && kind.primitives.contains(&P::CoreClock))
    };
    let (mut out, mut not) = (Vec::new(), Vec::new());
    for kind in KINDS {
        let Some((primitives, bound)) = bound(tests, kind) else { continue };
        let others = || targets.iter().filter(|target| !target.primitives.iter().any(|p| kind.primitives.contains(p)));
        let companion = |target: &Target| {
            kind.companions.iter().any(|p| target.touches.contains(p) && !tests.iter().any(|test| test.primitive == *p))
        };
        let cleared: Vec<&Target> = others().filter(|target| bound < target.slowdown && !companion(target)).collect();
        for target in others().filter(|target| companion(target)) {
            not.push(NotRuledOut {
                title: kind.title.to_owned(),
                tests: target.tests.clone(),
                why: format!(
                    "what was measured of it changed {:.2}x, but they also create and remove files, which nothing here measures",
                    bound
                ),
            });
        }
        if cleared.is_empty() {
            continue;
        }
        // A cause of some result is excluded by name for others, and never for all.
        let all = cleared.len() == targets.len() && !is_named(kind);
        out.push(RuledOut {
            primitives,
            title: kind.title.to_owned(),
            bound,
            of: if all { Vec::new() } else { cleared.iter().map(|target| target.title.clone()).collect() },
        });
    }
    (out, not)
}

fn targets<'a>(tests: &[ExplainedResult], causes: &'a [Cause], unmeasured: &'a [Unmeasured]) -> Vec<Target<'a>> {
    let touches = |keys: &[model::ResultKey]| -> Vec<P> {
        tests.iter().filter(|test| keys.contains(&test.key)).flat_map(|test| test.touches.clone()).collect()
    };
    // Only a slowdown has a bound of this kind.
    let of_causes = causes.iter().filter_map(|cause| {
        let unit = tests.iter().find(|test| test.key == cause.unit)?;
        (unit.log > 0.0).then(|| Target {
            title: cause.title.clone(),
            slowdown: unit.log.exp(),
            primitives: &cause.primitives,
            touches: touches(std::slice::from_ref(&cause.unit)),
            tests: vec![cause.unit.clone()],
        })
    });
    let of_groups = unmeasured.iter().map(|group| Target {
        title: "unmeasured resource".to_owned(),
        slowdown: group.slowdown.0,
        primitives: &[],
        touches: touches(&group.tests),
        tests: group.tests.clone(),
    });
    of_causes.chain(of_groups).collect()
}

/// The primitives of a kind that were measured alone, and the greatest of their slowdowns. That is the median over the
/// tests of each primitive, or more if one of them certainly moved by more; the upper end of the interval if its spread
/// is known.
fn bound(tests: &[ExplainedResult], kind: &PrimitiveGroup) -> Option<(Vec<P>, f64)> {
    let mut measured = Vec::new();
    let mut bound: Option<f64> = None;
    for &primitive in kind.primitives {
        let own = || tests.iter().filter(|test| test.primitive == primitive && !test.composite);
        let most = |test: &ExplainedResult| test.log + 2.0 * test.error.unwrap_or(0.0);
        if let Some(median) = stats::median(&own().map(most).collect::<Vec<_>>()) {
            measured.push(primitive);
            let moved = own().filter(|test| test.significant && !test.on_curve).map(most);
            bound = moved.chain([median]).chain(bound).reduce(f64::max);
        }
    }
    bound.map(|log| (measured, log.exp()))
}
