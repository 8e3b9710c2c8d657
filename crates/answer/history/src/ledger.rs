//! What was recorded of a machine, by time.

use explain::{DifferenceKind, RunDifference};
use model::{BenchmarkResult, COMPILER, FactValue, Machine, Primitive, Run, Session};
use serde::Serialize;

/// Something that was different from a run on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LedgerEntry {
    /// Index of the first run with it.
    pub run: usize,
    /// What it was before, and what it is.
    pub change: RunDifference,
}

impl LedgerEntry {
    /// `kernel.release 6.1.112 -> 6.1.119`.
    #[must_use]
    pub fn words(&self) -> String {
        let (before, after) = self.change.in_words();
        format!("{} {before} -> {after}", self.change.name)
    }

    /// Whether it may affect something that a result stresses; what affects nothing by its own words may affect all.
    #[must_use]
    pub(crate) fn touches(&self, stresses: &[Primitive]) -> bool {
        let affects = &self.change.affects;
        affects.is_empty() || affects.iter().any(|primitive| stresses.contains(primitive))
    }
}

/// The machine's identity: another one is another machine.
const IDENTITY: [&str; 2] = ["machine.id_hash", "cpu.model"];

/// Whether two runs of the same name are of two machines.
fn replaced(before: &Machine, now: &Machine) -> bool {
    let differs = |name: &str| before.text(name).zip(now.text(name)).is_some_and(|(a, b)| a != b);
    IDENTITY.iter().any(|name| differs(name))
}

/// The changes of the runs of a machine in the order of time, and the runs with which another machine begins. Each run
/// has its index; between two of them nothing changed.
pub(crate) fn ledger(runs: &[(usize, &Run)]) -> (Vec<LedgerEntry>, Vec<usize>) {
    let (mut entries, mut borders) = (Vec::new(), Vec::new());
    let Some(((_, first), rest)) = runs.split_first() else { return (entries, borders) };
    let mut before = bare(first);
    for &(at, run) in rest {
        let mut now = bare(run);
        if replaced(&before.machine, &now.machine) {
            borders.push(at);
        }
        recall(&before.machine, &mut now.machine);
        let differs = explain::differences(&before, &now).into_iter();
        let recorded = differs.filter(|change| matches!(change.kind, DifferenceKind::Fact | DifferenceKind::Plan));
        entries.extend(recorded.map(|change| LedgerEntry { run: at, change }));
        entries.extend(of_prony(&before, &now).map(|change| LedgerEntry { run: at, change }));
        before = now;
    }
    (entries, borders)
}

/// A run with what the ledger needs: the conditions of a session differ every night and are no change of the machine.
fn bare(run: &Run) -> Run {
    let notes_compiler = |result: &&BenchmarkResult| result.notes.iter().any(|note| note.starts_with(COMPILER));
    let results = run.results.iter().filter(notes_compiler).cloned().collect();
    let session = Session { version: run.session.version.clone(), ..Session::default() };
    Run {
        results,
        session,
        machine: run.machine.clone(),
        plan: run.plan.clone(),
        rules: run.rules.clone(),
        schema: run.schema,
        id: run.id.clone(),
        label: None,
        origin: None,
    }
}

/// Keeps the last known value of each fact that a run could not read.
fn recall(before: &Machine, now: &mut Machine) {
    let unknown = |machine: &Machine, name: &str| {
        machine.fact(name).is_none_or(|fact| matches!(fact.value, FactValue::Unknown(_)))
    };
    let lost: Vec<_> = before.facts.iter().filter(|fact| unknown(now, &fact.name)).cloned().collect();
    now.facts.retain(|fact| !lost.iter().any(|known| known.name == fact.name));
    now.facts.extend(lost);
}

/// Prony itself: its version, and the rules that can change a value.
fn of_prony(before: &Run, now: &Run) -> impl Iterator<Item = RunDifference> {
    let plain = |name: String, a: String, b: String| RunDifference {
        kind: DifferenceKind::Fact,
        name,
        a,
        b,
        affects: Vec::new(),
        unit: None,
    };
    let (a, b) = (&before.session.version, &now.session.version);
    let version = (a != b).then(|| plain("prony.version".to_owned(), a.clone(), b.clone()));
    let rules = now.rules.iter().filter_map(move |(name, value)| {
        let old = before.rules.get(name).filter(|old| *old != value)?;
        Some(plain(format!("rule {name}"), old.to_string(), value.to_string()))
    });
    version.into_iter().chain(rules).collect::<Vec<_>>().into_iter()
}
