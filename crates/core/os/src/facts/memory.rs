//! Memory: its size, kind and page sizes.

use kernels::{memory, text};
use model::{FactValue, Primitive};

use crate::facts::collector::{Collector, Found};
use crate::facts::dmi;

const DRAM: &[Primitive] = &[Primitive::DramLatency, Primitive::DramRead, Primitive::DramWrite];
const HUGE: &[Primitive] =
    &[Primitive::PageFault, Primitive::Fork, Primitive::Tlb, Primitive::DramLatency, Primitive::AddressSpace];
const THP: &str = "/sys/kernel/mm/transparent_hugepage";

pub(super) fn collect(facts: &mut Collector) {
    let info = facts.read("/proc/meminfo");
    for (name, key) in [
        ("memory.total", "MemTotal"),
        ("memory.available", "MemAvailable"),
        ("memory.swap", "SwapTotal"),
        ("memory.swap_free", "SwapFree"),
        ("memory.commit_limit", "CommitLimit"),
    ] {
        let value: Found<f64> = info.as_deref().map_err(ToString::to_string).and_then(|text| {
            let kib: Option<f64> = text::field_number(text, key);
            kib.map(|kib| kib * 1024.0).ok_or_else(|| format!("/proc/meminfo has no {key}"))
        });
        facts.number(name, value, "B", "/proc/meminfo", &[]);
    }
    facts.number("memory.page", Ok(memory::page_size() as f64), "B", "sysconf(_SC_PAGESIZE)", HUGE);
    facts.file_choice("memory.transparent_huge_pages", &format!("{THP}/enabled"), HUGE);
    facts.file_choice("memory.huge_page_defrag", &format!("{THP}/defrag"), HUGE);
    facts.file_number("memory.huge_page", &format!("{THP}/hpage_pmd_size"), 1.0, "B", HUGE);
    facts.file_choice("memory.shared_huge_pages", &format!("{THP}/shmem_enabled"), &[Primitive::PageFault]);
    reserved_huge_pages(facts);
    let same_page = "/sys/kernel/mm/ksm/run";
    facts.truth(
        "memory.same_page_merging",
        facts.read_number(same_page).map(|n| n == 1.0),
        same_page,
        &[Primitive::PageFault],
    );
    let overcommit = "/proc/sys/vm/overcommit_memory";
    facts.file("memory.overcommit", overcommit, &[Primitive::Fork, Primitive::AddressSpace]);
    facts.file("memory.swappiness", "/proc/sys/vm/swappiness", &[]);
    modules(facts);
}

fn reserved_huge_pages(facts: &mut Collector) {
    let dir = "/sys/kernel/mm/hugepages";
    let pools: Vec<String> = facts
        .names(dir)
        .iter()
        .filter_map(|pool| {
            let count = facts.read(&format!("{dir}/{pool}/nr_hugepages")).ok()?;
            Some(format!("{count} x {}", pool.strip_prefix("hugepages-")?))
        })
        .collect();
    let pools = if pools.is_empty() { Err(format!("there is no {dir}")) } else { Ok(FactValue::List(pools)) };
    facts.add("memory.reserved_huge_pages", pools, None, dir, HUGE);
}

/// Memory modules from the firmware tables, which only root may read.
fn modules(facts: &mut Collector) {
    let path = "/sys/firmware/dmi/tables/DMI";
    let table = std::fs::read(facts.path(path)).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => format!("{path} may be read by root only"),
        _ => format!("there is no {path}"),
    });
    let modules = table.map(|table| dmi::modules(&table)).and_then(|modules| {
        if modules.is_empty() { Err("the firmware lists no memory module".to_owned()) } else { Ok(modules) }
    });
    facts.number("memory.modules", modules.clone().map(|all| all.len() as f64), "1", path, DRAM);
    let speed = modules.clone().and_then(|all| {
        let slowest = all.iter().filter_map(|module| module.transfers_per_second).min();
        slowest.map(|speed| speed as f64).ok_or_else(|| "the firmware does not report it".to_owned())
    });
    facts.number("memory.speed", speed, "transfers/s", path, DRAM);
    let kinds = modules.map(|all| {
        let mut kinds: Vec<String> = all.iter().map(|module| module.kind.to_owned()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.join(", ")
    });
    facts.words("memory.type", kinds, path, DRAM);
}
