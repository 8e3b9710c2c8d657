//! The settings, each one expression. They are listed in the order in which a journal restores them.

use model::Primitive::{
    self, AddressSpace, ContextSwitch, DiskRead, DiskWrite, DramLatency, DramRead, DramWrite, DynamicLink, Exec, Fork,
    PageCache, PageFault, TcpStack, ThreadCreate, Timer, Tlb, UdpStack, Wakeup,
};

use crate::process::{self as own, IDLE_LATENCY};
use crate::setting::{Change, Setting};

/// What a limit of the stack, or a library at the start of a program, may touch.
const PROGRAM: &[Primitive] = &[Exec, DynamicLink, Fork, AddressSpace, PageFault, ThreadCreate];
/// What the size of pages may touch.
const OF_PAGES: &[Primitive] = &[Tlb, DramLatency, DramRead, DramWrite, PageFault, AddressSpace, Fork];
/// What idle states may touch.
const IDLING: &[Primitive] = &[Wakeup, ContextSwitch, Timer, TcpStack, UdpStack];
const NET: &[Primitive] = &[TcpStack, UdpStack];
const DISK: &[Primitive] = &[DiskRead, DiskWrite];
/// Words of facts about switches.
const ON_OFF: &[(&str, &str)] = &[("no", "off"), ("yes", "on")];
const ONE_ZERO: &[(&str, &str)] = &[("no", "0"), ("yes", "1")];
const ALLOWED: &[(&str, &str)] = &[("no", "forbidden"), ("yes", "allowed")];

/// The setting that changes nothing.
pub static NOTHING: Setting = Setting::process("nothing", "nothing (A/A)", Change::Nothing, &[]);

/// Every setting.
pub static SETTINGS: &[Setting] = &[
    // Parameters of the benchmark: its own values are tried.
    Setting::process("placement", "CPU of the partner", Change::Parameter("placement"), &[]),
    Setting::process("pair", "the other CPU of the pair", Change::Parameter("pair"), &[]),
    Setting::process("sync", "writes made durable", Change::Parameter("durability"), &[]),
    Setting::process("socket_buffers", "size of socket buffers", Change::Parameter("buffers"), &[]),
    Setting::process("pages", "pages by madvise", Change::Parameter("pages"), &[]),
    Setting::process("pacing", "pacing of TCP", Change::Parameter("congestion"), &[]),
    // Of the processes that measure.
    Setting::process("policy", "scheduling policy", own::POLICY, &["batch", "fifo"])
        .by_root()
        .recorded("confinement.policy", &[]),
    Setting::process("nice", "nice value", own::NICE, &["19"]).recorded("confinement.nice", &[]),
    Setting::process("cpu_weight", "control group of its own, weight in %", Change::Group, &["5"]).by_root(),
    Setting::process("store_bypass", "SSBD (no speculative store bypass)", own::STORE_BYPASS, &["on", "off"])
        .recorded("confinement.store_bypass_disabled", ON_OFF),
    Setting::process("indirect_branch", "no speculation of indirect branches", own::INDIRECT_BRANCH, &["on", "off"])
        .recorded("confinement.indirect_branches_disabled", ON_OFF),
    Setting::process("aslr", "random addresses (ASLR)", own::ADDRESSES, &["off", "on"]),
    Setting::process("stack", "limit of the stack", own::STACK, &["unlimited"]).touching(PROGRAM),
    Setting::process("seccomp", "seccomp filter, rules", own::FILTER, &["300"]),
    Setting::process("malloc_arenas", "MALLOC_ARENA_MAX", Change::Environment("MALLOC_ARENA_MAX"), &["1"])
        .touching(PROGRAM),
    Setting::process("bind_now", "LD_BIND_NOW", Change::Environment("LD_BIND_NOW"), &["1"]).touching(PROGRAM),
    Setting::process(
        "glibc",
        "GLIBC_TUNABLES",
        Change::Environment("GLIBC_TUNABLES"),
        &["glibc.malloc.hugetlb=1", "glibc.malloc.tcache_count=0"],
    )
    .touching(PROGRAM),
    Setting::process("huge_pages", "huge pages of the process", own::HUGE_PAGES, &["forbidden", "allowed"])
        .touching(OF_PAGES)
        .recorded("confinement.huge_pages", ALLOWED),
    Setting::process("memory_policy", "memory policy", own::MEMORY, &["interleave"]),
    // Of TCP in a network of the process.
    Setting::process("congestion", "congestion control", own::CONGESTION, &["reno", "cubic", "bbr"])
        .touching(&[TcpStack])
        .by_root()
        .recorded("network.congestion_control", &[]),
    Setting::process("send_buffer", "send buffer of TCP", own::SEND_BUFFER, &["4096 8192 8192"])
        .touching(&[TcpStack])
        .by_root()
        .recorded("network.tcp_send_buffer", &[]),
    Setting::process("receive_buffer", "receive buffer of TCP", own::RECEIVE_BUFFER, &["4096 8192 8192"])
        .touching(&[TcpStack])
        .by_root()
        .recorded("network.tcp_receive_buffer", &[]),
    // Of the processors.
    Setting::system("smt", "threads of a core (SMT)", &["/sys/devices/system/cpu/smt/control"], &["off"])
        .recorded("cpu.smt", ON_OFF),
    Setting::system(
        "governor",
        "frequency governor",
        &["/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"],
        &["performance", "powersave"],
    )
    .recorded("cpu.governor", &[]),
    Setting::system(
        "energy",
        "energy preference",
        &["/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference"],
        &["performance", "power"],
    )
    .recorded("cpu.energy_preference", &[]),
    Setting::system("boost", "boost (turbo)", &["/sys/devices/system/cpu/cpufreq/boost"], &["0", "1"])
        .recorded("cpu.boost", ONE_ZERO),
    Setting::process("idle", "longest wake-up from idle states, us", IDLE_LATENCY, &["0"])
        .of_machine()
        .touching(IDLING),
    Setting::system(
        "halt_polling",
        "polling before a guest's CPU halts, ns",
        &["/sys/module/haltpoll/parameters/guest_halt_poll_ns"],
        &["0", "200000"],
    )
    .touching(IDLING),
    Setting::system("interrupts", "CPUs of interrupts", &["/proc/irq/*/smp_affinity_list"], &["0"]),
    // Of the scheduler and the memory.
    Setting::system("autogroup", "scheduling by sessions", &["/proc/sys/kernel/sched_autogroup_enabled"], &["0", "1"])
        .touching(&[ContextSwitch, Wakeup])
        .recorded("kernel.sched_autogroup", &[]),
    Setting::system("numa_balancing", "NUMA balancing", &["/proc/sys/kernel/numa_balancing"], &["0", "1"])
        .touching(OF_PAGES)
        .recorded("memory.numa_balancing", &[]),
    Setting::system("randomise", "random addresses of all", &["/proc/sys/kernel/randomize_va_space"], &["0", "2"])
        .recorded("kernel.address_space_randomised", &[]),
    Setting::system(
        "transparent_huge_pages",
        "transparent huge pages",
        &["/sys/kernel/mm/transparent_hugepage/enabled"],
        &["always", "madvise", "never"],
    )
    .touching(OF_PAGES)
    .recorded("memory.transparent_huge_pages", &[]),
    Setting::system(
        "huge_page_defrag",
        "making of huge pages",
        &["/sys/kernel/mm/transparent_hugepage/defrag"],
        &["always", "never"],
    )
    .touching(OF_PAGES)
    .recorded("memory.huge_page_defrag", &[]),
    Setting::system("swappiness", "swappiness", &["/proc/sys/vm/swappiness"], &["0", "100"])
        .touching(&[PageFault, PageCache])
        .recorded("memory.swappiness", &[]),
    // Of disks.
    Setting::system("io_scheduler", "I/O scheduler", &["/sys/block/*/queue/scheduler"], &["none", "mq-deadline"])
        .touching(DISK)
        .recorded("disk.*.scheduler", &[]),
    Setting::system("read_ahead", "read-ahead of disks, KiB", &["/sys/block/*/queue/read_ahead_kb"], &["16"])
        .touching(DISK),
    Setting::system("dirty", "dirty pages that are kept, %", &["/proc/sys/vm/dirty_background_ratio"], &["1"])
        .touching(&[DiskWrite, PageCache])
        .recorded("file.dirty_background_ratio", &[]),
    // Of interfaces.
    Setting::system("mtu", "MTU of interfaces", &["/sys/class/net/e*/mtu"], &["1400"]).touching(NET).cutting(),
    Setting::system("tso", "segmentation by the device", &["offload:*/tso"], &["off", "on"]).touching(NET).cutting(),
    Setting::system("gso", "late segmentation", &["offload:*/gso"], &["off", "on"]).touching(NET).cutting(),
    Setting::system("gro", "joining of received segments", &["offload:*/gro"], &["off", "on"]).touching(NET).cutting(),
    Setting::system("net_budget", "packets in one turn", &["/proc/sys/net/core/netdev_budget"], &["64"]).touching(NET),
];
