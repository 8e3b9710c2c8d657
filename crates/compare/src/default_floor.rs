//! How far equal figures of two sessions usually lie apart, where no earlier sessions of the machine tell.

use model::{Class, Figure, Run, ValueBasis};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::conditions::{had_its_cpus, is_beside_a_crowd};

/// The floor of transfers whose protocol paces itself by what it takes for the network: 38% between nine sessions of a
/// guest.
const PACED: f64 = 0.4;
/// The floor in cycles of transfers by TCP, which were not measured in cycles without that pacing.
const TRANSFERRED: f64 = Class::Ipc.cycles_floor();
/// The floor in cycles of rings of processes, within a boot: eight of them lay 0.7% apart between 29 sessions of a
/// guest, and 1.0% between twelve later ones.
const RINGS: f64 = 0.01;
/// The floor in cycles of several system calls in turn, whose levels belong to a process: 1.5% between ten sessions of
/// a guest beyond their own errors.
const CALLS_IN_TURN: f64 = 0.015;
/// The same of single calls, signals and mispredictions: 0.6 to 1.3% between 39 sessions of a guest over nine hours
/// beyond their own errors. Within an hour some lay as far apart, and others only where few launches may all be of one
/// level: between sessions of seconds.
const CALLS: f64 = 0.01;
const FEW: usize = 20;
/// The same of single calls and signals where other work takes most of the CPUs: 3.3% between seven sessions of seconds
/// at load 14, of 725 to 786 cycles a write.
const CALLS_IN_A_CROWD: f64 = 0.033;
/// The share of its time for which a core was shared from which a session is crowded: floors in cycles were measured up
/// to 65%, and two sessions at 67 and 68% agreed with one at 45%.
const SHARED_MOST: f64 = 0.7;
/// The floor in cycles of two parties on one CPU, and of bytes through a pipe, of sessions of one boot hours apart:
/// 0.35 to 0.8% between the same 39.
const HOURS: f64 = 0.008;
/// Sessions that began within so long of each other are of one hour.
const HOUR: Duration = Duration::HOUR;
/// The floor of the sizes of caches, on a guest, whose host's others share them: 20 to 80% between the same sessions.
const SHARED_SIZE: f64 = 0.5;
/// The least floor of what a guest's core ran beside neighbours, or may have: a value as observed.
const OBSERVED: f64 = Class::Process.guest_floor();

/// How far builds of the program lie apart: its own code lies elsewhere, and branches and the fetch of instructions
/// depend on that. Between a dozen builds on one guest, in cycles, beyond the figures' intervals: 2.9% of the discs,
/// 0.8% of Dhrystone and 0.9% of double arithmetic, and nothing of the other kernels; a misprediction 1.3% between
/// later ones.
pub(super) fn code_layout(figure: &Figure) -> f64 {
    match figure.probe.as_str() {
        "cpu.hanoi" => 0.03,
        "cpu.branch_miss" => 0.02,
        "cpu.dhrystone" => 0.01,
        "cpu.arithmetic" if figure.point.get("type") == Some("double") => 0.01,
        _ => 0.0,
    }
}

/// Whether two runs are known to be of one build of the program.
pub(super) fn one_build(a: &Run, b: &Run) -> bool {
    let id = |run: &Run| run.machine.text("software.build_id");
    id(a).is_some_and(|build| id(b) == Some(build))
}

/// What two values of a figure are compared in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FloorBasis {
    /// Time, at whatever clock.
    Time,
    /// Cycles of the core, or time at the clocks that were shown.
    Cycles,
    /// The same of a session that was more crowded than those whose floors were measured.
    CyclesInACrowd,
    /// Cycles of sessions of one boot of a machine, which had their CPUs to themselves.
    CyclesOfOneBoot,
    /// And within an hour.
    CyclesOfOneHour,
}

impl FloorBasis {
    pub(super) const fn new(cycles: bool, nearness: Nearness) -> Self {
        match (cycles, nearness) {
            (false, _) => Self::Time,
            (true, Nearness::Crowded) => Self::CyclesInACrowd,
            (true, Nearness::Apart) => Self::Cycles,
            (true, Nearness::Boot) => Self::CyclesOfOneBoot,
            (true, Nearness::Hour) => Self::CyclesOfOneHour,
        }
    }
}

/// The floor of a figure of a machine without earlier sessions.
pub(super) fn default_floor(run: &Run, figure: &Figure, basis: FloorBasis) -> f64 {
    let paced = || {
        figure.point.get("congestion") != Some("unpaced")
            && run.machine.text("network.congestion_control").is_some_and(|name| name.starts_with("bbr"))
    };
    let launches = figure.counted().len();
    let least = match figure.probe.as_str() {
        "ipc.tcp_bandwidth" if paced() => PACED,
        "ipc.tcp_bandwidth" if matches!(basis, FloorBasis::CyclesOfOneBoot | FloorBasis::CyclesOfOneHour) => {
            TRANSFERRED
        }
        "os.context_switch" => RINGS,
        "os.syscall_mix" if basis != FloorBasis::Time => CALLS_IN_TURN,
        "os.syscall_getppid" | "os.syscall_write" | "os.signal_handle" | "os.signal_install"
            if basis == FloorBasis::CyclesInACrowd =>
        {
            CALLS_IN_A_CROWD
        }
        "os.signal_install" | "cpu.branch_miss" if basis != FloorBasis::Time => CALLS,
        "os.syscall_getppid" | "os.syscall_write" | "os.signal_handle"
            if basis != FloorBasis::Time && (basis != FloorBasis::CyclesOfOneHour || launches < FEW) =>
        {
            CALLS
        }
        "ipc.pipe_throughput" if !matches!(basis, FloorBasis::Time | FloorBasis::CyclesOfOneHour) => HOURS,
        _ if figure.class == Class::Ipc && basis == FloorBasis::CyclesOfOneBoot => HOURS,
        "memory.hierarchy" if run.machine.is_guest() => SHARED_SIZE,
        _ => 0.0,
    };
    let of_class = match (basis, run.machine.is_guest()) {
        (FloorBasis::Cycles, _) => figure.class.cycles_floor(),
        (FloorBasis::CyclesInACrowd, true) => figure.class.cycles_floor().max(figure.class.guest_floor()),
        (FloorBasis::CyclesInACrowd, false) => figure.class.cycles_floor().max(figure.class.session_floor()),
        (FloorBasis::CyclesOfOneBoot | FloorBasis::CyclesOfOneHour, _) => figure.class.boot_floor(),
        (FloorBasis::Time, true) if matches!(figure.basis(), ValueBasis::Observed(_)) => {
            figure.class.guest_floor().max(OBSERVED)
        }
        (FloorBasis::Time, true) => figure.class.guest_floor(),
        (FloorBasis::Time, false) => figure.class.session_floor(),
    };
    of_class.max(least)
}

/// What two sessions of a machine have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nearness {
    /// Nothing, and one of them was more crowded than those whose floors were measured.
    Crowded,
    Apart,
    /// One boot, and CPUs to themselves.
    Boot,
    /// And they began within an hour of each other.
    Hour,
}

/// What two sessions of a machine have in common beside it.
pub(super) fn nearness(a: &Run, b: &Run) -> Nearness {
    if is_crowded(a) || is_crowded(b) {
        return Nearness::Crowded;
    }
    let began = |run: &Run| OffsetDateTime::parse(&run.session.started, &Rfc3339).ok();
    if !(one_boot(a, b) && had_its_cpus(a) && had_its_cpus(b)) {
        return Nearness::Apart;
    }
    match (began(a), began(b)) {
        (Some(one), Some(other)) if (one - other).abs() <= HOUR => Nearness::Hour,
        _ => Nearness::Boot,
    }
}

/// Whether a session's core was shared for longer, or more other work ran beside it, than in those whose floors in
/// cycles were measured. What a neighbour leaves in the caches is in batches beside which it is not, too: of two
/// sessions a minute apart, their core shared for 45 and 73% of the time, a pipe's round trip took 17% more cycles in
/// the latter.
pub(super) fn is_crowded(run: &Run) -> bool {
    let shared = run.session.references.as_ref().and_then(|references| references.core_shared);
    shared.is_some_and(|share| share.get() > SHARED_MOST) || is_beside_a_crowd(run)
}

/// Whether two sessions ran under one boot of their machine, from begin to end: one kernel, in one place of memory.
fn one_boot(a: &Run, b: &Run) -> bool {
    let boot = &a.session.began_on.boot;
    let all = [a, b].into_iter().flat_map(|run| [Some(&run.session.began_on), run.session.ended_on.as_ref()]);
    !boot.is_empty() && all.flatten().all(|identity| identity.boot == *boot)
}

#[cfg(test)]
pub(super) mod tests {
    use model::{FactValue, FigureReferences, ObservedReason};

    use super::*;

    /// A run on a machine with these facts.
    pub(crate) fn on(facts: &[(&str, &str)]) -> Run {
        let mut run: Run = serde_json::from_str(include_str!("../../model/tests/run.json")).unwrap();
        let fact = |(name, value): &(&str, &str)| {
            let mut fact = run.machine.facts[0].clone();
            (fact.name, fact.value) = ((*name).to_owned(), FactValue::Text((*value).to_owned()));
            fact
        };
        run.machine.facts = facts.iter().map(fact).collect();
        run
    }

    /// A figure of this probe.
    pub(crate) fn figure(probe: &str, class: Class, basis: ValueBasis) -> Figure {
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
        let floors = |figure: &Figure| [&own, &guest].map(|run| default_floor(run, figure, FloorBasis::Time));
        assert_eq!(floors(&bandwidth), [0.01, 0.06]);
        assert_eq!(floors(&figure("cpu.hanoi", Class::Compute, ValueBasis::Undisturbed)), [0.005, 0.005]);
        let observed = ValueBasis::Observed(ObservedReason::LongOperation);
        assert_eq!(floors(&figure("cpu.hanoi", Class::Compute, observed)), [0.005, 0.11], "as observed");
        assert_eq!(floors(&figure("memory.hierarchy", Class::MemoryLatency, ValueBasis::Undisturbed)), [0.05, 0.5]);
        let core = figure("cpu.hanoi", Class::Compute, ValueBasis::Cycles);
        assert_eq!(
            [&own, &guest].map(|run| default_floor(run, &core, FloorBasis::Cycles)),
            [0.002; 2],
            "cycles are the core's own"
        );
    }

    #[test]
    fn system_calls_in_turn_have_levels_of_a_process() {
        let run = on(&[("virtual.hypervisor", "KVM")]);
        let floor = |probe: &str, basis| default_floor(&run, &figure(probe, Class::Compute, ValueBasis::Cycles), basis);
        for basis in [FloorBasis::Cycles, FloorBasis::CyclesOfOneBoot, FloorBasis::CyclesOfOneHour] {
            let floors = ["os.syscall_write", "os.syscall_mix", "os.clock_read"].map(|probe| floor(probe, basis));
            assert_eq!(floors, [0.01, 0.015, 0.002]);
        }
        let many = |basis| {
            let mut call = figure("os.syscall_write", Class::Compute, ValueBasis::Cycles);
            call.launches = (0..40).map(|round| model::Launch { round, ..model::Launch::default() }).collect();
            default_floor(&run, &call, basis)
        };
        let hour = many(FloorBasis::CyclesOfOneHour);
        assert_eq!([many(FloorBasis::Cycles), many(FloorBasis::CyclesOfOneBoot), hour], [0.01, 0.01, 0.002]);
        assert_eq!(floor("os.syscall_mix", FloorBasis::Time), 0.005);
    }

    #[test]
    fn sessions_in_a_crowd_have_the_floors_of_time_at_least() {
        let within = |shared: f64, others: f64| {
            let mut run = on(&[("virtual.hypervisor", "KVM")]);
            "one boot".clone_into(&mut run.session.began_on.boot);
            run.session.ended_on = None;
            run.session.conditions.steal = None;
            run.session.conditions.others = Some(model::TakenTime { seconds: others * 60.0, of: 60.0 });
            let core_shared = Some(model::Share::new(shared).unwrap());
            run.session.references = Some(model::SessionReferences { core_shared, ..Default::default() });
            run
        };
        let quiet = within(0.45, 0.01);
        let near = |other: &Run| nearness(&quiet, other);
        assert_ne!(near(&within(0.68, 0.01)), Nearness::Crowded);
        assert_eq!([within(0.73, 0.01), within(0.1, 0.9)].map(|run| near(&run)), [Nearness::Crowded; 2]);
        let crowd = FloorBasis::new(true, Nearness::Crowded);
        let floor = |probe: &str, class| default_floor(&quiet, &figure(probe, class, ValueBasis::Cycles), crowd);
        assert_eq!(floor("ipc.pipe_latency", Class::Ipc), Class::Ipc.guest_floor());
        assert_eq!([floor("cpu.aes", Class::Compute), floor("os.syscall_write", Class::Compute)], [0.005, 0.033]);
        let time = FloorBasis::new(false, Nearness::Crowded);
        let aes = figure("cpu.aes", Class::Compute, ValueBasis::Undisturbed);
        assert_eq!(default_floor(&quiet, &aes, time), 0.005);
    }

    #[test]
    fn transfers_that_pace_themselves_have_a_floor_of_their_own() {
        let tcp = figure("ipc.tcp_bandwidth", Class::Ipc, ValueBasis::Cycles);
        let under = |control: &str, basis| default_floor(&on(&[("network.congestion_control", control)]), &tcp, basis);
        for basis in [FloorBasis::Cycles, FloorBasis::CyclesOfOneBoot, FloorBasis::CyclesOfOneHour] {
            assert_eq!((under("bbr", basis), under("cubic", basis)), (PACED, 0.03));
            let unpaced = Figure { point: "congestion=unpaced".parse().unwrap(), ..tcp.clone() };
            assert_eq!(default_floor(&on(&[("network.congestion_control", "bbr")]), &unpaced, basis), 0.03);
        }
    }
}
