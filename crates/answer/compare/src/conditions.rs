//! Disturbances of a run in words, which must be known before any difference between two runs is interpreted.
//!
//! The run recorded them while it measured ([`model::Conditions`]). `compare`, `explain` and `report` all use these
//! sentences.

use model::{Conditions, ExclusiveSource, Flag, Run, percent};
use serde::{Deserialize, Serialize};

/// Load of other work for each CPU, from which it is reported, where nothing better is known: it is that of the minute
/// before.
const LOAD_PER_CPU: f64 = 0.5;
/// Share of the CPUs' time that others used from which it is reported.
const OTHERS: f64 = 0.1;
/// Share of time taken by a hypervisor or a quota, from which it is reported.
const TAKEN: f64 = 0.01;
/// Share of the time with another thread on the core from which it counts.
const CORE_SHARED: f64 = 0.05;
/// Relative distance between the lowest and the highest clock from which it counts.
const CLOCK: f64 = 0.02;

/// One disturbance of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDisturbance {
    /// Its kind.
    pub kind: DisturbanceKind,
    /// Size: runnable tasks for load, a share of the time for steal and throttling, highest over lowest less 1 for the
    /// clock, a share of the online CPUs for CPUs, a share of the time or of the results for the core. Absent where
    /// there is no number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    /// What happened, as a clause: `other processes used 31% of the CPUs`.
    pub says: String,
}

/// Kinds of disturbances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisturbanceKind {
    /// Other work on the machine.
    Load,
    /// CPU time stolen by the hypervisor.
    Steal,
    /// Time for which a control group's quota stopped the run.
    Throttling,
    /// Another measurement at the same time.
    OtherRun,
    /// A changing clock frequency.
    Clock,
    /// Fewer CPUs than are online.
    Cpus,
    /// Another thread on the core.
    CoreShared,
    /// Raw results: the core was shared, or may have been.
    SharedCore,
}

/// The disturbances of a run; empty if there were none or none were recorded.
#[must_use]
pub fn disturbances(run: &Run) -> Vec<RunDisturbance> {
    let conditions = &run.session.conditions;
    let found = [
        other_run(conditions),
        load(conditions),
        steal(conditions),
        throttling(conditions),
        core_shared(run),
        shared_core(run),
        clock(conditions),
        cpus(conditions),
    ];
    found.into_iter().flatten().collect()
}

/// Share of the CPUs' time from which other work is a crowd, and the load of every CPU where that is not known.
const CROWD: (f64, f64) = (0.5, 2.0);

/// Whether other work kept the run waiting for its CPUs.
#[must_use]
pub fn is_beside_a_crowd(run: &Run) -> bool {
    let conditions = &run.session.conditions;
    let cpus = f64::from(conditions.online.or(conditions.cpus).unwrap_or(1).max(1));
    match conditions.others.as_ref().and_then(model::TakenTime::share) {
        Some(share) => share.get() > CROWD.0,
        None => conditions.load.is_some_and(|load| load > CROWD.1 * cpus),
    }
}

/// One line on a run: `web-3: other processes used 31% of the CPUs, steal time was 4%`.
#[must_use]
pub fn sentence(name: &str, disturbances: &[RunDisturbance]) -> Option<String> {
    let says: Vec<&str> = disturbances.iter().map(|one| one.says.as_str()).collect();
    (!says.is_empty()).then(|| format!("{name}: {}", says.join(", ")))
}

fn disturbance(kind: DisturbanceKind, amount: impl Into<Option<f64>>, says: String) -> Option<RunDisturbance> {
    Some(RunDisturbance { kind, amount: amount.into(), says })
}

fn other_run(conditions: &Conditions) -> Option<RunDisturbance> {
    conditions.beside.as_ref()?;
    disturbance(DisturbanceKind::OtherRun, None, "another Prony run measured at the same time".to_owned())
}

fn load(conditions: &Conditions) -> Option<RunDisturbance> {
    if let Some(share) = conditions.others.as_ref().and_then(model::TakenTime::share) {
        let says = format!("other processes used {} of the CPUs", percent(share.get()));
        let amount = share.get() * f64::from(conditions.cpus.unwrap_or(1));
        return if share.get() < OTHERS { None } else { disturbance(DisturbanceKind::Load, amount, says) };
    }
    let load = conditions.load.filter(|load| load.is_finite())?;
    // The load is that of the whole machine, whichever part of it the run may use.
    let cpus = conditions.online.or(conditions.cpus).unwrap_or(1).max(1);
    if load <= LOAD_PER_CPU * f64::from(cpus) {
        return None;
    }
    let says = format!("the load before the run was {load:.1} on {}", cpu_count(cpus));
    disturbance(DisturbanceKind::Load, load, says)
}

fn steal(conditions: &Conditions) -> Option<RunDisturbance> {
    let share = conditions.steal?.share()?.get();
    let says = format!("steal time was {}", percent(share));
    if share < TAKEN { None } else { disturbance(DisturbanceKind::Steal, share, says) }
}

fn throttling(conditions: &Conditions) -> Option<RunDisturbance> {
    let share = conditions.throttled?.share()?.get();
    let says = format!("a CPU quota stopped the run for {} of the time", percent(share));
    if share < TAKEN { None } else { disturbance(DisturbanceKind::Throttling, share, says) }
}

fn core_shared(run: &Run) -> Option<RunDisturbance> {
    let share = run.session.sensors.as_ref()?.core_shared?.get();
    let says = format!("the sibling hyperthread was busy {} of the time", percent(share));
    if share < CORE_SHARED { None } else { disturbance(DisturbanceKind::CoreShared, share, says) }
}

fn shared_core(run: &Run) -> Option<RunDisturbance> {
    let sensors = run.session.sensors.as_ref()?;
    let flagged = run.results.iter().filter(|result| result.has(Flag::SharedCore)).count();
    if flagged == 0 {
        return None;
    }
    let seen = sensors.exclusive.iter().any(|core| core.source != ExclusiveSource::Unknown);
    let why = if seen { "the sibling hyperthread was busy" } else { "the core was never seen without a busy sibling" };
    let results = if flagged == 1 { "1 result is".to_owned() } else { format!("{flagged} results are") };
    let amount = flagged as f64 / run.results.len() as f64;
    disturbance(DisturbanceKind::SharedCore, amount, format!("{results} raw: {why}"))
}

fn clock(conditions: &Conditions) -> Option<RunDisturbance> {
    let (low, high) = conditions.clock.filter(|(low, high)| *low > 0.0 && high.is_finite() && low <= high)?;
    let moved = high / low - 1.0;
    let says = format!("the CPU clock moved between {:.2} and {:.2} GHz", low * 1e-9, high * 1e-9);
    if moved < CLOCK { None } else { disturbance(DisturbanceKind::Clock, moved, says) }
}

fn cpus(conditions: &Conditions) -> Option<RunDisturbance> {
    let (allowed, online) = conditions.cpus.zip(conditions.online).filter(|(allowed, online)| allowed < online)?;
    let says = format!("Prony could use {allowed} of {}", cpu_count(online));
    disturbance(DisturbanceKind::Cpus, f64::from(allowed) / f64::from(online), says)
}

fn cpu_count(cpus: u32) -> String {
    if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") }
}

#[cfg(test)]
mod tests {
    use model::{Session, TakenTime};

    use super::*;

    fn run(conditions: Conditions) -> Run {
        Run { id: "r".to_owned(), session: Session { conditions, ..Session::default() }, ..Run::default() }
    }

    #[test]
    fn every_condition_is_reported_and_a_quiet_run_has_none() {
        let quiet = Conditions {
            load: Some(0.2),
            others: None,
            cpus: Some(2),
            online: Some(2),
            steal: Some(TakenTime { seconds: 0.01, of: 30.0 }),
            throttled: Some(TakenTime { seconds: 0.0, of: 0.0 }),
            beside: None,
            clock: Some((2.9e9, 2.91e9)),
        };
        assert!(disturbances(&run(quiet)).is_empty());
        let loud = Conditions {
            load: Some(3.1),
            others: None,
            cpus: Some(2),
            online: Some(4),
            steal: Some(TakenTime { seconds: 1.2, of: 30.0 }),
            throttled: Some(TakenTime { seconds: 1e9, of: 1.0 }),
            beside: Some("run of 12:00".to_owned()),
            clock: Some((2.6e9, 3.1e9)),
        };
        let found = disturbances(&run(loud));
        assert_eq!(
            sentence("web-3", &found).unwrap(),
            "web-3: another Prony run measured at the same time, the load before the run was 3.1 on 4 CPUs, steal \
             time was 4%, a CPU quota stopped the run for 100% of the time, the CPU clock moved between 2.60 and 3.10 GHz, \
             Prony could use 2 of 4 CPUs"
        );
        assert_eq!(sentence("web-3", &[]), None);
    }

    /// A build may have used the minute before a run; only work during the run counts.
    #[test]
    fn what_others_used_decides_over_the_load_of_the_minute_before() {
        let of = |load: f64, seconds: f64| Conditions {
            load: Some(load),
            others: Some(TakenTime { seconds, of: 340.0 }),
            cpus: Some(2),
            online: Some(2),
            ..Conditions::default()
        };
        assert!(disturbances(&run(of(1.8, 6.0))).is_empty(), "after a build");
        let beside = disturbances(&run(of(0.1, 170.0)));
        assert_eq!((beside[0].kind, beside[0].amount), (DisturbanceKind::Load, Some(1.0)));
        assert_eq!(beside[0].says, "other processes used 50% of the CPUs");
    }

    #[test]
    fn invalid_numbers_are_no_disturbance() {
        let odd = Conditions {
            load: Some(f64::NAN),
            steal: Some(TakenTime { seconds: f64::NAN, of: 1.0 }),
            throttled: Some(TakenTime { seconds: 1.0, of: -1.0 }),
            clock: Some((0.0, f64::INFINITY)),
            ..Conditions::default()
        };
        assert!(disturbances(&run(odd)).is_empty());
    }
}
