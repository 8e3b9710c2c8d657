//! How the CPUs of a machine hang together.

use serde::{Deserialize, Serialize};

use crate::CpuSet;

/// CPUs that the machine calls one thing, such as a package, by its number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuGroup {
    /// The machine's number for it.
    pub number: i64,
    /// Its CPUs that are online.
    pub cpus: CpuSet,
}

/// Memory, and the CPUs that are nearest to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NumaNode {
    /// The operating system's number.
    pub number: usize,
    /// CPUs of the node that are online; none where it is memory alone.
    pub cpus: CpuSet,
    /// Its memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The firmware's distance to every node, in the order of the nodes; 10 is its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<u32>,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// Caches that are alike, as the operating system reports them. Virtual machines often report the host's; Prony's
/// measurement is then better evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheGroup {
    /// 1 is the innermost.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Size of each in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Line size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Lines of a set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ways: Option<u32>,
    /// The CPUs behind each of them.
    pub cpus: Vec<CpuSet>,
}

impl CacheGroup {
    /// `L1d`, `L1i`, `L2`.
    #[must_use]
    pub fn name(&self) -> String {
        let kind = match self.kind {
            CacheKind::Data => "d",
            CacheKind::Instruction => "i",
            CacheKind::Unified => "",
        };
        format!("L{}{kind}", self.level)
    }
}

/// Cores that are alike in speed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreClass {
    /// Their name from the kernel or the part number: `core`, `atom`, `Arm Cortex-A76`; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Their CPUs that are online.
    pub cpus: CpuSet,
    /// The kernel's capacity of the fastest of them; 1024 is the fastest core of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u32>,
    /// Highest clock of the fastest of them in hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<f64>,
}

/// How the CPUs of a machine hang together. A field that the machine does not report is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Topology {
    /// CPUs that run.
    pub online: CpuSet,
    /// CPUs that are there and switched off.
    #[serde(default, skip_serializing_if = "CpuSet::is_empty")]
    pub offline: CpuSet,
    /// CPUs that the process could run on which read this.
    #[serde(default, skip_serializing_if = "CpuSet::is_empty")]
    pub allowed: CpuSet,
    /// Physical packages (sockets).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<CpuGroup>,
    /// Dies, where a package has several; numbered within their package.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dies: Vec<CpuGroup>,
    /// NUMA nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NumaNode>,
    /// The hardware threads of each core.
    pub cores: Vec<CpuSet>,
    /// Caches, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<CacheGroup>,
    /// Classes of cores, the fastest first; one where all are alike.
    pub classes: Vec<CoreClass>,
}

impl Topology {
    /// CPUs without further information: each is a core of its own.
    #[must_use]
    pub fn unknown(online: &[usize]) -> Self {
        let online = CpuSet::from(online);
        Self {
            cores: online.iter().map(|cpu| CpuSet::from([cpu].as_slice())).collect(),
            classes: vec![CoreClass { cpus: online.clone(), ..CoreClass::default() }],
            online,
            ..Self::default()
        }
    }

    /// Packages, cores and CPUs that are online. A machine that names no package has one.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.packages.len().max(1), self.cores.len(), self.online.len())
    }

    /// The hardware threads of a CPU's core.
    #[must_use]
    pub fn core(&self, cpu: usize) -> Option<&CpuSet> {
        self.cores.iter().find(|core| core.contains(cpu))
    }

    /// A CPU's package.
    #[must_use]
    pub fn package(&self, cpu: usize) -> Option<&CpuGroup> {
        self.packages.iter().find(|package| package.cpus.contains(cpu))
    }

    /// A CPU's NUMA node.
    #[must_use]
    pub fn node(&self, cpu: usize) -> Option<&NumaNode> {
        self.nodes.iter().find(|node| node.cpus.contains(cpu))
    }

    /// Place of a CPU's class among the classes; 0 is the fastest.
    #[must_use]
    pub fn class(&self, cpu: usize) -> usize {
        self.classes.iter().position(|class| class.cpus.contains(cpu)).unwrap_or(self.classes.len())
    }

    /// Caches that serve a CPU, innermost first, each with the CPUs that share it.
    pub fn caches(&self, cpu: usize) -> impl Iterator<Item = (&CacheGroup, &CpuSet)> {
        self.caches.iter().filter_map(move |cache| Some((cache, cache.cpus.iter().find(|set| set.contains(cpu))?)))
    }

    /// The outermost cache of a CPU that holds data, with the CPUs that share it.
    #[must_use]
    pub fn last_level(&self, cpu: usize) -> Option<(&CacheGroup, &CpuSet)> {
        self.caches(cpu).filter(|(cache, _)| cache.kind != CacheKind::Instruction).max_by_key(|(cache, _)| cache.level)
    }

    /// Bytes of all last-level caches that these CPUs can reach together; `None` if a size is unknown.
    #[must_use]
    pub fn last_level_bytes(&self, cpus: &CpuSet) -> Option<u64> {
        let mut seen: Vec<&CpuSet> = Vec::new();
        let mut sum = 0;
        for cpu in cpus.iter().filter(|cpu| self.online.contains(*cpu)) {
            let (cache, shared) = self.last_level(cpu)?;
            if !seen.contains(&shared) {
                seen.push(shared);
                sum += cache.bytes?;
            }
        }
        (!seen.is_empty()).then_some(sum)
    }

    /// Whether some core has several hardware threads.
    #[must_use]
    pub fn has_siblings(&self) -> bool {
        self.cores.iter().any(|core| core.len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_machine_has_a_core_a_cpu() {
        let machine = Topology::unknown(&[0, 2]);
        assert_eq!(machine.counts(), (1, 2, 2));
        assert_eq!((machine.class(2), machine.has_siblings()), (0, false));
        assert!(machine.package(0).is_none() && machine.last_level(0).is_none());
        assert_eq!(machine.last_level_bytes(&machine.online), None);
        let text = serde_json::to_string(&machine).unwrap();
        assert_eq!(serde_json::from_str::<Topology>(&text).unwrap(), machine);
        assert!(text.len() < 80, "what is not known is not written: {text}");
    }
}
