//! What a kernel says that it does, so that a test can hold it to that.

/// Bytes and operations of one turn of a kernel's loop.
///
/// The idea of a kernel that declares its traffic is likwid's (Treibig, Hager, Wellein, "LIKWID: a lightweight
/// performance-oriented tool suite", PSTI 2010). Bytes are payload, as STREAM counts them: the line that a store
/// makes the cache fetch first is not in them. Loads and stores are memory instructions, whatever their width.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoopCost {
    /// Elements, steps or blocks that one turn handles: the unit of the kernel's `n`.
    pub elements: u64,
    /// Payload bytes loaded.
    pub bytes_read: u64,
    /// Payload bytes stored.
    pub bytes_written: u64,
    /// Load instructions (an arithmetic instruction with a memory operand is one).
    pub loads: u64,
    /// Store instructions.
    pub stores: u64,
    /// Floating-point operations; a fused multiply-add is two.
    pub flops: u64,
    /// Operations of the kind that the kernel is named after.
    pub ops: u64,
}

impl LoopCost {
    /// Payload bytes, read and written summed.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }

    /// The same counts for `elements` of them. Exact where `elements` is a multiple of a turn; below that the loads
    /// and stores are those of a whole turn in proportion, rounded down.
    #[must_use]
    pub fn scaled_to(&self, elements: u64) -> Self {
        let scale = |count: u64| {
            let exact = u128::from(count) * u128::from(elements) / u128::from(self.elements.max(1));
            u64::try_from(exact).unwrap_or(u64::MAX)
        };
        Self {
            elements,
            bytes_read: scale(self.bytes_read),
            bytes_written: scale(self.bytes_written),
            loads: scale(self.loads),
            stores: scale(self.stores),
            flops: scale(self.flops),
            ops: scale(self.ops),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_scale_with_the_elements() {
        let triad =
            LoopCost { elements: 32, bytes_read: 512, bytes_written: 256, loads: 8, stores: 4, flops: 64, ops: 0 };
        let pass = triad.scaled_to(64_000);
        assert_eq!(pass.bytes(), 64_000 * 24);
        assert_eq!((pass.loads, pass.stores, pass.flops), (16_000, 8_000, 128_000));
    }

    #[test]
    fn counts_of_an_impossible_size_saturate() {
        let all = LoopCost { elements: 1, ops: u64::MAX, ..LoopCost::default() }.scaled_to(u64::MAX);
        assert_eq!(all.ops, u64::MAX);
    }
}
