//! Limits of a container (CPUs, CPU quota, memory, processes, writable places) and the results that each one affects.

use std::path::Path;

use model::{GIB, Machine, Topology, spoken_size};
use os::cgroup::{CgroupLimits, Quota, TaskRoom, Throttled};

use super::{Check, Health};
use crate::sizing;

/// Results that a sentence names.
const NAMED: usize = 6;

/// Limits of this process's control groups.
#[derive(Debug, Clone, Default)]
struct GroupState {
    limits: CgroupLimits,
    memory_left: Option<u64>,
    tasks: Option<TaskRoom>,
    throttled: Throttled,
}

impl GroupState {
    /// From `/proc` and `/sys`, or from a copy of them.
    fn under(root: &Path) -> kernels::Result<Self> {
        Ok(Self {
            limits: os::cgroup::limits_under(root)?,
            memory_left: os::cgroup::memory_left_under(root)?,
            tasks: os::cgroup::task_room_under(root)?,
            throttled: os::cgroup::throttled_under(root).unwrap_or_default(),
        })
    }
}

/// `refused` says why samples cannot be pinned to the CPUs that may be used.
pub(super) fn checks(
    machine: &Machine,
    (allowed, refused): (&[usize], Option<&kernels::Error>),
    directory: &Path,
) -> Vec<Check> {
    let topology = machine.topology.clone().unwrap_or_else(|| Topology::unknown(allowed));
    let mut checks = match GroupState::under(Path::new("/")) {
        Ok(state) => limited(machine, &topology, allowed, &state),
        Err(reason) => {
            vec![cpus(machine, allowed, None), Check::unknown("control group", reason.to_string())]
        }
    };
    if let (Some(reason), Some(cpus)) = (refused, checks.first_mut()) {
        *cpus = unpinned(reason);
    }
    checks.extend([filter(machine), priority(machine), writable(directory), in_memory(shared_memory())]);
    checks
}

fn limited(machine: &Machine, topology: &Topology, allowed: &[usize], state: &GroupState) -> Vec<Check> {
    vec![
        cpus(machine, allowed, state.limits.cpuset.as_deref()),
        quota(state.limits.quota, state.throttled, allowed.len()),
        memory(state.limits.memory_bytes, state.memory_left, topology, allowed),
        processes(state.tasks, topology, allowed),
    ]
}

fn cpus(machine: &Machine, allowed: &[usize], cpuset: Option<&[usize]>) -> Check {
    let online = machine.number("cpu.online").map_or(allowed.len(), |count| count as usize);
    let (says, advice) = match allowed.len() {
        1 if online > 1 => {
            (format!("1 of {online} may be used"), "Results across two CPUs are not measured, and threads=all is 1.")
        }
        1 => ("one is online".to_owned(), "Results across two CPUs are not measured."),
        fewer if fewer < online => (format!("{fewer} of {online} may be used"), "Results describe these CPUs only."),
        _ => return Check::fine("CPUs", format!("all {online} may be used")),
    };
    // A group never permits more than the process may use, so equality means that the group decides.
    let by = match cpuset {
        _ if allowed.len() >= online => "",
        Some(cpuset) if cpuset == allowed => ", by the cpuset of its control group",
        _ => ", by its own affinity (taskset)",
    };
    Check::attention("CPUs", format!("{says}{by}"), advice)
}

/// Every sample is pinned, so that none is measured where that is refused.
fn unpinned(reason: &kernels::Error) -> Check {
    let behind = os::process::limit_behind(reason.errno()).map(|limit| format!("; {limit}")).unwrap_or_default();
    Check {
        state: Health::Bad,
        advice: "Allow sched_getaffinity and sched_setaffinity. Nothing can be measured without them.".to_owned(),
        ..Check::fine("CPUs", format!("{reason}{behind}"))
    }
}

/// Expected effect of a quota on results.
fn quota(quota: Option<Quota>, so_far: Throttled, cpus: usize) -> Check {
    let Some(quota) = quota else { return Check::fine("CPU quota", "no limit") };
    let mut says =
        format!("a control group allows {:.2} CPUs per {:.0} ms", quota.cpus, quota.period.as_secs_f64() * 1e3);
    if so_far.throttled > 0 {
        says.push_str(&format!(", and throttled {} of {} periods so far", so_far.throttled, so_far.periods));
    }
    if quota.cpus >= cpus as f64 {
        return Check::fine("CPU quota", format!("{says}: enough for {cpus} CPUs"));
    }
    let bends = if quota.cpus < 1.0 {
        "every sample that runs longer than that, most of all with threads=all and in long operations"
    } else {
        "results with threads=all or several processes; results on one CPU fit in"
    };
    Check::attention(
        "CPU quota",
        format!("{says}; it throttles {bends}"),
        "Prony waits for a new period between samples. Measure outside the limit to see the machine itself.",
    )
}

/// Results of the default suite, as the machine would measure them, that something holds of.
fn results(topology: &Topology, allowed: &[usize], holds: impl Fn(&sizing::ResultNeeds) -> bool) -> Vec<String> {
    let entries = crate::select(Some("default"), &[], 0.02).unwrap_or_default();
    let mut named: Vec<String> = Vec::new();
    for entry in entries {
        let Some(benchmark) = benchmarks::find(&entry.benchmark) else { continue };
        // A result without a placement here has another reason.
        let Ok(cpus) = crate::place(benchmark, &entry.parameters, topology, allowed) else { continue };
        if holds(&sizing::needs(benchmark, &entry.parameters, &cpus)) && !named.contains(&entry.benchmark) {
            named.push(entry.benchmark);
        }
    }
    named
}

/// At most a few names: "memory.copy, memory.read and 3 more".
fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let names = names.join(", ");
    if more > 0 { format!("{names} and {more} more") } else { names }
}

fn memory(limit: Option<u64>, left: Option<u64>, topology: &Topology, allowed: &[usize]) -> Check {
    let subject = "memory limit";
    let (Some(limit), Some(left)) = (limit, left) else { return Check::fine(subject, "no limit") };
    let [permitted, free] = [limit, left].map(spoken_size);
    let says = format!("a control group permits {permitted} of memory, of which {free} are free");
    let lacking = results(topology, allowed, |needs| needs.lack_memory(left));
    if lacking.is_empty() {
        return Check::fine(subject, format!("{says}: enough for every result of the default suite"));
    }
    Check::attention(
        subject,
        format!("{says}, too little for {}", listed(lacking)),
        "These are not measured. Give the container more memory, or name smaller working sets.",
    )
}

fn processes(room: Option<TaskRoom>, topology: &Topology, allowed: &[usize]) -> Check {
    let subject = "processes";
    let Some(room) = room else { return Check::fine(subject, "no limit") };
    let says = format!("a control group permits {} processes and threads, of which {} are free", room.limit, room.left);
    let lacking = results(topology, allowed, |needs| needs.tasks > room.left);
    if lacking.is_empty() {
        return Check::fine(subject, format!("{says}: enough for every result of the default suite"));
    }
    Check::attention(
        subject,
        format!("{says}, too few for {}", listed(lacking)),
        "These are not measured. Give the container more processes (--pids-limit, pids.max).",
    )
}

/// Security filters between this process and the kernel's calls.
fn filter(machine: &Machine) -> Check {
    let subject = "system calls";
    let is = |name: &str| machine.text(name).as_deref() == Some("yes");
    if is("confinement.traced") {
        let says = "a debugger traces this process and may stop every system call";
        return Check::attention(subject, says, "Measure without it. It slows every result that calls the kernel.");
    }
    if !is("confinement.seccomp") {
        return Check::fine(subject, "no seccomp filter, no debugger");
    }
    let says = match machine.number("confinement.seccomp_filters") {
        Some(count) if count > 1.0 => format!("{count} seccomp filters check every system call"),
        _ => "a seccomp filter checks every system call".to_owned(),
    };
    Check::attention(
        subject,
        says,
        "Results that call the kernel include its cost. Measure outside the container to see the machine itself.",
    )
}

/// Scheduling priority of this process.
fn priority(machine: &Machine) -> Check {
    let subject = "priority";
    let nice = machine.number("confinement.nice").unwrap_or(0.0);
    let policy = machine.text("confinement.policy").unwrap_or_else(|| "other".to_owned());
    if nice == 0.0 && policy == "other" {
        return Check::fine(subject, "normal (nice 0)");
    }
    Check::attention(
        subject,
        format!("nice {nice:.0}, policy {policy}"),
        "Start Prony without nice or chrt, unless this priority is what you want to measure.",
    )
}

/// Least room in memory for the results of files there.
const FILES_IN_MEMORY: u64 = GIB / 4;

/// Free bytes in the memory file system of file results; `None` if there is none.
fn shared_memory() -> Option<u64> {
    let found = os::file::filesystem("/dev/shm").ok().filter(|found| found.kind == "tmpfs")?;
    let read_only = found.options.split(',').any(|option| option == "ro");
    (!read_only).then_some(found.free_bytes)
}

fn in_memory(free: Option<u64>) -> Check {
    let subject = "files in memory";
    match free {
        None => Check::attention(
            subject,
            "/dev/shm is not a writable tmpfs",
            "Results with place=tmpfs use another tmpfs, or are not measured.",
        ),
        Some(free) if free < FILES_IN_MEMORY => Check::attention(
            subject,
            format!("/dev/shm has {} free", spoken_size(free)),
            "Results with place=tmpfs that need more than half of it are not measured. Give a container more with --shm-size.",
        ),
        Some(free) => Check::fine(subject, format!("/dev/shm has {} free", spoken_size(free))),
    }
}

fn writable(directory: &Path) -> Check {
    let name = directory.join(format!(".prony-doctor-{}", std::process::id()));
    let subject = "directory for files";
    match std::fs::write(&name, b"x").and_then(|()| std::fs::remove_file(&name)) {
        Ok(()) => Check::fine(subject, format!("{} can be written", directory.display())),
        Err(error) => Check {
            state: Health::Attention,
            advice: "Name another one with --directory. File results are not measured here.".to_owned(),
            ..Check::fine(subject, format!("{} cannot be written: {error}", directory.display()))
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::MIB;

    use super::*;

    fn two_cpus() -> Topology {
        Topology::unknown(&[0, 1])
    }

    #[test]
    fn a_quota_says_what_it_will_bend() {
        let of = |cpus: f64| Some(Quota { cpus, period: Duration::from_millis(100) });
        assert_eq!(quota(None, Throttled::default(), 2).state, Health::Fine);
        assert_eq!(quota(of(2.0), Throttled::default(), 2).state, Health::Fine, "as much as two CPUs can use");
        let half = quota(of(0.5), Throttled { periods: 10, throttled: 3, time: Duration::ZERO }, 2);
        assert_eq!(half.state, Health::Attention);
        assert!(half.says.contains("0.50 CPUs") && half.says.contains("3 of 10") && half.says.contains("every sample"));
        assert!(quota(of(1.0), Throttled::default(), 2).says.contains("threads=all"));
    }

    #[test]
    fn fewer_cpus_than_are_online_are_told() {
        let online = |count: f64| {
            let fact = model::Fact::new("cpu.online", count, "", &[]);
            Machine { facts: vec![fact], ..Machine::default() }
        };
        assert!(cpus(&online(2.0), &[0], None).says.contains("1 of 2"));
        assert!(cpus(&online(4.0), &[0, 3], Some(&[0, 3])).says.contains("2 of 4 may be used, by the cpuset"));
        assert_eq!(cpus(&online(2.0), &[0, 1], None).state, Health::Fine);
    }

    #[test]
    fn cpus_that_samples_cannot_be_pinned_to_are_told_first() {
        let refused = kernels::Error::refused("pin to a CPU", "it is not permitted");
        let told = |refused| checks(&Machine::default(), (&[0, 1], refused), Path::new("/")).swap_remove(0);
        let (with, without) = (told(Some(&refused)), told(None));
        assert_eq!((with.subject.as_str(), with.state), ("CPUs", Health::Bad));
        assert!(with.says.contains("could not pin to a CPU: it is not permitted"), "{}", with.says);
        assert_eq!((without.subject.as_str(), without.state), ("CPUs", Health::Fine));
    }

    #[test]
    fn a_filter_of_system_calls_and_a_debugger_are_told() {
        let machine = |facts: &[(&str, model::FactValue)]| {
            let fact = |(name, value): &(&str, model::FactValue)| model::Fact::new(name, value.clone(), "", &[]);
            Machine { facts: facts.iter().map(fact).collect(), ..Machine::default() }
        };
        let (yes, no) = (model::FactValue::Truth(true), model::FactValue::Truth(false));
        assert_eq!(filter(&machine(&[("confinement.seccomp", no)])).state, Health::Fine);
        let counted = ("confinement.seccomp_filters", model::FactValue::Number(2.0));
        assert!(
            filter(&machine(&[("confinement.seccomp", yes.clone()), counted])).says.starts_with("2 seccomp filters")
        );
        assert!(filter(&machine(&[("confinement.traced", yes)])).says.contains("debugger"));
        assert_eq!(priority(&machine(&[])).state, Health::Fine);
        let nice = ("confinement.nice", model::FactValue::Number(19.0));
        assert!(priority(&machine(&[nice])).says.starts_with("nice 19, policy other"));
    }

    #[test]
    fn memory_and_processes_name_the_results_that_lack_them() {
        let told = |limit: u64, left: u64| memory(Some(limit), Some(left), &two_cpus(), &[0, 1]);
        let little = told(200 * MIB, 150 * MIB);
        assert_eq!(little.state, Health::Attention);
        let words = "200 MiB of memory, of which 150 MiB are free, too little for memory.";
        assert!(little.says.contains(words), "{}", little.says);
        assert!(!little.says.contains("cpu."), "arithmetic needs none: {}", little.says);
        assert_eq!(told(64 * GIB, 60 * GIB).state, Health::Fine);
        assert_eq!(memory(None, None, &two_cpus(), &[0, 1]).state, Health::Fine);
        let room = |left: u64| processes(Some(TaskRoom { limit: 20, left, refused: 0 }), &two_cpus(), &[0, 1]);
        let few = room(6);
        assert!(few.says.contains("of which 6 are free, too few for os."), "{}", few.says);
        assert!(few.says.contains("os.context_switch"), "a ring of eight: {}", few.says);
        assert_eq!(room(2000).state, Health::Fine);
        assert_eq!(processes(None, &two_cpus(), &[0, 1]).state, Health::Fine);
    }

    #[test]
    fn small_shared_memory_is_told() {
        assert!(in_memory(Some(64 * MIB)).says.contains("64 MiB free"));
        assert_eq!((in_memory(Some(GIB)).state, in_memory(None).state), (Health::Fine, Health::Attention));
    }

    #[test]
    fn recorded_containers_are_told_what_bends_them() {
        let of = |name: &str| {
            let root = testing::container::tree(name);
            let state = GroupState::under(root.path()).unwrap();
            let machine = Machine::default();
            limited(&machine, &two_cpus(), &[0, 1], &state)
        };
        let attention = |checks: &[Check]| {
            let told = checks.iter().filter(|check| check.state == Health::Attention);
            told.map(|check| check.subject.clone()).collect::<Vec<_>>()
        };
        assert_eq!(attention(&of("free-v1")), Vec::<String>::new());
        for name in ["tight-v1", "tight-v2"] {
            let checks = of(name);
            assert_eq!(attention(&checks), ["CPU quota", "memory limit", "processes"], "{name}");
            let says: String = checks.iter().map(|check| check.says.clone()).collect();
            for words in ["0.50 CPUs per 100 ms", "permits 200 MiB", "permits 12 processes"] {
                assert!(says.contains(words), "{name}: {says}");
            }
        }
    }
}
