//! Preparing memory by several CPUs at once: gigabytes are zeroed, written and visited in a fraction of the time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use model::CpuSet;

use crate::{affinity, clock, text};

/// Most helpers: beyond that the memory is the limit.
const MOST: usize = 7;
/// Longest that a thread waits for its helpers to have started, nanoseconds. A thread that starts maps its stack, for
/// which it waits while another one of its process makes pages present: it came when half of them were.
const STARTING: u64 = 3_000_000;

/// Further CPUs that help a thread to prepare its memory. They are on the same NUMA node, so that pages they touch
/// first lie where the thread would have put them.
#[derive(Debug, Clone, Default)]
pub struct PreparationHelpers {
    cpus: Vec<usize>,
}

impl PreparationHelpers {
    /// No helpers: the thread prepares its memory alone.
    #[must_use]
    pub const fn none() -> Self {
        Self { cpus: Vec::new() }
    }

    /// CPUs of the node of `cpu` among those that this process may use.
    #[must_use]
    pub fn near(cpu: usize, allowed: &[usize]) -> Self {
        let node = node_of(cpu);
        let near = |other: usize| node.as_ref().is_none_or(|node| node.contains(other));
        Self { cpus: allowed.iter().copied().filter(|&other| other != cpu && near(other)).take(MOST).collect() }
    }

    /// Runs `work` once on every item, on this thread and the helpers, and returns when all is done. A helper that
    /// cannot get to its CPU leaves its share to the others.
    pub fn share<T: Send>(&self, items: Vec<T>, work: impl Fn(T) + Sync) {
        let helpers = self.cpus.len().min(items.len().saturating_sub(1));
        let left = Mutex::new(items.into_iter());
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let act = || {
            while let Some(item) = next() {
                work(item);
            }
        };
        let started = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let (act, started) = (&act, &started);
            let start = |cpu: usize| {
                let thread = std::thread::Builder::new().name("preparing".to_owned());
                thread.spawn_scoped(scope, move || {
                    let there = affinity::pin(&[cpu]).is_ok();
                    started.fetch_add(1, Ordering::Release);
                    if there {
                        act();
                    }
                })
            };
            // If no thread can be started, the existing ones do all.
            let coming = self.cpus[..helpers].iter().filter(|cpu| start(**cpu).is_ok()).count();
            let until = clock::now() + STARTING;
            while started.load(Ordering::Acquire) < coming && clock::now() < until {
                std::thread::yield_now();
            }
            act();
        });
    }
}

/// The CPUs of a CPU's NUMA node; `None` where the system does not tell.
fn node_of(cpu: usize) -> Option<CpuSet> {
    let entries = std::fs::read_dir(format!("/sys/devices/system/cpu/cpu{cpu}")).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let node = names.filter_map(|name| name.strip_prefix("node")?.parse::<usize>().ok()).next()?;
    text::read(format!("/sys/devices/system/node/node{node}/cpulist")).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        let allowed = affinity::allowed().unwrap_or_default();
        for helpers in [PreparationHelpers::none(), PreparationHelpers::near(allowed[0], &allowed)] {
            for count in [0, 1, 2, 1000] {
                let done = Mutex::new(Vec::new());
                helpers.share((0..count).collect(), |item: usize| done.lock().unwrap().push(item));
                let done = done.into_inner().unwrap();
                assert_eq!((done.len(), done.iter().collect::<BTreeSet<_>>().len()), (count, count));
            }
        }
    }

    #[test]
    fn a_helper_without_its_cpu_leaves_all_to_others() {
        let absent = PreparationHelpers { cpus: vec![1 << 15] };
        let sum = AtomicUsize::new(0);
        absent.share((0..100).collect(), |item: usize| {
            sum.fetch_add(item, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), 4950);
    }

    #[test]
    fn helpers_are_others_of_the_same_node_and_allowed() {
        let allowed = affinity::allowed().unwrap_or_default();
        let own = allowed[0];
        let found = PreparationHelpers::near(own, &allowed);
        assert!(found.cpus.len() <= MOST && found.cpus.iter().all(|cpu| *cpu != own && allowed.contains(cpu)));
        assert!(PreparationHelpers::near(own, &[own]).cpus.is_empty());
        if let Some(node) = node_of(own) {
            assert!(node.contains(own) && found.cpus.iter().all(|cpu| node.contains(*cpu)));
        }
    }
}
