//! Limits and observers of this process: filters of system calls, its own mitigations, a debugger, its priority,
//! forbidden huge pages, security modules.
//!
//! Containers, sandboxes and service managers set these on an otherwise equal machine and kernel. A process inherits
//! them from its parent, so those of this process apply to every sample (seccomp(2), prctl(2), sched(7),
//! proc_pid_status(5), proc_pid_stat(5)).

use kernels::text;
use model::{FactValue, Primitive};

use crate::facts::collector::{Collector, Found};

const STATUS: &str = "/proc/self/status";
const STAT: &str = "/proc/self/stat";

/// Policies of scheduling by their numbers (sched(7)); 4 is not used.
const POLICIES: [&str; 8] = ["other", "fifo", "rr", "batch", "", "idle", "deadline", "ext"];

/// Positions in `/proc/self/stat` behind the name in brackets: fields 19 and 41.
const NICE: usize = 16;
const POLICY: usize = 38;

/// Operations whose calls security modules check.
const CHECKED: &[Primitive] = &[
    Primitive::FileMetadata,
    Primitive::Exec,
    Primitive::Fork,
    Primitive::UnixSocket,
    Primitive::TcpStack,
    Primitive::UdpStack,
];

pub(super) fn collect(facts: &mut Collector) {
    let status = facts.read(STATUS);
    let field = |key: &str| -> Found<String> {
        let text = status.as_ref().map_err(Clone::clone)?;
        text::field(text, key).map(str::to_owned).ok_or_else(|| format!("{STATUS} has no {key}"))
    };
    let calls = &[Primitive::SyscallEntry];
    facts.truth("confinement.seccomp", field("Seccomp").map(|mode| mode != "0"), STATUS, calls);
    let filters = field("Seccomp_filters").and_then(|text| text.parse().map_err(|_| format!("{text:?} is no number")));
    facts.number("confinement.seccomp_filters", filters, "1", STATUS, calls);
    let mitigated = known(field("Speculation_Store_Bypass")).map(|state| state.contains("mitigated"));
    facts.truth("confinement.store_bypass_disabled", mitigated, STATUS, &[Primitive::IntegerAlu]);
    let disabled = known(field("SpeculationIndirectBranch")).map(|state| state.contains("disabled"));
    let branches = &[Primitive::Branch, Primitive::ContextSwitch];
    facts.truth("confinement.indirect_branches_disabled", disabled, STATUS, branches);
    facts.truth("confinement.traced", field("TracerPid").map(|tracer| tracer != "0"), STATUS, calls);
    let huge = &[Primitive::Tlb, Primitive::DramLatency];
    facts.truth("confinement.huge_pages", field("THP_enabled").map(|state| state != "0"), STATUS, huge);
    let stat = facts.read(STAT);
    let number = |position: usize| -> Found<f64> {
        let text = stat.as_ref().map_err(Clone::clone)?;
        let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let found = rest.split_whitespace().nth(position).and_then(|word| word.parse().ok());
        found.ok_or_else(|| format!("{STAT} has no field {}", position + 3))
    };
    let waits = &[Primitive::ContextSwitch, Primitive::Wakeup];
    facts.number("confinement.nice", number(NICE), "1", STAT, waits);
    let policy = number(POLICY).map(|policy| {
        let known = POLICIES.iter().zip(0_u8..).find(|(name, of)| !name.is_empty() && f64::from(*of) == policy);
        known.map_or_else(|| format!("number {policy}"), |(name, _)| (*name).to_owned())
    });
    facts.words("confinement.policy", policy, STAT, waits);
    let modules = facts.read("/sys/kernel/security/lsm").map(|text| text.split(',').map(str::to_owned).collect());
    let source = "/sys/kernel/security/lsm";
    facts.add("kernel.security_modules", modules.map(FactValue::List), None, source, CHECKED);
}

/// A state of speculation, unless the kernel does not know it itself.
fn known(state: Found<String>) -> Found<String> {
    state.and_then(|state| if state == "unknown" { Err("the kernel does not know it".to_owned()) } else { Ok(state) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: &str =
        "7 (a b) c) R 1 7 7 0 -1 4194304 90 0 0 0 0 0 0 0 39 19 1 0 9 0 0 1 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 5 0";

    fn told(status: &str) -> Vec<(String, FactValue)> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("proc/self")).unwrap();
        std::fs::write(dir.path().join("proc/self/status"), status).unwrap();
        std::fs::write(dir.path().join("proc/self/stat"), IDLE).unwrap();
        let mut facts = Collector::new(dir.path());
        collect(&mut facts);
        facts.done().into_iter().map(|fact| (fact.name, fact.value)).collect()
    }

    #[test]
    fn a_container_with_its_filter_and_mitigations() {
        let status = "Name:\tx\nTracerPid:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n\
                      Speculation_Store_Bypass:\tthread force mitigated\n\
                      SpeculationIndirectBranch:\tconditional force disabled\n";
        let truths: Vec<FactValue> = told(status).into_iter().map(|(_, value)| value).collect();
        let yes = FactValue::Truth(true);
        assert_eq!(truths[..5], [yes.clone(), FactValue::Number(1.0), yes.clone(), yes, FactValue::Truth(false)]);
        assert!(matches!(truths[5], FactValue::Unknown(_)), "an old kernel tells no state of huge pages");
        assert_eq!(truths[6..8], [FactValue::Number(19.0), FactValue::Text("idle".to_owned())]);
        assert!(matches!(truths[8], FactValue::Unknown(_)), "no list of modules");
    }

    #[test]
    fn a_free_process_and_one_of_an_old_kernel() {
        let status = "TracerPid:\t77\nSeccomp:\t0\nSeccomp_filters:\t0\nSpeculation_Store_Bypass:\tvulnerable\n\
                      SpeculationIndirectBranch:\talways enabled\nTHP_enabled:\t0\n";
        let values: Vec<FactValue> = told(status).into_iter().map(|(_, value)| value).collect();
        let no = FactValue::Truth(false);
        assert_eq!(
            values[..6],
            [no.clone(), FactValue::Number(0.0), no.clone(), no.clone(), FactValue::Truth(true), no]
        );
        let old = told("Seccomp:\t2\nSpeculation_Store_Bypass:\tunknown\n");
        assert_eq!(old[0].1, FactValue::Truth(true));
        assert!(old[1..6].iter().all(|(_, value)| matches!(value, FactValue::Unknown(_))), "{old:?}");
    }
}
