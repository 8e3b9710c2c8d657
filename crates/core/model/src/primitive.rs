//! Primitives connect the parts of the product: benchmarks stress them, facts affect them, footprints count them.

use serde::{Deserialize, Serialize};

macro_rules! primitives {
    ($($(#[doc = $about:literal])+ $name:ident = $title:literal),+ $(,)?) => {
        /// An elementary resource of a machine.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum Primitive { $($(#[doc = $about])+ $name),+ }

        impl Primitive {
            /// Every primitive, in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name for readers.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title),+ }
            }
        }
    };
}

primitives! {
    /// Core clock: everything that runs in user mode.
    CoreClock = "core clock",
    /// Integer arithmetic and logic.
    IntegerAlu = "integer arithmetic",
    /// Scalar floating point.
    FloatingPoint = "floating point",
    /// Division, integer or floating.
    Divide = "division",
    /// Vector units.
    Vector = "vector units",
    /// AES instructions.
    Aes = "AES instructions",
    /// SHA instructions.
    Sha = "SHA instructions",
    /// Integer matrix or dot-product instructions.
    IntMatrix = "integer dot product and matrix",
    /// CRC and population count.
    BitCounting = "CRC and bit counting",
    /// Branch prediction.
    Branch = "branch prediction",
    /// First-level data cache.
    L1 = "L1 cache",
    /// Second-level cache.
    L2 = "L2 cache",
    /// Last-level cache.
    L3 = "last-level cache",
    /// Latency of the caches.
    CacheLatency = "cache latency",
    /// Latency of main memory.
    DramLatency = "DRAM latency",
    /// Read bandwidth of main memory.
    DramRead = "DRAM read bandwidth",
    /// Write bandwidth of main memory.
    DramWrite = "DRAM write bandwidth",
    /// Transfer of a cache line between cores.
    CoreToCore = "core-to-core transfer",
    /// Address translation.
    Tlb = "address translation (TLB)",
    /// Entry into and exit from the kernel.
    SyscallEntry = "system call entry",
    /// Reading the clock.
    Clock = "clock read",
    /// Switching between processes or threads on one CPU.
    ContextSwitch = "context switch",
    /// Waking a thread on another CPU, idle states included.
    Wakeup = "cross-CPU wake-up",
    /// Timers.
    Timer = "timers",
    /// Page faults.
    PageFault = "page fault",
    /// Mapping and unmapping.
    AddressSpace = "address-space changes",
    /// Copy of an address space.
    Fork = "fork",
    /// Loading a program.
    Exec = "exec",
    /// Dynamic linking.
    DynamicLink = "dynamic linking",
    /// Starting threads.
    ThreadCreate = "thread creation",
    /// Signals.
    Signal = "signals",
    /// Pipe.
    Pipe = "pipe",
    /// Copy between user and kernel memory.
    KernelCopy = "copy between user and kernel",
    /// Local sockets.
    UnixSocket = "local sockets",
    /// TCP stack.
    TcpStack = "TCP stack",
    /// UDP stack.
    UdpStack = "UDP stack",
    /// Readiness calls and locks.
    Polling = "select, poll, epoll",
    /// File locks.
    FileLock = "file locks",
    /// File metadata.
    FileMetadata = "file metadata",
    /// Page cache.
    PageCache = "page cache",
    /// Making data durable.
    Durability = "durability (fsync)",
    /// Reading a disk.
    DiskRead = "disk read",
    /// Writing a disk.
    DiskWrite = "disk write",
    /// Link of a network.
    NetworkLink = "network link",
    /// Command interpreter.
    Shell = "shell",
    /// Compiler.
    Compiler = "compiler",
    /// Arithmetic of an accelerator.
    GpuArithmetic = "GPU arithmetic",
    /// Matrix units of an accelerator.
    GpuMatrix = "GPU matrix units",
    /// Memory bandwidth of an accelerator.
    GpuMemory = "GPU memory bandwidth",
    /// Latency of the memory of an accelerator.
    GpuLatency = "GPU memory latency",
    /// Atomic additions of an accelerator.
    GpuAtomic = "GPU atomic additions",
    /// Copies between the host and an accelerator.
    GpuLink = "copies between host and GPU",
    /// Starting work on an accelerator.
    GpuLaunch = "GPU launch",
}

impl std::fmt::Display for Primitive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.title())
    }
}
