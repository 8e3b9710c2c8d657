//! Core results: cycles decide between runs of one machine, time at the shown clock everywhere else.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use compare::{
    CompareOptions, CompareRow, Comparison, FailOn, GateAnswer, Normalise, RatioBasis, Relation, SessionRecord,
    ShownClock, compare, self_test,
};
use model::{Class, Direction, ExclusiveCore, Outcome, Run, Verdict};
use stats::simulate::{generator, standard_normal};

use crate::common::core::{GUEST, Surroundings, core_run, session, shared_core, without_references};
use crate::common::core::{GuestSession, estimate};
use crate::common::{from_values, time};

fn set(a: &Run, b: &Run) -> Comparison {
    compare(&[a, b], &CompareOptions::default()).unwrap()
}

fn row<'a>(found: &'a Comparison, benchmark: &str) -> &'a CompareRow {
    found.rows.iter().find(|row| row.benchmark == benchmark).unwrap()
}

fn clock_of(found: &Comparison) -> &CompareRow {
    found.conditions.iter().find(|row| row.benchmark == "cpu.clock").unwrap()
}

fn core_rows(found: &Comparison) -> impl Iterator<Item = &CompareRow> {
    found.rows.iter()
}

#[test]
fn equals_are_called_the_same_and_two_percent_more_work_is_found() {
    let mut rng = generator(1);
    let runs: Vec<Run> = (0..50).map(|i| session(&format!("r{i}"), "guest", 42, GUEST, &mut rng)).collect();
    let pairs: Vec<(&Run, &Run)> = runs.chunks(2).map(|pair| (&pair[0], &pair[1])).collect();
    let found = self_test(&pairs, &CompareOptions::default()).unwrap();
    println!("{:?}\n{:?}\npower {:?}", found.cycles, found.claims, found.power);
    assert_eq!((found.results, found.cycles.results), (25 * 42, 25 * 42));
    assert!(found.pairs_with_claims * 20 <= found.pairs, "{:?}", found.claims);
    assert!(found.share_no_change().unwrap() >= 0.5, "{:?}", found.cycles);
    // Of seven results of this mixture five are compute; what a page fault or a pipe does from session to session hides
    // 2%.
    assert!(found.power.cycles.share().unwrap() >= 0.5, "{:?}", found.power);
    assert!(found.power.no_change.share().unwrap() >= 0.8, "{:?}", found.power);
    assert!(found.broken().is_empty(), "{:?}", found.broken());
    // With raw values of the same samples nothing is conclusive.
    let old: Vec<Run> = runs.iter().map(without_references).collect();
    let pairs: Vec<(&Run, &Run)> = old.chunks(2).map(|pair| (&pair[0], &pair[1])).collect();
    let found = self_test(&pairs, &CompareOptions::default()).unwrap();
    println!("observed: same {} of {}, power {:?}", found.no_change, found.results, found.power);
    assert!(
        found.cycles.results == 0 && found.no_change * 10 < found.results && found.power.others.share().unwrap() < 0.1
    );
}

#[test]
fn a_clock_that_fell_is_a_row_with_a_verdict_and_changes_no_core_result() {
    let mut rng = generator(2);
    let steady = Surroundings { steps: false, ..GUEST };
    let fast = session("a", "guest", 21, steady, &mut rng);
    let slow = session("b", "guest", 21, Surroundings { clock: 0.9 * steady.clock, ..steady }, &mut rng);
    let found = set(&fast, &slow);
    let clock = &clock_of(&found).ratios[1];
    assert_eq!(clock.verdict, Some(Verdict::Different(Some(Direction::Slower))));
    assert_eq!(clock.floor, None, "a clock has no session floor: it was what it was");
    for row in core_rows(&found) {
        let ratio = &row.ratios[1];
        assert_eq!(ratio.basis, RatioBasis::Cycles);
        assert!(!ratio.differs(), "{}", row.benchmark);
        let core = ratio.core.unwrap();
        assert_eq!(core.cycles.verdict, ratio.verdict);
        assert!((core.time.value / (core.cycles.value * core.clock.value)).ln().abs() < 0.01, "{core:?}");
        assert!((core.clock.value - 0.9).abs() < 1e-9, "a gain, of times as of rates");
        assert!(core.time.value / core.cycles.value < 0.95 && core.time.low.unwrap() < core.time.value);
    }
    assert!(core_rows(&found).any(|row| row.ratios[1].core.unwrap().time.verdict.is_some_and(Verdict::differs)));
    let told = found.machines[1].clock.unwrap();
    assert!((told.ratio.unwrap().value - 0.9).abs() < 1e-9);
    // Means and gates are of time: what fell is not normalised away.
    let mean = found.geometric_means.iter().find(|mean| mean.machine == "b" && mean.family.is_none()).unwrap();
    assert!((mean.value - 0.9).abs() < 0.05 && mean.results == 21, "{mean:?}");
    let gate = "slower:5".parse::<FailOn>().unwrap().gate(&found);
    assert_eq!(gate.answer, GateAnswer::Fail);
    assert!(gate.failing.iter().any(|result| result.result == "sim.f0" && (result.gain.unwrap() - 0.9).abs() < 0.01));
    assert_eq!(row(&found, "sim.f0").ratios[1].rank.unwrap().place, 2);
    // Written as ratios it is the same.
    let ratios =
        compare(&[&fast, &slow], &CompareOptions { normalise: Normalise::Ratio, ..Default::default() }).unwrap();
    for row in core_rows(&ratios) {
        let core = row.ratios[1].core.unwrap();
        assert!((core.time.value / (core.cycles.value * core.clock.value)).ln().abs() < 0.01, "{core:?}");
    }
}

#[test]
fn the_row_of_the_clock_has_the_ratio_by_which_core_results_are_reckoned() {
    let mut rng = generator(31);
    for _ in 0..5 {
        let a = session("a", "guest", 3, GUEST, &mut rng);
        let mut b = session("b", "guest", 3, GUEST, &mut rng);
        // A run's clock is weighted by time, unlike its samples.
        b.session.sensors.as_mut().unwrap().clock.iter_mut().for_each(|clock| *clock *= 1.01);
        let found = set(&a, &b);
        let told = found.machines[1].clock.unwrap().ratio.unwrap();
        let clock = &clock_of(&found).ratios[1];
        assert!((clock.value.unwrap() / told.value).ln().abs() < 1e-9, "{clock:?} {told:?}");
        assert!(clock.low.unwrap() < told.value && told.value < clock.high.unwrap(), "{clock:?}");
    }
}

#[test]
fn a_clock_that_its_run_does_not_know_has_no_ends() {
    let mut rng = generator(32);
    let a = session("a", "guest", 3, GUEST, &mut rng);
    let mut b = session("b", "guest", 3, GUEST, &mut rng);
    let clock = b.results.iter_mut().find(|result| result.benchmark == "cpu.clock").unwrap();
    let Outcome::Measured(estimate) = &mut clock.outcome else { panic!("it has a value") };
    (estimate.low, estimate.high) = (1e-200, 1e200);
    let told = |a: &Run, b: &Run| set(a, b).machines[1].clock.unwrap().ratio.unwrap();
    for (from, to) in [(&a, &b), (&b, &a)] {
        let ends = told(from, to);
        assert_eq!((ends.low, ends.high), (None, None), "{ends:?}");
        assert!(ends.value.is_finite());
    }
    let sound = told(&a, &session("c", "guest", 3, GUEST, &mut rng));
    assert!(sound.low.unwrap() < sound.value && sound.value < sound.high.unwrap());
}

#[test]
fn a_row_states_what_its_runs_state_and_the_ratio_of_that() {
    let mut rng = generator(3);
    let a = session("a", "guest", 14, GUEST, &mut rng);
    let b = session("b", "guest", 14, Surroundings { clock: 2.4e9, ..GUEST }, &mut rng);
    let c = session("c", "other", 14, Surroundings { clock: 3.1e9, ..GUEST }, &mut rng);
    let found = compare(&[&a, &b, &c], &CompareOptions { normalise: Normalise::Ratio, ..Default::default() }).unwrap();
    for row in &found.rows {
        let stated = [&a, &b, &c].map(|run| run.result(&row.key()).unwrap().outcome.estimate().copied().unwrap());
        for (ratio, stated_here) in row.ratios.iter().zip(&stated) {
            assert_eq!(ratio.outcome.as_ref().unwrap().estimate(), Some(stated_here), "at the clock of its own run");
            assert!((ratio.value.unwrap() / (stated_here.value / stated[0].value)).ln().abs() < 1e-9, "{ratio:?}");
        }
    }
}

#[test]
fn between_machines_time_decides_and_the_clocks_error_is_in_its_interval() {
    let mut rng = generator(4);
    let (mut covered, mut wide, mut narrow) = (0, 0.0, 0.0);
    let trials = 200;
    for trial in 0..trials {
        // The true clocks of the sessions, and the stated ones with an error of 1% each.
        let state = |clock: f64, rng: &mut _| {
            let mut one = session("x", "x", 1, Surroundings { clock, steps: false, neighbour: 0.4 }, rng);
            let stated = clock * (0.01 * standard_normal(rng)).exp();
            let half = 1.96 * 0.01;
            let mut known = estimate(&[stated; 20]);
            (known.low, known.high, known.level) = (stated * (1.0 - half), stated * (1.0 + half), 0.95);
            one.results[0].outcome = Outcome::Measured(known);
            one.session.sensors.as_mut().unwrap().clock = Some(stated);
            // Core results are stated at the clock that the run states.
            for result in &mut one.results {
                let Some(sensors) = &mut result.sensors else { continue };
                let Some(before) = sensors.clock.replace(stated) else { continue };
                result.outcome.scale(result.metric.at_clock(1.0, stated) / result.metric.at_clock(1.0, before));
            }
            one
        };
        let (mut a, mut b) = (state(2.6e9, &mut rng), state(2.2e9, &mut rng));
        a.machine.fingerprint = "one".into();
        b.machine.fingerprint = "another".into();
        b.id = "y".into();
        b.session.started = format!("day {trial}");
        let found = set(&a, &b);
        assert_eq!(found.machines[1].relation, Relation::AnotherMachine);
        let ratio = &row(&found, "sim.f0").ratios[1];
        assert_eq!((ratio.basis, ratio.core.unwrap().cycles.verdict), (RatioBasis::ClockTime, None));
        let (low, high) = (ratio.low.unwrap(), ratio.high.unwrap());
        // The truth: equal cycles, clocks of 2.2 against 2.6 GHz.
        covered += usize::from(low <= 2.2 / 2.6 && 2.2 / 2.6 <= high);
        wide += (high / low).ln();
        let cycles = ratio.core.unwrap().cycles;
        narrow += (cycles.high.unwrap() / cycles.low.unwrap()).ln();
    }
    println!("covered {covered} of {trials}; widths {:.4} in time, {:.4} in cycles", wide / 200.0, narrow / 200.0);
    assert!((180..=199).contains(&covered), "{covered} of {trials}");
    assert!(wide > 2.0 * narrow);
}

#[test]
fn another_class_of_cores_is_another_machine() {
    let mut rng = generator(5);
    let (a, mut b) = (session("a", "hybrid", 7, GUEST, &mut rng), session("b", "hybrid", 7, GUEST, &mut rng));
    let basis = |a: &Run, b: &Run| row(&set(a, b), "sim.f1").ratios[1].basis;
    assert_eq!(basis(&a, &b), RatioBasis::Cycles);
    b.session.sensors.as_mut().unwrap().exclusive[0].ratio = Some(1.5);
    assert_eq!(basis(&a, &b), RatioBasis::ClockTime, "its cores answer otherwise");
    // Two classes in both: the CPUs on which the samples ran decide.
    let classes = |run: &mut Run, cpu: u32| {
        let class = |cpus: Vec<u32>| ExclusiveCore { cpus, ratio: Some(1.211), ..ExclusiveCore::default() };
        run.session.sensors.as_mut().unwrap().exclusive = vec![class(vec![0, 1]), class(vec![2, 3])];
        let samples = run.results.iter_mut().flat_map(|result| &mut result.samples);
        samples.for_each(|sample| sample.placement.asked = vec![cpu]);
    };
    let mut a = a;
    for (x, y, basis_of) in [(0, 1, RatioBasis::Cycles), (0, 2, RatioBasis::ClockTime), (3, 2, RatioBasis::Cycles)] {
        classes(&mut a, x);
        classes(&mut b, y);
        assert_eq!(basis(&a, &b), basis_of, "{x} {y}");
    }
    b.results.iter_mut().flat_map(|result| &mut result.samples).for_each(|l| l.placement.asked.clear());
    assert_eq!(basis(&a, &b), RatioBasis::ClockTime, "where it ran is not known");
}

#[test]
fn unlike_bases_are_never_compared() {
    let mut rng = generator(6);
    let a = session("a", "guest", 7, GUEST, &mut rng);
    let mut b = session("b", "guest", 7, GUEST, &mut rng);
    shared_core(&mut b, "sim.f1");
    let found = set(&a, &b);
    let ratio = &row(&found, "sim.f1").ratios;
    assert_eq!((ratio[1].basis, ratio[1].core), (RatioBasis::Raw, None));
    let raw = a.results[2].sensors.as_ref().unwrap().raw.unwrap();
    assert_eq!(ratio[0].outcome.as_ref().unwrap().estimate(), Some(&raw), "both are printed as observed");
    let median =
        |run: &Run| stats::median(&run.results[2].samples.iter().map(|l| l.value).collect::<Vec<_>>()).unwrap();
    assert!((ratio[1].value.unwrap() / (median(&a) / median(&b))).ln().abs() < 0.2);
    assert_eq!(row(&found, "sim.f0").ratios[1].basis, RatioBasis::Cycles, "the others are not touched by it");
    // A document without sensors has raw values only.
    let old = without_references(&a);
    let found = set(&old, &b);
    assert!(found.rows.iter().all(|row| row.ratios[1].basis == RatioBasis::Raw));
    let disturbed: Vec<&str> = found.machines[1].disturbances.iter().map(|one| one.says.as_str()).collect();
    assert_eq!(
        disturbed,
        ["the sibling hyperthread was busy 40% of the time", "1 result is raw: the sibling hyperthread was busy"]
    );
}

#[test]
fn floors_in_cycles_come_from_sessions_whose_clock_is_known() {
    let mut rng = generator(7);
    let clocks = [2.6e9, 2.3e9, 2.9e9, 2.45e9, 2.75e9, 2.5e9, 2.55e9];
    let runs: Vec<Run> = clocks
        .iter()
        .enumerate()
        .map(|(i, clock)| {
            let around = Surroundings { clock: *clock, steps: false, neighbour: 0.0 };
            let mut guest = GuestSession::new(around, &mut rng);
            let mut result = |benchmark, metric| guest.core(benchmark, metric, Class::Compute, 7.0, 0.0005);
            let results = vec![result("sim.a", time("operation")), result("sim.b", crate::common::rate("operations"))];
            core_run(&format!("r{i}"), "guest", &format!("day {i}"), results)
        })
        .collect();
    let history: Vec<SessionRecord> = runs[2..].iter().flat_map(SessionRecord::of).collect();
    let options = CompareOptions { history: &history, ..CompareOptions::default() };
    let found = compare(&[&runs[0], &runs[1]], &options).unwrap();
    for benchmark in ["sim.a", "sim.b"] {
        let floor = row(&found, benchmark).ratios[1].floor.unwrap();
        assert_eq!(floor.sessions, Some(5));
        assert!(floor.sd < 0.002, "the clocks lie apart by 8%, the cycles do not: {floor:?}");
    }
    // A clock is no draw: it has no session noise, and is in no mean.
    assert_eq!(clock_of(&found).ratios[1].floor, None);
    assert!(found.geometric_means.iter().all(|mean| mean.family.as_deref() != Some("cpu")));
}

#[test]
fn documents_without_references_compare_as_before() {
    let mut rng = generator(8);
    let old: Vec<Run> = ["a", "b"].map(|id| without_references(&session(id, "guest", 7, GUEST, &mut rng))).to_vec();
    let found = set(&old[0], &old[1]);
    assert_eq!(found.cycles_band, None);
    let text = serde_json::to_value(&found).unwrap();
    assert!(text.get("cycles_band").is_none() && text["machines"][0].get("clock").is_none());
    for row in &found.rows {
        assert!(row.ratios[1].basis.is_value() && row.ratios[1].core.is_none());
        let ratio = &serde_json::to_value(row).unwrap()["ratios"][1];
        assert!(ratio.get("basis").is_none() && ratio.get("core").is_none());
    }
    let values = |run: &Run| run.results[0].values().iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let direct =
        stats::compare(&values(&old[0]), &values(&old[1]), stats::Floor::known(Class::Compute.session_noise()), 0.95)
            .unwrap();
    let ratio = &found.rows[0].ratios[1];
    let [x, y] = [&old[0], &old[1]].map(|run| run.results[0].outcome.estimate().unwrap().value);
    assert!((ratio.value.unwrap() * y / x).ln().abs() < 1e-9, "the ratio of the two values");
    assert_eq!((ratio.low, ratio.high), (Some((-direct.interval.high).exp()), Some((-direct.interval.low).exp())));
    // A result of an imported tool, without samples and references, is as it was.
    let plain = from_values("sim.z", "", time("call"), Class::Compute, &[1.0; 10]);
    assert!(ShownClock::of(&crate::common::run("x", "m", "1", vec![plain])).is_none());
}
