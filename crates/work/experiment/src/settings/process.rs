//! Settings of the processes that measure, which the processes set themselves.

use model::Primitive;
use os::process::{self, Policy, Speculation};

use super::BLANK;
use crate::setting::{Change, Setting, SettingFact, Values};

const ON_OFF: &[(&str, &str)] = &[("no", "off"), ("yes", "on")];

/// "on" or "off".
fn switch(on: os::Result<bool>) -> Result<String, String> {
    on.map(|on| if on { "on" } else { "off" }.to_owned()).map_err(|error| error.to_string())
}

fn done(done: os::Result<()>) -> Result<(), String> {
    done.map_err(|error| error.to_string())
}

pub(super) const POLICY: Setting = Setting {
    id: "policy",
    title: "scheduling policy",
    change: Change::Process {
        read: || match process::policy() {
            Ok(Some(Policy::Other)) => Ok("other".to_owned()),
            Ok(Some(Policy::Batch)) => Ok("batch".to_owned()),
            Ok(Some(Policy::Fifo)) => Ok("fifo".to_owned()),
            Ok(None) => Err("it has a policy that is not known here".to_owned()),
            Err(error) => Err(error.to_string()),
        },
        set: |value| {
            done(process::set_policy(match value {
                "batch" => Policy::Batch,
                "fifo" => Policy::Fifo,
                _ => Policy::Other,
            }))
        },
    },
    values: Values::These(&["batch", "fifo"]),
    root: true,
    fact: Some(SettingFact { name: "confinement.policy", words: &[] }),
    ..BLANK
};

pub(super) const NICE: Setting = Setting {
    id: "nice",
    title: "nice value",
    change: Change::Process {
        read: || process::nice().map(|nice| nice.to_string()).map_err(|error| error.to_string()),
        set: |value| done(process::set_nice(value.parse().map_err(|_| format!("{value} is no nice value"))?)),
    },
    values: Values::These(&["19"]),
    fact: Some(SettingFact { name: "confinement.nice", words: &[] }),
    ..BLANK
};

pub(super) const WEIGHT: Setting = Setting {
    id: "cpu_weight",
    title: "control group of its own, weight in %",
    change: Change::Group,
    values: Values::These(&["5"]),
    root: true,
    ..BLANK
};

pub(super) const STORE_BYPASS: Setting = Setting {
    id: "store_bypass",
    title: "SSBD (no speculative store bypass)",
    change: Change::Process {
        read: || switch(process::speculates(Speculation::StoreBypass).map(|on| !on)),
        set: |value| forgo(Speculation::StoreBypass, value),
    },
    values: Values::These(&["on", "off"]),
    fact: Some(SettingFact { name: "confinement.store_bypass_disabled", words: ON_OFF }),
    ..BLANK
};

pub(super) const INDIRECT_BRANCH: Setting = Setting {
    id: "indirect_branch",
    title: "no speculation of indirect branches",
    change: Change::Process {
        read: || switch(process::speculates(Speculation::IndirectBranch).map(|on| !on)),
        set: |value| forgo(Speculation::IndirectBranch, value),
    },
    values: Values::These(&["on", "off"]),
    fact: Some(SettingFact { name: "confinement.indirect_branches_disabled", words: ON_OFF }),
    ..BLANK
};

/// Forgoes a kind of speculation, or not; what is so already is left alone, since some states are final.
fn forgo(kind: Speculation, value: &str) -> Result<(), String> {
    let wanted = value == "off";
    match process::speculates(kind) {
        Ok(now) if now == wanted => Ok(()),
        _ => done(process::set_speculates(kind, wanted)),
    }
}

pub(super) const ADDRESSES: Setting = Setting {
    id: "aslr",
    title: "random addresses (ASLR)",
    change: Change::Process {
        read: || switch(process::randomises_addresses()),
        set: |value| done(process::randomise_addresses(value == "on")),
    },
    values: Values::These(&["off", "on"]),
    ..BLANK
};

pub(super) const STACK: Setting = Setting {
    id: "stack",
    title: "limit of the stack",
    change: Change::Process {
        read: || Ok(process::stack_limit().map_or_else(|| "unlimited".to_owned(), |bytes| bytes.to_string())),
        set: |value| done(process::set_stack_limit(value.parse().ok())),
    },
    values: Values::These(&["unlimited"]),
    touches: &[
        Primitive::Exec,
        Primitive::Fork,
        Primitive::AddressSpace,
        Primitive::PageFault,
        Primitive::ThreadCreate,
    ],
    ..BLANK
};

pub(super) const FILTER: Setting = Setting {
    id: "seccomp",
    title: "seccomp filter of its own, rules",
    change: Change::Process {
        read: || Ok("none".to_owned()),
        set: |value| match value.parse() {
            Ok(rules) => done(process::filter_calls(rules)),
            Err(_) => Ok(()),
        },
    },
    values: Values::These(&["300"]),
    ..BLANK
};

pub(super) const ARENAS: Setting = Setting {
    id: "malloc_arenas",
    title: "MALLOC_ARENA_MAX",
    change: Change::Environment("MALLOC_ARENA_MAX"),
    values: Values::These(&["1"]),
    touches: PROGRAM,
    ..BLANK
};

pub(super) const BIND_NOW: Setting = Setting {
    id: "bind_now",
    title: "LD_BIND_NOW",
    change: Change::Environment("LD_BIND_NOW"),
    values: Values::These(&["1"]),
    touches: PROGRAM,
    ..BLANK
};

pub(super) const THREAD_CACHE: Setting = Setting {
    id: "glibc",
    title: "GLIBC_TUNABLES",
    change: Change::Environment("GLIBC_TUNABLES"),
    values: Values::These(&["glibc.malloc.hugetlb=1", "glibc.malloc.tcache_count=0"]),
    touches: PROGRAM,
    ..BLANK
};

/// What a library at the start of a program may touch.
const PROGRAM: &[Primitive] = &[
    Primitive::Exec,
    Primitive::DynamicLink,
    Primitive::Fork,
    Primitive::AddressSpace,
    Primitive::PageFault,
    Primitive::ThreadCreate,
];
