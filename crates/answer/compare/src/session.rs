//! Sessions, and the usual distance between equal results of two sessions.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use model::{BenchmarkResult, RULES, ResultKey, Run};
use stats::Floor;
use stats::distribution::normal_quantile;

use super::ratio_basis::FloorUsed;
use super::relation::Relation;

/// Relation of a run to the reference.
#[must_use]
pub fn relation(reference: &Run, other: &Run) -> Relation {
    let one_machine = reference.machine_identity().is_some_and(|identity| other.machine_identity() == Some(identity));
    let (begun, then) = (&reference.session, &other.session);
    // Other sources only give the day.
    let one_start = reference.origin.is_none() && !begun.started.is_empty() && begun.started == then.started;
    if reference.id == other.id || (one_machine && one_start && begun.began_on.boot == then.began_on.boot) {
        Relation::SameSession
    } else if one_machine {
        Relation::AnotherSession
    } else {
        Relation::AnotherMachine
    }
}

/// Value of one result in an earlier session on one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRecord {
    /// Fingerprint of the machine.
    pub machine: String,
    /// Id of the run.
    pub run: String,
    /// Start of the session.
    pub started: String,
    /// The result.
    pub result: ResultKey,
    /// Its value.
    pub value: f64,
    /// Standard error of the value's logarithm; 0 if it is unknown.
    pub error: f64,
}

impl SessionRecord {
    /// Records of all results of a run that have a single value of the machine itself. A value changed by a neighbour
    /// on the core would only add scatter to those of other sessions.
    #[must_use]
    pub fn of(run: &Run) -> Vec<Self> {
        let record = |result: &BenchmarkResult| {
            let estimate = result.outcome.estimate()?;
            Some(Self {
                machine: run.machine.fingerprint.clone(),
                run: run.id.clone(),
                started: run.session.started.clone(),
                result: result.key(),
                value: estimate.value,
                error: least_error(estimate.low, estimate.high),
            })
        };
        run.results.iter().filter(|result| !result.is_shared_core()).filter_map(record).collect()
    }
}

/// Standard error of the logarithm of a value with this interval, whose level is unknown; 0 without one.
///
/// It assumes the highest level that intervals of 95% usually have, so that not too much is subtracted from the scatter
/// of sessions.
#[must_use]
pub fn least_error(low: f64, high: f64) -> f64 {
    let half = (high / low).ln() / 2.0;
    if half.is_finite() && half > 0.0 { half / normal_quantile(0.5 + RULES.noise.highest_level / 2.0) } else { 0.0 }
}

/// Earlier sessions that are used for a result of a machine.
pub const NEWEST_SESSIONS: usize = RULES.noise.newest_sessions as usize;

/// Whether two runs are one run that was named twice. An equal id is not enough, since a document may have been
/// changed.
pub(crate) fn same_run(a: &Run, b: &Run) -> bool {
    let same = |(x, y): (&BenchmarkResult, &BenchmarkResult)| {
        x.key() == y.key() && x.outcome == y.outcome && x.values() == y.values()
    };
    a.id == b.id && a.results.len() == b.results.len() && a.results.iter().zip(&b.results).all(same)
}

/// Logarithms of the values that earlier sessions may have for the same level of memory. A survey that missed a level,
/// or took noise for one, shifts the numbers of the levels.
fn level_of_memory(result: &BenchmarkResult) -> Option<RangeInclusive<f64>> {
    result.surveyed_levels()?;
    let value = result.outcome.estimate()?.value.ln();
    let within = RULES.noise.level_ratio.ln();
    Some(value - within..=value + within)
}

/// A value of an earlier session: its logarithm, its standard error, and the logarithm of the session's clock.
type SessionLog = (f64, f64, Option<f64>);

/// Logarithms of results in earlier sessions, by machine.
pub(crate) struct History {
    logs: HashMap<String, HashMap<ResultKey, Vec<SessionLog>>>,
    stretches: RefCell<HashMap<Option<usize>, f64>>,
}

impl History {
    /// Selects from `earlier` (oldest first) the values measured on machines of `runs`: one for each session, and the
    /// newest for every machine and result. The runs themselves and other runs of their sessions are excluded, since a
    /// change to be detected must not widen its own session noise.
    pub(crate) fn new(earlier: &[SessionRecord], runs: &[&Run]) -> Self {
        let mut seen: HashSet<(&str, &ResultKey, &str)> = HashSet::new();
        let mut logs: HashMap<String, HashMap<ResultKey, Vec<SessionLog>>> = HashMap::new();
        let of_clock = earlier.iter().filter(|record| record.result.benchmark == model::CLOCK && record.value > 1e6);
        let clocks: HashMap<&str, f64> = of_clock.map(|record| (record.run.as_str(), record.value.ln())).collect();
        let ids: HashSet<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        let mut begins: HashMap<&str, HashSet<&str>> = HashMap::new();
        for run in runs.iter().filter(|run| !run.machine.fingerprint.is_empty()) {
            begins.entry(&run.machine.fingerprint).or_default().insert(&run.session.started);
        }
        for record in earlier.iter().rev() {
            let begun = if record.started.is_empty() { &record.run } else { &record.started };
            let Some(compared) = begins.get(record.machine.as_str()) else { continue };
            let is_compared = ids.contains(record.run.as_str()) || compared.contains(begun.as_str());
            if is_compared || record.value.is_nan() || record.value <= 0.0 {
                continue;
            }
            let of_result = logs.entry(record.machine.clone()).or_default().entry(record.result.clone()).or_default();
            if of_result.len() < NEWEST_SESSIONS && seen.insert((&record.machine, &record.result, begun)) {
                of_result.push((record.value.ln(), record.error, clocks.get(record.run.as_str()).copied()));
            }
        }
        Self { logs, stretches: RefCell::default() }
    }

    /// The session noise of a result on a machine: the spread of its own sessions if there are enough, else that of the
    /// class. In cycles only sessions whose clock is known count: a core result is stored as time at the clock of its
    /// session.
    fn of(&self, run: &Run, result: &BenchmarkResult, cycles: bool, shared_core: bool) -> (Floor, FloorUsed) {
        // Other sessions do not show what neighbours did to this one.
        let here = self.logs.get(&run.machine.fingerprint).filter(|_| !shared_core);
        let earlier = here.and_then(|results| results.get(&result.key()));
        let way = if result.metric.unit.is_rate() { -1.0 } else { 1.0 };
        let log = |(value, error, clock): &SessionLog| {
            let value = if cycles { value + way * (*clock)? } else { *value };
            Some((value, *error))
        };
        let of_level = level_of_memory(result);
        let logs =
            earlier.into_iter().flatten().filter(|(value, ..)| of_level.as_ref().is_none_or(|of| of.contains(value)));
        let logs: Vec<(f64, f64)> = logs.filter_map(log).collect();
        if let Some(floor) = Floor::from_sessions(&logs) {
            return (floor, FloorUsed { sd: floor.between(), sessions: Some(logs.len()) });
        }
        let sd = result.class.session_noise();
        (Floor::known(sd), FloorUsed { sd, sessions: None })
    }

    /// Session noise of this run's machine for this result, as the standard deviation of a normal quantity whose
    /// interval at `level` is that of the noise.
    pub(crate) fn own_deviation(&self, run: &Run, result: &BenchmarkResult, level: f64, cycles: bool) -> f64 {
        let (floor, used) = self.of(run, result, cycles, result.is_shared_core());
        let mut stretches = self.stretches.borrow_mut();
        // Student's quantile is slow, and depends on the number of sessions alone.
        let stretch = stretches.entry(used.sessions).or_insert_with(|| {
            let one = Floor { degrees: floor.degrees, ..Floor::known(1.0) };
            one.half_width(level) / Floor::known(1.0).half_width(level)
        });
        ((floor.sd * *stretch).powi(2) - floor.own).max(0.0).sqrt()
    }

    /// The session noise between two runs' results, in cycles or in time; none within a session.
    ///
    /// Two machines bring two deviations. They are given as the one deviation whose difference has the same variance,
    /// with the degrees of freedom of Welch and Satterthwaite (Biometrika 34, 1947).
    pub(crate) fn floor(
        &self,
        a: (&Run, &BenchmarkResult),
        b: (&Run, &BenchmarkResult),
        cycles: bool,
    ) -> (Floor, Option<FloorUsed>) {
        // Both are compared as observed where one is, neighbours included.
        let shared_core = a.1.is_shared_core() || b.1.is_shared_core();
        let of = |(run, result): (&Run, &BenchmarkResult)| self.of(run, result, cycles, shared_core);
        match relation(a.0, b.0) {
            Relation::Reference | Relation::SameRun | Relation::SameSession => (Floor::NONE, None),
            Relation::AnotherSession => {
                let (floor, used) = of(a);
                (floor, Some(used))
            }
            Relation::AnotherMachine => {
                let ((a, used_a), (b, used_b)) = (of(a), of(b));
                let (va, vb) = (a.sd * a.sd, b.sd * b.sd);
                let spend = |variance: f64, degrees: Option<f64>| degrees.map_or(0.0, |df| variance * variance / df);
                let spent = spend(va, a.degrees) + spend(vb, b.degrees);
                let degrees = (spent > 0.0).then(|| (va + vb) * (va + vb) / spent);
                let floor = Floor { sd: f64::midpoint(va, vb).sqrt(), own: f64::midpoint(a.own, b.own), degrees };
                let sessions = used_a.sessions.zip(used_b.sessions).map(|(a, b)| a + b);
                (floor, Some(FloorUsed { sd: floor.between(), sessions }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Class, RawReason, ResultSensors, ValueBasis};

    use super::*;

    fn made() -> Run {
        serde_json::from_str(include_str!("../../../core/model/tests/run.json")).unwrap()
    }

    fn result(benchmark: &str, class: Class, basis: ValueBasis) -> BenchmarkResult {
        let mut result = made().results.swap_remove(0);
        benchmark.clone_into(&mut result.benchmark);
        result.class = class;
        result.sensors = Some(ResultSensors { basis, ..ResultSensors::default() });
        result
    }

    #[test]
    fn a_survey_that_found_another_level_says_nothing_of_how_sessions_differ() {
        let size = |id: &str, megabytes: f64| {
            let mut made = made();
            "this machine".clone_into(&mut made.machine.fingerprint);
            (made.id, made.session.started) = (id.to_owned(), id.to_owned());
            let mut level = result("memory.hierarchy", Class::MemoryLatency, ValueBasis::Clean);
            level.variant =
                Some("level over 4KiB-32KiB, 64KiB-128KiB, 1MiB-2MiB, 16MiB-64MiB on huge pages".to_owned());
            level.outcome = model::Outcome::Measured(model::Estimate::of_samples(
                megabytes,
                (megabytes * 0.97, megabytes * 1.03),
                0.95,
                10,
            ));
            made.results = vec![level];
            made
        };
        let near = ["1", "2", "3", "4", "5"].map(|id| size(id, 4.0 + 0.1 * id.parse::<f64>().unwrap()));
        let (a, b, off) = (size("a", 4.1), size("b", 4.3), size("off", 113.0));
        let floor = |earlier: &[&Run]| {
            let records: Vec<SessionRecord> = earlier.iter().flat_map(|run| SessionRecord::of(run)).collect();
            let history = History::new(&records, &[&a, &b]);
            history.floor((&a, &a.results[0]), (&b, &b.results[0]), false).0
        };
        let known: Vec<&Run> = near.iter().collect();
        let with: Vec<&Run> = known.iter().copied().chain([&off]).collect();
        assert_eq!(floor(&with).sd, floor(&known).sd, "what is 27 times as large is another level");
        assert!(floor(&known).degrees.is_some(), "sessions were used");
    }

    #[test]
    fn what_neighbours_made_of_a_result_is_no_scatter_of_sessions() {
        let shared_core = ValueBasis::Raw(RawReason::FewClean { samples: 2, of: 20 });
        let made = |id: &str, value: f64, basis: ValueBasis| {
            let mut made = made();
            "this machine".clone_into(&mut made.machine.fingerprint);
            (made.id, made.session.started) = (id.to_owned(), id.to_owned());
            let mut dc = result("shell.dc", Class::Process, basis);
            dc.outcome =
                model::Outcome::Measured(model::Estimate::of_samples(value, (value * 0.99, value * 1.01), 0.95, 20));
            made.results = vec![dc];
            made
        };
        let clean = |id: &str, value: f64| made(id, value, ValueBasis::Clean);
        let near = [1079.0, 1078.0, 1091.0, 1074.0].map(|value| clean(&value.to_string(), value));
        let busy = made("busy", 838.0, shared_core.clone());
        let records = |runs: &[&Run]| runs.iter().flat_map(|run| SessionRecord::of(run)).collect::<Vec<_>>();
        let (a, b, c) = (clean("a", 1075.0), clean("b", 1080.0), made("c", 900.0, shared_core));
        let floor = |x: &Run, y: &Run, earlier: &[&Run]| {
            let history = History::new(&records(earlier), &[&a, &b, &c]);
            history.floor((x, &x.results[0]), (y, &y.results[0]), false)
        };
        let known: Vec<&Run> = near.iter().collect();
        let with: Vec<&Run> = known.iter().copied().chain([&busy]).collect();
        assert_eq!(floor(&a, &b, &with).0, floor(&a, &b, &known).0);
        assert_eq!(floor(&a, &b, &with).1.unwrap().sessions, Some(4));
        for (x, y) in [(&a, &c), (&c, &a)] {
            let (floor, used) = floor(x, y, &with);
            assert_eq!(
                (floor.sd, used.unwrap().sessions),
                (Class::Process.session_noise(), None),
                "compared as observed, quiet sessions tell nothing"
            );
        }
    }
}
