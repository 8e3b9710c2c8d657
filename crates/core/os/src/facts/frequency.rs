//! Clocks, governors, boost and idle states, which vary the speed of a processor over time.

use kernels::{cpuid, text};
use model::{FactValue, Primitive};

use crate::facts::collector::{Collector, Found};

const CLOCK: &[Primitive] = &[Primitive::CoreClock];
const WAKE: &[Primitive] = &[Primitive::Wakeup, Primitive::Timer];
const FREQ: &str = "/sys/devices/system/cpu/cpu0/cpufreq";
const IDLE: &str = "/sys/devices/system/cpu/cpu0/cpuidle";

pub(super) fn collect(facts: &mut Collector) {
    nominal(facts);
    current(facts);
    let most = facts
        .read_number(&format!("{FREQ}/cpuinfo_max_freq"))
        .map(|khz| (khz * 1e3, format!("{FREQ}/cpuinfo_max_freq")));
    let (most, source) = split(most.or_else(|reason| match cpuid::clocks() {
        Some((_, most)) if most > 0.0 && facts.is_here() => Ok((most, "CPUID leaf 16h".to_owned())),
        _ => Err(reason),
    }));
    facts.number("cpu.clock.max", most, "Hz", source, CLOCK);
    facts.file("cpu.frequency_driver", &format!("{FREQ}/scaling_driver"), CLOCK);
    facts.file("cpu.governor", &format!("{FREQ}/scaling_governor"), CLOCK);
    facts.file("cpu.energy_preference", &format!("{FREQ}/energy_performance_preference"), CLOCK);
    boost(facts);
    idle(facts);
    time_source(facts);
}

/// The nominal clock of the specification, from the best of several sources.
fn nominal(facts: &mut Collector) {
    let info = facts.read("/proc/cpuinfo").unwrap_or_default();
    let x86 = text::field(&info, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "constant_tsc"));
    let named = || {
        let (_, clock) = text::field(&info, "model name")?.rsplit_once('@')?;
        let number: f64 = clock.trim().strip_suffix("GHz")?.trim().parse().ok()?;
        Some((number * 1e9, "/proc/cpuinfo, model name".to_owned()))
    };
    let base =
        || Some((facts.read_number(&format!("{FREQ}/base_frequency")).ok()? * 1e3, format!("{FREQ}/base_frequency")));
    let leaf = || Some((cpuid::clocks().filter(|_| facts.is_here())?.0, "CPUID leaf 16h".to_owned()));
    // An invariant time stamp counter runs at the nominal clock, and x86 kernels print twice its MHz as bogomips.
    let counter = || {
        let bogomips: f64 = text::field_number(&info, "bogomips").filter(|_| x86)?;
        Some((bogomips * 0.5e6, "/proc/cpuinfo, bogomips / 2 (invariant TSC)".to_owned()))
    };
    let most = || {
        Some((facts.read_number(&format!("{FREQ}/cpuinfo_max_freq")).ok()? * 1e3, format!("{FREQ}/cpuinfo_max_freq")))
    };
    let found = leaf().or_else(base).or_else(named).or_else(counter).or_else(most);
    let (value, source) = split(found.ok_or_else(|| "neither the processor nor the kernel reports it".to_owned()));
    facts.number("cpu.clock", value, "Hz", source, CLOCK);
}

fn current(facts: &mut Collector) {
    let scaling = format!("{FREQ}/scaling_cur_freq");
    let found = facts.read_number(&scaling).map(|khz| (khz * 1e3, scaling)).or_else(|reason| {
        let info = facts.read("/proc/cpuinfo").unwrap_or_default();
        let mhz: f64 = text::field_number(&info, "cpu MHz").ok_or(reason)?;
        Ok((mhz * 1e6, "/proc/cpuinfo, cpu MHz".to_owned()))
    });
    let (value, source) = split(found);
    facts.number("cpu.clock.current", value, "Hz", source, CLOCK);
}

fn boost(facts: &mut Collector) {
    let (intel, common) = ("/sys/devices/system/cpu/intel_pstate/no_turbo", "/sys/devices/system/cpu/cpufreq/boost");
    match facts.read_number(intel) {
        Ok(off) => facts.truth("cpu.boost", Ok(off == 0.0), intel, CLOCK),
        Err(_) => facts.truth("cpu.boost", facts.read_number(common).map(|on| on != 0.0), common, CLOCK),
    }
}

fn idle(facts: &mut Collector) {
    facts.file("cpu.idle_driver", "/sys/devices/system/cpu/cpuidle/current_driver", WAKE);
    let governors =
        ["/sys/devices/system/cpu/cpuidle/current_governor", "/sys/devices/system/cpu/cpuidle/current_governor_ro"];
    let governor = governors.into_iter().find(|path| facts.read(path).is_ok()).unwrap_or(governors[0]);
    facts.file("cpu.idle_governor", governor, WAKE);
    let states: Vec<String> = facts
        .names(IDLE)
        .iter()
        .filter(|name| name.starts_with("state"))
        .filter_map(|state| {
            let get = |what: &str| facts.read(&format!("{IDLE}/{state}/{what}"));
            let off = if get("disable").is_ok_and(|n| n != "0") { ", off" } else { "" };
            Some(format!("{} ({} us{off})", get("name").ok()?, get("latency").ok()?))
        })
        .collect();
    let states = if states.is_empty() { Err(format!("there is no {IDLE}")) } else { Ok(FactValue::List(states)) };
    facts.add("cpu.idle_states", states, None, IDLE, WAKE);
    let polling = "/sys/module/haltpoll/parameters/guest_halt_poll_ns";
    facts.file_number("cpu.halt_polling", polling, 1e-9, "s", WAKE);
}

fn time_source(facts: &mut Collector) {
    let dir = "/sys/devices/system/clocksource/clocksource0";
    let reads = [Primitive::Clock, Primitive::Timer];
    facts.file("clock.source", &format!("{dir}/current_clocksource"), &reads);
    facts.file("clock.sources", &format!("{dir}/available_clocksource"), &[]);
    let info = facts.read("/proc/cpuinfo");
    let tsc = info.map(|info| {
        let flags = text::field(&info, "flags").unwrap_or_default();
        FactValue::List(flags.split_whitespace().filter(|flag| flag.contains("tsc")).map(str::to_owned).collect())
    });
    facts.add("clock.tsc_flags", tsc, None, "/proc/cpuinfo", &reads);
    let rate: Found<f64> =
        cpuid::tsc().filter(|_| facts.is_here()).ok_or_else(|| "CPUID does not report it".to_owned());
    facts.number("clock.tsc_rate", rate, "Hz", "CPUID leaf 15h", &[]);
}

fn split(found: Found<(f64, String)>) -> (Found<f64>, String) {
    match found {
        Ok((value, source)) => (Ok(value), source),
        Err(reason) => (Err(reason), "cpufreq, CPUID".to_owned()),
    }
}
