//! The kernel: its version, its parameters, and its mitigations of vulnerabilities.

use model::{FactValue, Primitive};

use crate::facts::collector::{Collector, Found};

const ENTRY: &[Primitive] = &[Primitive::SyscallEntry, Primitive::ContextSwitch, Primitive::PageFault];
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";
/// Mount points of the file system of traces.
const TRACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const KERNEL: &[Primitive] = &[
    Primitive::SyscallEntry,
    Primitive::ContextSwitch,
    Primitive::PageFault,
    Primitive::Fork,
    Primitive::Exec,
    Primitive::Signal,
    Primitive::Pipe,
    Primitive::TcpStack,
    Primitive::Polling,
    Primitive::FileMetadata,
];

pub(super) fn collect(facts: &mut Collector) {
    facts.file("kernel.name", "/proc/sys/kernel/ostype", &[]);
    facts.file("kernel.release", "/proc/sys/kernel/osrelease", KERNEL);
    facts.file("kernel.version", "/proc/sys/kernel/version", KERNEL);
    let line = "/proc/cmdline";
    facts.words("kernel.command_line", facts.read(line).map(|text| public_part(&text)), line, KERNEL);
    mitigations(facts);
    configuration(facts);
    facts.file_cpus("kernel.full_tickless_cpus", "/sys/devices/system/cpu/nohz_full", ENTRY);
    facts.file("kernel.preemption", "/sys/kernel/debug/sched/preempt", &[Primitive::Wakeup, Primitive::ContextSwitch]);
    facts.file_number("kernel.fault_around", "/sys/kernel/debug/fault_around_bytes", 1.0, "B", &[Primitive::PageFault]);
    facts.truth(
        "kernel.traced_calls",
        traced_calls(facts),
        "events/raw_syscalls/enable of tracefs",
        &[Primitive::SyscallEntry],
    );
    facts.file("kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid", &[]);
    facts.file("kernel.sched_autogroup", "/proc/sys/kernel/sched_autogroup_enabled", &[Primitive::ContextSwitch]);
    facts.file("kernel.address_space_randomised", "/proc/sys/kernel/randomize_va_space", &[Primitive::Exec]);
    let uptime = facts.read("/proc/uptime").and_then(|text| {
        let seconds = text.split(' ').next().and_then(|word| word.parse().ok());
        seconds.ok_or_else(|| "/proc/uptime does not begin with a number".to_owned())
    });
    facts.number("kernel.uptime", uptime, "s", "/proc/uptime", &[]);
}

/// Whether tracepoints at the entry and the exit of system calls are on (`Documentation/trace/events.rst`). A file of a
/// group says `0`, `1`, or `X` where some of it are on.
fn traced_calls(facts: &Collector) -> Found<bool> {
    let state = |root: &str, group: &str| facts.read(&format!("{root}/events/{group}/enable"));
    let root = TRACES.into_iter().find(|root| state(root, "raw_syscalls").is_ok()).unwrap_or(TRACES[0]);
    Ok(state(root, "raw_syscalls")? != "0" || state(root, "syscalls").is_ok_and(|state| state != "0"))
}

/// Parameters of the kernel without those of init after `--`, and without the values that identify disks, hosts or
/// secrets.
fn public_part(line: &str) -> String {
    const PRIVATE: [&str; 10] =
        ["root", "resume", "uuid", "luks", "crypt", "ip", "nfsroot", "netroot", "hostname", "ifname"];
    let secret = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["pass", "secret", "token", "key"].iter().any(|word| name.contains(word))
            || PRIVATE.iter().any(|word| name == *word || name.split(['.', '_', '-']).any(|part| part == *word))
    };
    let parameters = line.split_whitespace().take_while(|word| *word != "--");
    let shown = parameters.map(|word| match word.split_once('=') {
        Some((name, _)) if secret(name) => format!("{name}=..."),
        _ => word.to_owned(),
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn mitigations(facts: &mut Collector) {
    let names = facts.names(VULNERABILITIES);
    for name in &names {
        let path = format!("{VULNERABILITIES}/{name}");
        facts.file(format!("mitigation.{name}"), &path, affected(name));
    }
    let isolation: Found<bool> = facts.read(&format!("{VULNERABILITIES}/meltdown")).map(|text| text.contains("PTI"));
    facts.truth("kernel.page_table_isolation", isolation, format!("{VULNERABILITIES}/meltdown"), ENTRY);
    if names.is_empty() {
        facts.words("mitigation", Err::<String, _>(format!("there is no {VULNERABILITIES}")), VULNERABILITIES, ENTRY);
    }
}

/// The operations that the mitigation of a vulnerability slows down (`Documentation/admin-guide/hw-vuln` of the Linux
/// kernel).
fn affected(vulnerability: &str) -> &'static [Primitive] {
    match vulnerability {
        "meltdown" | "mds" | "tsx_async_abort" | "mmio_stale_data" | "reg_file_data_sampling" | "tsa" | "l1tf" => ENTRY,
        "spectre_v2" | "retbleed" | "indirect_target_selection" | "spec_rstack_overflow" | "vmscape" => &[
            Primitive::SyscallEntry,
            Primitive::ContextSwitch,
            Primitive::Branch,
            Primitive::Polling,
            Primitive::TcpStack,
            Primitive::UdpStack,
        ],
        "spectre_v1" => &[Primitive::SyscallEntry, Primitive::KernelCopy],
        "spec_store_bypass" => &[Primitive::L1, Primitive::CacheLatency],
        "gather_data_sampling" => &[Primitive::Vector],
        "itlb_multihit" => &[Primitive::Tlb],
        _ => &[],
    }
}

/// Build options that are known to change the cost of core operations (Ren et al., "An analysis of performance
/// evolution of Linux's core operations", SOSP 2019), if the distribution installs them.
fn configuration(facts: &mut Collector) {
    const OPTIONS: [(&str, &str, &[Primitive]); 8] = [
        ("lock_checks", "CONFIG_PROVE_LOCKING", KERNEL),
        ("memory_checks", "CONFIG_KASAN", KERNEL),
        (
            "slab_freelist_random",
            "CONFIG_SLAB_FREELIST_RANDOM",
            &[Primitive::Fork, Primitive::AddressSpace, Primitive::PageFault],
        ),
        ("hardened_usercopy", "CONFIG_HARDENED_USERCOPY", &[Primitive::KernelCopy]),
        ("memory_cgroup", "CONFIG_MEMCG", &[Primitive::PageFault, Primitive::Fork, Primitive::AddressSpace]),
        ("forced_context_tracking", "CONFIG_CONTEXT_TRACKING_USER_FORCE", ENTRY),
        ("preempt", "CONFIG_PREEMPT", &[Primitive::Wakeup, Primitive::Timer]),
        ("init_on_alloc", "CONFIG_INIT_ON_ALLOC_DEFAULT_ON", &[Primitive::PageFault, Primitive::Fork]),
    ];
    let release = facts.read("/proc/sys/kernel/osrelease").unwrap_or_default();
    let path = format!("/boot/config-{release}");
    let config = facts.read(&path);
    for (name, option, affects) in OPTIONS {
        let value = config.clone().map(|text| FactValue::Truth(is_set(&text, option)));
        facts.add(format!("kernel.config.{name}"), value, None, path.clone(), affects);
    }
    let hertz = config.and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("CONFIG_HZ="));
        line.and_then(|hz| hz.parse().ok()).ok_or_else(|| format!("{path} has no CONFIG_HZ"))
    });
    facts.number("kernel.config.hz", hertz, "Hz", path.clone(), &[Primitive::Timer, Primitive::ContextSwitch]);
    let controllers = facts.read("/proc/cgroups").map(|text| {
        let enabled = text.lines().filter(|line| !line.starts_with('#') && line.ends_with('1'));
        FactValue::List(enabled.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
    });
    facts.add(
        "kernel.cgroup_controllers",
        controllers,
        None,
        "/proc/cgroups",
        &[Primitive::PageFault, Primitive::Fork],
    );
}

fn is_set(config: &str, option: &str) -> bool {
    config.lines().any(|line| line.strip_prefix(option).is_some_and(|rest| rest == "=y"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_secrets_stay_out_of_the_command_line() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=abc rd.luks.uuid=x mitigations=off my_password=hunter2 ip=10.0.0.1 quiet -- --init x";
        let shown = public_part(line);
        assert_eq!(shown, "BOOT_IMAGE=/vmlinuz root=... rd.luks.uuid=... mitigations=off my_password=... ip=... quiet");
    }

    #[test]
    fn tracepoints_that_are_on_by_half_are_on() {
        let dir = tempfile::tempdir().unwrap();
        let facts = Collector::new(dir.path());
        assert!(traced_calls(&facts).is_err());
        let put = |root: &str, group: &str, state: &str| {
            let folder = facts.path(&format!("{root}/events/{group}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("enable"), state).unwrap();
        };
        put(TRACES[1], "raw_syscalls", "0\n");
        assert!(!traced_calls(&facts).unwrap());
        put(TRACES[1], "syscalls", "X\n");
        assert!(traced_calls(&facts).unwrap());
        put(TRACES[0], "raw_syscalls", "1\n");
        assert!(traced_calls(&facts).unwrap());
    }

    #[test]
    fn options_match_whole_names() {
        let config = "CONFIG_PREEMPT_NONE=y\n# CONFIG_PREEMPT is not set\nCONFIG_MEMCG=y\n";
        assert!(is_set(config, "CONFIG_MEMCG") && !is_set(config, "CONFIG_PREEMPT"));
    }
}
