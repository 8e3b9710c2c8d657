//! Known causes as data: which facts differ, which primitives they touch, at which parameters they can matter, and
//! which primitive shows them on its own.
//!
//! Kernel causes follow Ren et al., "An analysis of performance evolution of Linux's core operations" (SOSP 2019).

use model::{Catalogue, Primitive};

use super::result::{DifferenceKind, RunDifference};
use super::scope::Scope;
use super::stream_line::STREAM;

/// One known cause.
pub(crate) struct Rule {
    pub(crate) title: &'static str,
    /// Ids of its facts; a `*` matches one word between dots.
    pub(crate) facts: &'static [&'static str],
    /// Parameters that make the same choice in the measurement.
    pub(crate) parameters: &'static [&'static str],
    /// Primitives that show it on their own, the best first: it is refuted if they were measured and did not change.
    /// Empty: any that it touches.
    pub(crate) own: &'static [Primitive],
    /// Primitives that it touches, including its own: all of them change with it.
    pub(crate) touches: &'static [Primitive],
    /// Further primitives that it may touch.
    pub(crate) may: &'static [Primitive],
    /// Results for which it can matter at all.
    pub(crate) scope: Scope,
    /// The value that makes the machine slower.
    pub(crate) slower: Slower,
    /// Whether many other things change with it, so that it is only listed as a possible cause and never named.
    pub(crate) wide: bool,
}

/// The slower one of two values of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slower {
    /// Unknown.
    Either,
    /// The side with "yes", or with the larger count.
    Yes,
    /// The smaller number; no number means no limit.
    Less,
    /// The larger number.
    More,
    /// The side with an active mitigation.
    Mitigated,
}

impl Rule {
    /// Whether the rule covers this difference.
    pub(crate) fn names(&self, difference: &RunDifference) -> bool {
        let name = difference.name.as_str();
        match difference.kind {
            DifferenceKind::Fact => self.facts.iter().any(|id| is_fact(id, name)),
            DifferenceKind::Parameter => self.parameters.contains(&name),
            DifferenceKind::Plan => self.title == DIRECTORY && name == "plan.directory",
            DifferenceKind::Note | DifferenceKind::Condition => false,
        }
    }

    pub(crate) fn touches(&self, primitive: Primitive) -> bool {
        self.touches.contains(&primitive) || self.may.contains(&primitive)
    }

    /// The id of the benchmark that shows it, of the first primitive that a benchmark measures within its scope.
    pub(crate) fn shown_by<'a>(&self, catalogue: &'a Catalogue) -> &'a str {
        let own = if self.own.is_empty() { self.touches } else { self.own };
        own.iter().find_map(|&primitive| measure_of(primitive, self.scope, catalogue)).unwrap_or_default()
    }

    /// Whether B is the slower side by this difference, if known.
    pub(crate) fn slower_b(&self, difference: &RunDifference) -> Option<bool> {
        let (a, b) = (difference.a.as_str(), difference.b.as_str());
        let limit = |text: &str| if text == "none" { Some(f64::INFINITY) } else { text.parse::<f64>().ok() };
        let known = DIRECTIONS.iter().find(|(id, _)| is_fact(id, &difference.name));
        match known.map_or(self.slower, |(_, slower)| *slower) {
            Slower::Either => None,
            Slower::Yes => match (a.parse::<f64>(), b.parse::<f64>()) {
                (Ok(a), Ok(b)) => Some(b > a),
                _ if a == b => None,
                _ => match (a, b) {
                    ("no", _) => Some(true),
                    (_, "no") => Some(false),
                    _ => None,
                },
            },
            Slower::Less => limit(a).zip(limit(b)).map(|(a, b)| b < a),
            Slower::More => limit(a).zip(limit(b)).map(|(a, b)| b > a),
            Slower::Mitigated => {
                let active = |text: &str| text.starts_with("Mitigation");
                (active(a) != active(b)).then(|| active(b))
            }
        }
    }
}

/// Facts that say themselves which side is the slower one, whatever else is among those of their rule.
const DIRECTIONS: &[(&str, Slower)] = &[
    ("memory.speed", Slower::Less),
    ("memory.channels", Slower::Less),
    ("disk.*.rotational", Slower::Yes),
    ("network.*.speed", Slower::Less),
];

/// Whether a fact has an id, in which a `*` matches one word.
pub(crate) fn is_fact(id: &str, name: &str) -> bool {
    let (mut wanted, mut found) = (id.split('.'), name.split('.'));
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(word), Some(other)) if word == other => {}
            _ => return false,
        }
    }
}

use Primitive as P;

/// A cause as others may use it: `check` finds it by a fact of one machine, where a comparison finds it by a difference.
#[derive(Debug, Clone, Copy)]
pub struct KnownCause {
    /// What it is called.
    pub title: &'static str,
    /// Ids of the facts that can differ by it; a `*` matches one word between dots.
    pub facts: &'static [&'static str],
    /// Primitives that show it on their own, the best first; empty: any that it touches.
    pub own: &'static [Primitive],
    /// Primitives that all change with it.
    pub touches: &'static [Primitive],
    /// Further primitives that it may touch.
    pub may: &'static [Primitive],
    /// Whether so much changes with it that a difference alone never names it.
    pub wide: bool,
}

impl KnownCause {
    /// Whether it can lower a result of this primitive.
    #[must_use]
    pub fn lowers(&self, primitive: Primitive) -> bool {
        // A limit on CPU time slows everything down alike.
        self.title == CPU_LIMIT || [self.own, self.touches, self.may].iter().any(|those| those.contains(&primitive))
    }

    /// Whether a fact of this name can differ by it.
    #[must_use]
    pub fn names(&self, fact: &str) -> bool {
        self.facts.iter().any(|id| is_fact(id, fact))
    }
}

/// Every known cause, narrow ones before wide ones.
pub fn known_causes() -> impl Iterator<Item = KnownCause> {
    RULES.iter().map(|rule| KnownCause {
        title: rule.title,
        facts: rule.facts,
        own: rule.own,
        touches: rule.touches,
        may: rule.may,
        wide: rule.wide,
    })
}

/// Placement of the two threads or processes.
pub(crate) const PLACEMENT: &str = "CPU placement of the two processes";
/// Another guest or process on the core's other hardware thread.
pub(crate) const NEIGHBOUR: &str = "a busy sibling hyperthread";
/// What the runs recorded against themselves: no rule leads to it.
pub(crate) const DISTURBED: &str = "interference";
/// A limit on CPU time, which slows everything down alike and is judged apart.
pub(crate) const CPU_LIMIT: &str = "cgroup CPU limit";
/// Location of the files, including the directory of the plan.
const DIRECTORY: &str = "file system and mount options";

/// Id of the fact with the limit on CPU time, in CPUs.
pub(crate) const CPU_LIMIT_FACT: &str = "cgroup.cpus";

const CORE: &[P] = &[
    P::CoreClock,
    P::IntegerAlu,
    P::FloatingPoint,
    P::Divide,
    P::Vector,
    P::Aes,
    P::Sha,
    P::IntMatrix,
    P::BitCounting,
    P::Branch,
    P::L1,
    P::L2,
    P::CacheLatency,
];
const HAND_OFFS: &[P] =
    &[P::Wakeup, P::ContextSwitch, P::Pipe, P::UnixSocket, P::TcpStack, P::UdpStack, P::CoreToCore, P::KernelCopy];
/// What the kernel does. The first three are no calls: entering it, and faults and copies on its own account.
const KERNEL: &[P] = &[
    P::SyscallEntry,
    P::PageFault,
    P::KernelCopy,
    P::ContextSwitch,
    P::Wakeup,
    P::AddressSpace,
    P::Fork,
    P::Exec,
    P::ThreadCreate,
    P::Signal,
    P::Pipe,
    P::UnixSocket,
    P::TcpStack,
    P::UdpStack,
    P::Polling,
    P::FileLock,
    P::FileMetadata,
    P::PageCache,
];
/// Primitives that need a call.
const CALLS: &[P] = KERNEL.split_at(3).1;

/// What an accelerator does with its clock and its power.
const DEVICE: &[P] = &[P::GpuArithmetic, P::GpuMatrix, P::GpuLatency, P::GpuAtomic];
/// All that an accelerator does.
pub(crate) const ACCELERATOR: &[P] =
    &[P::GpuArithmetic, P::GpuMatrix, P::GpuLatency, P::GpuAtomic, P::GpuMemory, P::GpuLink, P::GpuLaunch];

/// A rule by facts, without parameters and directions.
const fn rule(title: &'static str, facts: &'static [&'static str], own: &'static [P], touches: &'static [P]) -> Rule {
    Rule {
        title,
        facts,
        parameters: &[],
        own,
        touches,
        may: &[],
        scope: Scope::All,
        slower: Slower::Either,
        wide: false,
    }
}

/// Narrow rules precede wide ones.
#[rustfmt::skip]
pub(crate) static RULES: &[Rule] = &[
    Rule { parameters: &["placement"], scope: Scope::FreeParties,
        ..rule(PLACEMENT, &["cpu.affinity", "cpu.count"], &[P::Pipe, P::UnixSocket, P::TcpStack, P::UdpStack, P::ContextSwitch, P::Wakeup],
            HAND_OFFS) },
    Rule { parameters: &["stores"], ..rule("streaming or normal stores", &[], &[P::DramWrite], &[P::DramWrite, P::DramRead, P::L3, P::L2]) },
    Rule { parameters: &["pages"], scope: Scope::PagesOfTheSystem, may: &[P::DramRead, P::DramWrite, P::L3, P::CacheLatency, P::PageFault, P::Fork],
        ..rule("huge pages", &["memory.transparent_huge_pages", "memory.huge_page_defrag", "memory.huge_page", "confinement.huge_pages"], &[P::Tlb, P::DramLatency, P::DramRead],
            &[P::Tlb, P::DramLatency]) },
    Rule { parameters: &["threads"], scope: Scope::AllThreads, slower: Slower::Less,
        ..rule("number of threads", &["cpu.count", "cpu.online", "cpu.cores"], &[P::DramRead, P::DramWrite, P::CoreClock],
            &[P::DramRead, P::DramWrite, P::L1, P::L2, P::L3, P::CoreClock, P::Vector, P::Aes, P::Sha, P::IntMatrix, P::BitCounting]) },
    Rule { scope: Scope::AcrossCpus, may: &[P::Timer, P::TcpStack, P::UdpStack, P::UnixSocket],
        ..rule("idle states or halt polling", &["cpu.idle_driver", "cpu.idle_governor", "cpu.idle_states", "cpu.halt_polling"], &[P::Wakeup],
            &[P::Wakeup, P::Pipe]) },
    Rule { slower: Slower::Yes, may: CALLS, ..rule("a system call filter (seccomp)", &["confinement.seccomp", "confinement.seccomp_filters"],
        &[P::SyscallEntry], &[P::SyscallEntry]) },
    Rule { slower: Slower::Yes, may: CALLS, ..rule("a debugger", &["confinement.traced"], &[P::SyscallEntry], &[P::SyscallEntry]) },
    Rule { slower: Slower::Yes, may: CALLS, ..rule("agents that trace system calls", &["kernel.traced_calls"],
        &[P::SyscallEntry], &[P::SyscallEntry]) },
    // A slower entry into the kernel makes every call slower.
    Rule { slower: Slower::Yes, may: CALLS, ..rule("page-table isolation", &["kernel.page_table_isolation"], &[P::SyscallEntry],
        &[P::SyscallEntry, P::ContextSwitch, P::PageFault]) },
    Rule { slower: Slower::Mitigated, may: &[P::ContextSwitch, P::TcpStack, P::UdpStack, P::UnixSocket, P::Pipe], ..rule("retpolines and other indirect branch mitigations",
        &["mitigation.spectre_v2", "mitigation.retbleed", "mitigation.spec_rstack_overflow", "mitigation.indirect_target_selection", "mitigation.vmscape"],
        &[P::Polling], &[P::Polling, P::SyscallEntry]) },
    Rule { slower: Slower::Mitigated, may: CALLS, ..rule("CPU buffer clearing on kernel exit",
        &["mitigation.mds", "mitigation.tsx_async_abort", "mitigation.mmio_stale_data", "mitigation.reg_file_data_sampling", "mitigation.tsa",
            "mitigation.meltdown", "mitigation.l1tf"],
        &[P::SyscallEntry], &[P::SyscallEntry, P::ContextSwitch, P::PageFault]) },
    Rule { slower: Slower::Mitigated, ..rule("Spectre v1 barriers in user copies", &["mitigation.spectre_v1"], &[P::KernelCopy], &[P::KernelCopy, P::SyscallEntry]) },
    Rule { slower: Slower::Yes, scope: Scope::FreshMemory, ..rule("randomised free lists", &["kernel.config.slab_freelist_random"], &[P::AddressSpace],
        &[P::Fork, P::AddressSpace, P::PageFault]) },
    Rule { slower: Slower::Yes, ..rule("hardened user copies", &["kernel.config.hardened_usercopy"], &[P::KernelCopy], &[P::KernelCopy, P::PageCache]) },
    Rule { slower: Slower::Yes, scope: Scope::FreshMemory, ..rule("zeroing of allocated memory (init_on_alloc)", &["kernel.config.init_on_alloc"], &[P::PageFault],
        &[P::PageFault, P::Fork]) },
    Rule { scope: Scope::FileFaults, ..rule("fault-around or large folios", &["kernel.fault_around"], &[P::PageFault], &[P::PageFault, P::PageCache]) },
    Rule { scope: Scope::FreshMemory, ..rule("cgroup memory accounting",
        &["kernel.config.memory_cgroup", "kernel.cgroup_controllers", "cgroup.memory"], &[P::PageFault], &[P::PageFault, P::Fork, P::AddressSpace]) },
    Rule { scope: Scope::FreshMemory, ..rule("memory overcommit and same-page merging", &["memory.overcommit", "memory.same_page_merging"], &[P::AddressSpace, P::PageFault],
        &[P::Fork, P::AddressSpace, P::PageFault]) },
    Rule { slower: Slower::Less, ..rule(CPU_LIMIT, &[CPU_LIMIT_FACT], &[P::CoreClock], &[]) },
    Rule { wide: true, slower: Slower::More, scope: Scope::Unfiltered, may: KERNEL,
        ..rule(NEIGHBOUR, &[model::CORE_SHARED], &[], CORE) },
    Rule { may: CALLS, ..rule("forced context tracking", &["kernel.config.forced_context_tracking", "kernel.full_tickless_cpus"], &[P::SyscallEntry],
        &[P::SyscallEntry, P::PageFault, P::ContextSwitch]) },
    Rule { wide: true, ..rule("frequency and boost limits",
        &["cpu.clock", "cpu.clock.max", "cpu.boost", "cpu.governor", "cpu.energy_preference", "cpu.frequency_driver"], &[], CORE) },
    rule("clock source", &["clock.source", "clock.tsc_flags"], &[P::Clock], &[P::Clock]),
    Rule { slower: Slower::More, ..rule("timer slack", &["limit.timer_slack"], &[P::Timer], &[P::Timer]) },
    Rule { may: &[P::Wakeup], ..rule("kernel tick rate and preemption", &["kernel.config.hz", "kernel.config.preempt", "kernel.preemption"],
        &[P::Timer], &[P::Timer]) },
    rule("the compiler", &["software.compiler"], &[P::Compiler], &[P::Compiler]),
    rule("the shell", &["software.shell"], &[P::Shell], &[P::Shell]),
    Rule { parameters: &["linking"], scope: Scope::Dynamic, may: &[P::ThreadCreate], ..rule("C library and dynamic linker", &["software.libc", "software.dynamic_loader"], &[P::Exec],
        &[P::Exec, P::DynamicLink]) },
    rule("address randomisation", &["kernel.address_space_randomised"], &[P::Exec], &[P::Exec]),
    Rule { parameters: &["directory", "place", "medium"], scope: Scope::Target, may: &[P::PageCache], ..rule(DIRECTORY,
        &["filesystem.target.type", "filesystem.target.options", "filesystem.target.block", "filesystem.target.source", "file_system.type"],
        &[P::FileMetadata, P::Durability, P::DiskWrite], &[P::FileMetadata, P::Durability, P::DiskRead, P::DiskWrite]) },
    Rule { scope: Scope::Tmpfs, may: &[P::PageCache, P::DiskRead, P::DiskWrite], ..rule("tmpfs settings", &["filesystem.shm.type", "filesystem.shm.options", "filesystem.shm.block", "memory.shared_huge_pages"],
        &[P::FileMetadata], &[P::FileMetadata]) },
    Rule { parameters: &["durability"], scope: Scope::Disk, ..rule("disk model, mode or write cache",
        &["disk.*.model", "disk.*.driver", "disk.*.scheduler", "disk.*.write_cache", "disk.*.rotational", "disk.*.read_ahead", "disk.controller",
            "file.dirty_ratio", "file.dirty_background_ratio", "file.dirty_expire"],
        &[P::Durability, P::DiskWrite, P::DiskRead], &[P::DiskRead, P::DiskWrite, P::Durability, P::FileMetadata]) },
    Rule { parameters: &["buffers", "window"], scope: Scope::TcpData, may: &[P::TcpStack, P::UdpStack, P::NetworkLink], ..rule("socket buffers",
        &["network.tcp_receive_buffer", "network.tcp_send_buffer", "network.receive_buffer_max", "network.send_buffer_max", "network.receive_buffer_default",
            "network.send_buffer_default", "network.lo.mtu"],
        &[P::KernelCopy, P::NetworkLink], &[P::KernelCopy]) },
    Rule { parameters: &["congestion"], scope: Scope::SystemsCongestion, may: &[P::TcpStack, P::UdpStack, P::NetworkLink], ..rule("congestion control",
        &["network.congestion_control"], &[P::KernelCopy, P::NetworkLink], &[P::KernelCopy]) },
    Rule { scope: Scope::Link, ..rule("the network interface", &["network.*.mtu", "network.*.speed", "network.*.duplex", "network.*.driver", "network.interface", "network.queueing"],
        &[P::NetworkLink], &[P::NetworkLink, P::TcpStack, P::UdpStack]) },
    Rule { parameters: &["capacity"], scope: Scope::PipeData, ..rule("pipe capacity", &["network.pipe_capacity_max"], &[P::KernelCopy], &[P::KernelCopy, P::Pipe]) },
    Rule { may: &[P::DramLatency], ..rule("memory channels and modules",
        &["memory.modules", "memory.speed", "memory.type", "memory.kind", "memory.channels", "board.chipset"],
        &[P::DramRead], &[P::DramRead, P::DramWrite]) },
    Rule { may: &[P::Fork, P::UnixSocket, P::TcpStack, P::UdpStack], ..rule("security modules", &["kernel.security_modules"], &[P::FileMetadata, P::Exec], &[P::FileMetadata, P::Exec]) },
    Rule { wide: true, slower: Slower::More, ..rule("process priority", &["confinement.nice", "confinement.policy"], &[],
        &[P::ContextSwitch, P::Wakeup]) },
    Rule { wide: true, slower: Slower::Yes, may: CORE, ..rule("mitigations of the process", &["confinement.store_bypass_disabled", "confinement.indirect_branches_disabled"],
        &[], &[P::ContextSwitch, P::IntegerAlu, P::Branch]) },
    rule("NUMA nodes", &["memory.nodes", "memory.node_distances", "memory.numa_balancing", "confinement.memory_nodes"], &[P::DramLatency, P::DramRead],
        &[P::DramRead, P::DramWrite, P::DramLatency, P::CoreToCore]),
    rule("the link of a PCI Express device", &["pcie.*.width", "pcie.*.speed"], &[P::DiskRead, P::DiskWrite],
        &[P::DiskRead, P::DiskWrite, P::NetworkLink]),
    Rule { slower: Slower::More, ..rule("a limit on disk I/O", &["cgroup.limited_disks"], &[P::Durability, P::DiskWrite],
        &[P::DiskRead, P::DiskWrite, P::Durability]) },
    Rule { slower: Slower::More, ..rule("a degraded array", &["disk.*.missing_members"], &[P::DiskRead],
        &[P::DiskRead, P::DiskWrite, P::Durability]) },
    Rule { slower: Slower::Yes, ..rule("a debug kernel", &["kernel.config.lock_checks", "kernel.config.memory_checks"],
        &[P::SyscallEntry], KERNEL) },
    // Their facts change from hour to hour, so no comparison of two runs names them.
    Rule { wide: true, ..rule("heat", &[], &[P::CoreClock], CORE) },
    Rule { wide: true, ..rule("swapping", &[], &[], &[P::PageFault, P::DramLatency, P::DramRead, P::DramWrite]) },
    Rule { wide: true, ..rule("a full file system", &[], &[P::Durability, P::DiskWrite], &[P::Durability, P::DiskWrite, P::FileMetadata]) },
    Rule { wide: true, ..rule("memory errors", &[], &[P::DramRead], &[P::DramRead, P::DramWrite, P::DramLatency]) },
    Rule { wide: true, ..rule("interrupts on one CPU", &[], &[P::NetworkLink], &[P::NetworkLink, P::TcpStack, P::UdpStack]) },
    Rule { wide: true, ..rule("virtualisation", &["virtual.guest", "virtual.hypervisor"], &[],
        &[P::PageFault, P::Wakeup, P::Tlb, P::Timer, P::Fork, P::Exec, P::Clock, P::ContextSwitch, P::DramLatency]) },
    Rule { wide: true, ..rule("CPU instruction sets", &["cpu.flags"], &[],
        &[P::Aes, P::Vector, P::Sha, P::IntMatrix, P::BitCounting]) },
    Rule { wide: true, ..rule("another microcode version", &["cpu.microcode"], &[], &[P::SyscallEntry, P::Branch, P::ContextSwitch]) },
    Rule { wide: true, ..rule("another CPU", &["cpu.model", "cpu.vendor", "cpu.family", "cpu.model_number", "cpu.stepping", "cache.*.size", "cache.*.ways", "cache.l2"], &[],
        &[P::CoreClock, P::IntegerAlu, P::FloatingPoint, P::Divide, P::Vector, P::Aes, P::Sha, P::IntMatrix, P::BitCounting, P::Branch,
            P::L1, P::L2, P::L3, P::CacheLatency, P::Tlb, P::CoreToCore]) },
    Rule { wide: true, ..rule("another kernel", &["kernel.release", "kernel.version", "kernel.command_line", "os.name"], &[], KERNEL) },
    Rule { wide: true, ..rule("another compiler", &["compiler"], &[],
        &[P::Compiler, P::CoreClock, P::IntegerAlu, P::FloatingPoint]) },
    // Of accelerators: no other rule touches what these do.
    Rule { slower: Slower::Less, may: ACCELERATOR, ..rule("power limit of the GPU", &["gpu.*.power_limit"],
        &[P::GpuMatrix, P::GpuArithmetic], &[P::GpuMatrix]) },
    Rule { slower: Slower::Less, may: ACCELERATOR, ..rule("clock limit of the GPU", &["gpu.*.clock_max", "gpu.*.clock_asked"], &[P::GpuArithmetic], DEVICE) },
    // The present generation is that of an idle link.
    Rule { slower: Slower::Less, ..rule("PCIe link of the GPU", &["gpu.*.link_width", "gpu.*.link_width_max", "gpu.*.link_generation_max"],
        &[P::GpuLink], &[P::GpuLink]) },
    Rule { slower: Slower::Yes, ..rule("error correction of the GPU's memory", &["gpu.*.ecc"], &[P::GpuMemory], &[P::GpuMemory]) },
    Rule { slower: Slower::More, ..rule("damaged memory of the GPU", &["gpu.*.remapped_rows", "gpu.*.ecc_uncorrected"], &[P::GpuMemory], &[P::GpuMemory]) },
    Rule { slower: Slower::Yes, ..rule("the GPU in slices (MIG)", &["gpu.*.slices"], &[P::GpuArithmetic, P::GpuMemory], &[P::GpuArithmetic, P::GpuMatrix, P::GpuMemory]) },
    Rule { wide: true, may: ACCELERATOR, ..rule("another GPU driver", &["gpu.*.driver", "gpu.*.cuda", "opencl.*.driver"], &[], &[P::GpuLaunch]) },
    Rule { wide: true, ..rule("another GPU", &["gpu.*.model", "gpu.*.capability", "gpu.*.units", "gpu.*.memory_bus", "opencl.*.model", "opencl.*.units"], &[], ACCELERATOR) },
];

/// The id of the benchmark that measures a primitive on its own: the catalogue's, or a stream over the network.
pub(crate) fn benchmark_of(primitive: Primitive, catalogue: &Catalogue) -> Option<&str> {
    measure_of(primitive, Scope::All, catalogue)
}

fn measure_of(primitive: Primitive, scope: Scope, catalogue: &Catalogue) -> Option<&str> {
    match primitive {
        P::NetworkLink => Some(STREAM),
        // A read of that size measures a cache.
        P::L1 | P::L2 | P::L3 => measure_of(P::DramRead, scope, catalogue),
        _ => catalogue
            .measure_of(primitive, |benchmark| scope.reaches(&benchmark.stresses))
            .map(|benchmark| benchmark.id.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_side_of_truths_and_counts() {
        let rule = RULES.iter().find(|rule| rule.title == "a system call filter (seccomp)").unwrap();
        let slower_b = |a: &str, b: &str| {
            let (a, b) = (a.to_owned(), b.to_owned());
            let name = "confinement.seccomp_filters".to_owned();
            rule.slower_b(&RunDifference { kind: DifferenceKind::Fact, name, a, b, affects: Vec::new(), unit: None })
        };
        assert_eq!((slower_b("no", "yes"), slower_b("yes", "no")), (Some(true), Some(false)));
        assert_eq!((slower_b("0", "2"), slower_b("2", "1")), (Some(true), Some(false)));
    }

    #[test]
    fn a_fact_may_say_itself_which_side_is_slower() {
        let slower_b = |name: &str, a: &str, b: &str| {
            let (name, a, b) = (name.to_owned(), a.to_owned(), b.to_owned());
            let difference = RunDifference { kind: DifferenceKind::Fact, name, a, b, affects: Vec::new(), unit: None };
            RULES.iter().find(|rule| rule.names(&difference)).unwrap().slower_b(&difference)
        };
        assert_eq!(slower_b("memory.speed", "2400000000", "4800000000"), Some(false));
        assert_eq!(slower_b("memory.channels", "8", "2"), Some(true));
        assert_eq!(slower_b("memory.type", "DDR4", "DDR5"), None);
        assert_eq!(slower_b("disk.sda.rotational", "no", "yes"), Some(true));
        assert_eq!(slower_b("network.eth0.speed", "1000", "10000"), Some(false));
    }
}
