//! Sorting, and a tree of keys under a mix of look-ups, insertions and removals.

use std::collections::BTreeMap;

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const ITEMS: usize = 700_000;
const STEPS: usize = 600_000;

pub(crate) struct SortComponent(Vec<(u64, u32)>);

impl SortComponent {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(9);
        Box::new(Self((0..ITEMS).map(|at| (random.below(1 << 40), at as u32)).collect()))
    }
}

impl RatingWork for SortComponent {
    fn run(&mut self) -> Result<u64, String> {
        let mut sum = Checksum::default();
        for _ in 0..3 {
            let mut items = self.0.clone();
            items.sort();
            sum.word(items[ITEMS / 3].0);
            items.sort_unstable_by_key(|(key, at)| (u64::from(*at).wrapping_mul(0x9e37_79b9_7f4a_7c15), *key));
            sum.word(items[ITEMS / 2].0);
        }
        let mut random = SplitMix::new(10);
        let mut tree: BTreeMap<u64, u32> = BTreeMap::new();
        for (step, (key, _)) in self.0.iter().cycle().take(STEPS).enumerate() {
            match random.below(4) {
                0 | 1 => {
                    tree.insert(*key, step as u32);
                }
                2 => sum.word(tree.range(*key..).next().map_or(0, |(found, _)| *found)),
                _ => {
                    let next = tree.range(*key..).next().map(|(found, _)| *found);
                    sum.word(next.and_then(|found| tree.remove(&found)).map_or(0, u64::from));
                }
            }
        }
        sum.word(tree.len() as u64);
        Ok(sum.value())
    }
}
