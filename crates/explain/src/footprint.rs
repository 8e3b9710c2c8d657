//! Operations of a test in units that other tests measure.
//!
//! Counts come from the measured footprint, or else from this table of definitions. For a published table without
//! footprints, using this table is an assumption and reported as one.

use model::{Figure, Point, Primitive};

use compare::matches;

/// Declaration of one operation.
pub(crate) struct DeclaredFootprint {
    /// Ids of probes, separated by commas, with the point if it matters.
    pub(crate) probes: &'static str,
    /// The primitive that the probe measures, among those that it declares.
    pub(crate) primitive: Primitive,
    /// Name of one operation.
    pub(crate) per: &'static str,
    /// Operations in what the figure counts as one: fixed, or on an axis.
    pub(crate) each: Each,
    /// Units of other primitives in one operation, at most.
    pub(crate) uses: &'static [(Primitive, f64)],
    /// Primitives that it touches without a count.
    pub(crate) touches: &'static [Primitive],
    /// Whether it is a mixture, which defines no primitive's cost.
    pub(crate) composite: bool,
}

/// Number of operations in a counted loop.
pub(crate) enum Each {
    Fixed(f64),
    Axis(&'static str),
}

const FILES: &[Primitive] = &[
    Primitive::FileMetadata,
    Primitive::Durability,
    Primitive::DynamicLink,
    Primitive::Shell,
    Primitive::PageFault,
    Primitive::PageCache,
    Primitive::DiskRead,
    Primitive::DiskWrite,
];
const BUILD: &[Primitive] = &[
    Primitive::FileMetadata,
    Primitive::Durability,
    Primitive::DynamicLink,
    Primitive::Compiler,
    Primitive::PageFault,
    Primitive::PageCache,
    Primitive::DiskRead,
    Primitive::DiskWrite,
];

const fn unit(
    probes: &'static str,
    primitive: Primitive,
    per: &'static str,
    uses: &'static [(Primitive, f64)],
) -> DeclaredFootprint {
    DeclaredFootprint { probes, primitive, per, each: Each::Fixed(1.0), uses, touches: &[], composite: false }
}

/// Probes by their ids: a probe that is not in the table measures the first primitive that it declares. The script
/// sorts, dumps, greps and counts: seven programs and their shell. A compiler driver runs preprocessor, compiler,
/// assembler and linker.
#[rustfmt::skip]
static TABLE: &[DeclaredFootprint] = &[
    unit("cpu.arithmetic,cpu.dhrystone,cpu.whetstone,cpu.hanoi", Primitive::CoreClock, "loop", &[]),
    unit("cpu.fma_peak", Primitive::Vector, "floating-point operation", &[]),
    unit("cpu.popcount", Primitive::BitCounting, "word", &[]),
    unit("memory.read", Primitive::DramRead, "byte", &[]),
    unit("memory.write", Primitive::DramWrite, "byte", &[]),
    unit("memory.hierarchy_latency:level=memory", Primitive::DramLatency, "load", &[]),
    DeclaredFootprint { each: Each::Fixed(5.0), ..unit("os.syscall_mix", Primitive::SyscallEntry, "system call", &[]) },
    unit("os.syscall_write,os.syscall_getppid", Primitive::SyscallEntry, "system call", &[]),
    unit("os.clock_read", Primitive::Clock, "clock read", &[]),
    unit("os.pipe_switch,os.context_switch", Primitive::ContextSwitch, "switch", &[(Primitive::SyscallEntry, 4.0)]),
    unit("os.fork_exit", Primitive::Fork, "fork", &[(Primitive::ContextSwitch, 2.0), (Primitive::SyscallEntry, 4.0)]),
    unit("os.exec", Primitive::Exec, "exec", &[(Primitive::ContextSwitch, 1.0), (Primitive::SyscallEntry, 40.0)]),
    unit("os.fork_exec,os.posix_spawn,os.vfork_exec", Primitive::Exec, "fork and exec",
         &[(Primitive::ContextSwitch, 2.0), (Primitive::Fork, 1.0), (Primitive::SyscallEntry, 50.0)]),
    unit("os.fork_shell", Primitive::Shell, "shell start",
         &[(Primitive::ContextSwitch, 4.0), (Primitive::Fork, 2.0), (Primitive::Exec, 2.0)]),
    unit("os.page_fault", Primitive::PageFault, "page fault", &[]),
    unit("os.wake_cross_cpu", Primitive::Wakeup, "wake-up", &[]),
    unit("ipc.pipe_bandwidth,ipc.unix_bandwidth,ipc.tcp_bandwidth", Primitive::KernelCopy, "byte", &[]),
    unit("ipc.pipe_throughput", Primitive::Pipe, "write and read of 512 B", &[(Primitive::SyscallEntry, 2.0)]),
    unit("file.create,file.delete", Primitive::FileMetadata, "file", &[]),
    unit("file.fsync", Primitive::Durability, "fsync", &[]),
    unit("file.read,file.read_cached,file.mmap_read", Primitive::PageCache, "byte", &[]),
    unit("file.write,file.copy", Primitive::DiskWrite, "byte", &[]),
    DeclaredFootprint { each: Each::Axis("concurrent"), touches: FILES, composite: true,
        ..unit("shell.script", Primitive::Shell, "script", &[(Primitive::Exec, 8.0), (Primitive::Fork, 8.0), (Primitive::ContextSwitch, 50.0)]) },
    DeclaredFootprint { touches: BUILD, composite: true,
        ..unit("shell.compile", Primitive::Compiler, "compilation", &[(Primitive::Exec, 6.0), (Primitive::Fork, 6.0), (Primitive::ContextSwitch, 50.0)]) },
    DeclaredFootprint { composite: true,
        ..unit("shell.dc", Primitive::Shell, "calculation", &[(Primitive::Exec, 1.0), (Primitive::Fork, 1.0), (Primitive::ContextSwitch, 4.0)]) },
];

/// The declaration of a probe, if it has one.
pub(crate) fn declared(probe: &str, point: &Point) -> Option<&'static DeclaredFootprint> {
    let key = model::FigureKey::new(probe, point.clone());
    TABLE.iter().find(|entry| matches(entry.probes, &key))
}

/// The primitives that a figure's probe declares; for documents without them, those of the table.
pub(crate) fn primitives(figure: &Figure) -> Vec<Primitive> {
    if figure.stresses.is_empty() {
        return declared(&figure.probe, &figure.point).map(|declared| declared.primitive).into_iter().collect();
    }
    figure.stresses.clone()
}

impl DeclaredFootprint {
    /// Operations in what the figure counts as one; one if the value of the axis is not a number.
    pub(crate) fn operations(&self, point: &Point) -> f64 {
        let whole = |count: &f64| count.is_finite() && *count >= 1.0;
        match self.each {
            Each::Fixed(count) => count,
            Each::Axis(axis) => point.get(axis).and_then(|value| value.parse().ok()).filter(whole).unwrap_or(1.0),
        }
    }
}

/// Units of other primitives in one operation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uses {
    pub(crate) counts: Vec<(Primitive, f64)>,
    /// Whether any count was measured rather than declared.
    pub(crate) measured: bool,
}

impl Uses {
    /// The units of a figure: measured counts replace declared ones.
    pub(crate) fn of(figure: &Figure) -> Self {
        let declared = declared(&figure.probe, &figure.point);
        let mut uses = Self { counts: declared.map(|d| d.uses.to_vec()).unwrap_or_default(), measured: false };
        let footprint = &figure.footprint;
        if footprint.operations == 0 {
            return uses;
        }
        let operations = footprint.operations as f64;
        let mut set = |primitive: Primitive, count: Option<u64>| {
            if let Some(count) = count {
                uses.counts.retain(|(known, _)| *known != primitive);
                uses.counts.push((primitive, count as f64 / operations));
                uses.measured = true;
            }
        };
        let switches = match (footprint.voluntary_switches, footprint.involuntary_switches) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        set(Primitive::ContextSwitch, switches);
        set(Primitive::PageFault, footprint.minor_faults);
        set(Primitive::Fork, footprint.forks);
        uses
    }

    /// How often it uses a primitive, if known or declared.
    pub(crate) fn count(&self, primitive: Primitive) -> Option<f64> {
        self.counts.iter().find(|(known, _)| *known == primitive).map(|(_, count)| *count)
    }
}
