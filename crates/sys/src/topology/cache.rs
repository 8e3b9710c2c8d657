//! The caches that the operating system reports. Virtual machines often report those of the host, so measured values
//! take precedence.

use std::fs;
use std::path::Path;

use crate::text;

/// The content of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache as seen from one CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// 1 is the innermost.
    pub level: u32,
    /// Its content.
    pub kind: CacheKind,
    /// Size in bytes.
    pub bytes: Option<u64>,
    /// Line size in bytes.
    pub line: Option<u32>,
    /// Associativity: lines per set.
    pub ways: Option<u32>,
    /// Online CPUs that share it, ascending.
    pub shared: Vec<usize>,
}

pub(super) fn read(dir: &Path) -> Vec<Cache> {
    let mut caches: Vec<Cache> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            entry.file_name().to_str()?.starts_with("index").then(|| one(&entry.path()))?
        })
        .collect();
    caches.sort_by_key(|cache| (cache.level, cache.kind));
    caches
}

fn one(dir: &Path) -> Option<Cache> {
    let kind = match text::read(dir.join("type")).ok()?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    Some(Cache {
        level: text::number(dir.join("level")).ok()?,
        kind,
        bytes: text::read(dir.join("size")).ok().and_then(|size| text::size(&size)),
        line: text::number(dir.join("coherency_line_size")).ok(),
        ways: text::number(dir.join("ways_of_associativity")).ok().filter(|&ways| ways > 0),
        shared: text::read(dir.join("shared_cpu_list")).ok().and_then(|list| text::list(&list)).unwrap_or_default(),
    })
}
