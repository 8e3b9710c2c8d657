//! The caches that the operating system reports.

use kernels::text;
use model::{CacheGroup, CacheKind, CpuSet};

use super::{CPUS, SysFiles};

/// More caches than any CPU has.
const MOST: usize = 16;

/// Caches of all CPUs, those that are alike together, innermost first.
pub(super) fn read(files: &SysFiles, online: &CpuSet) -> Vec<CacheGroup> {
    let mut groups: Vec<CacheGroup> = Vec::new();
    for cpu in online.iter() {
        for index in 0..MOST {
            let folder = format!("{CPUS}/cpu{cpu}/cache/index{index}");
            let Some(level) = files.number(&format!("{folder}/level")) else { break };
            if let Some(cache) = one(files, &folder, level, cpu, online) {
                join(&mut groups, cache);
            }
        }
    }
    for group in &mut groups {
        group.cpus.sort_unstable();
    }
    groups.sort_by_key(|group| (group.level, group.kind, group.cpus.first().and_then(CpuSet::first)));
    groups
}

fn join(groups: &mut Vec<CacheGroup>, mut cache: CacheGroup) {
    let alike = |group: &&mut CacheGroup| {
        let description = |c: &CacheGroup| (c.level, c.kind, c.bytes, c.line, c.ways);
        description(group) == description(&cache)
    };
    match groups.iter_mut().find(alike) {
        Some(group) if group.cpus.iter().any(|set| cache.cpus.contains(set)) => {}
        Some(group) => group.cpus.append(&mut cache.cpus),
        None => groups.push(cache),
    }
}

fn one(files: &SysFiles, folder: &str, level: u32, cpu: usize, online: &CpuSet) -> Option<CacheGroup> {
    let name = |name: &str| format!("{folder}/{name}");
    let kind = match files.text(&name("type"))?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    let shared = files.list(&name("shared_cpu_list"));
    let shared = shared.map(|set| set.and(online)).filter(|set| set.contains(cpu));
    Some(CacheGroup {
        level,
        kind,
        bytes: files.text(&name("size")).and_then(|size| text::size(&size)).filter(|&bytes| bytes > 0),
        line: files.number(&name("coherency_line_size")).filter(|&line| line > 0),
        ways: files.number(&name("ways_of_associativity")).filter(|&ways| ways > 0),
        cpus: vec![shared.unwrap_or_else(|| CpuSet::from([cpu].as_slice()))],
    })
}
