//! What else the machine does, and how it is set up.

use std::path::Path;
use std::time::Duration;

use model::Machine;

use super::{Check, Health};

/// How long other work is watched.
const WATCH: Duration = Duration::from_millis(1000);

pub(super) fn checks(directory: &Path) -> Vec<Check> {
    let machine = crate::machine(&[directory.to_path_buf()]);
    let allowed = sys::affinity::allowed().unwrap_or_default();
    let mut checks = vec![
        Check::fine("machine", machine.summary.clone()),
        busy(),
        cpus(&machine, &allowed),
        governor(&machine),
        boost(&machine),
        guest(&machine),
        huge_pages(&machine),
        throttling(&machine, &allowed),
        counters(),
        writable(directory),
    ];
    checks.extend(tools());
    checks.extend(leftovers(directory));
    checks
}

/// Share of CPU time that others used, and that the hypervisor took, while nothing of ours ran.
fn busy() -> Check {
    let Ok(before) = sys::usage::machine_times() else {
        return Check::unknown("other work", "the kernel does not say how busy the CPUs are");
    };
    std::thread::sleep(WATCH);
    let Ok(after) = sys::usage::machine_times() else {
        return Check::unknown("other work", "the kernel does not say how busy the CPUs are");
    };
    let used = after.since(&before);
    let all = (used.busy() + used.idle).max(1) as f64;
    let (busy, steal) = (100.0 * used.busy() as f64 / all, 100.0 * used.steal as f64 / all);
    if steal > 1.0 {
        return Check::attention(
            "other work",
            format!("the hypervisor took {steal:.1}% of CPU time in one second"),
            "measure when the host is quieter, or on a dedicated instance",
        );
    }
    if busy > 5.0 {
        return Check::attention(
            "other work",
            format!("other processes used {busy:.0}% of all CPUs in one second"),
            "stop them (see top); pinned figures bear it, figures across CPUs and of threads=all less",
        );
    }
    Check::fine(
        "other work",
        format!("other processes used {busy:.1}% of all CPUs in one second, the hypervisor {steal:.1}%"),
    )
}

fn cpus(machine: &Machine, allowed: &[usize]) -> Check {
    let online = machine.number("cpu.count").map_or(allowed.len(), |count| count as usize);
    if allowed.len() == 1 {
        return Check::attention(
            "CPUs",
            "one may be used",
            "figures across two CPUs need a second; see taskset, cpuset",
        );
    }
    if allowed.len() < online {
        return Check::attention(
            "CPUs",
            format!("{} of {online} may be used", allowed.len()),
            "all figures are of those; see taskset, cpuset",
        );
    }
    Check::fine("CPUs", format!("all {online} may be used"))
}

fn governor(machine: &Machine) -> Check {
    match machine.text("cpu.governor").as_deref() {
        Some("performance") => Check::fine("frequency governor", "performance"),
        Some(other) => Check::attention(
            "frequency governor",
            format!("{other}: the clock follows the load"),
            "as root: cpupower frequency-set -g performance",
        ),
        None => Check::unknown("frequency governor", "it cannot be read here"),
    }
}

fn boost(machine: &Machine) -> Check {
    match machine.text("cpu.boost").as_deref() {
        Some("yes") => Check::attention(
            "boost",
            "the clock rises while few CPUs work and falls when the chip is warm",
            "leave it on to see what users get; turn it off to compare designs",
        ),
        Some(_) => Check::fine("boost", "off"),
        None => Check::unknown("boost", "it cannot be read here"),
    }
}

fn guest(machine: &Machine) -> Check {
    match machine.text("virtual.hypervisor") {
        Some(name) if name != "none" => Check::attention(
            "virtual machine",
            format!("under {name}: other guests of the host are not seen from here"),
            "compare sessions of several days before you trust a small difference",
        ),
        _ => Check::fine("virtual machine", "none seen"),
    }
}

fn huge_pages(machine: &Machine) -> Check {
    match machine.text("memory.transparent_huge_pages").as_deref() {
        Some(setting) if setting.contains("never") && !setting.contains("madvise") => Check::attention(
            "huge pages",
            "never: points with pages=huge are not measured",
            "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        Some(setting) => Check::fine("huge pages", setting),
        None => Check::unknown("huge pages", "this kernel does not say"),
    }
}

fn throttling(machine: &Machine, allowed: &[usize]) -> Check {
    match machine.number("cgroup.cpus") {
        Some(quota) if quota < allowed.len() as f64 => Check::attention(
            "control group",
            format!("limits this process to {quota:.2} CPUs: what runs longer than its share of a period is stopped"),
            "measure outside the limit, or take figures as those of the limited machine",
        ),
        _ => Check::fine("control group", "no CPU limit"),
    }
}

fn counters() -> Check {
    use sys::counters::{Counters, Event};
    let opened = Counters::open(&[Event::Cycles, Event::Instructions]);
    match opened.read_one(Event::Instructions) {
        Ok(_) => Check::fine("hardware counters", "can be read: footprints hold cycles and instructions"),
        Err(reason) => Check::unknown("hardware counters", format!("footprints go without them: {reason}")),
    }
}

fn writable(directory: &Path) -> Check {
    let name = directory.join(format!(".prony-doctor-{}", std::process::id()));
    let subject = "directory for files";
    match std::fs::write(&name, b"x").and_then(|()| std::fs::remove_file(&name)) {
        Ok(()) => Check::fine(subject, format!("{} can be written", directory.display())),
        Err(error) => Check {
            state: Health::Attention,
            advice: "name another one with --directory; file figures are not measured here".to_owned(),
            ..Check::fine(subject, format!("{} cannot be written: {error}", directory.display()))
        },
    }
}

/// Programs that a few figures need.
fn tools() -> Vec<Check> {
    let wanted = [("/bin/sh", "os.fork_shell and shell.script"), ("cc", "shell.compile"), ("dc", "shell.dc")];
    let found = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        name.starts_with('/') && Path::new(name).exists()
            || std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    };
    let check = |(name, figures): (&str, &str)| match found(name) {
        true => Check::fine(name, "is there"),
        false => Check::attention(name, format!("is missing: {figures} cannot be measured"), "install it"),
    };
    wanted.into_iter().map(check).collect()
}

/// Scratch directories of launches that were killed.
fn leftovers(directory: &Path) -> Option<Check> {
    let entries = std::fs::read_dir(directory).ok()?;
    let ours = |name: &str| {
        let mut parts = name.split('-');
        parts.next() == Some("prony") && parts.next().is_some_and(|pid| pid.parse::<u32>().is_ok_and(|pid| !alive(pid)))
    };
    let left: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).filter(|name| ours(name)).collect();
    (!left.is_empty()).then(|| {
        Check::attention(
            "leftovers",
            format!("a killed launch left {}", left.join(", ")),
            "remove them: nothing uses them",
        )
    })
}

fn alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}
