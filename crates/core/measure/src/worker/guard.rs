//! Verifies the CPUs of the parties and records the time taken from a sample.

use std::path::{Path, PathBuf};

use benchmarks::BenchmarkContext;
use kernels::clock::Watch;
use model::{Invalid, Placement, Sample};

use crate::outside::OutsideCounters;

/// Watches a sample from outside its work.
pub(super) struct Guard {
    /// Root of `/proc` and `/sys`.
    root: PathBuf,
    watch: Watch,
    before: OutsideCounters,
    placement: Placement,
}

impl Guard {
    /// Starts watching; the present CPUs of the parties are recorded.
    pub(super) fn begin(context: &BenchmarkContext) -> Self {
        Self::begin_under(Path::new("/"), context)
    }

    fn begin_under(root: &Path, context: &BenchmarkContext) -> Self {
        let mut guard = Self {
            root: root.to_owned(),
            watch: Watch::start(),
            before: OutsideCounters::default(),
            placement: asked(context),
        };
        guard.look(context);
        guard.before = OutsideCounters::taken_under(root, under_test(context));
        guard
    }

    fn look(&mut self, context: &BenchmarkContext) {
        let seen = &mut self.placement.seen;
        let parties = 1 + context.watched().iter().map(|watched| watched.party).max().unwrap_or(0);
        seen.resize(parties.max(seen.len()), Vec::new());
        note(&mut seen[0], kernels::affinity::current());
        for watched in context.watched() {
            if let Ok(cpu) = os::usage::Stat::under(&self.root, watched.pid).map(|stat| stat.processor) {
                note(&mut seen[watched.party], cpu);
            }
        }
    }

    /// Ends watching: records the CPUs of the parties, the steal time of these CPUs, and a reason that makes the sample
    /// invalid by itself. Steal time is evaluated over a round, because one sample is hardly longer than a tick.
    pub(super) fn end(mut self, context: &BenchmarkContext, sample: &mut Sample) {
        let now = OutsideCounters::taken_under(&self.root, under_test(context));
        self.look(context);
        sample.stolen = now.stolen_since(&self.before);
        sample.throttled = now.throttled_since(&self.before);
        let disturbed = self.watch.disturbed();
        sample.invalid = if let Some(slept) = disturbed.suspended {
            Some(Invalid::Suspended(slept.as_secs_f64()))
        } else if let Some(jump) = disturbed.clock_jump {
            Some(Invalid::ClockJump(jump.as_secs_f64()))
        } else {
            (!self.placement.holds()).then(|| Invalid::Misplaced(self.placement.clone()))
        };
        sample.placement = self.placement;
    }
}

/// The CPUs whose time a sample uses.
fn under_test(context: &BenchmarkContext) -> &[usize] {
    if context.cpus().is_empty() { context.allowed() } else { context.cpus() }
}

fn note(seen: &mut Vec<u32>, cpu: usize) {
    let cpu = u32::try_from(cpu).unwrap_or(u32::MAX);
    if !seen.contains(&cpu) {
        seen.push(cpu);
    }
}

fn asked(context: &BenchmarkContext) -> Placement {
    let parties = 1 + context.watched().iter().map(|watched| watched.party).max().unwrap_or(0);
    let asked = context.cpus().iter().take(parties).map(|cpu| u32::try_from(*cpu).unwrap_or(u32::MAX)).collect();
    Placement { asked, seen: Vec::new() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use std::time::Duration;

    use benchmarks::SampleSetting;

    use super::*;
    use crate::outside::tests::Tree;

    fn context(cpus: &[usize]) -> BenchmarkContext {
        BenchmarkContext::new(SampleSetting {
            seed: 1,
            cpus: cpus.to_vec(),
            allowed: vec![0, 1],
            cache: 0,
            directory: ".".into(),
            variant: None,
            calibrating: false,
        })
    }

    /// A recorded line of `/proc/PID/stat` of a process that last ran on a given CPU.
    fn stat(pid: i32, cpu: usize) -> String {
        format!(
            "{pid} (party (2) x) S 1 {pid} {pid} 0 -1 4194304 100 0 0 0 7 8 0 0 20 0 1 0 12345 1000 10 \
             18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 {cpu} 0 0 0 0 0\n"
        )
    }

    #[test]
    fn a_sample_with_one_tick_of_steal_records_it_and_counts() {
        let tree = Tree::new([0, 100], Duration::from_millis(40));
        let context = context(&[]);
        let guard = Guard::begin_under(&tree.root(), &context);
        tree.set([0, 101], Duration::from_millis(41));
        let mut sample = Sample::default();
        guard.end(&context, &mut sample);
        let tick = os::usage::clock_tick().as_secs_f64();
        let (stolen, throttled) = (sample.stolen.unwrap(), sample.throttled.unwrap());
        assert!((stolen.seconds - tick).abs() < 1e-12 && stolen.of > 0.0, "{stolen}");
        assert!((throttled.seconds - 0.001).abs() < 1e-12);
        assert!(sample.stolen.and_then(|taken| taken.share()).unwrap().get() <= 1.0);
        assert_eq!(sample.invalid, None, "a sample is shorter than a tick is long");
    }

    #[test]
    fn only_the_cpus_of_the_parties_are_watched() {
        let tree = Tree::new([7, 7], Duration::ZERO);
        let here = kernels::affinity::current();
        let context = context(&[usize::from(here == 0)]);
        let guard = Guard::begin_under(&tree.root(), &context);
        let mut after = [7, 7];
        after[here.min(1)] += 50;
        tree.set(after, Duration::ZERO);
        let mut sample = Sample::default();
        guard.end(&context, &mut sample);
        assert_eq!(sample.stolen.map(|stolen| stolen.seconds), Some(0.0), "it was taken from the other CPU");
    }

    #[test]
    fn a_party_seen_elsewhere_makes_a_sample_invalid() {
        let tree = Tree::new([0, 0], Duration::ZERO);
        let here = kernels::affinity::allowed().unwrap()[0];
        std::thread::Builder::new()
            .spawn(move || {
                kernels::affinity::pin(&[here]).unwrap();
                let placed = |peer: usize, seen: [usize; 2]| {
                    let mut context = context(&[here, peer]);
                    context.watch(1, 4242);
                    tree.put("proc/4242/stat", &stat(4242, seen[0]));
                    let guard = Guard::begin_under(&tree.root(), &context);
                    tree.put("proc/4242/stat", &stat(4242, seen[1]));
                    let mut sample = Sample::default();
                    guard.end(&context, &mut sample);
                    sample
                };
                let held = placed(5, [5, 5]);
                assert_eq!((held.invalid, held.placement.seen.last()), (None, Some(&vec![5])));
                let moved = placed(5, [5, 6]);
                let Some(Invalid::Misplaced(placement)) = moved.invalid else { panic!("{:?}", moved.invalid) };
                assert_eq!((placement.asked, placement.seen[1].clone()), (vec![here as u32, 5], vec![5, 6]));
            })
            .unwrap()
            .join()
            .unwrap();
    }
}
