//! The declared cost of a kernel, which tests verify.

/// Bytes and operations of one iteration of a kernel's loop.
///
/// The idea of a kernel that declares its traffic is from likwid (Treibig, Hager, Wellein, "LIKWID: a lightweight
/// performance-oriented tool suite", PSTI 2010). Bytes are payload, as STREAM counts them, without the line that the
/// cache fetches before a store. Loads and stores are memory instructions of any width.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoopCost {
    /// Elements, steps or blocks that one iteration handles: the unit of the kernel's `n`.
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
    /// Operations of the kind in the name of the kernel.
    pub ops: u64,
}

impl LoopCost {
    /// Payload bytes, read and written summed.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }
}
