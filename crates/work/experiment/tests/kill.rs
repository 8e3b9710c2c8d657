//! Kills an experiment at random moments and compares every setting with the start. The program is its own victim and
//! its own guardian.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "all of this is a test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use experiment::{Change, Error, JournalFolder, Keeper, Left, Setting, Switch, System, guard, journalled, left_behind};
use kernels::signal::Signal;
use os::process::send;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

static SETTINGS: [Setting; 3] = [
    Setting::system("one", "one file", &["/proc/sys/one"], &["1", "2"]),
    Setting::system("each", "a file for each CPU", &["/sys/cpu*/governor"], &["perform", "powsave"]),
    Setting::process("weight", "control group", Change::Group, &["5"]),
];
/// The file that another program may change.
const OTHERS: &str = "sys/cpu1/governor";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "victim", place, seed] => victim(Path::new(place), seed.parse().unwrap()),
        [_, "guardian", place] => guardian(Path::new(place)),
        [_, "--list", ..] => {}
        _ => {
            settings_are_as_before_after_every_kill();
            a_changed_journal_writes_nothing_elsewhere();
            a_journal_of_an_earlier_boot_is_dropped();
            one_experiment_at_a_time();
            what_another_program_sets_ends_the_experiment();
            println!("kill: all held");
        }
    }
}

fn system(place: &Path) -> System {
    System { root: place.join("root"), settings: &SETTINGS, privileged: os::process::is_privileged() }
}

fn journal(place: &Path) -> PathBuf {
    place.join("journal")
}

/// A machine of a few files. Their values are of one length, since control files are written without being cut.
fn machine() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, value) in files() {
        let path = place.path().join("root").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value).unwrap();
    }
    place
}

fn files() -> BTreeMap<String, String> {
    let each = (0..4).map(|cpu| (format!("sys/cpu{cpu}/governor"), format!("found-{cpu}")));
    let boot = ("proc/sys/kernel/random/boot_id".to_owned(), "this boot".to_owned());
    each.chain([boot, ("proc/sys/one".to_owned(), "0".to_owned())]).collect()
}

fn state(place: &Path) -> BTreeMap<String, String> {
    let read = |name: String| {
        let value = fs::read_to_string(place.join("root").join(&name)).unwrap().trim().to_owned();
        (name, value)
    };
    files().into_keys().map(read).collect()
}

fn switches(place: &Path) -> Vec<Switch> {
    let every = |setting: &'static Setting| {
        setting.values.iter().map(move |to| Switch { setting, from: String::new(), to: (*to).to_owned() })
    };
    let all: Vec<Switch> = SETTINGS.iter().flat_map(every).collect();
    // Where this process may make no control group, the kills are those of an experiment without one.
    let files = if journalled(&system(place), &all).is_ok() { all.len() } else { all.len() - 1 };
    all[..files].to_vec()
}

fn begin(place: &Path) -> Result<Keeper, Error> {
    let mut guardian = Command::new(std::env::current_exe().unwrap());
    guardian.arg("guardian").arg(place);
    let (items, groups) = journalled(&system(place), &switches(place))?;
    Keeper::begin(system(place), &journal(place), items, groups, guardian)
}

/// Switches settings until it is killed.
fn victim(place: &Path, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let switches = switches(place);
    loop {
        let Ok(mut keeper) = begin(place) else { continue };
        for _ in 0..random.random_range(1..20) {
            let switch = &switches[random.random_range(0..4)];
            // Another program may have changed a value, which is not set then.
            let _ = keeper.set(switch.setting, &switch.to);
            std::thread::sleep(Duration::from_micros(random.random_range(0..4000)));
            if random.random_bool(0.7) {
                keeper.restore();
            }
        }
        if random.random_bool(0.5) {
            drop(keeper);
        } else {
            keeper.end().unwrap();
        }
    }
}

fn guardian(place: &Path) {
    let (_, left) = guard(&system(place), &journal(place), experiment::standard_input().unwrap()).unwrap();
    let said: String = left.iter().map(|one| format!("{one}\n")).collect();
    if !said.is_empty() {
        fs::write(place.join("said"), said).unwrap();
    }
}

/// What is killed, and what happens before.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kill {
    /// The experiment alone.
    Program,
    /// The experiment, after another program changed a value.
    AfterAnotherProgram,
    /// The experiment and its guardian.
    Both,
}

fn settings_are_as_before_after_every_kill() {
    let kills = if testing::slow("200 kills instead of 20") { 200 } else { 20 };
    let mut random = StdRng::seed_from_u64(kills);
    let (mut changed, mut undone) = (0, 0);
    for number in 0..kills {
        let how = [Kill::Program, Kill::Program, Kill::AfterAnotherProgram, Kill::Both][(number % 4) as usize];
        let place = machine();
        let me = std::env::current_exe().unwrap();
        let mut child = Command::new(me);
        let mut child =
            child.arg("victim").arg(place.path()).arg(number.to_string()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.random_range(5..90)));
        let pid = child.id().cast_signed();
        send(pid, Some(Signal::Stop)).unwrap();
        let before = state(place.path());
        changed += usize::from(before != files());
        if how == Kill::AfterAnotherProgram {
            fs::write(place.path().join("root").join(OTHERS), "another").unwrap();
        }
        if how == Kill::Both {
            children(pid).into_iter().for_each(|guardian| {
                let _ = send(guardian, Some(Signal::Kill));
            });
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let folder = claimed(&journal(place.path()));
        if how == Kill::Both && folder.has_journal() {
            drop(folder);
            assert!(left_behind(&journal(place.path())).unwrap().contains("--undo"));
            assert!(matches!(begin(place.path()), Err(Error::Left)), "no experiment begins on top of it");
            let folder = claimed(&journal(place.path()));
            let (restored, left) = folder.restore(&system(place.path())).unwrap();
            assert!(left.is_empty(), "{left:?}");
            undone += restored;
        } else {
            assert!(!folder.has_journal(), "kill {number}: the guardian leaves nothing to do");
        }
        assert_eq!(left_behind(&journal(place.path())), None);
        let mut expected = files();
        if how == Kill::AfterAnotherProgram {
            expected.insert(OTHERS.to_owned(), "another".to_owned());
            // A kill before there was a journal, or after, leaves nobody to say it.
            if let Ok(said) = fs::read_to_string(place.path().join("said")) {
                assert!(said.contains("another program set"), "{said}");
            }
        }
        assert_eq!(state(place.path()), expected, "kill {number}: {how:?}");
        let group = os::cgroup::own_folder("cpu").map(|(_, folder)| folder.join(format!("prony-experiment-{pid}-5")));
        assert!(group.is_none_or(|group| !group.exists()), "kill {number}: its control group is gone");
    }
    println!("kill: {kills} kills, {changed} of them with changed settings, {undone} values restored by undo");
    assert!(changed > 0, "no kill came while a setting was changed");
}

fn claimed(folder: &Path) -> JournalFolder {
    // The guardian restores as soon as it runs, which a busy machine may delay.
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match JournalFolder::claim(folder) {
            Ok(folder) => return folder,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    }
}

fn children(pid: i32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn a_changed_journal_writes_nothing_elsewhere() {
    let place = machine();
    fs::write(place.path().join("root/secret"), "1").unwrap();
    fs::create_dir_all(journal(place.path())).unwrap();
    let file = journal(place.path()).join("experiment.json");
    for address in ["/secret", "/proc/sys/../../secret", "/sys/cpu/../../secret"] {
        let text = format!(
            r#"{{"boot":"this boot","items":[{{"setting":"one","address":"{address}","old":"2","new":["1"]}}],"groups":[]}}"#
        );
        fs::write(&file, text).unwrap();
        let refused = claimed(&journal(place.path())).restore(&system(place.path()));
        assert!(matches!(refused, Err(Error::Journal { .. })), "{refused:?}");
        assert_eq!(fs::read_to_string(place.path().join("root/secret")).unwrap(), "1");
    }
    fs::write(&file, "half of").unwrap();
    assert!(claimed(&journal(place.path())).restore(&system(place.path())).is_err());
    assert!(file.exists(), "it is kept for the reader");
}

fn a_journal_of_an_earlier_boot_is_dropped() {
    let place = machine();
    fs::create_dir_all(journal(place.path())).unwrap();
    let text =
        r#"{"boot":"another","items":[{"setting":"one","address":"/proc/sys/one","old":"7","new":["0"]}],"groups":[]}"#;
    fs::write(journal(place.path()).join("experiment.json"), text).unwrap();
    let folder = claimed(&journal(place.path()));
    assert_eq!(folder.restore(&system(place.path())).unwrap().0, 0);
    assert!(!folder.has_journal());
    assert_eq!(state(place.path()), files(), "no value outlives a boot");
}

fn one_experiment_at_a_time() {
    let place = machine();
    let keeper = begin(place.path()).unwrap();
    assert!(matches!(begin(place.path()), Err(Error::Busy)));
    assert_eq!(left_behind(&journal(place.path())), None, "it runs");
    assert!(keeper.end().unwrap().is_empty());
    begin(place.path()).unwrap().end().unwrap();
}

fn what_another_program_sets_ends_the_experiment() {
    let place = machine();
    let mut keeper = begin(place.path()).unwrap();
    keeper.set(&SETTINGS[1], "perform").unwrap();
    fs::write(place.path().join("root").join(OTHERS), "another").unwrap();
    assert!(keeper.set(&SETTINGS[1], "powsave").unwrap_err().to_string().contains("another program"));
    let left = keeper.end().unwrap();
    assert!(matches!(left.as_slice(), [Left::Foreign { value, .. }] if value == "another"), "{left:?}");
    let mut expected = files();
    expected.insert(OTHERS.to_owned(), "another".to_owned());
    assert_eq!(state(place.path()), expected);
}
