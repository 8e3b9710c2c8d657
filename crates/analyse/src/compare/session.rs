//! Sessions, and the usual distance between equal figures of two sessions.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use model::{Class, Figure, FigureKey, Run, ValueBasis};
use stats::Floor;

use super::result::{FloorUsed, Relation};

/// Relation of a run to the reference.
#[must_use]
pub fn relation(reference: &Run, other: &Run) -> Relation {
    let (a, b) = (&reference.machine.fingerprint, &other.machine.fingerprint);
    let one_machine = !a.is_empty() && a == b;
    let (begun, then) = (&reference.session, &other.session);
    let one_start = !begun.started.is_empty() && begun.started == then.started;
    if reference.id == other.id || (one_machine && one_start && begun.began_on.boot == then.began_on.boot) {
        Relation::SameSession
    } else if one_machine {
        Relation::AnotherSession
    } else {
        Relation::AnotherMachine
    }
}

/// Value of one figure in an earlier session on one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRecord {
    /// Fingerprint of the machine.
    pub machine: String,
    /// Id of the run.
    pub run: String,
    /// Start of the session.
    pub started: String,
    /// The figure.
    pub figure: FigureKey,
    /// Its value.
    pub value: f64,
}

impl SessionRecord {
    /// Records of all figures of a run that have a single value.
    #[must_use]
    pub fn of(run: &Run) -> Vec<Self> {
        let record = |figure: &Figure| {
            Some(Self {
                machine: run.machine.fingerprint.clone(),
                run: run.id.clone(),
                started: run.session.started.clone(),
                figure: figure.key(),
                value: figure.outcome.estimate()?.value,
            })
        };
        run.figures.iter().filter_map(record).collect()
    }
}

/// Earlier sessions that are used for a figure of a machine: older ones are no longer representative.
pub const NEWEST_SESSIONS: usize = 12;

/// Whether two runs are one run that was named twice. An equal id is not enough, since a document may have been
/// changed.
pub(crate) fn same_run(a: &Run, b: &Run) -> bool {
    let same = |(x, y): (&Figure, &Figure)| x.key() == y.key() && x.outcome == y.outcome && x.values() == y.values();
    a.id == b.id && a.figures.len() == b.figures.len() && a.figures.iter().zip(&b.figures).all(same)
}

/// What an earlier session found: the logarithm of a value, and that of the clock that the session showed.
type SessionLog = (f64, Option<f64>);

/// Logarithms of figures in earlier sessions, by machine.
pub(crate) struct History {
    logs: HashMap<String, HashMap<FigureKey, Vec<SessionLog>>>,
    stretches: RefCell<HashMap<Option<usize>, f64>>,
}

/// The floor of transfers whose protocol paces itself by what it takes for the network: 38% between nine sessions of a
/// guest.
const PACED: f64 = 0.4;
/// The floor of the sizes of caches, on a guest, whose host's others share them: 20 to 80% between the same sessions.
const SHARED_SIZE: f64 = 0.5;
/// The least floor of what a guest's core ran beside neighbours, or may have: a value as observed.
const OBSERVED: f64 = Class::Process.guest_floor();

/// The floor of a figure of a machine without earlier sessions.
fn default_floor(run: &Run, figure: &Figure, cycles: bool) -> f64 {
    let paced = || run.machine.text("network.congestion_control").is_some_and(|name| name.starts_with("bbr"));
    let least = match figure.probe.as_str() {
        "ipc.tcp_bandwidth" if paced() => PACED,
        "memory.hierarchy" if run.machine.is_guest() => SHARED_SIZE,
        _ => 0.0,
    };
    let of_class = match (cycles, run.machine.is_guest()) {
        (true, _) => figure.class.cycles_floor(),
        (false, true) if matches!(figure.basis(), ValueBasis::Observed(_)) => figure.class.guest_floor().max(OBSERVED),
        (false, true) => figure.class.guest_floor(),
        (false, false) => figure.class.session_floor(),
    };
    of_class.max(least)
}

impl History {
    /// Selects from `earlier` (oldest first) the values measured on machines of `runs`: one for each session, and the
    /// newest for every machine and figure. The runs themselves and other runs of their sessions are excluded, since a
    /// change to be detected must not widen its own floor.
    pub(crate) fn new(earlier: &[SessionRecord], runs: &[&Run]) -> Self {
        let mut seen: HashSet<(&str, &FigureKey, &str)> = HashSet::new();
        let mut logs: HashMap<String, HashMap<FigureKey, Vec<SessionLog>>> = HashMap::new();
        let of_clock = earlier.iter().filter(|record| record.figure.probe == model::CLOCK && record.value > 1e6);
        let clocks: HashMap<&str, f64> = of_clock.map(|record| (record.run.as_str(), record.value.ln())).collect();
        for record in earlier.iter().rev() {
            let begun = if record.started.is_empty() { &record.run } else { &record.started };
            let compared = |run: &&Run| {
                let one_session = run.machine.fingerprint == record.machine && run.session.started == *begun;
                run.id == record.run || one_session
            };
            let here = !record.machine.is_empty() && runs.iter().any(|run| run.machine.fingerprint == record.machine);
            if !here || runs.iter().any(compared) || record.value.is_nan() || record.value <= 0.0 {
                continue;
            }
            let of_figure = logs.entry(record.machine.clone()).or_default().entry(record.figure.clone()).or_default();
            if of_figure.len() < NEWEST_SESSIONS && seen.insert((&record.machine, &record.figure, begun)) {
                of_figure.push((record.value.ln(), clocks.get(record.run.as_str()).copied()));
            }
        }
        Self { logs, stretches: RefCell::default() }
    }

    /// The floor of a figure on a machine. In cycles it is that of sessions whose clock is known: a core figure is stored
    /// as time at the clock of its session.
    fn of(&self, run: &Run, figure: &Figure, cycles: bool) -> (Floor, FloorUsed) {
        let earlier = self.logs.get(&run.machine.fingerprint).and_then(|figures| figures.get(&figure.key()));
        let way = if figure.metric.unit.is_rate() { -1.0 } else { 1.0 };
        let log = |(value, clock): &SessionLog| if cycles { Some(value + way * (*clock)?) } else { Some(*value) };
        let logs: Vec<f64> = earlier.into_iter().flatten().filter_map(log).collect();
        if let Some(floor) = Floor::from_sessions(&logs) {
            return (floor, FloorUsed { sd: floor.sd, sessions: Some(logs.len()) });
        }
        let sd = default_floor(run, figure, cycles);
        (Floor::known(sd), FloorUsed { sd, sessions: None })
    }

    /// How far sessions of this run's machine lie apart on this figure: the standard deviation of a normal quantity that
    /// has the floor's interval at `level`.
    pub(crate) fn own_deviation(&self, run: &Run, figure: &Figure, level: f64, cycles: bool) -> f64 {
        let (floor, used) = self.of(run, figure, cycles);
        let mut stretches = self.stretches.borrow_mut();
        // Student's quantile is slow, and depends on the number of sessions alone.
        let stretch = stretches.entry(used.sessions).or_insert_with(|| {
            let one = Floor { sd: 1.0, degrees: floor.degrees };
            one.half_width(level) / Floor::known(1.0).half_width(level)
        });
        floor.sd * *stretch
    }

    /// The floor between two runs' figures, in cycles or in time; none within a session.
    ///
    /// Two machines bring two deviations. They are given as the one deviation whose difference has the same variance,
    /// with the degrees of freedom of Welch and Satterthwaite (Biometrika 34, 1947).
    pub(crate) fn floor(&self, a: (&Run, &Figure), b: (&Run, &Figure), cycles: bool) -> (Floor, Option<FloorUsed>) {
        match relation(a.0, b.0) {
            Relation::Reference | Relation::SameRun | Relation::SameSession => (Floor::NONE, None),
            Relation::AnotherSession => {
                let (floor, used) = self.of(a.0, a.1, cycles);
                (floor, Some(used))
            }
            Relation::AnotherMachine => {
                let ((a, used_a), (b, used_b)) = (self.of(a.0, a.1, cycles), self.of(b.0, b.1, cycles));
                let (va, vb) = (a.sd * a.sd, b.sd * b.sd);
                let spend = |variance: f64, degrees: Option<f64>| degrees.map_or(0.0, |df| variance * variance / df);
                let spent = spend(va, a.degrees) + spend(vb, b.degrees);
                let degrees = (spent > 0.0).then(|| (va + vb) * (va + vb) / spent);
                let sd = f64::midpoint(va, vb).sqrt();
                let sessions = used_a.sessions.zip(used_b.sessions).map(|(a, b)| a + b);
                (Floor { sd, degrees }, Some(FloorUsed { sd, sessions }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{FactValue, FigureReferences, ObservedReason};

    use super::*;

    fn on(facts: &[(&str, &str)]) -> Run {
        let mut run: Run = serde_json::from_str(include_str!("../../../../tests/upgrade/schema-1.json")).unwrap();
        let fact = |(name, value): &(&str, &str)| {
            let mut fact = run.machine.facts[0].clone();
            (fact.name, fact.value) = ((*name).to_owned(), FactValue::Text((*value).to_owned()));
            fact
        };
        run.machine.facts = facts.iter().map(fact).collect();
        run
    }

    fn figure(probe: &str, class: Class, basis: ValueBasis) -> Figure {
        let mut figure = on(&[]).figures.swap_remove(0);
        probe.clone_into(&mut figure.probe);
        figure.class = class;
        figure.references = Some(FigureReferences { basis, ..FigureReferences::default() });
        figure
    }

    #[test]
    fn what_a_host_shares_moves_between_sessions_of_its_guests() {
        let (own, guest) = (on(&[("virtual.hypervisor", "none")]), on(&[("virtual.hypervisor", "KVM")]));
        let bandwidth = figure("memory.copy", Class::Bandwidth, ValueBasis::Undisturbed);
        let floors = |figure: &Figure| [default_floor(&own, figure, false), default_floor(&guest, figure, false)];
        assert_eq!(floors(&bandwidth), [0.01, 0.06]);
        assert_eq!(floors(&figure("cpu.hanoi", Class::Compute, ValueBasis::Undisturbed)), [0.005, 0.005]);
        let observed = ValueBasis::Observed(ObservedReason::LongOperation);
        assert_eq!(floors(&figure("cpu.hanoi", Class::Compute, observed)), [0.005, 0.11], "as observed");
        assert_eq!(floors(&figure("memory.hierarchy", Class::MemoryLatency, ValueBasis::Undisturbed)), [0.05, 0.5]);
        let core = figure("cpu.hanoi", Class::Compute, ValueBasis::Cycles);
        assert_eq!([&own, &guest].map(|run| default_floor(run, &core, true)), [0.002; 2], "cycles are the core's own");
    }

    #[test]
    fn transfers_that_pace_themselves_have_a_floor_of_their_own() {
        let tcp = figure("ipc.tcp_bandwidth", Class::Ipc, ValueBasis::Cycles);
        let under = |control: &str| default_floor(&on(&[("network.congestion_control", control)]), &tcp, true);
        assert_eq!((under("bbr"), under("cubic")), (PACED, 0.03));
    }
}
