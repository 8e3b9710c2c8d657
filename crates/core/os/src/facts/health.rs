//! Signs of a machine that is slower than its parts: heat, a degraded array, interrupts on one CPU, limits on disks.

use model::Primitive;

use crate::facts::collector::{Collector, Found};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn collect(facts: &mut Collector) {
    let throttled = |file: &str| -> Found<f64> {
        let cpus = facts.names(CPUS).into_iter().filter(|name| name.starts_with("cpu"));
        let counts = cpus.filter_map(|cpu| facts.read_number(&format!("{CPUS}/{cpu}/thermal_throttle/{file}")).ok());
        counts.reduce(f64::max).ok_or_else(|| format!("there is no {CPUS}/cpu0/thermal_throttle/{file}"))
    };
    let (core, package) = (throttled("core_throttle_count"), throttled("package_throttle_count"));
    let source = format!("{CPUS}/cpu*/thermal_throttle");
    facts.number("cpu.core_throttled", core, "1", source.clone(), &[Primitive::CoreClock]);
    facts.number("cpu.package_throttled", package, "1", source, &[Primitive::CoreClock]);
    let nodes = facts.read("/proc/self/status").and_then(|text| {
        let allowed = kernels::text::field(&text, "Mems_allowed_list").map(str::to_owned);
        allowed.ok_or_else(|| "/proc/self/status has no Mems_allowed_list".to_owned())
    });
    facts.words("confinement.memory_nodes", nodes, "/proc/self/status", &[Primitive::DramRead, Primitive::DramLatency]);
    for device in facts.names("/sys/block").into_iter().filter(|name| name.starts_with("md")) {
        let path = format!("/sys/block/{device}/md/degraded");
        let name = format!("disk.{device}.missing_members");
        facts.file_number(name, &path, 1.0, "1", &[Primitive::DiskRead, Primitive::DiskWrite]);
    }
    let interrupts = "/proc/interrupts";
    let share = facts.read(interrupts).and_then(|text| {
        busiest(&text).ok_or_else(|| "fewer than two CPUs, or too few interrupts of devices".to_owned())
    });
    facts.number("interrupts.busiest_cpu", share, "1", interrupts, &[Primitive::NetworkLink, Primitive::TcpStack]);
}

/// Interrupts of devices from which their spread over CPUs means anything.
const ENOUGH: f64 = 100_000.0;

/// Share of the interrupts of devices that the busiest CPU handled. Lines of devices begin with a number; others are of
/// the CPUs themselves.
fn busiest(table: &str) -> Option<f64> {
    let cpus = table.lines().next()?.split_whitespace().filter(|word| word.starts_with("CPU")).count();
    let mut sums = vec![0.0; cpus];
    for line in table.lines().skip(1) {
        let Some((name, counts)) = line.trim_start().split_once(':') else { continue };
        if name.parse::<u32>().is_ok() {
            let counts = counts.split_whitespace().take(cpus).map_while(|count| count.parse::<f64>().ok());
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    let all: f64 = sums.iter().sum();
    (cpus > 1 && all >= ENOUGH).then(|| sums.into_iter().fold(0.0, f64::max) / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupts_of_devices_and_not_of_cpus_are_counted() {
        let table =
            "           CPU0       CPU1\n  24:     300000     100000  PCI-MSI eth0\n NMI:  9 900000  Non-maskable\n";
        assert_eq!(busiest(table), Some(0.75));
        assert_eq!(busiest("  CPU0  CPU1\n 1: 5 5 keyboard\n"), None);
        assert_eq!(busiest("  CPU0\n 1: 500000 timer\n"), None);
    }

    #[test]
    fn heat_and_degraded_arrays_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| crate::facts::tests::put(dir.path(), path, text);
        put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n");
        put("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "17\n");
        put("sys/block/md0/md/degraded", "1\n");
        put("proc/self/status", "Name:\tx\nMems_allowed_list:\t0\n");
        let mut facts = Collector::new(dir.path());
        collect(&mut facts);
        let machine = model::Machine { facts: facts.done(), ..model::Machine::default() };
        assert_eq!(machine.number("cpu.core_throttled"), Some(17.0));
        assert_eq!(machine.number("disk.md0.missing_members"), Some(1.0));
        assert_eq!(machine.text("confinement.memory_nodes").as_deref(), Some("0"));
        assert!(machine.number("cpu.package_throttled").is_none());
    }
}
