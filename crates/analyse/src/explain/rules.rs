//! Known causes as data: what differs, which primitives that touches, which probe would show it.
//!
//! Kernel causes follow Ren et al., "An analysis of performance evolution of Linux's core operations" (SOSP 2019).

use model::{FigureKey, Point, Primitive};

use super::result::DifferenceKind;
use crate::compare::matches;

/// One known cause.
pub(crate) struct Rule {
    /// What people call it.
    pub(crate) title: &'static str,
    /// Patterns of fact names, `axis:NAME`, `plan:NAME` or `note:TEXT`, separated by commas.
    pub(crate) differs: &'static str,
    /// Primitives that it touches; empty stands for every one.
    pub(crate) touches: &'static [Primitive],
    /// Probe that would show it.
    pub(crate) shown_by: &'static str,
    /// Whether it is narrow enough to make one cause of everything that it touches.
    pub(crate) merges: bool,
}

impl Rule {
    /// Whether a difference of this kind and name is what the rule is about.
    pub(crate) fn names(&self, kind: DifferenceKind, name: &str) -> bool {
        let name = match kind {
            DifferenceKind::Fact => name.to_owned(),
            DifferenceKind::Axis => format!("axis:{name}"),
            DifferenceKind::Plan => format!("plan:{name}"),
            DifferenceKind::Note => format!("note:{name}"),
        };
        matches(self.differs, &FigureKey::new(name.to_lowercase(), Point::origin()))
    }

    /// Whether it is a limit on CPU time, which slows everything down alike.
    pub(crate) fn limits(&self) -> bool {
        self.title.starts_with("CPU limit")
    }

    /// Whether it is about where two parties run.
    pub(crate) fn places(&self) -> bool {
        self.title.starts_with("placement")
    }

    pub(crate) fn touches(&self, primitive: Primitive) -> bool {
        self.touches.is_empty() || self.touches.contains(&primitive)
    }
}

use Primitive as P;

/// Narrow rules stand before wide ones, which they resemble.
#[rustfmt::skip]
pub(crate) static RULES: &[Rule] = &[
    Rule { title: "placement of the two parties", differs: "axis:placement,*affinity*,*cpus_allowed*,*cpuset*,note:*affinity*,note:*taskset*",
        touches: &[P::Wakeup, P::ContextSwitch, P::Pipe, P::UnixSocket, P::TcpStack, P::UdpStack, P::CoreToCore, P::KernelCopy],
        shown_by: "ipc.pipe_latency", merges: true },
    Rule { title: "streaming against normal stores", differs: "axis:stores",
        touches: &[P::DramWrite, P::DramRead, P::L3, P::L2], shown_by: "memory.write", merges: true },
    Rule { title: "huge pages", differs: "axis:pages,*huge*page*,*hugepage*,*thp*",
        touches: &[P::Tlb, P::DramLatency, P::DramRead, P::DramWrite, P::L3, P::PageFault, P::Fork, P::CacheLatency],
        shown_by: "memory.tlb_cost", merges: true },
    Rule { title: "number of threads", differs: "axis:threads", touches: &[], shown_by: "memory.read", merges: false },
    Rule { title: "idle states and halt polling", differs: "*idle*,*halt_poll*,*cstate*,*c_state*",
        touches: &[P::Wakeup, P::Timer, P::TcpStack, P::UdpStack, P::UnixSocket, P::Pipe], shown_by: "os.wake_cross_cpu", merges: true },
    Rule { title: "page-table isolation", differs: "*page_table_isolation*,pti,*.pti,*_pti,*meltdown*",
        touches: &[P::SyscallEntry, P::ContextSwitch, P::PageFault], shown_by: "os.syscall_getppid", merges: true },
    Rule { title: "retpolines and other mitigations", differs: "*mitigation*,*vulnerabilit*,*spectre*,*retpoline*,*retbleed*",
        touches: &[P::SyscallEntry, P::ContextSwitch, P::Polling, P::TcpStack, P::UdpStack, P::UnixSocket, P::Pipe],
        shown_by: "os.select", merges: true },
    Rule { title: "randomised free lists", differs: "*freelist*", touches: &[P::Fork, P::AddressSpace, P::PageFault], shown_by: "os.mmap", merges: true },
    Rule { title: "hardened user copies", differs: "*usercopy*",
        touches: &[P::KernelCopy, P::PageCache, P::Pipe, P::TcpStack, P::UdpStack, P::UnixSocket], shown_by: "ipc.pipe_bandwidth", merges: true },
    Rule { title: "fault-around and large folios", differs: "*fault_around*,*folio*", touches: &[P::PageFault, P::PageCache], shown_by: "os.page_fault", merges: true },
    Rule { title: "accounting of memory by control groups", differs: "*cgroup*memory*,*memcg*",
        touches: &[P::PageFault, P::Fork, P::AddressSpace], shown_by: "os.page_fault", merges: true },
    Rule { title: "CPU limit of the control group", differs: "*cgroup*cpu*,*cpu*quota*,*cpu*limit*,cpu.max,*.cpu.max,note:*cpu limit*,note:*cpu*quota*",
        touches: &[], shown_by: "memory.read", merges: true },
    Rule { title: "forced context tracking", differs: "*nohz_full*,*context_tracking*",
        touches: &[P::SyscallEntry, P::PageFault, P::ContextSwitch], shown_by: "os.syscall_getppid", merges: true },
    Rule { title: "frequency and boost limits", differs: "*frequency*,*boost*,*turbo*,*governor*,*clock*",
        touches: &[P::CoreClock, P::IntegerAlu, P::FloatingPoint, P::Divide, P::Vector, P::Aes, P::Sha, P::IntMatrix, P::BitCounting,
            P::Branch, P::L1, P::L2, P::CacheLatency, P::SyscallEntry, P::Clock], shown_by: "cpu.arithmetic", merges: false },
    Rule { title: "shell and C library", differs: "*shell*,*libc*,axis:linkage,axis:program",
        touches: &[P::Shell, P::Exec, P::DynamicLink], shown_by: "os.fork_exec", merges: true },
    Rule { title: "directory, file system and mount options", differs: "plan:plan.directory,*mount*,*file_system*,*filesystem*,*directory*,axis:directory",
        touches: &[P::FileMetadata, P::Durability, P::PageCache, P::DiskRead, P::DiskWrite], shown_by: "file.create", merges: true },
    Rule { title: "the disk, its mode and write cache", differs: "*disk*,*drive*,*write_cache*,*block.*,*storage*",
        touches: &[P::DiskRead, P::DiskWrite, P::Durability, P::FileMetadata], shown_by: "file.fsync", merges: true },
    Rule { title: "socket buffers, congestion control, offloads", differs: "*tcp*,*rmem*,*wmem*,*congestion*,*offload*",
        touches: &[P::TcpStack, P::UdpStack, P::NetworkLink], shown_by: "ipc.tcp_bandwidth", merges: true },
    Rule { title: "memory channels and modules", differs: "*memory.channel*,*memory.speed*,*dimm*,ram,*.ram",
        touches: &[P::DramRead, P::DramWrite, P::DramLatency], shown_by: "memory.read", merges: true },
    Rule { title: "virtualisation", differs: "*virtual*,*hypervisor*",
        touches: &[P::Wakeup, P::PageFault, P::Tlb, P::Timer, P::Fork, P::Exec, P::Clock], shown_by: "os.page_fault", merges: false },
    Rule { title: "another CPU", differs: "cpu,cpu.model,cpu.model_name,*microcode*,*stepping*",
        touches: &[P::CoreClock, P::IntegerAlu, P::FloatingPoint, P::Divide, P::Vector, P::Aes, P::Sha, P::IntMatrix, P::BitCounting,
            P::Branch, P::L1, P::L2, P::L3, P::CacheLatency, P::Tlb, P::CoreToCore], shown_by: "cpu.arithmetic", merges: false },
    Rule { title: "another kernel", differs: "kernel.release,kernel.version,*operating system*,*operating_system*",
        touches: &[P::SyscallEntry, P::ContextSwitch, P::Wakeup, P::PageFault, P::AddressSpace, P::Fork, P::Exec, P::ThreadCreate, P::Signal,
            P::Pipe, P::KernelCopy, P::UnixSocket, P::TcpStack, P::UdpStack, P::Polling, P::FileLock, P::FileMetadata, P::PageCache],
        shown_by: "os.syscall_getppid", merges: false },
];

/// The probe that measures a primitive on its own.
pub(crate) const fn probe_of(primitive: Primitive) -> &'static str {
    match primitive {
        P::FileMetadata => "file.create",
        P::Durability => "file.fsync",
        P::DynamicLink | P::Exec => "os.fork_exec",
        P::Shell => "os.fork_shell",
        P::Compiler => "shell.compile",
        P::PageFault => "os.page_fault",
        P::AddressSpace => "os.mmap",
        P::PageCache => "file.read_cached",
        P::DiskRead => "file.sequential_read",
        P::DiskWrite => "file.sequential_write",
        P::ContextSwitch => "os.context_switch",
        P::Wakeup => "os.wake_cross_cpu",
        P::SyscallEntry => "os.syscall_getppid",
        P::Fork => "os.fork_exit",
        P::Tlb => "memory.tlb_cost",
        P::DramLatency | P::CacheLatency => "memory.load_latency",
        P::DramRead | P::L1 | P::L2 | P::L3 => "memory.read",
        P::DramWrite => "memory.write",
        P::CoreToCore => "memory.core_to_core",
        P::Pipe => "ipc.pipe_latency",
        P::KernelCopy => "ipc.pipe_bandwidth",
        P::UnixSocket => "ipc.unix_latency",
        P::TcpStack => "ipc.tcp_latency",
        P::UdpStack => "ipc.udp_latency",
        P::Polling => "os.epoll",
        P::FileLock => "os.file_lock",
        P::ThreadCreate => "os.thread_create",
        P::Signal => "os.signal_handle",
        P::Timer => "os.timer_wakeup",
        P::Clock => "os.clock_read",
        P::Branch => "cpu.branch_miss",
        P::Divide => "cpu.divide",
        P::Vector | P::FloatingPoint => "cpu.fma_peak",
        P::IntMatrix => "cpu.int8_dot",
        P::Aes => "cpu.aes",
        P::Sha => "cpu.sha256",
        P::BitCounting => "cpu.popcount",
        P::CoreClock | P::IntegerAlu => "cpu.arithmetic",
        P::NetworkLink => "network.tcp_stream",
    }
}
