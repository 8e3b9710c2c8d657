//! Faults of many kinds at random moments, run after run, until there were enough. After each run the products on the
//! disk are compared with the ledger. Twelve faults by default, 300 in the slow tests, in two concurrent halves.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says so when it cannot go on, and what it did; one line a fault"
)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::farm::Running;
use crate::common::{Answer, Place};
use ::farm::{Ledger, PilotConfig};
use kernels::signal::Signal;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Chunks of one run, and their nodes.
const CHUNKS: u64 = 120;
const NODES: [&str; 3] = ["n1", "n2", "n3"];
/// Seconds without heartbeat that end a lease.
const LEASE: f64 = 1.0;
/// Time limit of one run.
const LONG: Duration = Duration::from_secs(300);

/// Faults of a farm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    KillPilot,
    FreezePilotBeyondItsLease,
    FreezePilotShortly,
    KillProgram,
    KillCoordinator,
    KillEverything,
    FreezeCoordinator,
    Interrupt,
    TornLog,
    DeletedLedger,
    StrayAttempts,
    SecondPilot,
    BlackHole,
    LeasesOfADeadClient,
}

const FAULTS: [Fault; 14] = [
    Fault::KillPilot,
    Fault::FreezePilotBeyondItsLease,
    Fault::FreezePilotShortly,
    Fault::KillProgram,
    Fault::KillCoordinator,
    Fault::KillEverything,
    Fault::FreezeCoordinator,
    Fault::Interrupt,
    Fault::TornLog,
    Fault::DeletedLedger,
    Fault::StrayAttempts,
    Fault::SecondPilot,
    Fault::BlackHole,
    Fault::LeasesOfADeadClient,
];

/// A run under attack.
struct Chaos<'a> {
    place: &'a Place,
    farm: Option<Running>,
    ledger: PathBuf,
    /// A word in the command line of every program that a chunk starts.
    marker: String,
    /// Pilots that this test started itself.
    own: Vec<Child>,
    random: ChaCha8Rng,
    serial: u64,
}

impl<'a> Chaos<'a> {
    fn start(place: &'a Place, run: u64) -> Self {
        // No marker is the beginning of another one's.
        let marker = format!("chunk-of-{}-{run}-", std::process::id());
        let ledger = place.file("ledger");
        for end in ["", "-journal", ".lock", ".rescued"] {
            let _ = std::fs::remove_file(place.file(&format!("ledger{end}")));
        }
        let _ = std::fs::remove_dir_all(place.file("products"));
        // An attempt writes its own name: two attempts never write the same.
        let script = r#"test -z "$BROKEN" || exit 3; sleep 0.4; mkdir "$3/deep" && echo "$1 $2 attempt $5" > "$3/data-$4" &&
            echo "$5" > "$3/deep/attempt" && echo "digest=$(echo "$1 $2" | cksum | cut -d' ' -f1 | xargs printf '%08x')""#;
        let words = ["sh", "-c", script, &marker, "{first}", "{events}", "{out}", "{chunk}", "{attempt}"];
        let words: Vec<String> = words.iter().map(|word| format!("{word:?}").replace("\\'", "'")).collect();
        let text = format!(
            "[application.mine]\nrun = [{}]\nwork = {{ events = 1, unit = \"event\" }}\n\
             verify = {{ digest = \"digest=([0-9a-f]+)\" }}\n",
            words.join(", ")
        );
        std::fs::write(place.file("mine.toml"), text).unwrap();
        let (events, lease) = ((CHUNKS * 10).to_string(), LEASE.to_string());
        let arguments = ["mine.toml", "--events", &events, "--chunk", "10", "--nodes", "3", "--jobs", "2"];
        let options = ["--lease", &lease, "--products", "products", "--quiet"];
        let farm = Running::start(place, &[&arguments[..], &options].concat(), |_| None);
        let random = ChaCha8Rng::seed_from_u64(run);
        Self { place, farm: Some(farm), ledger, marker, own: Vec::new(), random, serial: 1 << 50 }
    }

    fn farm(&mut self) -> &mut Running {
        self.farm.as_mut().unwrap()
    }

    /// Whether the coordinator has ended.
    fn is_over(&mut self) -> bool {
        self.farm().child.try_wait().unwrap().is_some()
    }

    /// Pilots that the coordinators launched and that are still there.
    fn pilots(&self) -> Vec<i32> {
        let farm = self.farm.as_ref().unwrap();
        let launched = farm.incidents().into_iter().filter(|one| one.what == "launched");
        let number = |detail: &str| detail.rsplit_once('(')?.1.trim_end_matches(')').parse::<i32>().ok();
        launched.filter_map(|one| number(&one.detail)).filter(|pid| arguments(*pid).contains("farm\0pilot")).collect()
    }

    fn a_pilot(&mut self) -> Option<i32> {
        let pilots = self.pilots();
        (!pilots.is_empty()).then(|| pilots[self.random.random_range(0..pilots.len())])
    }

    fn kill_coordinator(&mut self) {
        let farm = self.farm();
        let _ = farm.child.kill();
        farm.child.wait().unwrap();
    }

    fn resume(&mut self) {
        self.farm = Some(Running::resume(self.place, self.ledger.clone(), |_| None));
    }

    /// Starts another pilot, as a batch system does that starts a job twice.
    fn pilot(&mut self, node: &str, broken: bool) {
        let Some(farm) = self.farm().look().and_then(|ledger| ledger.farm().ok()) else { return };
        if farm.address.is_empty() {
            return;
        }
        let order =
            PilotConfig { address: farm.address, token: farm.token, node: node.to_owned(), slots: 2, patience: 5.0 };
        let mut command = self.place.prony();
        command.args(["farm", "pilot"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        if broken {
            command.env("BROKEN", "1");
        }
        let mut child = command.spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "{}", serde_json::to_string(&order).unwrap()).unwrap();
        self.own.push(child);
    }

    fn pause(&mut self, from: u64, to: u64) {
        std::thread::sleep(Duration::from_millis(self.random.random_range(from..to)));
    }

    /// Returns whether there was something to do it to.
    fn inject(&mut self, fault: Fault) -> bool {
        match fault {
            Fault::KillPilot => return self.a_pilot().map(|pid| tell(pid, Signal::Kill)).is_some(),
            Fault::FreezePilotBeyondItsLease | Fault::FreezePilotShortly => {
                let Some(pid) = self.a_pilot() else { return false };
                tell(pid, Signal::Stop);
                if fault == Fault::FreezePilotShortly {
                    self.pause(20, 300);
                } else {
                    self.pause(1500, 2500);
                }
                tell(pid, Signal::Continue);
            }
            Fault::KillProgram => {
                return programs(&self.marker).first().map(|pid| tell(*pid, Signal::Kill)).is_some();
            }
            Fault::KillCoordinator => {
                self.kill_coordinator();
                self.pause(0, 800);
                self.resume();
            }
            Fault::KillEverything => {
                let pilots = self.pilots();
                self.kill_coordinator();
                pilots.into_iter().for_each(|pid| tell(pid, Signal::Kill));
                programs(&self.marker).into_iter().for_each(|pid| tell(pid, Signal::Kill));
                self.resume();
            }
            Fault::FreezeCoordinator => {
                let pid = i32::try_from(self.farm().child.id()).unwrap();
                tell(pid, Signal::Stop);
                self.pause(500, 2500);
                tell(pid, Signal::Continue);
            }
            Fault::Interrupt => {
                let pid = i32::try_from(self.farm().child.id()).unwrap();
                tell(pid, Signal::Interrupt);
                Answer::of(self.farm.take().unwrap().child.wait_with_output().unwrap());
                self.resume();
            }
            // A write that power cut off, which is no transaction.
            Fault::TornLog => {
                self.kill_coordinator();
                let journal =
                    std::fs::OpenOptions::new().append(true).create(true).open(self.place.file("ledger-journal"));
                if let Ok(mut log) = journal {
                    let rubbish: Vec<u8> =
                        (0..self.random.random_range(1..5000)).map(|_| self.random.random()).collect();
                    log.write_all(&rubbish).unwrap();
                }
                self.resume();
            }
            Fault::DeletedLedger => return self.delete_ledger(),
            Fault::StrayAttempts => {
                for _ in 0..3 {
                    self.serial += 1;
                    let chunk = self.random.random_range(0..CHUNKS);
                    let stray = self.place.file(&format!("products/.attempts/{chunk}-{}", self.serial));
                    if std::fs::create_dir(&stray).is_ok() {
                        std::fs::write(stray.join(format!("data-{chunk}")), "stray").unwrap();
                    }
                }
            }
            Fault::SecondPilot => {
                let node = NODES[self.random.random_range(0..NODES.len())];
                self.pilot(node, false);
                self.pause(100, 900);
                self.own.iter_mut().for_each(|child| drop(child.kill()));
            }
            Fault::BlackHole => self.pilot("hole", true),
            Fault::LeasesOfADeadClient => {
                self.pilot("gone", false);
                self.pause(150, 600);
                if let Some(child) = self.own.last_mut() {
                    let _ = child.kill();
                }
            }
        }
        true
    }

    /// The ledger is deleted under a running coordinator, which writes its data into another file and stops.
    fn delete_ledger(&mut self) -> bool {
        // If it ends before it reads its ledger again, it has nothing to rescue.
        if self.farm().counted() > CHUNKS / 2 {
            return false;
        }
        // One that was just begun again may not have it yet, and would not find it.
        let (pid, log) = (self.farm().child.id(), self.place.path().canonicalize().unwrap().join("ledger"));
        let began = Instant::now();
        while !has_open(pid, &log) {
            if self.is_over() {
                return false;
            }
            assert!(began.elapsed() < LONG, "the coordinator does not open its ledger");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::fs::remove_file(&self.ledger).unwrap();
        let answer = Answer::of(self.farm.take().unwrap().child.wait_with_output().unwrap());
        let rescued = self.place.file("ledger.rescued");
        assert!(rescued.exists(), "{answer:?}");
        std::fs::rename(rescued, &self.ledger).unwrap();
        self.resume();
        true
    }

    /// Waits for the end, and holds products against ledger.
    fn end(mut self) -> BTreeMap<String, u64> {
        for mut child in self.own.drain(..) {
            let _ = (child.kill(), child.wait());
        }
        let began = Instant::now();
        loop {
            let answer = Answer::of(self.farm.take().unwrap().child.wait_with_output().unwrap());
            if answer.code == Some(0) {
                break;
            }
            // A run that faults drove to its end is resumed until it is whole.
            assert!(began.elapsed() < LONG, "{answer:?}");
            self.resume();
        }
        let ledger = ::farm::SqliteLedger::read(&self.ledger).unwrap();
        let totals = ledger.totals().unwrap();
        assert_eq!(
            (totals.commits, totals.distinct, totals.events, totals.differing),
            (CHUNKS, CHUNKS, CHUNKS * 10, 0)
        );
        let mut wrong = Vec::new();
        ledger
            .commits(&mut |commit| {
                let (chunk, number) = (commit.offer.chunk, commit.offer.number);
                let folder = self.place.file(&format!("products/000000/chunk-{chunk:09}"));
                let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
                let wanted = format!("{} 10 attempt {number}\n", chunk * 10);
                if text(&format!("data-{chunk}")) != wanted || text("deep/attempt") != format!("{number}\n") {
                    wrong.push((chunk, number, text(&format!("data-{chunk}"))));
                }
            })
            .unwrap();
        assert_eq!(wrong, [], "files of an attempt that does not count");
        let said = self.place.ask(&["farm", "status", "--check", "ledger", "--format=json"]).fine().json();
        assert_eq!((&said["files"], &said["faults"]), (&(2 * CHUNKS).into(), &serde_json::json!([])));
        assert_eq!(std::fs::read_dir(self.place.file("products/.attempts")).unwrap().count(), 0);
        let mut story = BTreeMap::new();
        ledger.incidents().unwrap().into_iter().for_each(|one| *story.entry(one.what).or_default() += 1);
        story
    }
}

/// The command line of a process; empty if it is gone.
fn arguments(pid: i32) -> String {
    String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()).into_owned()
}

/// Whether a process has a file open.
fn has_open(pid: u32, file: &Path) -> bool {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
    entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()).any(|open| open == file)
}

/// Processes that have the marker among their arguments.
fn programs(marker: &str) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|pid| arguments(*pid).starts_with("sh\0") && arguments(*pid).contains(marker)).collect()
}

/// Sends a signal to a process that may be gone.
fn tell(pid: i32, signal: Signal) {
    let _ = os::process::send(pid, Some(signal));
}

#[test]
fn products_and_ledger_agree_after_faults_of_all_kinds() {
    agree_after(if testing::slow("150 faults of 14 kinds") { 150 } else { 12 }, 0);
}

/// The other half, at other moments.
#[test]
fn products_and_ledger_agree_after_as_many_faults_again() {
    if testing::slow("150 more faults; twelve stand for them") {
        agree_after(150, 1000);
    }
}

/// Injects `wanted` faults into runs that are numbered from `first`, which also decides their moments.
fn agree_after(wanted: u32, first: u64) {
    if Command::new("cksum").arg("--version").output().is_err() {
        testing::skip!("no cksum here");
        return;
    }
    let place = Place::new();
    let (mut done, mut runs) = (BTreeMap::<Fault, u32>::new(), first);
    let mut story = BTreeMap::<String, u64>::new();
    let began = Instant::now();
    let mut next = 0;
    while done.values().sum::<u32>() < wanted {
        let mut chaos = Chaos::start(&place, runs);
        runs += 1;
        let limit = Instant::now();
        while done.values().sum::<u32>() < wanted && limit.elapsed() < LONG {
            chaos.pause(100, 1200);
            let counted = chaos.farm().counted();
            if chaos.is_over() || counted >= CHUNKS - 6 {
                break;
            }
            // All kinds in order; the moment is random.
            let fault = FAULTS[next % FAULTS.len()];
            next += 1;
            *done.entry(fault).or_default() += u32::from(counted > 0 && chaos.inject(fault));
        }
        chaos.end().into_iter().for_each(|(what, count)| *story.entry(what).or_default() += count);
    }
    eprintln!(
        "{} faults in {} runs, {:.0} s: {done:?}; {story:?}",
        done.values().sum::<u32>(),
        runs - first,
        began.elapsed().as_secs_f64()
    );
    assert!(wanted < 100 || done.values().filter(|count| **count > 0).count() >= 12, "{done:?}");
}
