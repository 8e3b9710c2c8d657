//! The settings, each one literal. They are listed in the order in which a journal restores them.

mod memory;
mod network;
mod parameter;
mod process;
mod storage;
mod system;

use crate::setting::{Change, Setting, SettingKind, Values};

/// The setting that changes nothing.
pub const NOTHING: &Setting = &Setting { id: "nothing", title: "nothing (A/A)", change: Change::Nothing, ..BLANK };

/// Every setting.
pub const SETTINGS: &[&Setting] = &[
    NOTHING,
    &parameter::PLACEMENT,
    &parameter::PAIR,
    &parameter::DURABILITY,
    &parameter::BUFFERS,
    &parameter::PAGES,
    &parameter::CONGESTION,
    &process::POLICY,
    &process::NICE,
    &process::WEIGHT,
    &process::STORE_BYPASS,
    &process::INDIRECT_BRANCH,
    &process::ADDRESSES,
    &process::STACK,
    &process::FILTER,
    &process::ARENAS,
    &process::BIND_NOW,
    &process::THREAD_CACHE,
    &memory::HUGE_PAGES,
    &memory::POLICY,
    &network::CONGESTION,
    &network::SEND_BUFFER,
    &network::RECEIVE_BUFFER,
    &system::SMT,
    &system::GOVERNOR,
    &system::ENERGY,
    &system::TURBO,
    &system::IDLE,
    &system::AUTOGROUP,
    &system::NUMA_BALANCING,
    &system::RANDOMISE,
    &system::PAGES,
    &system::DEFRAG,
    &system::SWAPPINESS,
    &system::HALT_POLLING,
    &system::INTERRUPTS,
    &storage::SCHEDULER,
    &storage::READ_AHEAD,
    &storage::DIRTY,
    &network::MTU,
    &network::SEGMENT_TCP,
    &network::SEGMENT_ANY,
    &network::JOIN,
    &network::BACKLOG,
];

/// The literal without anything special.
const BLANK: Setting = Setting {
    id: "",
    title: "",
    kind: SettingKind::Process,
    change: Change::Nothing,
    values: Values::These(&[]),
    touches: &[],
    root: false,
    cuts: false,
    fact: None,
};

/// A setting of the system, which needs root.
const OF_SYSTEM: Setting = Setting { kind: SettingKind::System, root: true, ..BLANK };
