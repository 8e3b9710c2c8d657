//! `prony experiment`: planted causes found on this machine, settings restored after every end, and clear refusals.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on fails; what was found is said")]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::common::{Place, send, wait_for};

const SWAPPINESS: &str = "/proc/sys/vm/swappiness";

/// Experiments of this file do not run concurrently: they switch one machine.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program with a data directory of its own, where the journal is.
fn prony(place: &Place) -> Command {
    let mut command = place.prony();
    command.env("XDG_DATA_HOME", place.file("data"));
    command
}

fn ask(place: &Place, arguments: &[&str]) -> crate::common::Answer {
    crate::common::Answer::of(prony(place).args(arguments).output().unwrap())
}

/// Whether this process may change a setting of the machine; if not, the reason is recorded.
fn may_switch() -> bool {
    let may = fs::OpenOptions::new().write(true).open(SWAPPINESS).is_ok();
    if !may {
        testing::lacks!("control files of the kernel that may be written");
    }
    may
}

/// Processes that want every CPU all of the time, until they are dropped.
struct Competitors(Vec<Child>);

impl Competitors {
    /// One on each CPU, where it stays: two that share the other CPU would leave the measured process alone.
    fn start() -> Self {
        let cpus = kernels::affinity::allowed().unwrap();
        let busy = |cpu: &usize| {
            kernels::affinity::pin(&[*cpu]).unwrap();
            Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap()
        };
        let all = cpus.iter().map(busy).collect();
        kernels::affinity::pin(&cpus).unwrap();
        Self(all)
    }
}

impl Drop for Competitors {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[derive(Clone, Copy)]
struct Planted {
    metric: &'static str,
    /// The cause, as it is tried; the part before `=` must come first. Without one nothing may be called.
    cause: &'static str,
    competitors: bool,
}

const fn planted(metric: &'static str, cause: &'static str) -> Planted {
    Planted { metric, cause, competitors: false }
}

const fn beside(cause: &'static str) -> Planted {
    Planted { competitors: true, ..planted("shell.script", cause) }
}

/// Settings that do not matter to any of the metrics below, such as the layout of addresses.
const DECOYS: [&str; 2] = ["aslr=off", "stack=unlimited"];

/// Ten experiments: nine causes, and the decoys alone.
const PLANTED: [Planted; 10] = [
    planted("os.syscall_getppid", "seccomp=300"),
    beside("cpu_weight=20"),
    beside("nice=10"),
    planted("memory.load_latency:working_set=256MiB,pages=huge", "pages"),
    planted("ipc.tcp_bandwidth", "send_buffer=4096 65536 65536"),
    planted("ipc.tcp_bandwidth:congestion=system", "congestion"),
    planted("os.context_switch", "placement=cross_cpu"),
    planted("file.write:place=target", "sync=fsync"),
    planted("cpu.dhrystone", "store_bypass=on"),
    planted("os.syscall_getppid", ""),
];

/// An error if the planted cause is not the first that matters.
fn find(place: &Place, planted: Planted) -> Result<(), String> {
    let _busy = planted.competitors.then(Competitors::start);
    let mut arguments = vec!["experiment", "--quiet", "--metric", planted.metric, "--blocks", "12", "--format", "json"];
    for tried in [planted.cause].iter().chain(&DECOYS).filter(|tried| !tried.is_empty()) {
        arguments.extend(["--try", *tried]);
    }
    let answer = ask(place, &arguments);
    if answer.err.contains("could not try") {
        testing::lacks!("{}: {}", planted.cause, answer.err.trim());
        return Ok(());
    }
    testing::hold!(answer.code != Some(2), "{}: {}", planted.cause, answer.err);
    let answer = answer.json();
    let effects = answer["effects"].as_array().unwrap();
    let cause = planted.cause.split('=').next().unwrap();
    let said = |effect: &Value| {
        let ratio = effect["ratio"][0].as_f64().unwrap_or(f64::NAN);
        format!("{} {ratio:.3} {}", effect["setting"].as_str().unwrap(), effect["verdict"].as_str().unwrap())
    };
    let all = effects.iter().map(said).collect::<Vec<_>>().join("; ");
    eprintln!("{}: {all}", planted.metric);
    let differs = |effect: &Value| effect["verdict"] == "slower" || effect["verdict"] == "faster";
    let right = match cause {
        "" => !effects.iter().any(differs),
        _ => effects[0]["setting"] == cause && differs(&effects[0]),
    };
    testing::hold!(right, "{cause} is not first: {all}");
    Ok(())
}

/// The planted causes that do not come first in `tries` experiments.
fn missed<'a>(causes: impl Iterator<Item = &'a Planted>, tries: u32) -> Vec<&'static str> {
    let place = Place::new();
    let found = |planted: &Planted| (0..tries).any(|_| find(&place, *planted).is_ok());
    causes.filter(|planted| !found(planted)).map(|planted| planted.cause).collect()
}

/// Causes so large that other load does not hide them.
#[test]
fn large_planted_causes_come_first() {
    let _turn = alone();
    let large = ["seccomp", "send_buffer", "placement", "sync"];
    let all = if testing::slow("four planted causes instead of one") { large.len() } else { 1 };
    let is_large = |planted: &&Planted| large[..all].iter().any(|name| planted.cause.starts_with(name));
    let missed = missed(PLANTED.iter().filter(is_large), 3);
    assert!(missed.len() <= all / 4, "{missed:?}");
}

#[test]
#[ignore = "needs a machine without other work, and three minutes"]
fn nine_of_ten_planted_causes_come_first() {
    let _turn = alone();
    let missed = missed(PLANTED.iter(), 1);
    assert!(missed.len() <= 1, "{missed:?}");
}

#[test]
fn the_layout_of_addresses_does_not_matter() {
    let _turn = alone();
    let place = Place::new();
    testing::attempts(3, || find(&place, PLANTED[9]));
}

#[test]
fn a_killed_experiment_leaves_no_setting_changed() {
    if !may_switch() {
        return;
    }
    let _turn = alone();
    let place = Place::new();
    let before = fs::read_to_string(SWAPPINESS).unwrap();
    let journal = place.file("data/prony/experiment.json");
    for number in 0..4 {
        let mut child = prony(&place)
            .args(["experiment", "--quiet", "--metric", "os.syscall_getppid", "--allow", "system"])
            .args(["--try", "swappiness", "--blocks", "1000"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for("a switched setting", || fs::read_to_string(SWAPPINESS).unwrap() != before);
        assert!(journal.exists());
        match number {
            0 => child.kill().unwrap(),
            1 => send("-TERM", child.id()),
            2 => send("-INT", child.id()),
            _ => {
                // It reaps nobody then, so that every number stays valid.
                send("-STOP", child.id());
                let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap();
                // The guardian and the process that measures.
                children.split_whitespace().for_each(|pid| send("-KILL", pid.parse().unwrap()));
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        if number == 3 && journal.exists() {
            let reminded = ask(&place, &["runs"]);
            assert!(reminded.err.contains("prony experiment --undo"), "{reminded:?}");
            let undone = ask(&place, &["experiment", "--undo"]).fine();
            assert!(undone.out.contains("restored"), "{undone:?}");
        }
        wait_for("the guardian", || !journal.exists());
        assert_eq!(fs::read_to_string(SWAPPINESS).unwrap(), before, "after end {number}");
        assert!(ask(&place, &["runs"]).fine().err.is_empty());
    }
    assert!(ask(&place, &["experiment", "--undo"]).fine().out.contains("nothing is left to restore"));
}

/// Requests that cannot be met, and words of the refusal.
const REFUSED: &[(&[&str], &str)] = &[
    (&["--metric", "os.getppid"], "prony benchmarks lists all"),
    (&["--metric", "os.syscall_getppid", "--try", "seccom"], "similar: seccomp"),
    (&["--metric", "os.syscall_getppid", "--try", "swappiness"], "--allow system"),
    (&["--metric", "os.syscall_getppid", "--try", "sync"], "the benchmark has no such parameter"),
    (&["--metric", "os.syscall_getppid", "--blocks", "7"], "8..=1000"),
    (&[], "--metric"),
];

#[test]
fn requests_that_cannot_be_met_are_refused_in_one_line() {
    let place = Place::new();
    for (arguments, says) in REFUSED {
        let mut whole = vec!["experiment"];
        whole.extend(arguments.iter());
        let refused = ask(&place, &whole).refused();
        assert!(refused.contains(says), "{refused}");
    }
}

/// Other users, the root of a container among them: what the kernel refuses is said before anything is measured.
#[test]
fn what_another_user_may_not_change_is_said_in_one_line() {
    let container = &["unshare", "--user", "--map-root-user"][..];
    let nobody = &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"][..];
    let place = Place::new();
    let guises = [(container, "policy=fifo", "not permitted"), (nobody, "swappiness", "needs root")];
    for (guise, tried, says) in guises {
        let ask = |arguments: &[&str]| {
            let mut command = Command::new(guise[0]);
            command.args(&guise[1..]).arg(env!("CARGO_BIN_EXE_prony")).args(arguments).current_dir(place.path());
            command.output().map(crate::common::Answer::of)
        };
        if !ask(&["--version"]).is_ok_and(|answer| answer.code == Some(0)) {
            testing::lacks!("{}", guise[0]);
            continue;
        }
        let metric = ["experiment", "--metric", "os.syscall_getppid", "--allow", "system", "--try", tried];
        let refused = ask(&metric).unwrap().refused();
        assert!(refused.starts_with("prony: could not try ") && refused.contains(says), "{refused}");
    }
}

#[test]
fn a_stored_experiment_is_shown_again() {
    let _turn = alone();
    let place = Place::new();
    let arguments = ["experiment", "--quiet", "--metric", "os.syscall_getppid", "--try", "nice", "--blocks", "8"];
    let printed = ask(&place, &arguments);
    assert!(matches!(printed.code, Some(0 | 3)), "{printed:?}");
    assert!(printed.out.contains("getppid system call: ") && printed.out.contains("as found"), "{printed:?}");
    let shown = ask(&place, &["show", "1"]).fine();
    let row = |text: &str| text.lines().find(|line| line.contains("nice value")).map(str::to_owned);
    assert!(row(&shown.out).is_some() && row(&shown.out) == row(&printed.out), "{shown:?}");
    let csv = ask(&place, &["show", "1", "--format", "csv"]).fine();
    assert!(csv.out.contains("experiment.ratio"), "{csv:?}");
}

#[test]
fn explain_tries_what_differs_and_says_what_is_left() {
    let _turn = alone();
    let place = Place::new();
    let run = |name: &str, prefix: &[&str]| {
        let mut program = prefix.to_vec();
        program.extend([env!("CARGO_BIN_EXE_prony"), "run", "--quiet", "--no-rulers", "--output", name]);
        let benchmark = ["--benchmark", "os.syscall_getppid", "--time-limit", "4s"];
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).args(benchmark).current_dir(place.path());
        command.env("PRONY_STORE", place.file("runs.sqlite")).env("PRONY_SPACING", "0");
        assert!(matches!(command.output().unwrap().status.code(), Some(0 | 3)), "{name}");
    };
    // A does not differ in speed, and has another nice value: the setting explains nothing.
    run("a.json", &["nice", "-n", "5"]);
    run("b.json", &[]);
    let answer = ask(&place, &["explain", "a.json", "b.json", "--experiment", "--format", "json"]);
    assert!(matches!(answer.code, Some(0 | 3)), "{answer:?}");
    let parts = &answer.json()["parts"]["parts"];
    assert_eq!(parts[0]["setting"], "nice", "{parts}");
    assert_eq!((parts[0]["from"].as_str(), parts[0]["to"].as_str()), (Some("0"), Some("5")));
}
