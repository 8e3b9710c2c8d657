//! What watches system calls and packets from inside the kernel: tracepoints that are on, and programs of agents, as
//! the kernel tells the privileged (`Documentation/trace/events.rst`, bpf(2)).
//!
//! Agents for security and for observing systems attach themselves to every system call of every process.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use model::{FactValue, Primitive};

use crate::error::{Error, Result};
use crate::facts::collector::{Collector, Found, why};

const WHAT: &str = "ask the kernel for its programs";
const SOURCE: &str = "bpf(BPF_PROG_GET_NEXT_ID)";

/// Where the file system of traces is mounted.
const TRACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Groups of tracepoints at the entry and the exit of system calls.
const GROUPS: [&str; 2] = ["raw_syscalls", "syscalls"];

/// Kinds of programs that may run in any process's system calls, by their numbers in `linux/bpf.h`.
const WATCHING: [(u32, &str); 7] = [
    (2, "kprobe"),
    (5, "tracepoint"),
    (7, "perf_event"),
    (17, "raw_tracepoint"),
    (24, "raw_tracepoint_writable"),
    (26, "tracing"),
    (29, "lsm"),
];
/// Kinds of programs that packets pass.
const ON_THE_WAY: [(u32, &str); 8] = [
    (3, "sched_cls"),
    (4, "sched_act"),
    (6, "xdp"),
    (8, "cgroup_skb"),
    (13, "sock_ops"),
    (14, "sk_skb"),
    (16, "sk_msg"),
    (18, "cgroup_sock_addr"),
];

/// The capability that it takes to list programs (`CAP_SYS_ADMIN`).
const SYS_ADMIN: u32 = 21;
/// Commands of `linux/bpf.h`.
const NEXT_ID: libc::c_int = 11;
const FD_BY_ID: libc::c_int = 13;
const INFO_BY_FD: libc::c_int = 15;
/// Bytes of the structure that all of them take; what is longer than the kernel's own is zero.
const ATTRIBUTE: usize = 64;
/// Most programs that are looked at.
const MOST: usize = 1 << 14;

/// The structure of a call, as numbers of 32 bits.
#[repr(C, align(8))]
struct BpfAttribute([u32; ATTRIBUTE / 4]);

pub(super) fn collect(facts: &mut Collector) {
    let calls = &[Primitive::SyscallEntry];
    facts.truth("kernel.traced_calls", traced(facts), "events/raw_syscalls/enable of tracefs", calls);
    if !facts.is_here() {
        return;
    }
    let kinds = facts.may(SYS_ADMIN).and_then(|()| why(loaded()));
    let network = &[Primitive::TcpStack, Primitive::UdpStack, Primitive::NetworkLink];
    for (name, of, affects) in [
        ("kernel.watching_programs", &WATCHING[..], &calls[..]),
        ("kernel.packet_programs", &ON_THE_WAY[..], &network[..]),
    ] {
        let listed = kinds.clone().map(|kinds| FactValue::List(named(&kinds, of)));
        facts.add(name, listed, None, SOURCE, affects);
    }
}

/// Whether tracepoints of system calls are on: a file of a group says `0`, `1`, or `X` where some of it are.
fn traced(facts: &Collector) -> Found<bool> {
    let state = |root: &str, group: &str| facts.read(&format!("{root}/events/{group}/enable"));
    let root = TRACES.iter().find(|root| state(root, GROUPS[0]).is_ok()).copied().unwrap_or(TRACES[0]);
    // Kernels without the finer ones have the general ones still.
    let on = state(root, GROUPS[0])? != "0" || state(root, GROUPS[1]).is_ok_and(|state| state != "0");
    Ok(on)
}

/// `3 x raw_tracepoint`, for the kinds that are there.
fn named(kinds: &BTreeMap<u32, u32>, of: &[(u32, &str)]) -> Vec<String> {
    of.iter().filter_map(|(kind, name)| Some(format!("{} x {name}", kinds.get(kind)?))).collect()
}

/// Programs that are loaded, by kind.
fn loaded() -> Result<BTreeMap<u32, u32>> {
    let mut kinds = BTreeMap::new();
    let mut id = 0;
    for _ in 0..MOST {
        let mut next = attribute(&[id]);
        match bpf(NEXT_ID, &mut next) {
            Ok(_) => id = next.0[1],
            // The last one has no next.
            Err(error) if error.errno() == Some(libc::ENOENT) => return Ok(kinds),
            Err(error) => return Err(error),
        }
        // One that went away meanwhile is not counted.
        if let Ok(kind) = kind_of(id) {
            *kinds.entry(kind).or_insert(0) += 1;
        }
    }
    Err(Error::refused(WHAT, format!("there are more than {MOST}")))
}

fn kind_of(id: u32) -> Result<u32> {
    let fd = bpf(FD_BY_ID, &mut attribute(&[id]))?;
    // SAFETY: the descriptor was just made and has no other owner.
    let program = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut kind = 0_u32;
    let address = (&raw mut kind) as u64;
    // The kernel writes as much of its description as it is told that there is room for; its first number is the kind.
    let numbers = [program.as_raw_fd().cast_unsigned(), size_of::<u32>() as u32];
    let mut asked = attribute(&numbers);
    asked.0[2] = (address & u64::from(u32::MAX)) as u32;
    asked.0[3] = (address >> 32) as u32;
    if cfg!(target_endian = "big") {
        asked.0.swap(2, 3);
    }
    bpf(INFO_BY_FD, &mut asked)?;
    // SAFETY: the kernel may have written to it behind the compiler's back.
    Ok(unsafe { std::ptr::read_volatile(&raw const kind) })
}

fn attribute(numbers: &[u32]) -> BpfAttribute {
    let mut made = BpfAttribute([0; ATTRIBUTE / 4]);
    made.0[..numbers.len()].copy_from_slice(numbers);
    made
}

#[cfg(target_os = "linux")]
fn bpf(command: libc::c_int, attribute: &mut BpfAttribute) -> Result<RawFd> {
    // SAFETY: a structure that is readable and writable for its whole size; addresses in it are of live values.
    let answer =
        unsafe { libc::syscall(libc::SYS_bpf, command, (&raw mut *attribute).cast::<libc::c_void>(), ATTRIBUTE) };
    RawFd::try_from(answer).ok().filter(|answer| *answer >= 0).ok_or_else(|| Error::last(WHAT))
}

#[cfg(not(target_os = "linux"))]
fn bpf(_: libc::c_int, _: &mut BpfAttribute) -> Result<RawFd> {
    Err(Error::not_here(WHAT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracepoints_that_are_on_by_half_are_on() {
        let dir = tempfile::tempdir().unwrap();
        let facts = Collector::new(dir.path());
        assert!(traced(&facts).is_err());
        let put = |root: &str, group: &str, state: &str| {
            let folder = facts.path(&format!("{root}/events/{group}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("enable"), state).unwrap();
        };
        put(TRACES[1], "raw_syscalls", "0\n");
        assert!(!traced(&facts).unwrap());
        put(TRACES[1], "syscalls", "X\n");
        assert!(traced(&facts).unwrap());
        put(TRACES[0], "raw_syscalls", "1\n");
        assert!(traced(&facts).unwrap());
    }

    #[test]
    fn a_program_that_is_loaded_is_counted() {
        const LOAD: libc::c_int = 5;
        const TRACEPOINT: u32 = 5;
        let Ok(before) = loaded() else {
            testing::lacks!("only the privileged may list programs");
            return;
        };
        // Two instructions: the answer is 0; exit.
        let program: [u64; 2] = [0xb7, 0x95];
        let license = c"GPL";
        let halves = |address: u64| [(address & u64::from(u32::MAX)) as u32, (address >> 32) as u32];
        let (code, words) = (halves(program.as_ptr() as u64), halves(license.as_ptr() as u64));
        let mut asked = attribute(&[TRACEPOINT, program.len() as u32, code[0], code[1], words[0], words[1]]);
        let Ok(fd) = bpf(LOAD, &mut asked) else {
            testing::lacks!("this kernel loads no program of this kind");
            return;
        };
        // SAFETY: the descriptor was just made and has no other owner.
        let kept = unsafe { OwnedFd::from_raw_fd(fd) };
        let with = loaded().unwrap();
        assert_eq!(with.get(&TRACEPOINT), Some(&(before.get(&TRACEPOINT).copied().unwrap_or(0) + 1)));
        assert!(named(&with, &WATCHING).iter().any(|text| text.ends_with(" x tracepoint")));
        drop(kept);
    }

    #[test]
    fn kinds_are_named_with_their_numbers() {
        let kinds = BTreeMap::from([(17, 3), (6, 1), (15, 9)]);
        assert_eq!(named(&kinds, &WATCHING), ["3 x raw_tracepoint"]);
        assert_eq!(named(&kinds, &ON_THE_WAY), ["1 x xdp"]);
    }
}
