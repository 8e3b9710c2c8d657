//! A set of chunk numbers, one bit each.

/// A set of chunks, such as those that have been counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChunkSet {
    words: Vec<u64>,
    count: u64,
}

impl ChunkSet {
    /// An empty set for chunks below `chunks`.
    #[must_use]
    pub fn new(chunks: u64) -> Self {
        Self { words: vec![0; chunks.div_ceil(64) as usize], count: 0 }
    }

    const fn position(chunk: u64) -> (usize, u64) {
        ((chunk / 64) as usize, 1 << (chunk % 64))
    }

    /// Inserts a chunk; true if it was not in the set before. A chunk beyond the set is ignored.
    pub fn insert(&mut self, chunk: u64) -> bool {
        let (word, bit) = Self::position(chunk);
        let Some(word) = self.words.get_mut(word) else { return false };
        let new = *word & bit == 0;
        *word |= bit;
        self.count += u64::from(new);
        new
    }

    /// Removes a chunk.
    pub fn remove(&mut self, chunk: u64) {
        let (word, bit) = Self::position(chunk);
        let Some(word) = self.words.get_mut(word) else { return };
        self.count -= u64::from(*word & bit != 0);
        *word &= !bit;
    }

    /// Whether a chunk is in the set.
    #[must_use]
    pub fn contains(&self, chunk: u64) -> bool {
        let (word, bit) = Self::position(chunk);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Number of chunks in the set.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The greatest chunk in the set.
    #[must_use]
    pub fn greatest(&self) -> Option<u64> {
        let (at, word) = self.words.iter().enumerate().rev().find(|(_, word)| **word != 0)?;
        Some(at as u64 * 64 + 63 - u64::from(word.leading_zeros()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_in_once() {
        let mut set = ChunkSet::new(130);
        assert_eq!(set.greatest(), None);
        assert!(set.insert(0) && set.insert(129) && set.insert(64) && !set.insert(64));
        assert!(!set.insert(10_000));
        assert_eq!((set.count(), set.greatest()), (3, Some(129)));
        set.remove(64);
        set.remove(65);
        assert!(set.count() == 2 && !set.contains(64) && set.insert(64));
        assert!(set.contains(129) && !set.contains(128) && !set.contains(1 << 40));
    }
}
