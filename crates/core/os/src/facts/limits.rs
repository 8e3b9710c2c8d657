//! Limits of this process's use of the machine.

use kernels::timer;
use model::{FactValue, Primitive};

use crate::cgroup;
use crate::facts::collector::{Collector, why};
use crate::process::{LimitedResource, limit};

pub(super) fn collect(facts: &mut Collector) {
    if !facts.is_here() {
        return;
    }
    let source = "/proc/self/cgroup and its files";
    let limits = why(cgroup::limits());
    let number = |pick: fn(&cgroup::CgroupLimits) -> Option<f64>| limits.clone().map(|limits| or_none(pick(&limits)));
    facts.number("cgroup.version", limits.clone().map(|limits| f64::from(limits.version)), "1", source, &[]);
    let cpus = number(|limits| limits.quota.map(|quota| quota.cpus));
    facts.add("cgroup.cpus", cpus, Some("1"), source, &[Primitive::CoreClock]);
    let period = number(|limits| limits.quota.map(|quota| quota.period.as_secs_f64()));
    facts.add("cgroup.period", period, Some("s"), source, &[]);
    let cpuset = number(|limits| limits.cpuset.as_ref().map(|cpus| cpus.len() as f64));
    facts.add("cgroup.cpuset_cpus", cpuset, Some("1"), source, &[]);
    let memory = number(|limits| limits.memory_bytes.map(|n| n as f64));
    facts.add("cgroup.memory", memory, Some("B"), source, &[Primitive::PageFault]);
    let left = limits.clone().map(|_| or_none(cgroup::memory_left().map(|n| n as f64)));
    facts.add("cgroup.memory_left", left, Some("B"), source, &[]);
    facts.add("cgroup.processes", number(|limits| limits.processes.map(|n| n as f64)), Some("1"), source, &[]);
    let disks = number(|limits| Some(limits.disks.len() as f64).filter(|count| *count > 0.0));
    let affects = &[Primitive::DiskRead, Primitive::DiskWrite, Primitive::Durability];
    facts.add("cgroup.limited_disks", disks, Some("1"), source, affects);
    for resource in LimitedResource::ALL {
        let name = format!("limit.{}", resource.name().trim_start_matches("RLIMIT_").to_ascii_lowercase());
        let value = Ok(or_none(limit(resource).map(|n| n as f64)));
        let unit = match resource {
            LimitedResource::OpenFiles | LimitedResource::Processes => "1",
            LimitedResource::CpuSeconds => "s",
            _ => "B",
        };
        facts.add(name, value, Some(unit), format!("getrlimit({})", resource.name()), &[]);
    }
    let slack = why(timer::slack()).map(|nanos| nanos as f64 * 1e-9);
    facts.number("limit.timer_slack", slack, "s", "prctl(PR_GET_TIMERSLACK)", &[Primitive::Timer]);
}

/// The absence of a limit is information too.
fn or_none(limit: Option<f64>) -> FactValue {
    limit.map_or_else(|| FactValue::Text("none".to_owned()), FactValue::Number)
}
