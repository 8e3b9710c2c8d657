//! Settings of disks and of what waits for them.

use model::Primitive;

use super::OF_SYSTEM;
use crate::setting::{Change, Setting, SettingFact, Values};

const DISK: &[Primitive] = &[Primitive::DiskRead, Primitive::DiskWrite];

pub(super) const SCHEDULER: Setting = Setting {
    id: "io_scheduler",
    title: "I/O scheduler",
    change: Change::Files(&["/sys/block/*/queue/scheduler"]),
    values: Values::These(&["none", "mq-deadline"]),
    touches: DISK,
    fact: Some(SettingFact { name: "disk.*.scheduler", words: &[] }),
    ..OF_SYSTEM
};

pub(super) const READ_AHEAD: Setting = Setting {
    id: "read_ahead",
    title: "read-ahead of disks, KiB",
    change: Change::Files(&["/sys/block/*/queue/read_ahead_kb"]),
    values: Values::These(&["16"]),
    touches: &[Primitive::DiskRead],
    ..OF_SYSTEM
};

pub(super) const DIRTY: Setting = Setting {
    id: "dirty_background",
    title: "dirty pages before writing begins, %",
    change: Change::Files(&["/proc/sys/vm/dirty_background_ratio"]),
    values: Values::These(&["1"]),
    touches: &[Primitive::DiskWrite, Primitive::PageCache],
    fact: Some(SettingFact { name: "file.dirty_background_ratio", words: &[] }),
    ..OF_SYSTEM
};
