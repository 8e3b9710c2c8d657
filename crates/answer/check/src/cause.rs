//! Causes of a low result: faults that hold now and lower it, then facts in which the machine differs from its peers.

use explain::{KnownCause, known_causes};
use model::{BenchmarkResult, Machine, Primitive};

use crate::defect::{DEFECTS, Defect};
use crate::result::{CheckRow, CheckVerdict, NamedCause};

/// Causes that are named, the likeliest included.
const MOST: usize = 3;
/// Bytes from which a working set lies in main memory.
const IN_MEMORY: u64 = 32 << 20;

/// The primitives of a result, the one that it measures first: that of a latency depends on the size of its memory.
pub(crate) fn primitives(result: &BenchmarkResult) -> Vec<Primitive> {
    let mut all = result.stresses.clone();
    let far = result.parameters.bytes("working_set").is_ok_and(|bytes| bytes >= IN_MEMORY);
    if let Some(at) = all.iter().position(|one| *one == Primitive::DramLatency).filter(|_| far) {
        all.rotate_left(at);
    }
    all
}

/// A fault as a cause, if it holds.
pub(crate) fn held(defect: &Defect, machine: &Machine) -> Option<NamedCause> {
    let because = (defect.holds)(machine)?;
    Some(NamedCause { title: defect.cause.to_owned(), because, cure: defect.cure.to_owned() })
}

/// The value of a fact that most of the peers share.
pub(crate) fn usual(name: &str, peers: &[&Machine]) -> Option<String> {
    let values: Vec<String> = peers.iter().filter_map(|peer| peer.text(name)).collect();
    let count = |value: &String| values.iter().filter(|other| *other == value).count();
    let most = values.iter().max_by_key(|value| count(value))?;
    (2 * count(most) > peers.len()).then(|| most.clone())
}

/// Where the search for causes of one row looks.
pub(crate) struct Scene<'a> {
    pub(crate) machine: &'a Machine,
    /// Machines of the same kind.
    pub(crate) peers: &'a [&'a Machine],
    /// Primitives that measured rows show, with their verdicts.
    pub(crate) shown: &'a [(Primitive, CheckVerdict)],
}

impl Scene<'_> {
    /// Whether a cause shows in none of what would show it: all of that was measured in order.
    fn refutes(&self, cause: &KnownCause) -> bool {
        let witnesses = if cause.own.is_empty() { cause.touches } else { cause.own };
        let mut seen = self.shown.iter().filter(|(shown, _)| witnesses.contains(shown)).peekable();
        seen.peek().is_some() && seen.all(|(_, verdict)| *verdict == CheckVerdict::Ok)
    }

    /// The causes of a low result with these primitives, the likeliest first.
    pub(crate) fn causes(&self, primitives: &[Primitive]) -> Vec<NamedCause> {
        let mut found: Vec<(u8, NamedCause)> = Vec::new();
        let known: Vec<KnownCause> = known_causes().collect();
        let of = |title: &str| known.iter().find(|one| one.title == title);
        for defect in DEFECTS {
            let Some(cause) = of(defect.cause).filter(|cause| !self.refutes(cause)) else { continue };
            if let (Some(rank), Some(named)) = (rank(cause, primitives), held(defect, self.machine)) {
                found.push((rank, named));
            }
        }
        for cause in known.iter().filter(|cause| !cause.wide && !self.refutes(cause)) {
            let named = found.iter().any(|(_, one)| one.title == cause.title);
            if let Some(rank) = rank(cause, primitives).filter(|_| !named)
                && let Some(difference) = self.difference(cause)
            {
                // What is wrong by itself comes before what is only different.
                found.push((rank + 1, difference));
            }
        }
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, cause)| cause).take(MOST).collect()
    }

    /// A fact of a cause in which the machine differs from most of its peers.
    fn difference(&self, cause: &KnownCause) -> Option<NamedCause> {
        let fact = self.machine.facts.iter().filter(|fact| cause.names(&fact.name)).find_map(|fact| {
            let own = self.machine.text(&fact.name)?;
            let others = usual(&fact.name, self.peers)?;
            (own != others).then(|| (fact.name.clone(), own, others))
        });
        let (name, own, others) = fact?;
        let because = format!("{name} is {own} here, and {others} elsewhere");
        Some(NamedCause { title: cause.title.to_owned(), because, cure: format!("set {name} as elsewhere") })
    }
}

/// How well a cause fits a result: 0 if it shows in what the result measures; `None` if it cannot lower it.
fn rank(cause: &KnownCause, primitives: &[Primitive]) -> Option<u8> {
    let first = primitives.first()?;
    if cause.own.contains(first) {
        return Some(0);
    }
    if cause.touches.contains(first) {
        return Some(2);
    }
    if cause.lowers(*first) {
        return Some(4);
    }
    primitives[1..].iter().any(|one| cause.own.contains(one) || cause.touches.contains(one)).then_some(6)
}

/// Faults that no low row has as a cause and that no row shows by itself.
pub(crate) fn worth_a_look(machine: &Machine, rows: &[CheckRow]) -> Vec<NamedCause> {
    let told = |one: &NamedCause| rows.iter().flat_map(|row| &row.causes).any(|cause| cause.because == one.because);
    DEFECTS.iter().filter_map(|defect| held(defect, machine)).filter(|one| !told(one)).collect()
}
