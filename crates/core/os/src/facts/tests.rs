//! Facts of a simulated machine, of a machine without any, and of this one.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use model::FactValue;

use super::*;

pub(super) fn put(root: &Path, name: &str, value: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, value).unwrap();
}

fn made_up(root: &Path) {
    put(
        root,
        "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7543\nstepping\t: 1\n\
         microcode\t: 0xa0011d1\ncpu MHz\t\t: 1500.000\nflags\t\t: fpu tsc constant_tsc hypervisor avx2\nbogomips\t: 5600.00\n",
    );
    put(root, "proc/meminfo", "MemTotal:       1048576 kB\nMemAvailable:    524288 kB\nSwapTotal: 0 kB\n");
    put(root, "sys/devices/system/cpu/online", "0-1\n");
    put(root, "sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
    put(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put(root, "sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n");
    put(root, "sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n");
    put(root, "sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "1\n");
    put(root, "sys/devices/system/cpu/cpufreq/boost", "0\n");
    put(root, "sys/devices/system/cpu/cpu0/cache/index0/level", "1");
    put(root, "sys/devices/system/cpu/cpu0/cache/index0/type", "Data");
    put(root, "sys/devices/system/cpu/cpu0/cache/index0/size", "32K");
    put(root, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put(root, "sys/block/sda/size", "2048\n");
    put(root, "sys/block/sda/queue/rotational", "1\n");
    put(root, "sys/block/sda/queue/scheduler", "none [mq-deadline]\n");
    put(root, "sys/class/net/eth0/speed", "10000\n");
    put(root, "proc/sys/kernel/hostname", "farm1\n");
    put(root, "proc/sys/kernel/osrelease", "6.1.0\n");
    put(root, "proc/sys/kernel/ostype", "Linux\n");
    put(root, "etc/os-release", "PRETTY_NAME=\"Some Linux 1\"\n");
    put(root, "etc/machine-id", "0123456789abcdef0123456789abcdef\n");
}

#[test]
fn a_made_up_machine() {
    let dir = tempfile::tempdir().unwrap();
    made_up(dir.path());
    let machine = collect_under(dir.path(), &[]);
    let text = |name: &str| machine.text(name).unwrap_or_else(|| panic!("{name}: {:?}", machine.fact(name)));
    assert_eq!(text("cpu.model"), "AMD EPYC 7543");
    assert_eq!(machine.number("cpu.clock"), Some(2.8e9));
    assert_eq!(machine.number("cpu.clock.current"), Some(1.5e9));
    assert_eq!(text("cpu.governor"), "performance");
    assert_eq!(text("cpu.boost"), "no");
    assert_eq!(text("cpu.idle_states"), "POLL (0 us, off)");
    assert_eq!(machine.number("cache.l1d.size"), Some(32768.0));
    assert_eq!(text("kernel.page_table_isolation"), "yes");
    assert_eq!(text("memory.transparent_huge_pages"), "madvise");
    assert_eq!(machine.number("memory.total"), Some(1_073_741_824.0));
    assert_eq!((text("disk.sda.rotational"), text("disk.sda.scheduler")), ("yes".to_owned(), "mq-deadline".to_owned()));
    assert_eq!(machine.number("network.eth0.speed"), Some(1.25e9));
    assert_eq!(text("virtual.guest"), "yes");
    assert_eq!(machine.name, "farm1");
    assert_eq!(machine.summary, "AMD EPYC 7543 (Zen 3), 2 CPUs, 1.0 GiB, Some Linux 1, Linux 6.1.0");
}

#[test]
fn identifiers_appear_only_as_hashes() {
    let dir = tempfile::tempdir().unwrap();
    made_up(dir.path());
    let machine = collect_under(dir.path(), &[]);
    assert_eq!(machine.fingerprint.len(), 32);
    assert!(!format!("{machine:?}").contains("0123456789abcdef0123456789abcdef"));
    put(dir.path(), "proc/sys/kernel/osrelease", "6.2.0\n");
    put(dir.path(), "proc/sys/kernel/hostname", "renamed\n");
    assert_eq!(collect_under(dir.path(), &[]).fingerprint, machine.fingerprint, "an upgrade makes no new machine");
    put(dir.path(), "etc/machine-id", "1123456789abcdef0123456789abcdef\n");
    assert_ne!(collect_under(dir.path(), &[]).fingerprint, machine.fingerprint);
}

#[test]
fn a_machine_that_tells_nothing_gives_reasons() {
    let dir = tempfile::tempdir().unwrap();
    let machine = collect_under(dir.path(), &[]);
    assert_eq!((machine.fingerprint.as_str(), machine.name.as_str()), ("", ""));
    let unknown = machine.facts.iter().filter(|fact| matches!(fact.value, FactValue::Unknown(_)));
    assert!(unknown.count() > 40);
    for fact in &machine.facts {
        assert!(!fact.source.is_empty(), "{}", fact.name);
        if let FactValue::Unknown(reason) = &fact.value {
            assert!(!reason.is_empty(), "{}", fact.name);
            assert!(!reason.contains(dir.path().to_str().unwrap()), "{reason}");
        }
    }
}

#[test]
fn this_machine() {
    let here = [
        Directory { label: "target", path: Path::new(".") },
        Directory { label: "absent", path: Path::new("/nonexistent") },
    ];
    let machine = collect(&here);
    let mut names = HashSet::new();
    for fact in &machine.facts {
        assert!(names.insert(fact.name.clone()), "{} twice", fact.name);
        assert!(fact.name.contains('.'), "{}", fact.name);
    }
    assert!(machine.number("memory.total").is_some_and(|bytes| bytes > 0.0));
    assert!(machine.number("cpu.count").is_some_and(|count| count >= 1.0));
    assert!(machine.text("filesystem.target.type").is_some());
    assert!(machine.text("filesystem.absent.type").is_none());
    assert!(machine.text("kernel.release").is_some());
    assert!(!machine.summary.is_empty());
    if let Ok(id) = fs::read_to_string("/etc/machine-id")
        && !id.trim().is_empty()
    {
        assert!(!format!("{machine:?}").contains(id.trim()));
    }
}
