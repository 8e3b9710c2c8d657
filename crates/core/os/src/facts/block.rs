//! File systems of the relevant directories, and the disks.

use model::Primitive;

use crate::facts::Directory;
use crate::facts::collector::{Collector, why};
use crate::file;

const DISK: &[Primitive] = &[Primitive::DiskRead, Primitive::DiskWrite, Primitive::Durability];
const FILES: &[Primitive] = &[
    Primitive::FileMetadata,
    Primitive::PageCache,
    Primitive::Durability,
    Primitive::DiskRead,
    Primitive::DiskWrite,
    Primitive::Shell,
];

pub(super) fn collect(facts: &mut Collector, directories: &[Directory<'_>]) {
    for directory in directories {
        filesystem(facts, directory);
    }
    for device in facts.names("/sys/block") {
        disk(facts, &device);
    }
    for (name, knob) in [
        ("file.dirty_ratio", "dirty_ratio"),
        ("file.dirty_background_ratio", "dirty_background_ratio"),
        ("file.dirty_expire", "dirty_expire_centisecs"),
    ] {
        let (scale, unit) = if knob.ends_with("centisecs") { (0.01, "s") } else { (0.01, "1") };
        facts.file_number(
            name,
            &format!("/proc/sys/vm/{knob}"),
            scale,
            unit,
            &[Primitive::DiskWrite, Primitive::PageCache],
        );
    }
}

fn filesystem(facts: &mut Collector, directory: &Directory<'_>) {
    let found = why(file::filesystem(directory.path));
    let name = |what: &str| format!("filesystem.{}.{what}", directory.label);
    let table = "/proc/self/mountinfo";
    facts.words(name("type"), found.clone().map(|fs| fs.kind), table, FILES);
    let known =
        |words: String| if words.is_empty() { Err("the mount table does not list it".to_owned()) } else { Ok(words) };
    facts.words(name("source"), found.clone().and_then(|fs| known(fs.source)), table, DISK);
    facts.words(name("options"), found.clone().and_then(|fs| known(fs.options)), table, FILES);
    facts.number(name("block"), found.clone().map(|fs| fs.block_bytes as f64), "B", "statvfs", FILES);
    facts.number(name("size"), found.clone().map(|fs| fs.total_bytes as f64), "B", "statvfs", &[]);
    facts.number(name("free"), found.map(|fs| fs.free_bytes as f64), "B", "statvfs", &[Primitive::DiskWrite]);
}

fn disk(facts: &mut Collector, device: &str) {
    let dir = format!("/sys/block/{device}");
    let sectors = facts.read_number(&format!("{dir}/size")).unwrap_or(0.0);
    // Loop and RAM devices exist in groups of eight, used or not.
    if sectors == 0.0 || ["loop", "ram", "zram", "nbd"].iter().any(|kind| device.starts_with(kind)) {
        return;
    }
    let name = |what: &str| format!("disk.{device}.{what}");
    facts.number(name("size"), Ok(sectors * 512.0), "B", format!("{dir}/size"), &[]);
    let rotational = format!("{dir}/queue/rotational");
    facts.truth(name("rotational"), facts.read_number(&rotational).map(|n| n != 0.0), rotational, DISK);
    facts.file_choice(name("scheduler"), &format!("{dir}/queue/scheduler"), DISK);
    facts.file(
        name("write_cache"),
        &format!("{dir}/queue/write_cache"),
        &[Primitive::DiskWrite, Primitive::Durability],
    );
    facts.file_number(name("read_ahead"), &format!("{dir}/queue/read_ahead_kb"), 1024.0, "B", &[Primitive::DiskRead]);
    facts.file(name("model"), &format!("{dir}/device/model"), DISK);
    let driver = std::fs::read_link(facts.path(&format!("{dir}/device/driver")));
    let driver = driver.ok().and_then(|link| Some(link.file_name()?.to_string_lossy().into_owned()));
    let driver = driver.ok_or_else(|| format!("there is no {dir}/device/driver"));
    facts.words(name("driver"), driver, format!("{dir}/device/driver"), DISK);
}
