//! Settings of the memory of the processes that measure.

use os::process;

use super::BLANK;
use crate::setting::{Change, Setting, SettingFact, Values};
use crate::settings::system::OF_PAGES;

pub(super) const HUGE_PAGES: Setting = Setting {
    id: "huge_pages",
    title: "huge pages of the process",
    change: Change::Process {
        read: || {
            let allowed = process::huge_pages().map_err(|error| error.to_string())?;
            Ok(if allowed { "allowed" } else { "forbidden" }.to_owned())
        },
        set: |value| process::allow_huge_pages(value == "allowed").map_err(|error| error.to_string()),
    },
    values: Values::These(&["forbidden", "allowed"]),
    touches: OF_PAGES,
    fact: Some(SettingFact { name: "confinement.huge_pages", words: &[("yes", "allowed"), ("no", "forbidden")] }),
    ..BLANK
};

pub(super) const POLICY: Setting = Setting {
    id: "memory_policy",
    title: "memory policy",
    change: Change::Process {
        read: || match nodes().len() {
            0 | 1 => Err("there is one memory node".to_owned()),
            _ => Ok("local".to_owned()),
        },
        set: |value| {
            let over = if value == "interleave" { nodes() } else { Vec::new() };
            process::interleave_memory(&over).map_err(|error| error.to_string())
        },
    },
    values: Values::These(&["interleave"]),
    ..BLANK
};

fn nodes() -> Vec<usize> {
    let text = kernels::text::read("/sys/devices/system/node/has_memory").unwrap_or_default();
    kernels::text::list(&text).unwrap_or_default()
}
