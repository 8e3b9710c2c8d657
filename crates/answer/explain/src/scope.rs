//! For which results a cause can matter at all, by their definitions and parameters.

use model::{Catalogue, Primitive, ResultKey};

/// A condition on a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every result.
    All,
    /// Two threads or processes that the scheduler places freely.
    FreeParties,
    /// Two threads or processes on different CPUs, or a timer: a CPU may become idle in between.
    AcrossCpus,
    /// Memory whose page size is chosen by the system, not by the benchmark.
    PagesOfTheSystem,
    /// One thread per CPU.
    AllThreads,
    /// Memory that the kernel must allocate, not a cached file.
    FreshMemory,
    /// Pages of a cached file.
    FileFaults,
    /// A program that is linked dynamically.
    Dynamic,
    /// Files in the target directory.
    Target,
    /// Files in memory.
    Tmpfs,
    /// Files of the target directory that must reach the disk.
    Disk,
    /// Data over TCP, not single bytes.
    TcpData,
    /// The same under the congestion control of the system, not under one that the benchmark chose.
    SystemsCongestion,
    /// A real link.
    Link,
    /// Data through a pipe.
    PipeData,
    /// Results that include batches with a neighbour on the core.
    Unfiltered,
}

impl Scope {
    /// Whether results with these primitives can be touched at any set of parameters.
    pub(crate) fn reaches(self, declares: &[Primitive]) -> bool {
        let stresses = |primitive: Primitive| declares.contains(&primitive);
        match self {
            Self::TcpData | Self::SystemsCongestion => {
                stresses(Primitive::NetworkLink) || (stresses(Primitive::TcpStack) && stresses(Primitive::KernelCopy))
            }
            Self::Link => stresses(Primitive::NetworkLink),
            Self::PipeData => stresses(Primitive::Pipe) && stresses(Primitive::KernelCopy),
            _ => true,
        }
    }

    /// Whether a result with these primitives can be touched.
    pub(crate) fn holds(self, key: &ResultKey, declares: &[Primitive], catalogue: &Catalogue) -> bool {
        let at = |parameter: &str| key.parameters.get(parameter);
        let is = |parameter: &str, value: &str| at(parameter) == Some(value);
        // A benchmark without a parameter for it has one page size.
        let may_choose = || {
            catalogue.get(&key.benchmark).is_none_or(|benchmark| benchmark.parameters.iter().any(|a| a.name == "pages"))
        };
        let of_file = || at("kind").is_some_and(|kind| kind.starts_with("file") || kind.starts_with("mapped"));
        let on_target = || at("place").is_none_or(|place| place == "target");
        match self {
            // The results show which batches count, not their names.
            Self::All | Self::Unfiltered | Self::TcpData | Self::Link | Self::PipeData => self.reaches(declares),
            Self::FreeParties => is("placement", "free"),
            Self::AcrossCpus => !is("placement", "same_cpu"),
            Self::PagesOfTheSystem => at("pages").is_none() && may_choose(),
            Self::AllThreads => is("threads", "all"),
            Self::FreshMemory => !of_file(),
            Self::FileFaults => of_file() || at("mapping").is_some(),
            Self::Dynamic => !is("linking", "static"),
            Self::Target => on_target(),
            Self::Tmpfs => is("place", "tmpfs"),
            Self::Disk => on_target() && !is("durability", "none"),
            Self::SystemsCongestion => !is("congestion", "unpaced") && self.reaches(declares),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(scope: Scope, key: &str, declares: &[Primitive]) -> bool {
        let (benchmark, parameters) = key.split_once(':').unwrap_or((key, ""));
        scope.holds(&ResultKey::new(benchmark, parameters.parse().unwrap()), declares, benchmarks::catalogue())
    }

    #[test]
    fn fixed_parameters_exclude_a_cause() {
        assert!(!holds(Scope::PagesOfTheSystem, "memory.load_latency:working_set=64MiB,pages=base", &[]));
        assert!(!holds(Scope::PagesOfTheSystem, "os.fork_exit:resident=2MiB", &[]));
        assert!(holds(Scope::PagesOfTheSystem, "memory.read:working_set=64MiB", &[]));
        assert!(!holds(Scope::AcrossCpus, "ipc.pipe_latency:placement=same_cpu", &[]));
        assert!(holds(Scope::AcrossCpus, "os.wake_cross_cpu:asleep=50us", &[]));
        assert!(!holds(Scope::FreeParties, "ipc.pipe_latency:placement=cross_cpu", &[]));
        assert!(!holds(Scope::Dynamic, "os.fork_exec:linking=static", &[]));
        assert!(!holds(Scope::Disk, "file.create:size=0B,durability=none,place=target", &[]));
        assert!(!holds(Scope::Target, "file.create:size=0B,durability=fsync,place=tmpfs", &[]));
        assert!(!holds(Scope::TcpData, "ipc.tcp_latency:placement=same_cpu", &[Primitive::TcpStack]));
        let data = &[Primitive::TcpStack, Primitive::KernelCopy];
        for (congestion, held) in [("", true), (",congestion=system", true), (",congestion=unpaced", false)] {
            let key = format!("ipc.tcp_bandwidth:buffers=largest{congestion}");
            assert_eq!(holds(Scope::SystemsCongestion, &key, data), held, "{key}");
            assert!(holds(Scope::TcpData, &key, data));
        }
        for (kind, of_file) in [
            ("mapped_at_once", true),
            ("mapped_by_page", true),
            ("file_at_once", true),
            ("anonymous", false),
            ("cow", false),
        ] {
            let key = format!("os.page_fault:kind={kind}");
            assert_eq!(
                (holds(Scope::FileFaults, &key, &[]), holds(Scope::FreshMemory, &key, &[])),
                (of_file, !of_file),
                "{key}"
            );
        }
    }
}
