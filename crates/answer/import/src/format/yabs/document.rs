//! What YABS writes with `-j` and `-w`.

use serde::Deserialize;

use super::cells::{FIO_KILOBYTE, block, fact_of, network, of_fio, score};
use super::{Parsed, SourceFault, SourceSheet, SourceText, number as fact, shown, silent_note, text};
use crate::date::iso;
use crate::json::{BoundedMap, List, Scalar, documents, read_document};
use crate::text::{MOST_NAMES, name_value, parameter_value};

#[derive(Deserialize)]
struct YabsDocument {
    #[serde(default)]
    version: String,
    #[serde(default)]
    time: String,
    #[serde(default)]
    os: YabsSystem,
    #[serde(default)]
    cpu: YabsProcessor,
    #[serde(default)]
    mem: YabsMemory,
    #[serde(default)]
    partition: String,
    #[serde(default)]
    fio: List<YabsDisk>,
    #[serde(default)]
    iperf: List<YabsPlace>,
    #[serde(default)]
    geekbench: List<YabsScore>,
    /// How long it took.
    #[serde(default, rename = "runtime")]
    _runtime: BoundedMap<Scalar>,
}

#[derive(Deserialize, Default)]
struct YabsSystem {
    #[serde(default)]
    distro: String,
    #[serde(default)]
    kernel: String,
    #[serde(default)]
    vm: String,
    #[serde(default, rename = "uptime")]
    _uptime: Scalar,
}

#[derive(Deserialize, Default)]
struct YabsProcessor {
    #[serde(default)]
    model: String,
    #[serde(default)]
    cores: Scalar,
    /// That of the moment or the greatest, as in the text.
    #[serde(default, rename = "freq")]
    _freq: Scalar,
}

#[derive(Deserialize, Default)]
struct YabsMemory {
    #[serde(default)]
    ram: Scalar,
    ram_units: Option<String>,
    #[serde(default, rename = "swap")]
    _swap: Scalar,
    #[serde(default, rename = "disk")]
    _disk: Scalar,
}

#[derive(Deserialize)]
struct YabsDisk {
    bs: String,
    speed_r: Scalar,
    iops_r: Scalar,
    speed_w: Scalar,
    iops_w: Scalar,
    speed_rw: Scalar,
    iops_rw: Scalar,
    speed_units: Option<String>,
}

#[derive(Deserialize)]
struct YabsPlace {
    #[serde(default)]
    mode: String,
    provider: String,
    #[serde(default)]
    loc: String,
    send: String,
    recv: String,
    latency: Option<String>,
}

#[derive(Deserialize)]
struct YabsScore {
    version: Scalar,
    single: Scalar,
    multi: Scalar,
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let found = documents(source.text);
    if found.len() > MOST_NAMES {
        return Err(SourceFault::new(format!("it has more than {MOST_NAMES} runs"), found[MOST_NAMES].0 + 1));
    }
    let mut runs: Vec<SourceSheet> = Vec::new();
    for place in found {
        // Members have no lines: a fault in them is of the document.
        runs.push(run(&read_document(place, &source.ledger)?, place.0 + 1)?);
    }
    Ok(Parsed::Sheets(SourceSheet::merged(runs)))
}

fn run(document: &YabsDocument, at: usize) -> Result<SourceSheet, SourceFault> {
    let mut sheet = SourceSheet { started: started(&document.time), ..SourceSheet::default() };
    sheet.version = Some(name_value(&document.version)).filter(|version| version != "-");
    describe(&mut sheet, document, at)?;
    let mut silent: Vec<String> = Vec::new();
    for test in &document.fio.0 {
        disk(&mut sheet, &mut silent, test, at)?;
    }
    for place in &document.iperf.0 {
        let latency = place.latency.as_deref().map(|latency| ("Ping", latency));
        for (column, words) in
            [("Send Speed", &place.send[..]), ("Recv Speed", &place.recv[..])].into_iter().chain(latency)
        {
            match network(column, words, [&place.provider, &place.loc], &place.mode, at)? {
                Some(reading) => sheet.readings.push(reading),
                None => silent.push(format!("{column} of {}", parameter_value(&place.provider))),
            }
        }
    }
    for test in &document.geekbench.0 {
        let version = test.version.words();
        for (name, value) in [("Single Core", &test.single), ("Multi Core", &test.multi)] {
            match score(name, &value.words(), &version, at)? {
                Some(reading) => sheet.readings.push(reading),
                None => silent.push(format!("Geekbench {}", parameter_value(&version))),
            }
        }
    }
    silent_note(&mut sheet, &silent);
    Ok(sheet)
}

fn describe(sheet: &mut SourceSheet, document: &YabsDocument, at: usize) -> Result<(), SourceFault> {
    sheet.fact(fact_of("Processor", &document.cpu.model));
    sheet.fact(document.cpu.cores.number().map(|count| fact("cpu.count", count, "1", "output", &[])));
    // `free` counts KiB, which the first versions did not say.
    let unit = document.mem.ram_units.as_deref().unwrap_or("KiB");
    if unit != "KiB" {
        return Err(SourceFault::new(format!("the unit '{}' of its memory is not known", shown(unit)), at));
    }
    sheet.fact(document.mem.ram.number().map(|size| fact("memory.total", size * 1024.0, "B", "output", &[])));
    sheet.fact(fact_of("Distro", &document.os.distro));
    sheet.fact(fact_of("Kernel", &document.os.kernel));
    sheet.fact(fact_of("VM Type", &document.os.vm));
    sheet.fact(text("device.partition", &document.partition, "output", &[]));
    Ok(())
}

fn disk(sheet: &mut SourceSheet, silent: &mut Vec<String>, test: &YabsDisk, at: usize) -> Result<(), SourceFault> {
    let size =
        block(&test.bs).ok_or_else(|| SourceFault::new(format!("'{}' is no size of blocks", shown(&test.bs)), at))?;
    let unit = test.speed_units.as_deref().unwrap_or("KBps");
    if unit != "KBps" {
        return Err(SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at));
    }
    for (what, speed, operations) in [
        ("read", &test.speed_r, &test.iops_r),
        ("write", &test.speed_w, &test.iops_w),
        ("total", &test.speed_rw, &test.iops_rw),
    ] {
        let Some((speed, operations)) = speed.number().zip(operations.number()) else {
            silent.push(format!("fio with blocks of {size}"));
            continue;
        };
        let rounding = [1.0 / speed.abs(), 1.0 / operations.abs()];
        sheet.readings.extend(of_fio(what, &size, speed * FIO_KILOBYTE, operations, rounding));
    }
    Ok(())
}

/// `20220817-035033`
fn started(time: &str) -> String {
    let digits: String = time.chars().filter(char::is_ascii_digit).collect();
    let part = |from, to| digits.get(from..to).unwrap_or_default();
    if digits.len() != 14 {
        return String::new();
    }
    iso(&format!("{}-{}-{} {}:{}:{}", part(0, 4), part(4, 6), part(6, 8), part(8, 10), part(10, 12), part(12, 14)))
}
