//! Forking requires a process of one thread, which Rust's test harness is not: this is a separate program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "all of this is a test")]

use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use kernels::file::{Lock, set_lock};
use kernels::memory::{Arena, Pages, SharedCounters};
use kernels::process::{PreparedProgram, ProcessExit};
use kernels::signal::{Signal, SignalCounter};
use os::process::EndWatch;

fn main() {
    // As its own helper: the exec chain counts down, then ends with 7.
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(left) = arguments.get(1).and_then(|word| word.strip_prefix("chain=")) {
        chain(left.parse().expect("a number"));
    }
    if arguments.get(1).is_some_and(|word| word == "leader") {
        lead_a_group();
    }
    exits_are_decoded();
    closures_share_counters_and_copy_arenas();
    every_way_to_start_a_program();
    dropped_children_end();
    dying_with_the_parent();
    groups_end_with_the_parent();
    interrupted_looks_are_no_errors();
    locks_exclude_other_processes();
    threads_forbid_forking();
    println!("process: all held");
}

fn chain(left: u32) -> ! {
    if left == 0 {
        kernels::process::exit_now(7);
    }
    let me = std::env::current_exe().unwrap();
    let error = PreparedProgram::new(me, [format!("chain={}", left - 1)]).unwrap().exec();
    panic!("{error}");
}

fn exits_are_decoded() {
    assert_eq!(kernels::process::fork_exit(0).unwrap(), ProcessExit::Code(0));
    assert_eq!(kernels::process::fork_exit(255).unwrap(), ProcessExit::Code(255));
    assert_eq!(kernels::process::fork(|| 3).unwrap().wait().unwrap(), ProcessExit::Code(3));
    std::panic::set_hook(Box::new(|_| {}));
    assert_eq!(kernels::process::fork(|| panic!("on purpose")).unwrap().wait().unwrap(), ProcessExit::Code(101));
    let _ = std::panic::take_hook();

    let child = kernels::process::fork(sleep_long).unwrap();
    os::process::send(child.pid(), Some(Signal::Terminate)).unwrap();
    let (exit, faults) = child.wait_faults().unwrap();
    assert_eq!(exit, ProcessExit::Signal { number: Signal::Terminate.number(), core: false });
    assert!(faults > 0);
    assert!(!exit.success());
}

fn sleep_long() -> i32 {
    std::thread::sleep(std::time::Duration::from_secs(30));
    0
}

fn closures_share_counters_and_copy_arenas() {
    let counters = SharedCounters::new(2).unwrap();
    let mut arena = Arena::reserve(4096, Pages::Base).unwrap();
    arena.words_mut()[0] = 5;
    let child = kernels::process::fork(|| {
        counters.get(1).unwrap().store(arena.words()[0] + 1, Ordering::Release);
        arena.words_mut()[0] = 9;
        0
    });
    assert!(child.unwrap().wait().unwrap().success());
    assert_eq!(counters.get(1).unwrap().load(Ordering::Acquire), 6);
    assert_eq!(arena.words()[0], 5);
}

fn every_way_to_start_a_program() {
    let shell = |script: &str| PreparedProgram::new("/bin/sh", ["-c", script]).unwrap().silent().unwrap();
    let mut hello = shell("echo hello; exit 4");
    for _ in 0..3 {
        assert_eq!(hello.fork_exec().unwrap().wait().unwrap(), ProcessExit::Code(4));
        assert_eq!(hello.vfork_exec().unwrap().wait().unwrap(), ProcessExit::Code(4));
        assert_eq!(hello.spawn().unwrap().wait().unwrap(), ProcessExit::Code(4));
    }
    let mut missing = PreparedProgram::new("/nonexistent/program", [""; 0]).unwrap();
    assert_eq!(missing.fork_exec().unwrap().wait().unwrap(), ProcessExit::Code(127));
    assert_eq!(missing.vfork_exec().unwrap().wait().unwrap(), ProcessExit::Code(127));
    assert!(missing.spawn().is_err());
    assert!(missing.exec().to_string().contains("/nonexistent/program"));
    assert!(PreparedProgram::new("/bin/sh", ["zero\0byte"]).is_err());

    let me = std::env::current_exe().unwrap();
    assert_eq!(
        PreparedProgram::new(me, ["chain=3"]).unwrap().fork_exec().unwrap().wait().unwrap(),
        ProcessExit::Code(7)
    );
}

fn dropped_children_end() {
    let pid = kernels::process::fork(sleep_long).unwrap().pid();
    assert!(os::process::send(pid, None).is_err(), "a dropped child is killed and waited for");
}

fn dying_with_the_parent() {
    let counters = SharedCounters::new(1).unwrap();
    let middle = kernels::process::fork(|| {
        let parent = os::process::own_pid();
        let orphan = kernels::process::fork(|| {
            if os::process::die_with_parent(parent).is_err() {
                return 1;
            }
            counters.get(0).unwrap().store(os::process::own_pid() as u64, Ordering::Release);
            sleep_long()
        });
        std::mem::forget(orphan);
        while counters.get(0).unwrap().load(Ordering::Acquire) == 0 {
            kernels::process::raw::yield_now();
        }
        0
    });
    assert!(middle.unwrap().wait().unwrap().success());
    let orphan = counters.get(0).unwrap().load(Ordering::Acquire) as i32;
    assert!(ends(orphan), "the grandchild outlived its parent");
}

/// Whether a process ends within ten seconds.
fn ends(pid: i32) -> bool {
    let start = kernels::clock::now();
    let gone = || !os::usage::Stat::of(pid).is_ok_and(|stat| stat.state != 'Z');
    while !gone() && kernels::clock::now() - start < 10_000_000_000 {
        kernels::process::raw::yield_now();
    }
    gone()
}

/// A leader of a group that starts a program, and says which.
fn lead_a_group() -> ! {
    os::process::end_group_with_parent(os::process::parent_pid()).unwrap();
    let mut program = std::process::Command::new("sleep").arg("600").spawn().expect("a program starts");
    println!("{}", program.id());
    program.wait().unwrap();
    kernels::process::exit_now(0)
}

#[allow(clippy::zombie_processes, reason = "the leader is to outlive the process that starts it")]
fn groups_end_with_the_parent() {
    let started = SharedCounters::new(1).unwrap();
    let middle = kernels::process::fork(|| {
        let me = std::env::current_exe().unwrap();
        let mut leader = std::process::Command::new(me);
        let leader = leader.arg("leader").process_group(0).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(leader.stdout.unwrap()).read_line(&mut line).unwrap();
        started.get(0).unwrap().store(line.trim().parse().unwrap(), Ordering::Release);
        0
    });
    assert!(middle.unwrap().wait().unwrap().success());
    let program = started.get(0).unwrap().load(Ordering::Acquire) as i32;
    assert!(program > 1 && ends(program), "the program outlived the parent of its group's leader");
    let member =
        kernels::process::fork(|| i32::from(os::process::end_group_with_parent(os::process::parent_pid()).is_err()));
    assert_eq!(member.unwrap().wait().unwrap(), ProcessExit::Code(1), "a group ends with its leader alone");
}

fn interrupted_looks_are_no_errors() {
    let mut child = std::process::Command::new("sleep").arg("600").spawn().expect("a program starts");
    let watch = EndWatch::new(child.id().cast_signed());
    let counted = SignalCounter::install(Signal::User1).unwrap();
    let done = AtomicBool::new(false);
    let other = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                counted.send().unwrap();
            }
        });
        let mut checkpoints = (0..2_000_000).map_while(|_| (counted.count() < 20_000).then(|| watch.ended()));
        let other = checkpoints.find(|ended| !matches!(ended, Ok(false)));
        done.store(true, Ordering::Release);
        other
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(other.is_none(), "{other:?} after {} signals", counted.count());
    assert!(watch.ended().unwrap());
}

fn locks_exclude_other_processes() {
    let file = tempfile::tempfile().unwrap();
    let lock = |kind, start| set_lock(file.as_fd(), kind, start, 10);
    let child = |start| kernels::process::fork(|| i32::from(lock(Some(Lock::Exclusive), start).is_err())).unwrap();
    lock(Some(Lock::Exclusive), 0).unwrap();
    assert!(child(10).wait().unwrap().success());
    let waiting = child(5);
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(!EndWatch::new(waiting.pid()).ended().unwrap(), "a lock that another process holds is waited for");
    lock(None, 0).unwrap();
    assert!(waiting.wait().unwrap().success());
}

fn threads_forbid_forking() {
    let (stop, wait) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || wait.recv());
    assert_eq!(kernels::process::thread_count().unwrap(), 2);
    assert!(kernels::process::fork(|| 0).unwrap_err().to_string().contains("2 threads"));
    assert!(kernels::process::fork_exit(0).unwrap().success());
    drop(stop);
    let _ = thread.join().unwrap();
}
