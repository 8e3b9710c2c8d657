//! Settings of the processors, the memory and the scheduler of the whole machine.

use model::Primitive;

use super::OF_SYSTEM;
use crate::setting::{Change, Setting, SettingFact, Values};

/// What the size of pages may touch.
pub(super) const OF_PAGES: &[Primitive] = &[
    Primitive::Tlb,
    Primitive::DramLatency,
    Primitive::DramRead,
    Primitive::DramWrite,
    Primitive::PageFault,
    Primitive::AddressSpace,
    Primitive::Fork,
];
/// What idle states may touch.
const IDLING: &[Primitive] =
    &[Primitive::Wakeup, Primitive::ContextSwitch, Primitive::Timer, Primitive::TcpStack, Primitive::UdpStack];

pub(super) const SMT: Setting = Setting {
    id: "smt",
    title: "threads of a core (SMT)",
    change: Change::Files(&["/sys/devices/system/cpu/smt/control"]),
    values: Values::These(&["off"]),
    fact: Some(SettingFact { name: "cpu.smt", words: &[("no", "off"), ("yes", "on")] }),
    ..OF_SYSTEM
};

pub(super) const GOVERNOR: Setting = Setting {
    id: "governor",
    title: "frequency governor",
    change: Change::Files(&["/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"]),
    values: Values::These(&["performance", "powersave"]),
    fact: Some(SettingFact { name: "cpu.governor", words: &[] }),
    ..OF_SYSTEM
};

pub(super) const ENERGY: Setting = Setting {
    id: "energy",
    title: "energy preference",
    change: Change::Files(&["/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference"]),
    values: Values::These(&["performance", "power"]),
    fact: Some(SettingFact { name: "cpu.energy_preference", words: &[] }),
    ..OF_SYSTEM
};

pub(super) const TURBO: Setting = Setting {
    id: "boost",
    title: "boost (turbo)",
    change: Change::Files(&["/sys/devices/system/cpu/cpufreq/boost"]),
    values: Values::These(&["0", "1"]),
    fact: Some(SettingFact { name: "cpu.boost", words: &[("no", "0"), ("yes", "1")] }),
    ..OF_SYSTEM
};

pub(super) const IDLE: Setting = Setting {
    id: "idle",
    title: "longest wake-up from idle states, us",
    change: Change::Process {
        read: || match std::path::Path::new(LATENCY).exists() {
            true => Ok("any".to_owned()),
            false => Err("this system has no control for it".to_owned()),
        },
        set: |value| match value.parse::<u32>() {
            Ok(micros) => hold_latency(micros),
            Err(_) => Ok(()),
        },
    },
    values: Values::These(&["0"]),
    touches: IDLING,
    ..OF_SYSTEM
};

const LATENCY: &str = "/dev/cpu_dma_latency";

/// The request holds as long as the file is open (`Documentation/power/pm_qos_interface.rst`), so as long as the
/// process measures.
fn hold_latency(micros: u32) -> Result<(), String> {
    let held = std::fs::OpenOptions::new().write(true).open(LATENCY).and_then(|mut file| {
        std::io::Write::write_all(&mut file, &micros.to_ne_bytes())?;
        Ok(file)
    });
    let file = held.map_err(|error| format!("could not write {LATENCY}: {error}"))?;
    os::process::keep_open(file).map_err(|error| error.to_string())
}

pub(super) const AUTOGROUP: Setting = Setting {
    id: "autogroup",
    title: "scheduling in groups of sessions",
    change: Change::Files(&["/proc/sys/kernel/sched_autogroup_enabled"]),
    values: Values::These(&["0", "1"]),
    touches: &[Primitive::ContextSwitch, Primitive::Wakeup],
    fact: Some(SettingFact { name: "kernel.sched_autogroup", words: &[] }),
    ..OF_SYSTEM
};

pub(super) const NUMA_BALANCING: Setting = Setting {
    id: "numa_balancing",
    title: "NUMA balancing",
    change: Change::Files(&["/proc/sys/kernel/numa_balancing"]),
    values: Values::These(&["0", "1"]),
    touches: OF_PAGES,
    fact: Some(SettingFact { name: "memory.numa_balancing", words: &[] }),
    ..OF_SYSTEM
};

pub(super) const RANDOMISE: Setting = Setting {
    id: "randomise",
    title: "random addresses of all programs",
    change: Change::Files(&["/proc/sys/kernel/randomize_va_space"]),
    values: Values::These(&["0", "2"]),
    fact: Some(SettingFact { name: "kernel.address_space_randomised", words: &[] }),
    ..OF_SYSTEM
};

pub(super) const PAGES: Setting = Setting {
    id: "transparent_huge_pages",
    title: "transparent huge pages",
    change: Change::Files(&["/sys/kernel/mm/transparent_hugepage/enabled"]),
    values: Values::These(&["always", "madvise", "never"]),
    touches: OF_PAGES,
    fact: Some(SettingFact { name: "memory.transparent_huge_pages", words: &[] }),
    ..OF_SYSTEM
};

pub(super) const DEFRAG: Setting = Setting {
    id: "huge_page_defrag",
    title: "making of huge pages",
    change: Change::Files(&["/sys/kernel/mm/transparent_hugepage/defrag"]),
    values: Values::These(&["always", "never"]),
    touches: OF_PAGES,
    fact: Some(SettingFact { name: "memory.huge_page_defrag", words: &[] }),
    ..OF_SYSTEM
};

pub(super) const SWAPPINESS: Setting = Setting {
    id: "swappiness",
    title: "swappiness",
    change: Change::Files(&["/proc/sys/vm/swappiness"]),
    values: Values::These(&["0", "100"]),
    touches: &[Primitive::PageFault, Primitive::PageCache],
    fact: Some(SettingFact { name: "memory.swappiness", words: &[] }),
    ..OF_SYSTEM
};

pub(super) const HALT_POLLING: Setting = Setting {
    id: "halt_polling",
    title: "polling before a guest's CPU halts, ns",
    change: Change::Files(&["/sys/module/haltpoll/parameters/guest_halt_poll_ns"]),
    values: Values::These(&["0", "200000"]),
    touches: IDLING,
    ..OF_SYSTEM
};

pub(super) const INTERRUPTS: Setting = Setting {
    id: "interrupts",
    title: "CPUs of interrupts",
    change: Change::Files(&["/proc/irq/*/smp_affinity_list"]),
    values: Values::These(&["0"]),
    ..OF_SYSTEM
};
