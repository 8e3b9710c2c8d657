//! The CPUs of a measurement, by the name of a relation.

use std::fmt;
use std::str::FromStr;

use model::{CpuSet, Topology};

/// How two CPUs stand to each other: the narrowest thing that they share. Each pair has one relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CpuRelation {
    /// They are the same.
    Same,
    /// Two hardware threads of one core.
    Sibling,
    /// Two cores behind one last-level cache.
    SameCache,
    /// Two cores of one NUMA node that share no cache of the last level.
    SameNode,
    /// Two NUMA nodes of one package.
    OtherNode,
    /// Two packages.
    OtherPackage,
}

impl CpuRelation {
    /// Relations of two cores, the nearest first.
    pub const OF_CORES: [Self; 4] = [Self::SameCache, Self::SameNode, Self::OtherNode, Self::OtherPackage];

    /// Its name in points: `same_cache`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same_cpu",
            Self::Sibling => "sibling",
            Self::SameCache => "same_cache",
            Self::SameNode => "same_node",
            Self::OtherNode => "other_node",
            Self::OtherPackage => "other_package",
        }
    }

    /// Why no pair of CPUs that may be used stands so, as a clause.
    fn missing(self, machine: &Topology) -> String {
        let caches = machine.caches.is_empty();
        match self {
            Self::Same => "no CPU may be used",
            Self::Sibling if !machine.has_siblings() => "the cores have one hardware thread each",
            Self::Sibling => "no two hardware threads of one core may be used",
            Self::SameCache if caches => "the machine does not tell which CPUs share a cache",
            Self::SameCache => "no two cores that may be used share a cache of the last level",
            Self::SameNode if machine.nodes.len() < 2 => {
                "no two cores that may be used lie behind different caches of the last level"
            }
            Self::SameNode => "no two cores of one NUMA node that may be used lie behind different last-level caches",
            Self::OtherNode if machine.nodes.len() < 2 => "the machine has one NUMA node",
            Self::OtherNode => "no two NUMA nodes of one package may be used",
            Self::OtherPackage if machine.packages.len() < 2 => "the machine has one package",
            Self::OtherPackage => "the CPUs that may be used are in one package",
        }
        .to_owned()
    }
}

impl fmt::Display for CpuRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CpuRelation {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let all = [Self::Same, Self::Sibling].into_iter().chain(Self::OF_CORES);
        all.into_iter().find(|relation| relation.name() == text).ok_or(())
    }
}

/// The wanted CPUs of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuChoice {
    /// One core of the fastest class.
    OneCore,
    /// One thread of every core, of all classes.
    AllCores,
    /// Every hardware thread.
    AllThreads,
    /// Two CPUs that stand so to each other; one CPU for [`CpuRelation::Same`].
    Pair(CpuRelation),
    /// Threads close together: each next one on the nearest free core, and on second threads of cores only when every
    /// core has one.
    Compact(usize),
    /// Threads far apart: over packages first, then over nodes and caches; second threads as above.
    Scatter(usize),
}

/// How one CPU stands to another; `None` where one of them is not online.
#[must_use]
pub fn relation(machine: &Topology, one: usize, other: usize) -> Option<CpuRelation> {
    let core = machine.core(one)?;
    machine.core(other)?;
    let package = |cpu| machine.package(cpu).map(|package| package.number);
    let node = |cpu| machine.node(cpu).map(|node| node.number);
    Some(if one == other {
        CpuRelation::Same
    } else if core.contains(other) {
        CpuRelation::Sibling
    } else if package(one) != package(other) {
        CpuRelation::OtherPackage
    } else if node(one) != node(other) {
        // A cache of the last level may span the nodes of a package: the nodes are what differs.
        CpuRelation::OtherNode
    } else if machine.last_level(one).is_some_and(|(_, shared)| shared.contains(other)) {
        CpuRelation::SameCache
    } else {
        CpuRelation::SameNode
    })
}

/// The CPUs of a choice among those that may be used. The first is the one on which a party alone would run: a core of
/// the fastest class, and among equals the last, for interrupts usually go to the first. Of two threads of a core it
/// takes the last; only [`CpuChoice::AllThreads`] and siblings use both.
///
/// # Errors
/// Why there are no such CPUs, as a clause that follows "not measured: ".
pub fn plan(machine: &Topology, allowed: &CpuSet, choice: CpuChoice) -> Result<Vec<usize>, String> {
    let cores = preferred(machine, allowed);
    let first = *cores.first().ok_or("no CPU may be used")?;
    match choice {
        CpuChoice::OneCore | CpuChoice::Pair(CpuRelation::Same) => Ok(vec![first]),
        CpuChoice::AllCores => Ok(cores),
        CpuChoice::AllThreads => {
            let rest = allowed.iter().rev().filter(|cpu| *cpu != first);
            Ok(std::iter::once(first).chain(rest).collect())
        }
        CpuChoice::Compact(threads) | CpuChoice::Scatter(threads) => {
            if threads > allowed.len() {
                return Err(format!("{threads} CPUs are needed and {} may be used", allowed.len()));
            }
            let scatter = matches!(choice, CpuChoice::Scatter(_));
            let order = if scatter { scattered(machine, &cores) } else { compact(machine, &cores) };
            Ok(with_siblings(machine, allowed, order).into_iter().take(threads).collect())
        }
        CpuChoice::Pair(wanted) if wanted != CpuRelation::Sibling && cores.len() < 2 => Err(if allowed.len() < 2 {
            "two CPUs are needed and only one may be used".to_owned()
        } else {
            format!("two cores are needed and only one may be used ({})", wanted.name())
        }),
        CpuChoice::Pair(wanted) => {
            let pair = |own: &usize| partner(machine, allowed, &cores, *own, wanted).map(|other| vec![*own, other]);
            cores.iter().find_map(pair).ok_or_else(|| wanted.missing(machine))
        }
    }
}

/// One CPU of every core, the best first.
fn preferred(machine: &Topology, allowed: &CpuSet) -> Vec<usize> {
    let mut left = allowed.clone();
    let mut cores: Vec<usize> = Vec::new();
    while let Some(cpu) = left.last() {
        cores.push(cpu);
        let core = machine.core(cpu).cloned().unwrap_or_default();
        left = left.without(&core).iter().filter(|other| *other != cpu).collect();
    }
    // A stable sort: within a class the last stays first.
    cores.sort_by_key(|cpu| machine.class(*cpu));
    cores
}

/// Cores by how near they are to the first; those of its class before others, so that fast cores come first.
fn compact(machine: &Topology, cores: &[usize]) -> Vec<usize> {
    let mut order = cores.to_vec();
    if let Some(first) = cores.first() {
        order.sort_by_key(|cpu| (machine.class(*cpu), relation(machine, *first, *cpu)));
    }
    order
}

/// Cores in an order in which each next one is in the package, then the node, then the cache with the fewest so far.
fn scattered(machine: &Topology, cores: &[usize]) -> Vec<usize> {
    let homes = |cpu: usize| {
        let package = machine.packages.iter().position(|package| package.cpus.contains(cpu));
        let node = machine.nodes.iter().position(|node| node.cpus.contains(cpu));
        let cache = machine.last_level(cpu).and_then(|(_, shared)| shared.first());
        [package, node, cache]
    };
    let mut left: Vec<(usize, [Option<usize>; 3])> = cores.iter().map(|cpu| (*cpu, homes(*cpu))).collect();
    let mut taken: Vec<[Option<usize>; 3]> = Vec::new();
    let mut order = Vec::new();
    while !left.is_empty() {
        let crowd = |homes: &[Option<usize>; 3]| {
            [0, 1, 2].map(|kind| taken.iter().filter(|other| other[kind] == homes[kind]).count())
        };
        let best = (0..left.len()).min_by_key(|at| (machine.class(left[*at].0), crowd(&left[*at].1))).unwrap_or(0);
        let (cpu, homes) = left.remove(best);
        taken.push(homes);
        order.push(cpu);
    }
    order
}

/// Cores in this order, then their second threads in the same order, and so on.
fn with_siblings(machine: &Topology, allowed: &CpuSet, cores: Vec<usize>) -> Vec<usize> {
    let threads = |cpu: &usize| -> Vec<usize> {
        let core = machine.core(*cpu).map(|core| core.and(allowed)).unwrap_or_default();
        std::iter::once(*cpu).chain(core.iter().rev().filter(|other| other != cpu)).collect()
    };
    let cores: Vec<Vec<usize>> = cores.iter().map(threads).collect();
    let most = cores.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).flat_map(|place| cores.iter().filter_map(move |core| core.get(place).copied())).collect()
}

/// The other CPU of a pair: of the same class where possible, of the nearest node that fits, and among equals the last.
fn partner(machine: &Topology, allowed: &CpuSet, cores: &[usize], own: usize, wanted: CpuRelation) -> Option<usize> {
    let fits = |cpu: &usize| relation(machine, own, *cpu) == Some(wanted);
    if wanted == CpuRelation::Sibling {
        return allowed.iter().rev().find(fits);
    }
    let far = |cpu: usize| {
        let (from, to) = (machine.node(own)?, machine.node(cpu)?);
        let at = machine.nodes.iter().position(|node| node.number == to.number)?;
        from.distances.get(at).copied()
    };
    let class = |cpu: usize| machine.class(cpu) != machine.class(own);
    cores.iter().copied().filter(fits).min_by_key(|cpu| (class(*cpu), far(*cpu).unwrap_or(0)))
}
