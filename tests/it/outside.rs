//! Limits from outside on a run: CPUs that it may not use, and a quota of CPU time.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::common::{Answer, Place, requested};

/// A result of one CPU, and one of all that the process may use.
const RESULTS: &[&str] = &[
    "--benchmark",
    "os.clock_read",
    "--benchmark",
    "memory.read:working_set=32KiB,threads=all,pages=base",
    "--target",
    "50%",
    "--output",
    "run.json",
    "--no-store",
];

/// Starts the program through another command, such as `taskset`.
fn started_by(place: &Place, front: &[&str], arguments: &[&str]) -> Answer {
    let program = env!("CARGO_BIN_EXE_prony");
    let mut command = Command::new(front[0]);
    command.current_dir(place.path()).env("PRONY_STORE", place.file("runs.sqlite"));
    Answer::of(command.args(&front[1..]).arg(program).args(arguments).output().unwrap())
}

/// The document of the run that [`RESULTS`] made.
fn document(place: &Place) -> Value {
    serde_json::from_str(&fs::read_to_string(place.file("run.json")).unwrap()).unwrap()
}

fn notes(result: &Value) -> Vec<String> {
    let notes = result["notes"].as_array().cloned().unwrap_or_default();
    notes.iter().filter_map(|note| note.as_str().map(str::to_owned)).collect()
}

#[test]
fn a_run_that_may_use_one_of_several_cpus_says_so() {
    let online = os::topology::online_under(Path::new("/")).map_or(0, |online| online.len());
    let allowed = kernels::affinity::allowed().unwrap();
    if online < 2 {
        return testing::skip!("one CPU is online, so none can be taken away");
    }
    let place = Place::new();
    let first = allowed[0].to_string();
    started_by(&place, &["taskset", "-c", &first], &[&["run"], RESULTS].concat()).fine();
    let run = document(&place);
    let words = format!("1 of {online} CPUs");
    let session = run["session"]["notes"].to_string();
    assert!(session.contains(&format!("Prony may use {words}")), "{session}");
    let conditions = &run["session"]["conditions"];
    assert_eq!((conditions["cpus"].as_u64(), conditions["online"].as_u64()), (Some(1), Some(online as u64)));
    let results = run["results"].as_array().unwrap();
    let of = |benchmark: &str| notes(results.iter().find(|result| result["benchmark"] == benchmark).unwrap());
    assert!(of("memory.read").contains(&format!("threads=all is {words}")), "{:?}", of("memory.read"));
    assert!(!of("os.clock_read").iter().any(|note| note.contains("CPUs")));
    let doctor = started_by(&place, &["taskset", "-c", &first], &["doctor"]).fine().out;
    assert!(doctor.contains(&format!("1 of {online} may be used")), "{doctor}");
}

/// A control group of half a CPU; removed when dropped.
pub(crate) struct HalfCpu(pub(crate) PathBuf);

impl HalfCpu {
    /// In version 1 if that controls the CPU, else in version 2. The reason if neither can be created.
    pub(crate) fn make() -> Result<Self, String> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!("prony-test-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let one = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let two = Path::new("/sys/fs/cgroup").join(&name);
        let write =
            |path: PathBuf, text: &str| fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
        let made = |path: &Path| fs::create_dir(path).map_err(|error| format!("{}: {error}", path.display()));
        if one.parent().is_some_and(|folder| folder.join("cpu.shares").exists()) {
            made(&one)?;
            let group = Self(one);
            write(group.0.join("cpu.cfs_period_us"), "100000")?;
            write(group.0.join("cpu.cfs_quota_us"), "50000")?;
            return Ok(group);
        }
        made(&two)?;
        let group = Self(two);
        write(group.0.join("cpu.max"), "50000 100000")?;
        Ok(group)
    }

    /// Seconds for which the quota has throttled the group so far.
    fn stopped(&self) -> f64 {
        let text = fs::read_to_string(self.0.join("cpu.stat")).unwrap();
        let number = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<f64>().ok());
        number("throttled_time ")
            .map(|nanos| nanos * 1e-9)
            .or_else(|| number("throttled_usec ").map(|micros| micros * 1e-6))
            .unwrap()
    }

    /// The program in this group.
    fn ask(&self, place: &Place, arguments: &[&str]) -> Answer {
        let enter = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.0.display());
        started_by(place, &["sh", "-c", &enter, "sh"], arguments)
    }
}

impl Drop for HalfCpu {
    fn drop(&mut self) {
        // A process that has just ended still counts as a member: the kernel then returns EBUSY.
        for _ in 0..50 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn half_a_cpu_does_not_block_a_run_and_is_reported() {
    let group = match HalfCpu::make() {
        Ok(group) => group,
        Err(reason) => return testing::skip!("no control group with a quota of CPU time can be made: {reason}"),
    };
    let place = Place::new();
    let doctor = group.ask(&place, &["doctor"]).fine().out;
    assert!(doctor.contains("0.50 CPUs per 100 ms"), "{doctor}");

    // Both CPUs at once exhaust the quota in half of its time: no pause between samples avoids that.
    let before = group.stopped();
    group.ask(&place, &[&["run"], RESULTS].concat()).fine();
    let run = document(&place);
    let session = &run["session"];
    assert_eq!(session["complete"], true);
    assert!(session["notes"].to_string().contains("limits Prony to 0.50 CPUs"), "{}", session["notes"]);
    let throttled = &session["conditions"]["throttled"];
    let (seconds, of) = (throttled["seconds"].as_f64().unwrap(), throttled["of"].as_f64().unwrap());
    // A machine that gives the group less than its quota never throttles it: the recorded time agrees with the counter
    // of the group.
    let stopped = group.stopped() - before;
    assert!(seconds < of && seconds <= stopped && (seconds > 0.0 || stopped < 0.5), "{throttled}, {stopped} s");
    for result in requested(&run) {
        let samples = result["samples"].as_array().unwrap();
        let excluded = samples
            .iter()
            // A busy neighbour on the core is not attributed to the quota, and its samples count as raw.
            .filter(|sample| sample.get("invalid").is_some_and(|reason| reason.get("shared_core").is_none()))
            .count();
        // The first look.
        assert!(samples.len() - excluded >= 8, "{} samples count, {excluded} do not", samples.len() - excluded);
        assert!(result["outcome"].get("measured").is_some() || result["outcome"].get("modes").is_some());
        let shares = samples.iter().filter_map(|sample| sample.get("throttled"));
        assert!(shares.clone().count() == samples.len(), "every sample says what was taken from it");
    }
}

/// Groups of version 1 or 2 with limits of memory and of tasks; removed when dropped.
struct Limits(Vec<PathBuf>);

impl Limits {
    /// The reason if they cannot be made.
    fn make(memory: u64, tasks: u64) -> Result<Self, String> {
        let name = format!("prony-limits-{}-{memory}-{tasks}", std::process::id());
        let top = Path::new("/sys/fs/cgroup");
        let one = top.join("memory/memory.limit_in_bytes").exists() && top.join("pids").is_dir();
        let (folders, files) = if one {
            (vec![top.join("memory").join(&name), top.join("pids").join(&name)], ["memory.limit_in_bytes", "pids.max"])
        } else {
            (vec![top.join(&name)], ["memory.max", "pids.max"])
        };
        let made = Self(folders);
        for folder in &made.0 {
            fs::create_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        for (file, limit) in files.into_iter().zip([memory, tasks]) {
            let path = made.0.iter().map(|folder| folder.join(file)).find(|path| path.exists());
            let path = path.ok_or_else(|| format!("no group has {file}"))?;
            fs::write(&path, limit.to_string()).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(made)
    }

    /// The program in these groups.
    fn ask(&self, place: &Place, arguments: &[&str]) -> Answer {
        let enter: String =
            self.0.iter().map(|folder| format!("echo $$ > {}/cgroup.procs && ", folder.display())).collect();
        started_by(place, &["sh", "-c", &format!("{enter}exec \"$@\""), "sh"], arguments)
    }

    fn killed(&self) -> u64 {
        let events = ["memory.oom_control", "memory.events"].map(|name| fs::read_to_string(self.0[0].join(name)));
        let text = events.into_iter().flatten().next().unwrap_or_default();
        text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Limits {
    fn drop(&mut self) {
        for folder in &self.0 {
            // A process that has just ended still counts as a member: the kernel then returns EBUSY.
            for _ in 0..50 {
                if fs::remove_dir(folder).is_ok() || !folder.exists() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
}

/// Why each result that was asked for has no value.
fn reasons(run: &Value) -> Vec<String> {
    let reason = |result: &&Value| {
        let outcome = &result["outcome"];
        outcome["not_measured"].as_str().or_else(|| outcome["failed"].as_str()).unwrap_or_default().to_owned()
    };
    requested(run).iter().map(reason).collect()
}

#[test]
fn a_memory_limit_refuses_what_does_not_fit_before_it_is_taken() {
    let limits = match Limits::make(100 << 20, 2000) {
        Ok(limits) => limits,
        Err(reason) => return testing::skip!("no control group with a limit of memory can be made: {reason}"),
    };
    let place = Place::new();
    let doctor = limits.ask(&place, &["doctor"]).fine().out;
    let doctor = doctor.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(doctor.contains("a control group permits 100 MiB of memory"), "{doctor}");
    assert!(doctor.contains("too little for memory.copy"), "{doctor}");
    let results = ["memory.copy:threads=1,stores=normal", "memory.loaded_latency:load=all", "memory.hierarchy_levels"];
    let named = results.iter().flat_map(|result| ["--benchmark", result]);
    let asked: Vec<&str> = ["run"].into_iter().chain(named).chain(["--output", "run.json", "--no-store"]).collect();
    let said = limits.ask(&place, &asked);
    assert_eq!(said.code, Some(2), "{said:?}");
    let run = document(&place);
    let reasons = reasons(&run);
    assert!(reasons[0].contains("it needs 256 MiB of memory"), "{reasons:?}");
    assert!(reasons.iter().all(|reason| reason.contains("memory")), "{reasons:?}");
    assert_eq!(limits.killed(), 0, "nothing was taken that was not there");
    assert!(requested(&run).iter().all(|result| result["samples"].as_array().is_none_or(Vec::is_empty)));
    // What fits is measured.
    let small = [
        "--benchmark",
        "memory.load_latency:working_set=32KiB",
        "--target",
        "50%",
        "--output",
        "run.json",
        "--no-store",
    ];
    limits.ask(&place, &[&["run"], &small[..]].concat()).fine();
}

#[test]
fn a_limit_of_processes_is_named_where_it_refused_one() {
    let limits = match Limits::make(4 << 30, 7) {
        Ok(limits) => limits,
        Err(reason) => return testing::skip!("no control group with a limit of processes can be made: {reason}"),
    };
    let place = Place::new();
    let doctor = limits.ask(&place, &["doctor"]).fine().out;
    let doctor = doctor.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(doctor.contains("a control group permits 7 processes and threads"), "{doctor}");
    assert!(doctor.contains("too few for os."), "{doctor}");
    let results = ["os.context_switch:processes=16,working_set=0B", "os.clock_read"];
    let named = results.iter().flat_map(|result| ["--benchmark", result]);
    let rest = ["--target", "50%", "--output", "run.json", "--no-store"];
    limits.ask(&place, &["run"].into_iter().chain(named).chain(rest).collect::<Vec<_>>()).fine();
    let run = document(&place);
    let reasons = reasons(&run);
    assert!(reasons[0].contains("a control group permits 7 processes and threads"), "{reasons:?}");
    assert_eq!(reasons[1], "", "one process is enough for it");
}

#[test]
fn a_place_that_cannot_be_written_is_the_reason_of_its_results_alone() {
    let place = Place::new();
    fs::create_dir(place.file("read-only")).unwrap();
    let mount = "mount --bind read-only read-only && mount -o remount,ro,bind read-only && exec \"$@\"";
    let alone = |script: &'static str| ["unshare", "--mount", "sh", "-c", script, "sh"];
    let possible = Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success());
    if !possible {
        return testing::skip!("no namespace of mounts can be made");
    }
    let results = ["file.create:place=target", "os.clock_read"];
    let named = results.iter().flat_map(|result| ["--benchmark", result]);
    let rest = ["--directory", "read-only", "--target", "50%", "--output", "run.json", "--no-store"];
    started_by(&place, &alone(mount), &["run"].into_iter().chain(named).chain(rest).collect::<Vec<_>>()).fine();
    let reasons = reasons(&document(&place));
    assert!(reasons[0].contains("Read-only file system"), "{reasons:?}");
    assert_eq!(reasons[1], "");
    let doctor = started_by(&place, &alone(mount), &["doctor", "--directory", "read-only"]).fine().out;
    assert!(doctor.contains("read-only cannot be written"), "{doctor}");
    let said =
        started_by(&place, &alone(mount), &["run", "--benchmark", "os.clock_read", "--output", "read-only/run.json"]);
    assert!(said.err.contains("read-only"), "{said:?}");
}
