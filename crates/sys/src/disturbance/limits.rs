//! Limits that make figures slower or impossible.

use crate::disturbance::{Disturbance, note, warning};
use crate::process::{Limit, Resource, limit};
use crate::topology::Topology;
use crate::{affinity, cgroup};

const GROUP: &str = "the control group of this process";

pub(super) fn look(found: &mut Vec<Disturbance>) {
    if let Ok(limits) = cgroup::limits() {
        let throttled = cgroup::throttled().unwrap_or_default();
        groups(found, &limits, throttled);
    }
    if let (Ok(allowed), Ok(machine)) = (affinity::allowed(), Topology::read())
        && allowed.len() < machine.cpus.len()
    {
        let seen = format!("Only {} of {} CPUs are allowed.", allowed.len(), machine.cpus.len());
        found.push(note("affinity", "sched_getaffinity", seen, None));
    }
    for (resource, least, what) in [
        (Resource::OpenFiles, 1024, "many descriptors, such as os.select and os.epoll"),
        (Resource::Processes, 256, "rings of processes and event building"),
        (Resource::AddressSpace, 4 << 30, "large working sets"),
        (Resource::FileSize, 1 << 30, "large files"),
    ] {
        if let Ok(Limit { soft: Some(soft), .. }) = limit(resource)
            && soft < least
        {
            let seen = format!("{} is {soft}; {least} are needed for {what}.", resource.name());
            found.push(warning("limits", "getrlimit", seen, Some("Raise it with ulimit before measuring.")));
        }
    }
}

fn groups(found: &mut Vec<Disturbance>, limits: &cgroup::Limits, throttled: cgroup::Throttled) {
    if let Some(cpus) = limits.cpus {
        let seen = format!("CPU time is limited to {cpus} CPUs, and taken away in slices.");
        found.push(warning("cgroup", GROUP, seen, Some("Run without that limit: it stops a process in mid-batch.")));
    }
    if throttled.throttled > 0 {
        let seen =
            format!("The CPU was taken away in {} of {} periods so far.", throttled.throttled, throttled.periods);
        found.push(warning("cgroup", GROUP, seen, None));
    }
    if let Some(bytes) = limits.memory_bytes.filter(|bytes| *bytes < 2 << 30) {
        let seen = format!("Memory is limited to {} MiB, so the largest working sets are unfit.", bytes >> 20);
        found.push(note("cgroup", GROUP, seen, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_limits_are_named() {
        let mut found = Vec::new();
        groups(&mut found, &cgroup::Limits::default(), cgroup::Throttled::default());
        assert!(found.is_empty());
        let limits = cgroup::Limits { version: 2, cpus: Some(1.5), memory_bytes: Some(1 << 30), processes: None };
        groups(&mut found, &limits, cgroup::Throttled { periods: 10, throttled: 3, nanos: 5 });
        assert_eq!(found.len(), 3);
        assert!(found[0].seen.contains("1.5 CPUs") && found[1].seen.contains("3 of 10"));
    }
}
