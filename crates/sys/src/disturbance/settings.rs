//! Settings of the machine that make figures vary or cost speed.

use crate::disturbance::{Disturbance, note, warning};
use crate::{counters, text};

const GOVERNOR: &str = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
const HUGE: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const SMT: &str = "/sys/devices/system/cpu/smt/active";

/// What the files say; `None` where they cannot be read.
#[derive(Debug, Default)]
struct Settings {
    governor: Option<String>,
    boost: Option<bool>,
    huge: Option<String>,
    clock: Option<String>,
    smt: Option<bool>,
    swap_used: Option<u64>,
    paranoia: Option<i32>,
    guest: bool,
}

pub(super) fn look(found: &mut Vec<Disturbance>) {
    let truth = |path: &str| text::number::<i32>(path).ok().map(|n| n != 0);
    let turbo = truth("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| !off);
    let swap = text::read("/proc/meminfo").ok().and_then(|info| {
        let get = |key| text::field_number::<u64>(&info, key);
        Some(get("SwapTotal")?.saturating_sub(get("SwapFree")?) * 1024)
    });
    judge(
        found,
        &Settings {
            governor: text::read(GOVERNOR).ok(),
            boost: turbo.or_else(|| truth("/sys/devices/system/cpu/cpufreq/boost")),
            huge: text::read(HUGE).ok().and_then(|policy| text::chosen(&policy).map(str::to_owned)),
            clock: text::read(CLOCK).ok(),
            smt: truth(SMT),
            swap_used: swap,
            paranoia: counters::paranoia().ok(),
            guest: text::read("/proc/cpuinfo").is_ok_and(|info| {
                text::field(&info, "flags").is_some_and(|flags| flags.split_whitespace().any(|f| f == "hypervisor"))
            }),
        },
    );
}

fn judge(found: &mut Vec<Disturbance>, seen: &Settings) {
    if let Some(governor) = seen.governor.as_deref().filter(|governor| *governor != "performance") {
        let remedy = "Set it to performance, for example by `cpupower frequency-set -g performance`.";
        found.push(warning("governor", GOVERNOR, format!("The frequency governor is {governor}."), Some(remedy)));
    }
    if seen.boost == Some(true) {
        let remedy = "Switch it off to compare machines at their nominal clocks; leave it on to see what users get.";
        found.push(note(
            "boost",
            "intel_pstate/no_turbo, cpufreq/boost",
            "The clock may rise above its nominal value.",
            Some(remedy),
        ));
    }
    if seen.huge.as_deref() == Some("never") {
        let remedy = "Write madvise to it to measure with huge pages.";
        found.push(note(
            "huge pages",
            HUGE,
            "Huge pages are switched off, so points with pages=huge are unfit.",
            Some(remedy),
        ));
    }
    if let Some(clock) =
        seen.clock.as_deref().filter(|clock| !matches!(*clock, "tsc" | "kvm-clock" | "arch_sys_counter"))
    {
        let seen = format!("The clock source is {clock}, which is slow to read and may be coarse.");
        found.push(warning("clock", CLOCK, seen, Some("Boot with a reliable TSC, or lengthen the batches.")));
    }
    if seen.smt == Some(true) {
        let remedy = "Figures of one CPU depend on whether its sibling is idle; keep the machine quiet.";
        found.push(note("SMT", SMT, "Two CPUs share a core.", Some(remedy)));
    }
    if let Some(bytes) = seen.swap_used.filter(|bytes| *bytes > 64 << 20) {
        let seen = format!("{} MiB are swapped out.", bytes >> 20);
        found.push(warning("swap", "/proc/meminfo", seen, Some("Free memory before measuring.")));
    }
    if let Some(level) = seen.paranoia.filter(|level| *level > 2) {
        let seen = format!("kernel.perf_event_paranoid is {level}, so hardware counters are closed to users.");
        found.push(note(
            "counters",
            "/proc/sys/kernel/perf_event_paranoid",
            seen,
            Some("Set it to 2 or less, or run as root."),
        ));
    }
    if seen.guest {
        let seen = "This is a virtual machine: what its host does besides is not seen from here.";
        found.push(note("guest", "/proc/cpuinfo, flag hypervisor", seen, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_settings_are_silent_and_bad_ones_are_named() {
        let mut found = Vec::new();
        judge(&mut found, &Settings::default());
        let good = Settings {
            governor: Some("performance".into()),
            boost: Some(false),
            huge: Some("madvise".into()),
            clock: Some("tsc".into()),
            smt: Some(false),
            swap_used: Some(0),
            paranoia: Some(2),
            guest: false,
        };
        judge(&mut found, &good);
        assert!(found.is_empty(), "{found:?}");
        let bad = Settings {
            governor: Some("powersave".into()),
            boost: Some(true),
            huge: Some("never".into()),
            clock: Some("hpet".into()),
            smt: Some(true),
            swap_used: Some(1 << 30),
            paranoia: Some(4),
            guest: true,
        };
        judge(&mut found, &bad);
        assert_eq!(found.len(), 8);
        assert!(found.iter().all(|finding| finding.seen.ends_with('.')));
    }
}
