//! Digests of results, as evidence that the same work was done.

/// Mixes one word (finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A sum of the hashes of items, which does not depend on their order or on how they were shared out.
///
/// It shows that work was done; it does not protect against forgery.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// The digest of one item: its number, and the words of its result in order.
    #[must_use]
    pub fn of(item: u64, words: impl IntoIterator<Item = u64>) -> Self {
        let mut state = mix(item.wrapping_add(0x9e37_79b9_7f4a_7c15));
        for word in words {
            state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ word);
        }
        Self(state)
    }

    /// The digest of two disjoint sets of items.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
