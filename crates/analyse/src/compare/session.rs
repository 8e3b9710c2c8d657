//! Sessions, and how far equal figures of two sessions lie apart by habit.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use model::{Figure, FigureKey, Outcome, Run};
use stats::Floor;

use super::result::{FloorUsed, Relation};

/// How a run stands to the reference.
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

/// Logarithms of figures in earlier sessions, by machine.
pub(crate) struct History {
    logs: HashMap<String, HashMap<FigureKey, Vec<f64>>>,
    stretches: RefCell<HashMap<Option<usize>, f64>>,
}

impl History {
    /// Takes from `earlier` what was measured on machines of `runs`, one value a session; the runs themselves do not
    /// count, since a change that is to be found must not widen its own floor.
    pub(crate) fn new(earlier: &[Run], runs: &[&Run]) -> Self {
        let compared: HashSet<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        let machines: HashSet<&str> = runs.iter().map(|run| run.machine.fingerprint.as_str()).collect();
        let mut sessions: HashSet<(&str, &str, &str)> = HashSet::new();
        let mut logs: HashMap<String, HashMap<FigureKey, Vec<f64>>> = HashMap::new();
        for run in earlier {
            let machine = run.machine.fingerprint.as_str();
            let other = !compared.contains(run.id.as_str())
                && runs.iter().all(|compared| relation(compared, run) != Relation::SameSession);
            let first = sessions.insert((machine, &run.session.began_on.boot, &run.session.started));
            if machine.is_empty() || !machines.contains(machine) || !other || !first {
                continue;
            }
            let of_machine = logs.entry(machine.to_owned()).or_default();
            for figure in &run.figures {
                if let Outcome::Measured(estimate) = &figure.outcome
                    && estimate.value > 0.0
                {
                    of_machine.entry(figure.key()).or_default().push(estimate.value.ln());
                }
            }
        }
        Self { logs, stretches: RefCell::default() }
    }

    fn of(&self, run: &Run, figure: &Figure) -> (Floor, FloorUsed) {
        let earlier = self.logs.get(&run.machine.fingerprint).and_then(|figures| figures.get(&figure.key()));
        if let Some(logs) = earlier
            && let Some(floor) = Floor::from_sessions(logs)
        {
            return (floor, FloorUsed { sd: floor.sd, sessions: Some(logs.len()) });
        }
        let sd = figure.class.session_floor();
        (Floor::known(sd), FloorUsed { sd, sessions: None })
    }

    /// How far sessions of this run's machine lie apart on this figure: the standard deviation of a normal quantity that
    /// has the floor's interval at `level`.
    pub(crate) fn own_deviation(&self, run: &Run, figure: &Figure, level: f64) -> f64 {
        let (floor, used) = self.of(run, figure);
        let mut stretches = self.stretches.borrow_mut();
        // Student's quantile is dear, and depends on the number of sessions alone.
        let stretch = stretches.entry(used.sessions).or_insert_with(|| {
            let one = Floor { sd: 1.0, degrees: floor.degrees };
            one.half_width(level) / Floor::known(1.0).half_width(level)
        });
        floor.sd * *stretch
    }

    /// The floor between two runs' figures; none within a session.
    ///
    /// Two machines bring two deviations. They are given as the one deviation whose difference has the same variance,
    /// with the degrees of freedom of Welch and Satterthwaite (Biometrika 34, 1947).
    pub(crate) fn floor(&self, a: (&Run, &Figure), b: (&Run, &Figure)) -> (Floor, Option<FloorUsed>) {
        match relation(a.0, b.0) {
            Relation::Reference | Relation::SameSession => (Floor::NONE, None),
            Relation::AnotherSession => {
                let (floor, used) = self.of(a.0, a.1);
                (floor, Some(used))
            }
            Relation::AnotherMachine => {
                let ((a, used_a), (b, used_b)) = (self.of(a.0, a.1), self.of(b.0, b.1));
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
