//! The pending events of a simulation: a heap with four children for each node, which touches half as many cache lines
//! as a binary one.

/// Moments and their owners, the earliest first; equal moments in the order of owners.
#[derive(Debug, Default)]
pub(super) struct Heap(Vec<u128>);

fn key(time: u64, owner: u32) -> u128 {
    u128::from(time) << 32 | u128::from(owner)
}

impl Heap {
    pub(super) fn with_capacity(owners: usize) -> Self {
        Self(Vec::with_capacity(owners))
    }

    /// The earliest moment and its owner.
    #[inline]
    pub(super) fn first(&self) -> Option<(u64, u32)> {
        self.0.first().map(|key| ((key >> 32) as u64, *key as u32))
    }

    pub(super) fn push(&mut self, time: u64, owner: u32) {
        let new = key(time, owner);
        let mut at = self.0.len();
        self.0.push(new);
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.0[parent] <= new {
                break;
            }
            self.0[at] = self.0[parent];
            at = parent;
        }
        self.0[at] = new;
    }

    /// Removes the earliest, or replaces it by another moment of the same owner, which takes half the time.
    #[inline]
    pub(super) fn settle(&mut self, owner: u32, next: Option<u64>) {
        match next {
            Some(time) => self.sink(key(time, owner)),
            None => {
                if let Some(last) = self.0.pop()
                    && !self.0.is_empty()
                {
                    self.sink(last);
                }
            }
        }
    }

    /// Puts `new` at the root and sifts it down.
    fn sink(&mut self, new: u128) {
        let keys = &mut self.0;
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            let Some(children) = keys.get(first..(first + 4).min(keys.len()).max(first)) else { break };
            let least = match children {
                [a, b, c, d] => {
                    let (left, x) = if b < a { (1, b) } else { (0, a) };
                    let (right, y) = if d < c { (3, d) } else { (2, c) };
                    if y < x { right } else { left }
                }
                [] => break,
                few => few.iter().enumerate().min_by_key(|(_, key)| **key).map_or(0, |(place, _)| place),
            };
            let child = first + least;
            if keys[child] >= new {
                break;
            }
            keys[at] = keys[child];
            at = child;
        }
        keys[at] = new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn comes_out_in_order(times in prop::collection::vec(0_u64..1000, 1..200)) {
            let mut heap = Heap::with_capacity(4);
            for (owner, time) in times.iter().enumerate() {
                heap.push(*time, owner as u32);
            }
            let mut seen = Vec::new();
            while let Some((time, owner)) = heap.first() {
                // Every third is put back once, later.
                let again = (owner % 3 == 0 && time < 1000).then_some(time + 1000);
                heap.settle(owner, again);
                seen.push((time, owner));
            }
            prop_assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]));
            let twice = times.iter().enumerate().filter(|(owner, _)| owner % 3 == 0).count();
            prop_assert_eq!(seen.len(), times.len() + twice);
        }
    }
}
