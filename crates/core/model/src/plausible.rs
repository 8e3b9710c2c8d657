//! Contents that no run can have. Reading a document refuses them before anything is computed from it.

use std::collections::HashSet;

use crate::{
    BenchmarkResult, Conditions, Error, Estimate, EstimateMethod, FarmNode, FarmRecord, FarmWindow, Footprint, Invalid,
    Outcome, Plan, Run, Sample, TakenTime,
};

const BELOW_ZERO: &str = "is below 0";
const NOT_POSITIVE: &str = "is not above 0";

impl Estimate {
    /// Why no measurement can have given this estimate, as a clause about it.
    fn fault(&self) -> Option<&'static str> {
        if ![self.value, self.low, self.high, self.level].iter().all(|number| number.is_finite()) {
            return Some("is not finite");
        }
        if self.low > self.value || self.value > self.high {
            return Some("is outside its interval");
        }
        if !(0.0..=1.0).contains(&self.level) {
            return Some("has a level that is not between 0 and 1");
        }
        if self.level == 0.0 && !self.may_lack_a_level() {
            return Some("has an interval of level 0");
        }
        if self.samples == 0 {
            return Some("is of 0 samples");
        }
        // The lower end of a difference or a fit may be below 0 although its quantity cannot.
        let raw = matches!(self.method, EstimateMethod::OrderStatistic | EstimateMethod::WidenedExtremes);
        (self.value < 0.0 || (raw && self.low < 0.0)).then_some(BELOW_ZERO)
    }

    /// The extremes of few values may be without a level, as may what another program states without one. A value
    /// alone has no interval.
    fn may_lack_a_level(&self) -> bool {
        match self.method {
            EstimateMethod::Range | EstimateMethod::Stated => true,
            EstimateMethod::None => self.low.total_cmp(&self.high).is_eq(),
            _ => false,
        }
    }
}

impl BenchmarkResult {
    /// The impossible number and the reason: "the value is below 0".
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        of_outcome(self).or_else(|| of_result(self)).map(|(what, fault)| format!("{what} {fault}"))
    }
}

/// Refuses a run with impossible numbers (times, rates and counts below 0, shares above the whole, values outside their
/// intervals), with a duplicate result, or with a planned result that has a value and no sample.
pub(crate) fn check(run: &Run) -> Result<(), Error> {
    let refuse = |what: String| Error::Invalid(format!("{what}; correct it, or export the run again"));
    let mut seen = HashSet::new();
    let planned: HashSet<_> =
        run.plan.entries.iter().map(|entry| (entry.benchmark.as_str(), &entry.parameters)).collect();
    if let Some((what, fault)) = of_session(run).or_else(|| of_plan(&run.plan)) {
        return Err(refuse(format!("{what} {fault}")));
    }
    for result in &run.results {
        let key = result.key();
        if let Some((what, fault)) = of_outcome(result).or_else(|| of_result(result)) {
            return Err(refuse(format!("{what} of {key} {fault}")));
        }
        // Imported and derived results have no samples here.
        let own = run.origin.is_none() && planned.contains(&(result.benchmark.as_str(), &result.parameters));
        if own && result.samples.is_empty() && is_of_samples(result) {
            return Err(refuse(format!("the value of {key} is of samples, and none is there")));
        }
        if !seen.insert(key.clone()) {
            return Err(refuse(format!("{key} occurs twice")));
        }
    }
    Ok(())
}

/// A wrong member: its name, and a clause about it.
type NumberFault = (&'static str, &'static str);

/// The first number that is below 0 or not finite.
fn below_zero(numbers: &[(&'static str, f64)]) -> Option<NumberFault> {
    numbers.iter().find_map(|&(what, number)| match number {
        _ if !number.is_finite() => Some((what, "is not finite")),
        _ => (number < 0.0).then_some((what, BELOW_ZERO)),
    })
}

/// The first number that is not above 0; those that are absent are left out.
fn not_positive<const N: usize>(numbers: [(&'static str, Option<f64>); N]) -> Option<NumberFault> {
    let wrong = |(_, number): &(&str, Option<f64>)| number.is_some_and(|number| !is_positive(number));
    numbers.into_iter().find(wrong).map(|(what, _)| (what, NOT_POSITIVE))
}

/// Time taken from a whole: neither is below 0. More than the whole may be counted, since both are rounded to ticks.
fn of_taken(what: &'static str, taken: Option<TakenTime>) -> Option<NumberFault> {
    taken.and_then(|taken| below_zero(&[(what, taken.seconds), (what, taken.of)]))
}

/// Whether a result's value is one of its samples, or of differences within them.
fn is_of_samples(result: &BenchmarkResult) -> bool {
    use EstimateMethod::{OrderStatistic, PairedOrderStatistic, WidenedExtremes};
    match &result.outcome {
        Outcome::Measured(estimate) => {
            matches!(estimate.method, OrderStatistic | PairedOrderStatistic | WidenedExtremes)
        }
        Outcome::Modes(_) => true,
        _ => false,
    }
}

fn of_session(run: &Run) -> Option<NumberFault> {
    let session = &run.session;
    let sensors = session.sensors.as_ref();
    let ratio_of = |core: &crate::ExclusiveCore| not_positive([("the ratio of an exclusive core", core.ratio)]);
    below_zero(&[("the duration of the run", session.seconds)])
        .or_else(|| of_conditions(&session.conditions))
        .or_else(|| session.farm.as_ref().and_then(of_farm))
        .or_else(|| not_positive([("the clock of the run", sensors.and_then(|sensors| sensors.clock))]))
        .or_else(|| sensors.and_then(|sensors| sensors.exclusive.iter().find_map(ratio_of)))
}

fn of_farm(record: &FarmRecord) -> Option<NumberFault> {
    let of_window = |window: &FarmWindow| {
        let length = not_positive([("the length of a window of the farm", Some(window.wall))]);
        length.or_else(|| below_zero(&[("the begin of a window of the farm", window.began)]))
    };
    let of_node = |node: &FarmNode| below_zero(&[("the efficiency of a node", node.efficiency.unwrap_or(0.0))]);
    record.windows.iter().find_map(of_window).or_else(|| record.nodes.iter().find_map(of_node))
}

fn of_conditions(conditions: &Conditions) -> Option<NumberFault> {
    let (lowest, highest) = conditions.clock.map_or((None, None), |(low, high)| (Some(low), Some(high)));
    below_zero(&[("the load of the machine", conditions.load.unwrap_or(0.0))])
        .or_else(|| of_taken("the CPU time of others", conditions.others))
        .or_else(|| of_taken("the stolen time of the run", conditions.steal))
        .or_else(|| of_taken("the throttled time of the run", conditions.throttled))
        .or_else(|| not_positive([("the lowest clock", lowest), ("the highest clock", highest)]))
}

fn of_plan(plan: &Plan) -> Option<NumberFault> {
    below_zero(&[
        ("the target of the plan", plan.target),
        ("the band of the plan", plan.band),
        ("the spacing of the plan", plan.spacing),
        ("the time limit of the plan", plan.time_limit.unwrap_or(0.0)),
    ])
    .or_else(|| (!(0.0..=1.0).contains(&plan.level)).then_some(("the level of the plan", "is not between 0 and 1")))
    .or_else(|| {
        plan.entries.iter().find_map(|entry| below_zero(&[("the target of an entry of the plan", entry.target)]))
    })
}

fn of_outcome(result: &BenchmarkResult) -> Option<NumberFault> {
    match &result.outcome {
        Outcome::Measured(estimate) => estimate.fault().map(|fault| ("the value", fault)),
        Outcome::Below { bound } => below_zero(&[("the bound", *bound)]),
        Outcome::Modes(modes) => modes.iter().find_map(|mode| {
            let share = (0.0..=1.0).contains(&mode.share);
            let of_share = (!share).then_some(("the share of a mode", "is not between 0 and 1"));
            // A group of too few samples is at level 0.
            let few = Estimate { method: EstimateMethod::Range, ..mode.estimate };
            let estimate = if few.level == 0.0 { few } else { mode.estimate };
            of_share.or_else(|| estimate.fault().map(|fault| ("a mode", fault)))
        }),
        Outcome::NotMeasured(_) | Outcome::Failed(_) => None,
    }
}

/// Checks a result's fields other than its outcome.
fn of_result(result: &BenchmarkResult) -> Option<NumberFault> {
    let sensors = result.sensors.as_ref();
    let of_quantile = |found: &crate::QuantileEstimate| {
        let quantile = (0.0..=1.0).contains(&found.quantile);
        let outside = (!quantile).then_some(("a quantile", "is not between 0 and 1"));
        outside.or_else(|| found.estimate.fault().map(|fault| ("a quantile", fault)))
    };
    let clock = sensors.and_then(|sensors| sensors.clock);
    let raw = sensors.and_then(|sensors| sensors.raw);
    not_positive([("the amount of an operation", Some(result.amount)), ("the clock", clock)])
        .or_else(|| result.quantiles.iter().find_map(of_quantile))
        .or_else(|| {
            below_zero(&[
                ("the resolution", result.resolution.unwrap_or(0.0)),
                ("the rounding", result.rounding.unwrap_or(0.0)),
            ])
        })
        .or_else(|| raw.and_then(|raw| raw.fault()).map(|fault| ("the observed value", fault)))
        .or_else(|| of_footprint(&result.footprint))
        .or_else(|| result.samples.iter().find_map(|sample| of_sample(sample, result)))
}

fn of_footprint(footprint: &Footprint) -> Option<NumberFault> {
    let used = |seconds: Option<f64>| ("the CPU time", seconds.unwrap_or(0.0));
    below_zero(&[used(footprint.user_seconds), used(footprint.system_seconds), used(footprint.cpu_seconds)])
}

/// The value of a sample can be a difference in some results; raw values cannot.
fn of_sample(sample: &Sample, result: &BenchmarkResult) -> Option<NumberFault> {
    let raw = result.outcome.estimate().is_some_and(|estimate| {
        matches!(estimate.method, EstimateMethod::OrderStatistic | EstimateMethod::WidenedExtremes)
    });
    let finite = |what, number: f64| (!number.is_finite()).then_some((what, "is not finite"));
    let value = |what, number: f64| if raw { below_zero(&[(what, number)]) } else { finite(what, number) };
    let (before, after) = sample.frequency.unwrap_or_default();
    let clean = sample.clean.unwrap_or_default();
    let of_quantile = |&(quantile, number): &(f64, f64)| {
        let outside = !(0.0..=1.0).contains(&quantile);
        outside
            .then_some(("a quantile of a sample", "is not between 0 and 1"))
            .or_else(|| value("the value of a quantile of a sample", number))
    };
    value("the value of a sample", sample.value)
        .or_else(|| sample.readings.iter().find_map(|reading| value("a reading of a sample", *reading)))
        .or_else(|| {
            below_zero(&[
                ("the duration of a sample", sample.wall),
                ("the begin of a sample", sample.began),
                ("the frequency in a sample", before),
                ("the frequency in a sample", after),
            ])
        })
        .or_else(|| sample.quantiles.iter().find_map(of_quantile))
        .or_else(|| of_taken("the stolen time of a sample", sample.stolen))
        .or_else(|| of_taken("the throttled time of a sample", sample.throttled))
        .or_else(|| of_footprint(&sample.footprint))
        .or_else(|| finite("the clean value of a sample", clean.value.unwrap_or(0.0)))
        .or_else(|| finite("the cycles of a sample", clean.cycles.unwrap_or(0.0)))
        .or_else(|| not_positive([("the clock of a sample", clean.clock)]))
        .or_else(|| part_of("the clean batches of a sample", clean.batches, clean.of))
        .or_else(|| sample.invalid.as_ref().and_then(of_evidence))
}

fn of_evidence(invalid: &Invalid) -> Option<NumberFault> {
    match invalid {
        Invalid::Suspended(seconds) => below_zero(&[("the time for which the machine slept", *seconds)]),
        Invalid::Stolen(taken) => of_taken("the stolen time of a sample", Some(*taken)),
        Invalid::Throttled(taken) => of_taken("the throttled time of a sample", Some(*taken)),
        Invalid::SharedCore { batches, of } => part_of("the clean batches of a sample", *batches, *of),
        Invalid::Preempted { ran, usual } => {
            below_zero(&[("the CPU time of a sample", *ran), ("that of others", *usual)])
        }
        Invalid::HandedOver { batches, of } => part_of("the batches of others in a sample", *batches, *of),
        Invalid::ClockJump(_) | Invalid::Misplaced(_) | Invalid::Moved { .. } | Invalid::DeviceThrottled(_) => None,
    }
}

fn part_of(what: &'static str, some: u32, all: u32) -> Option<NumberFault> {
    (some > all).then_some((what, "are more than all of them"))
}

fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

#[cfg(test)]
mod tests {
    use crate::{parse_run, render_run};

    /// A kept document with one member replaced, or added.
    fn with(pointer: &str, number: &str) -> Result<crate::Run, String> {
        let mut run: serde_json::Value = serde_json::from_str(include_str!("../tests/run.json")).unwrap();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        let parent = run.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} is not in the document"));
        let slot = if parent.is_array() { &mut parent[member.parse::<usize>().unwrap()] } else { &mut parent[member] };
        *slot = serde_json::from_str(number).unwrap();
        parse_run(&run.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_share_beyond_the_whole_is_refused_with_its_member() {
        for (pointer, member) in [
            ("/results/0/sensors/kept", "results[0].sensors.kept"),
            ("/session/sensors/core_shared", "session.sensors.core_shared"),
        ] {
            for share in ["1.7", "-0.3"] {
                let said = with(pointer, share).map(drop).expect_err(pointer);
                assert!(
                    said.contains(&format!("{member}: a share of {share} is not between 0 and 1 at line 1")),
                    "{said}"
                );
            }
            with(pointer, "0.5").unwrap();
        }
        let said = with("/results/0/outcome/measured/low", "null").map(drop).unwrap_err();
        assert!(said.contains("results[0].outcome.measured.low: invalid type: null"), "{said}");
    }

    #[test]
    fn what_another_program_states_needs_no_samples_and_no_level() {
        let mut foreign: crate::Run = serde_json::from_str(include_str!("../tests/run.json")).unwrap();
        foreign.origin = Some(crate::Origin::default());
        let (first, spread) = (&mut foreign.results[0], crate::EstimateMethod::Stated);
        first.samples.clear();
        let stated = crate::Estimate { low: 0.5, high: 2.0, method: spread, ..crate::Estimate::without_spread(1.0) };
        first.outcome = crate::Outcome::Measured(stated);
        let text = render_run(&foreign).unwrap();
        assert_eq!(parse_run(&text).unwrap().results[0].outcome, foreign.results[0].outcome);
    }

    /// A member, its impossible values, and the words of the error.
    const IMPOSSIBLE: &[(&str, &str, &str)] = &[
        ("/results/5/outcome/measured/low", "-1e-6", "the value of os.timer_lateness is below 0"),
        ("/results/0/outcome/measured/level", "1.5", "the value of os.syscall_write has a level"),
        ("/results/0/outcome/measured/value", "9.0", "the value of os.syscall_write is outside its interval"),
        ("/results/0/amount", "-1.0", "the amount of an operation of os.syscall_write is not above 0"),
        ("/results/0/sensors/clock", "-3e9", "the clock of os.syscall_write is not above 0"),
        ("/results/1/samples/0/value", "-1e9", "the value of a sample of memory.copy"),
        ("/results/0/samples/0/wall", "-0.5", "the duration of a sample of os.syscall_write is below 0"),
        ("/session/seconds", "-3", "the duration of the run is below 0"),
        ("/session/sensors/clock", "0", "the clock of the run is not above 0"),
        ("/plan/level", "95", "the level of the plan is not between 0 and 1"),
        ("/plan/target", "-0.02", "the target of the plan is below 0"),
        ("/plan/entries/0/target", "-0.02", "the target of an entry of the plan is below 0"),
        (
            "/results/1/outcome/measured/level",
            "0",
            "the value of memory.copy:threads=1,working_set=64MiB has an interval of level 0",
        ),
        (
            "/results/1/outcome/measured/samples",
            "0",
            "the value of memory.copy:threads=1,working_set=64MiB is of 0 samples",
        ),
        (
            "/results/1/samples",
            "[]",
            "the value of memory.copy:threads=1,working_set=64MiB is of samples, and none is there",
        ),
        ("/results/3/samples", "[]", "the value of ipc.tcp_latency:placement=free is of samples, and none is there"),
        ("/results/0/samples/0/stolen", r#"{"seconds":-5,"of":1}"#, "the stolen time of a sample of os.syscall_write"),
        ("/results/0/samples/0/throttled", r#"{"seconds":1,"of":-1}"#, "the throttled time of a sample of os."),
        ("/results/0/samples/0/invalid", r#"{"stolen":{"seconds":-5,"of":1}}"#, "the stolen time of a sample of os."),
        ("/results/0/samples/0/invalid", r#"{"shared_core":{"batches":9,"of":3}}"#, "the clean batches of a sample"),
        ("/results/0/samples/0/frequency", "[-1, 3e9]", "the frequency in a sample of os.syscall_write is below 0"),
        ("/results/0/samples/0/began", "-2", "the begin of a sample of os.syscall_write is below 0"),
        ("/results/0/samples/0/footprint", r#"{"operations":1,"user_seconds":-1}"#, "the CPU time of os.syscall_write"),
        ("/session/conditions", r#"{"steal":{"seconds":-5,"of":60}}"#, "the stolen time of the run is below 0"),
        ("/session/conditions", r#"{"clock":[0,3e9]}"#, "the lowest clock is not above 0"),
    ];

    #[test]
    fn what_nothing_can_have_is_refused_by_name() {
        for (pointer, number, says) in IMPOSSIBLE {
            let said = with(pointer, number).map(drop).expect_err(pointer);
            assert!(said.starts_with(&format!("could not accept the run document: {says}")), "{pointer}: {said}");
            assert!(said.ends_with("; correct it, or export the run again"), "{said}");
        }
        let below = r#"{"measured":{"value":-1e-6,"low":-2e-6,"high":1e-6,"level":0.95,"samples":9,"batches":9,"method":"propagated"}}"#;
        assert!(with("/results/0/outcome", below).map(drop).unwrap_err().contains("is below 0"));
        let modes = below.replace("{\"measured\":", r#"{"modes":[{"share":0.5,"estimate":"#).replace("}}", "}}]}");
        assert!(
            with("/results/0/outcome", &modes).map(drop).unwrap_err().contains("a mode of os.syscall_write is below 0")
        );
        assert!(
            with("/results/0/outcome", r#"{"below":{"bound":-1e-9}}"#).map(drop).unwrap_err().contains("the bound of")
        );
        // The lower end of a fit may be what its value cannot.
        let fit = below.replace("\"value\":-1e-6", "\"value\":1e-7");
        let kept = with("/results/0/outcome", &fit).unwrap();
        assert_eq!(parse_run(&render_run(&kept).unwrap()).unwrap(), kept);
    }
}
