//! `prony explain`: the published case, and causes planted on this machine and measured.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that cannot go on fails; what was not conclusive is said"
)]

use crate::common;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::common::Place;
use crate::tape::{Loop, Mount, said};
use serde_json::Value;

/// Measurements of this file do not run concurrently.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seconds of a brief run, and of one for results that the brief one did not show.
const BRIEF: u32 = 6;
const LONG: u32 = 20;

/// Noise may hide a planted cause from one pair of short runs; one of several pairs must show it. A quiet machine shows
/// it in brief ones, which are tried first.
fn within_tries(what: &str, attempt: impl FnMut(u32) -> Result<(), String>) {
    tried(what, if testing::wants_slow() { &[BRIEF, LONG, LONG, LONG, LONG] } else { &[4; 3] }, attempt);
}

/// One attempt for each limit of its runs in seconds, until one succeeds.
fn tried(what: &str, limits: &[u32], mut attempt: impl FnMut(u32) -> Result<(), String>) {
    let mut said = Vec::new();
    for limit in limits {
        match attempt(*limit) {
            Ok(()) => return,
            Err(why) => said.push(why),
        }
    }
    // Noise may hide a cause; it must never produce another one.
    if said.iter().all(|why| why.contains("no cause")) {
        eprintln!("INCONCLUSIVE: {what}: the machine is too noisy to see it: {said:?}");
        return;
    }
    panic!("{what}: {said:#?}");
}

fn explained(place: &Place, arguments: &[&str]) -> Value {
    place.ask(&[&["explain", "--format=json"], arguments].concat()).fine().json()
}

fn first_cause(found: &Value) -> String {
    found["causes"][0]["title"].as_str().unwrap_or("no cause").to_lowercase()
}

fn expect(found: &Value, words: &[&str]) -> Result<(), String> {
    let first = first_cause(found);
    if words.iter().any(|word| first.contains(word)) { Ok(()) } else { Err(format!("first cause: {first}")) }
}

/// Results that no planted cause affects.
const BYSTANDERS: [&str; 4] = ["--benchmark", "os.syscall_write", "--benchmark", "os.clock_read"];

/// Whether causes other than the placement are planted and measured too.
fn slow() -> bool {
    testing::slow("a planted cause takes a minute of measuring; placement stands for all")
}

/// A run of the given and of bystanders. On a machine that hardly lets it run it measures nothing, and no cause shows.
fn measure(place: &Place, limit: u32, label: &str, benchmarks: &[&str], more: &[&str]) -> Result<(), String> {
    let limit = format!("{limit}s");
    let mut arguments = vec!["run", "--label", label, "--target", "5", "--time-limit", &limit];
    for benchmark in benchmarks {
        arguments.extend(["--benchmark", benchmark]);
    }
    arguments.extend(BYSTANDERS);
    arguments.extend(more);
    has_measured(place.ask(&arguments))
}

fn has_measured(answer: common::Answer) -> Result<(), String> {
    if answer.err.contains("nothing could be measured") || answer.code == Some(3) {
        return Err(format!("no cause, as nothing useful was measured: {answer:?}"));
    }
    answer.fine();
    Ok(())
}

#[test]
fn the_published_case_gives_the_published_explanation() {
    let place = Place::new();
    let pair = ["published:cyberlife-2004/appserver.geo", "published:cyberlife-2004/beastie.lab"];
    let found = explained(&place, &pair);
    let factor = found["common_factor"]["value"].as_f64().unwrap();
    assert!((factor - 0.9625).abs() < 0.002, "{factor}");
    let causes = found["causes"].to_string();
    for cause in ["context_switch", "exec"] {
        assert!(causes.contains(cause), "{cause} in {causes}");
    }
    assert!(
        !found["unmeasured"].as_array().unwrap().is_empty(),
        "shell and compiler have a cause that nothing measured"
    );
    let ruled_out = found["ruled_out"].to_string();
    assert!(ruled_out.contains("l1") || ruled_out.contains("cache"), "{ruled_out}");
    assert!(!found["assumed"].as_array().unwrap().is_empty());
    assert!(found["next_experiment"].to_string().contains("file.create"));
    let details = place.ask(&[&["explain", "--details"], &pair[..]].concat()).fine().out;
    for words in ["3.75%", "351 per exec", "not measured", "1.05x", "os.pipe_switch", "arithmetic"] {
        assert!(details.contains(words), "{words} in {details}");
    }
}

/// The answer comes first, in the words of titles, and fits a screen; ids and arithmetic are in the details.
#[test]
fn an_explanation_is_a_screen_that_begins_with_the_answer() {
    let place = Place::new();
    let document = |name: &str| format!("{}/tests/docs/{name}.json.zst", env!("CARGO_MANIFEST_DIR"));
    let (alone, loaded, quiet) = (document("alone"), document("loaded"), document("quiet"));
    let published = ["published:cyberlife-2004/appserver.geo", "published:cyberlife-2004/beastie.lab"];
    for (pair, answer) in [
        ([alone.as_str(), loaded.as_str()], "Same machine. "),
        ([alone.as_str(), quiet.as_str()], "The CPUs differ: Zen 5 against Zen 3. "),
        (published, "The CPUs differ: AMD Athlon XP 2100+ (1.73 GHz) against AMD Athlon XP 2200+"),
    ] {
        let mut prony = place.prony();
        prony.env("COLUMNS", "100").arg("explain").args(pair);
        let said = common::Answer::of(prony.output().unwrap()).fine().out;
        assert!(said.lines().count() <= 24, "{} lines: {said}", said.lines().count());
        let first = said.lines().nth(2).unwrap_or_default();
        assert!(first.trim_start().starts_with(answer), "{said}");
        let body = said.split("Next: ").next().unwrap_or_default();
        for id in ["=", "kernel.command", "memory.load", "os.", "+47", "switches"] {
            assert!(!body.contains(id), "{id} in {said}");
        }
    }
}

#[test]
fn one_machine_twice_has_nothing_to_explain() {
    if !slow() {
        return;
    }
    let _turn = alone();
    // Less time would find less: nothing brief here.
    tried("an A/A pair", &[LONG; 3], |limit| {
        let place = Place::new();
        measure(&place, limit, "a", &["ipc.pipe_latency:placement=same_cpu"], &[])?;
        measure(&place, limit, "b", &["ipc.pipe_latency:placement=same_cpu"], &[])?;
        let said = place.ask(&["explain", "a", "b"]).fine().out;
        if said.contains("No result differs") || said.contains("No difference is certain") { Ok(()) } else { Err(said) }
    });
}

#[test]
fn parties_on_one_cpu_or_two_are_explained_by_placement() {
    let _turn = alone();
    if kernels::affinity::allowed().unwrap().len() < 2 {
        testing::lacks!("two CPUs are needed to place two parties apart");
        return;
    }
    within_tries("placement", |limit| {
        let place = Place::new();
        for placement in ["same_cpu", "cross_cpu"] {
            let benchmarks =
                ["ipc.pipe_latency", "os.pipe_switch"].map(|benchmark| format!("{benchmark}:placement={placement}"));
            measure(&place, limit, placement, &[&benchmarks[0], &benchmarks[1]], &[])?;
        }
        expect(&explained(&place, &["same_cpu", "cross_cpu"]), &["placement"])
    });
}

#[test]
fn huge_pages_are_explained_by_huge_pages() {
    if !slow() {
        return;
    }
    let _turn = alone();
    let place = Place::new();
    let asked =
        place.ask(&["run", "--benchmark", "memory.load_latency:working_set=32MiB,pages=huge", "--time-limit", "1s"]);
    if asked.code != Some(0) {
        testing::lacks!("no huge pages here: {}", asked.out);
        return;
    }
    within_tries("huge pages", |limit| {
        let place = Place::new();
        for pages in ["base", "huge"] {
            measure(&place, limit, pages, &[&format!("memory.load_latency:working_set=32MiB,pages={pages}")], &[])?;
        }
        expect(&explained(&place, &["base", "huge"]), &["huge page"])
    });
}

#[test]
fn streaming_stores_are_explained_by_the_stores() {
    if !slow() {
        return;
    }
    let _turn = alone();
    let place = Place::new();
    let asked = place.ask(&[
        "run",
        "--benchmark",
        "memory.write:working_set=1MiB,threads=1,stores=streaming",
        "--time-limit",
        "1s",
    ]);
    if asked.code != Some(0) {
        testing::lacks!("this CPU has no streaming stores: {}", asked.out);
        return;
    }
    within_tries("stores", |limit| {
        let place = Place::new();
        for stores in ["normal", "streaming"] {
            // A set that fits the caches shows the difference on every machine: streaming stores bypass them.
            measure(
                &place,
                limit,
                stores,
                &[&format!("memory.write:working_set=256KiB,threads=1,stores={stores}")],
                &[],
            )?;
        }
        expect(&explained(&place, &["normal", "streaming"]), &["stores"])
    });
}

#[test]
fn a_slower_directory_is_explained_by_the_file_system() {
    if !slow() {
        return;
    }
    let _turn = alone();
    let place = Place::new();
    let fast = match fast_disk(&place) {
        Ok(fast) => fast,
        Err(reason) => {
            testing::skip!("no faster disk can be made here: {reason}");
            return;
        }
    };
    let (here, fast) = (place.path().to_str().unwrap(), fast.parameters.to_str().unwrap());
    within_tries("directory", |limit| {
        let place = Place::new();
        for (label, directory) in [("fast", fast), ("slow", here)] {
            let benchmarks = ["file.create:size=0B,durability=fsync,place=target"];
            measure(&place, limit, label, &benchmarks, &["--directory", directory])?;
        }
        expect(&explained(&place, &["fast", "slow"]), &["file", "directory", "durability", "disk"])
    });
}

/// A disk in memory: a file system like that of disks, whose device waits for nothing.
struct FastDisk {
    parameters: PathBuf,
    // Taken away in this order.
    _mount: Mount,
    _device: Loop,
    _image: tempfile::NamedTempFile,
}

fn fast_disk(place: &Place) -> Result<FastDisk, String> {
    let image = tempfile::NamedTempFile::new_in("/dev/shm").map_err(|error| format!("/dev/shm: {error}"))?;
    image.as_file().set_len(256 << 20).map_err(|error| error.to_string())?;
    let device = Loop::over(image.path(), &[])?;
    said("mkfs.ext4", &["-q", &device.0])?;
    let parameters = place.file("fast");
    let mount = Mount::at(parameters.clone(), &[&device.0])?;
    Ok(FastDisk { parameters, _mount: mount, _device: device, _image: image })
}

/// A control group that grants a fifth of a CPU, removed when it is dropped.
struct Limited(PathBuf);

impl Limited {
    fn new() -> Result<Self, String> {
        let name = format!("prony-test-{}", std::process::id());
        let say = |error: std::io::Error| error.to_string();
        let first = Path::new("/sys/fs/cgroup/cpu");
        if first.is_dir() {
            let group = Self(first.join(name));
            std::fs::create_dir(&group.0).map_err(say)?;
            std::fs::write(group.0.join("cpu.cfs_quota_us"), "20000").map_err(say)?;
            return Ok(group);
        }
        let group = Self(Path::new("/sys/fs/cgroup").join(name));
        std::fs::create_dir(&group.0).map_err(say)?;
        std::fs::write(group.0.join("cpu.max"), "20000 100000").map_err(say)?;
        Ok(group)
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_cpu_limit_is_explained_by_the_control_group() {
    if !slow() {
        return;
    }
    let _turn = alone();
    let group = match Limited::new() {
        Ok(group) => group,
        Err(why) => {
            testing::skip!("no control group can be made here: {why}");
            return;
        }
    };
    let many = [
        "os.syscall_getppid",
        "os.signal_install",
        "os.syscall_mix",
        "ipc.pipe_latency:placement=same_cpu",
        "ipc.unix_latency:placement=same_cpu",
        "memory.load_latency:working_set=32KiB",
        "os.yield",
    ];
    // Batches between two stops by the quota are as fast as without it, so only raw values show it.
    within_tries("CPU limit", |limit| {
        let place = Place::new();
        measure(&place, limit, "free", &many, &["--no-rulers", "--max-samples", "10"])?;
        let mut inside = place.prony();
        let limit = format!("{}s", 2 * limit);
        inside
            // Few samples of each, so that a fifth of a CPU is enough for all.
            .args(["run", "--label", "limited", "--time-limit", &limit, "--no-rulers", "--max-samples", "10"])
            .args(many.iter().flat_map(|benchmark| ["--benchmark", benchmark]));
        inside.args(BYSTANDERS);
        // The shell joins the group, and the program that replaces it inherits it.
        let line = std::iter::once(inside.get_program()).chain(inside.get_args());
        let line: Vec<String> = line.map(|word| format!("'{}'", word.to_string_lossy())).collect();
        let script = format!("echo $$ > {}/cgroup.procs && exec {}", group.0.display(), line.join(" "));
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", &script]).current_dir(place.path()).env("PRONY_STORE", place.file("runs.sqlite"));
        has_measured(common::Answer::of(shell.output().unwrap()))?;
        expect(&explained(&place, &["free", "limited"]), &["cpu limit"])
    });
}

/// Installs a filter of a thousand steps that reads an argument, so that the kernel cannot cache its answer, and allows
/// every call. Then executes the program in its arguments (seccomp(2)).
const FILTERED: &str = "
import ctypes, os, struct, sys
steps = struct.pack('HBBI', 0x20, 0, 0, 16) * 1000 + struct.pack('HBBI', 0x06, 0, 0, 0x7fff0000)
kept = ctypes.create_string_buffer(steps)
class Program(ctypes.Structure):
    _fields_ = [('steps', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
program = Program(1001, ctypes.addressof(kept))
prctl = ctypes.CDLL(None, use_errno=True).prctl
if prctl(38, 1, 0, 0, 0) or prctl(22, 2, ctypes.byref(program), 0, 0):
    sys.exit(f'no filter here: error {ctypes.get_errno()}')
os.execv(sys.argv[1], sys.argv[1:])
";

#[test]
fn a_filter_of_system_calls_is_explained_by_the_filter() {
    if std::process::Command::new("python3").args(["-c", "import ctypes"]).output().is_err() {
        testing::skip!("python3 is needed to install a filter");
        return;
    }
    let _turn = alone();
    let calls = [
        "--benchmark",
        "os.syscall_getppid",
        "--benchmark",
        "cpu.arithmetic",
        "--benchmark",
        "memory.load_latency:working_set=32KiB",
    ];
    let measured = |mut program: std::process::Command, limit: u32| {
        program.args(["run", "--target", "5", "--time-limit", &format!("{limit}s")]).args(calls).args(BYSTANDERS);
        common::Answer::of(program.output().unwrap())
    };
    within_tries("a filter of system calls", |limit| {
        let place = Place::new();
        let answer = measured(place.prony(), limit);
        let mut inside = std::process::Command::new("python3");
        inside.args(["-c", FILTERED, env!("CARGO_BIN_EXE_prony")]);
        inside.current_dir(place.path()).env("PRONY_STORE", place.file("runs.sqlite"));
        let filtered = measured(inside, limit);
        has_measured(answer)?;
        has_measured(filtered)?;
        let shown = place.ask(&["show", "2"]).fine().out;
        assert!(shown.contains("a seccomp filter"), "{shown}");
        let found = explained(&place, &["1", "2"]);
        let differences = found["facts"].to_string();
        assert!(differences.contains("confinement.seccomp"), "{differences}");
        let first = found["causes"][0].to_string();
        let known = first.contains("a system call filter (seccomp)");
        if known { Ok(()) } else { Err(format!("{}: {first}", first_cause(&found))) }
    });
}
