//! Faults of the configuration that facts of one machine show by themselves. Their names are those of `explain`'s list
//! of causes.

use model::{Machine, advice};

/// One fault.
pub(crate) struct Defect {
    /// The cause in `explain`'s list.
    pub(crate) cause: &'static str,
    /// The fact as a clause, if the fault is there.
    pub(crate) holds: fn(&Machine) -> Option<String>,
    /// What to do.
    pub(crate) cure: &'static str,
}

/// Share of a file system below which its free space is scattered.
const FULL: f64 = 0.05;
/// Share of the memory from which swapped pages matter.
const SWAPPED: f64 = 0.01;
/// Corrected errors of the memory from which they are no accident.
const ERRORS: f64 = 100.0;
/// Share of the interrupts on one CPU, and CPUs, from which the others idle.
const ONE_CPU: (f64, f64) = (0.9, 4.0);
/// Sources of the clock whose reading enters the kernel or asks a device.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "xen"];

/// Every fault that needs no other machine to be seen.
pub(crate) static DEFECTS: &[Defect] = &[
    Defect { cause: "cgroup CPU limit", holds: quota, cure: "raise the limit (cpu.max), or run outside it" },
    Defect { cause: "number of threads", holds: cpuset, cure: "allow all CPUs (cpuset.cpus, taskset)" },
    Defect { cause: "NUMA nodes", holds: nodes, cure: "run without numactl --membind, or widen cpuset.mems" },
    Defect { cause: "memory channels and modules", holds: channels, cure: "populate the other memory channels" },
    Defect {
        cause: "memory channels and modules",
        holds: speed,
        cure: "select the rated speed in the firmware, and use equal modules",
    },
    Defect { cause: "frequency and boost limits", holds: governor, cure: advice::GOVERNOR },
    Defect {
        cause: "frequency and boost limits",
        holds: boost,
        cure: "turn boost on, in the firmware or below /sys/devices/system/cpu",
    },
    Defect { cause: "heat", holds: heat, cure: "check fans, filters and heat sinks" },
    Defect {
        cause: "clock source",
        holds: clock,
        cure: "select tsc (clocksource=tsc), and look in dmesg why it was refused",
    },
    Defect { cause: "huge pages", holds: huge_pages, cure: advice::HUGE_PAGES },
    Defect { cause: "swapping", holds: swap, cure: "stop what fills the memory, or add memory" },
    Defect { cause: "a full file system", holds: full, cure: "remove files" },
    Defect {
        cause: "a limit on disk I/O",
        holds: |machine| {
            let count = machine.number("cgroup.limited_disks")?;
            Some(format!("a control group limits I/O to {count} {}", if count == 1.0 { "disk" } else { "disks" }))
        },
        cure: "raise the limit (io.max)",
    },
    Defect { cause: "a degraded array", holds: array, cure: "replace the missing disk, and wait for the rebuild" },
    Defect { cause: "memory errors", holds: errors, cure: "replace the module that EDAC names" },
    Defect { cause: "interrupts on one CPU", holds: interrupts, cure: "spread them (irqbalance, smp_affinity)" },
    Defect { cause: "a debug kernel", holds: debug, cure: "start the distribution's usual kernel" },
];

/// CPUs that are online, and those that this process may use.
pub(crate) fn cpus(machine: &Machine) -> Option<(f64, f64)> {
    let online = machine.number("cpu.online")?;
    let allowed = machine.topology.as_ref().map(|machine| machine.allowed.len() as f64).filter(|count| *count > 0.0);
    let group = machine.number("cgroup.cpuset_cpus");
    Some((online, [allowed, group].into_iter().flatten().fold(online, f64::min)))
}

fn quota(machine: &Machine) -> Option<String> {
    let (quota, (_, allowed)) = (machine.number("cgroup.cpus")?, cpus(machine)?);
    (quota < allowed).then(|| format!("a control group allows {quota:.2} CPUs"))
}

fn cpuset(machine: &Machine) -> Option<String> {
    let (online, allowed) = cpus(machine)?;
    (allowed < online).then(|| format!("{allowed} of {online} CPUs may be used"))
}

fn nodes(machine: &Machine) -> Option<String> {
    let all = machine.number("memory.nodes")?;
    let may = machine.text("confinement.memory_nodes")?.parse::<model::CpuSet>().ok()?.len() as f64;
    (may < all).then(|| format!("the memory of {may} of {all} NUMA nodes may be used"))
}

fn channels(machine: &Machine) -> Option<String> {
    let (used, all) = (machine.number("memory.channels")?, machine.number("memory.board_channels")?);
    (used < all).then(|| format!("{used} of {all} memory channels are populated"))
}

fn speed(machine: &Machine) -> Option<String> {
    let (now, rated) = (machine.number("memory.speed")?, machine.number("memory.rated_speed")?);
    (now < 0.99 * rated).then(|| format!("memory runs at {:.0} of {:.0} MT/s", now * 1e-6, rated * 1e-6))
}

fn governor(machine: &Machine) -> Option<String> {
    let (governor, driver) = (machine.text("cpu.governor")?, machine.text("cpu.frequency_driver").unwrap_or_default());
    // These drivers call their usual mode so.
    let own = ["intel_pstate", "amd-pstate-epp", "amd_pstate_epp"].contains(&driver.as_str());
    let slow = ["conservative", "userspace"].contains(&governor.as_str()) || (governor == "powersave" && !own);
    let saves = machine.text("cpu.energy_preference").is_some_and(|words| words == "power");
    slow.then(|| format!("the frequency governor is {governor}"))
        .or_else(|| saves.then(|| "the energy preference is power".to_owned()))
}

fn boost(machine: &Machine) -> Option<String> {
    (machine.text("cpu.boost")? == "no").then(|| "boost is off".to_owned())
}

fn heat(machine: &Machine) -> Option<String> {
    let count = ["cpu.core_throttled", "cpu.package_throttled"]
        .iter()
        .filter_map(|name| machine.number(name))
        .fold(0.0, f64::max);
    (count > 0.0).then(|| format!("heat lowered the clock {count} times since the start"))
}

fn clock(machine: &Machine) -> Option<String> {
    let source = machine.text("clock.source")?;
    SLOW_CLOCKS.contains(&source.as_str()).then(|| format!("the clock source is {source}"))
}

fn huge_pages(machine: &Machine) -> Option<String> {
    (machine.text("memory.transparent_huge_pages")? == "never").then(|| "transparent huge pages are off".to_owned())
}

fn swap(machine: &Machine) -> Option<String> {
    let used = machine.number("memory.swap")? - machine.number("memory.swap_free")?;
    (used > SWAPPED * machine.number("memory.total")?)
        .then(|| format!("{} are swapped out", model::spoken_size(used as u64)))
}

fn full(machine: &Machine) -> Option<String> {
    let (free, size) = (machine.number("filesystem.target.free")?, machine.number("filesystem.target.size")?);
    (size > 0.0 && free < FULL * size).then(|| format!("the file system is {:.0}% full", 100.0 * (1.0 - free / size)))
}

fn array(machine: &Machine) -> Option<String> {
    let missing = |fact: &&model::Fact| fact.name.starts_with("disk.") && fact.name.ends_with(".missing_members");
    let found = machine
        .facts
        .iter()
        .filter(missing)
        .find(|fact| matches!(fact.value, model::FactValue::Number(n) if n > 0.0))?;
    let name = found.name.split('.').nth(1).unwrap_or_default();
    Some(format!("{name} lacks {} of its disks", found.value.text()))
}

fn errors(machine: &Machine) -> Option<String> {
    let of = |name: &str| machine.number(name).unwrap_or(0.0);
    let (corrected, uncorrected) = (of("memory.corrected_errors"), of("memory.uncorrected_errors"));
    (corrected >= ERRORS || uncorrected > 0.0)
        .then(|| format!("the memory had {} errors since the start", corrected + uncorrected))
}

fn interrupts(machine: &Machine) -> Option<String> {
    let share = machine.number("interrupts.busiest_cpu")?;
    (share >= ONE_CPU.0 && machine.number("cpu.online")? >= ONE_CPU.1)
        .then(|| format!("one CPU handles {} of all device interrupts", model::percent(share)))
}

fn debug(machine: &Machine) -> Option<String> {
    let on = |name: &str| machine.text(name).as_deref() == Some("yes");
    let checks = [("kernel.config.lock_checks", "locks"), ("kernel.config.memory_checks", "memory")];
    let found: Vec<&str> = checks.into_iter().filter(|(name, _)| on(name)).map(|(_, what)| what).collect();
    (!found.is_empty()).then(|| format!("the kernel checks {}", model::words::list(&found)))
}
