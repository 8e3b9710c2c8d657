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
    errors(facts);
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
    let memory = table.map(|table| dmi::memory(&table)).and_then(|memory| {
        if memory.modules.is_empty() { Err("the firmware lists no memory module".to_owned()) } else { Ok(memory) }
    });
    let number = |pick: fn(&dmi::Memory) -> Option<f64>| -> Found<f64> {
        pick(memory.as_ref().map_err(Clone::clone)?).ok_or_else(|| "the firmware does not report it".to_owned())
    };
    facts.number("memory.modules", number(|memory| Some(memory.modules.len() as f64)), "1", path, DRAM);
    facts.number("memory.slots", number(|memory| Some(memory.slots as f64)), "1", path, &[]);
    facts.number("memory.channels", number(|memory| memory.channels.map(|n| n as f64)), "1", path, DRAM);
    facts.number("memory.board_channels", number(|memory| memory.board_channels.map(|n| n as f64)), "1", path, &[]);
    facts.number(
        "memory.speed",
        number(|memory| memory.least(|module| module.transfers_per_second)),
        "transfers/s",
        path,
        DRAM,
    );
    facts.number("memory.rated_speed", number(|memory| memory.least(|module| module.rated)), "transfers/s", path, &[]);
    facts.number("memory.width", number(|memory| memory.least(|module| Some(module.width))), "B", path, &[]);
    let kinds = memory.map(|memory| {
        let mut kinds: Vec<String> = memory.modules.iter().map(|module| module.kind.to_owned()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.join(", ")
    });
    facts.words("memory.type", kinds, path, DRAM);
}

/// Errors that the memory controllers counted since the machine started (`Documentation/driver-api/edac.rst`).
fn errors(facts: &mut Collector) {
    let dir = "/sys/devices/system/edac/mc";
    let controllers = facts.names(dir);
    let sum = |file: &str| -> Found<f64> {
        let counts = controllers.iter().filter_map(|name| facts.read_number(&format!("{dir}/{name}/{file}")).ok());
        counts.reduce(|sum, count| sum + count).ok_or_else(|| format!("there is no {dir}/mc0/{file}"))
    };
    let (corrected, uncorrected) = (sum("ce_count"), sum("ue_count"));
    facts.number("memory.corrected_errors", corrected, "1", dir, DRAM);
    facts.number("memory.uncorrected_errors", uncorrected, "1", dir, &[]);
}
