//! Files that chunks produce: private while an attempt runs, published once, and whole after a crash. Also input files
//! on the local disk.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Duration;

use crate::common::farm::{Running, signal};
use crate::common::{Answer, Place};
use ::farm::Ledger;
use kernels::signal::Signal;

/// An application whose chunks run a script; its words are `$1` and so on.
fn manifest(place: &Place, script: &str, words: &[&str]) {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let text = format!(
        "[application.mine]\nrun = [\"sh\", \"-ec\", '''{script}''', \"chunk\", {}]\n\
         work = {{ events = 1, unit = \"event\" }}\nverify = {{ digest = \"digest=([0-9a-f]+)\" }}\n",
        quoted.join(", ")
    );
    std::fs::write(place.file("mine.toml"), text).unwrap();
}

const RUN: [&str; 10] = ["farm", "run", "mine.toml", "--events", "40", "--chunk", "4", "--nodes", "2", "--format=json"];

#[test]
fn holes_are_filled_and_products_are_in_the_ledger() {
    let place = Place::new();
    let words = ["{chunk}", "{attempt}", "{first}", "{events}", "{seed}", "{out}", "{in}"];
    manifest(&place, r#"echo "$*" > "$6/chunk-$1"; echo digest=1"#, &words);
    let answer = place.ask(&[&RUN[..], &["--products", "p", "--ledger", "l", "--seed", "7"]].concat()).fine().json();
    assert_eq!((&answer["totals"]["commits"], &answer["products"]), (&10.into(), &serde_json::json!([])));
    for chunk in 0..10_u64 {
        let text = std::fs::read_to_string(place.file(&format!("p/000000/chunk-{chunk:09}/chunk-{chunk}"))).unwrap();
        let found: Vec<&str> = text.split_whitespace().collect();
        let (first, number) = ((chunk * 4).to_string(), chunk.to_string());
        assert_eq!([found[0], found[2], found[3], found[4]], [&number, &first, "4", "7"], "{text}");
        assert!(found[5].contains(&format!(".attempts/{chunk}-{}", found[1])) && found.len() == 7, "{text}");
    }
    let said = place.ask(&["farm", "status", "--check", "l"]).fine().out;
    assert!(said.contains("10 files of 10 chunks") && said.contains("all files match"), "{said}");
    // The directory is the run's own.
    let other = place.ask(&[&RUN[..], &["--products", "p", "--ledger", "m"]].concat()).refused();
    assert!(other.contains("another run") && !place.file("m").exists(), "{other}");
    // A file that was changed, one that is gone, one that no chunk made.
    std::fs::write(place.file("p/000000/chunk-000000003/chunk-3"), "changed").unwrap();
    std::fs::remove_file(place.file("p/000000/chunk-000000004/chunk-4")).unwrap();
    std::fs::write(place.file("p/000000/chunk-000000005/new"), "new").unwrap();
    let said = place.ask(&["farm", "status", "--check", "l", "--format=json"]);
    assert_eq!((said.code, said.json()["faults"].as_array().unwrap().len()), (Some(1), 3), "{said:?}");
}

/// The record of a chunk is damaged after the run; the chunk's next output has other contents.
#[test]
fn a_damaged_record_is_told_and_its_chunk_and_files_are_made_again() {
    let place = Place::new();
    manifest(&place, r#"echo "$2" > "$3/chunk-$1"; echo digest=1"#, &["{chunk}", "{attempt}", "{out}"]);
    let before = place.ask(&[&RUN[..], &["--products", "p", "--ledger", "l"]].concat()).fine().json();
    let mut bytes = std::fs::read(place.file("l")).unwrap();
    let name = b"\"name\":\"chunk-3\"";
    let at = bytes.windows(name.len()).position(|piece| piece == name).unwrap();
    bytes[at + 9] ^= 1;
    std::fs::write(place.file("l"), bytes).unwrap();
    let said = place.ask(&["farm", "status", "l"]);
    assert!(said.err.contains("chunk 3 is damaged") && said.err.contains("farm resume l"), "{said:?}");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
    let said = place.ask(&["farm", "status", "--check", "l"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let old = std::fs::read_to_string(place.file("p/000000/chunk-000000003/chunk-3")).unwrap();
    let again = place.ask(&["farm", "resume", "l", "--format=json"]).fine();
    assert!(again.err.contains(".set-aside/chunk-000000003-0"), "{}", again.err);
    assert_eq!(again.json()["digest"], before["digest"]);
    let kept = std::fs::read_to_string(place.file("p/.set-aside/chunk-000000003-0/chunk-3")).unwrap();
    let new = std::fs::read_to_string(place.file("p/000000/chunk-000000003/chunk-3")).unwrap();
    assert!(kept == old && new != old, "{old} {new}");
    let said = place.ask(&["farm", "status", "--check", "l"]).fine();
    assert!(said.out.contains("10 files of 10 chunks") && said.err.is_empty(), "{said:?}");
}

/// Lost or changed products are reported with advice, and one resumption repeats them. So does one from a copy of the
/// ledger that is older than its products.
#[test]
fn products_that_do_not_match_their_ledger_are_made_again() {
    let place = Place::new();
    manifest(&place, r#"sleep 0.1; echo "$2" > "$3/chunk-$1"; echo digest=1"#, &["{chunk}", "{attempt}", "{out}"]);
    let arguments = ["mine.toml", "--events", "40", "--chunk", "4", "--nodes", "2", "--jobs", "1", "--products", "p"];
    let mut farm = Running::start(&place, &arguments, |_| None);
    farm.wait_for("some chunks", |farm| farm.counted() >= 3);
    std::fs::copy(place.file("ledger"), place.file("copy")).unwrap();
    farm.finish().fine();
    let product = |chunk: u64| place.file(&format!("p/000000/chunk-{chunk:09}/chunk-{chunk}"));
    let healed = |withdrawn: &str| {
        let again = place.ask(&["farm", "resume", "ledger", "--format=json"]).fine();
        assert!(again.err.contains(withdrawn), "{}", again.err);
        assert_eq!(again.json()["totals"]["commits"], 10);
        let verified = place.ask(&["farm", "status", "--check", "ledger"]).fine();
        assert!(verified.out.contains("10 files of 10 chunks"), "{verified:?}");
    };
    // Either of the two may have been committed first. The last ones: the copy counts none of them, so that resuming from it repeats them in any case.
    std::fs::remove_file(product(8)).unwrap();
    let changed: Vec<u8> = std::fs::read(product(9)).unwrap().iter().map(|byte| byte ^ 1).collect();
    std::fs::write(product(9), changed).unwrap();
    let said = place.ask(&["farm", "status", "--check", "ledger"]);
    assert!(
        said.code == Some(1) && said.err.contains("repeat the chunks that do not match: prony farm resume ledger"),
        "{said:?}"
    );
    healed("files do not match the ledger; repeating chunk ");
    std::fs::rename(place.file("copy"), place.file("ledger")).unwrap();
    healed("moved files of uncommitted results to ");
}

/// All processes are killed while results count; some files do not have their names yet. A kill hits such a state only
/// by luck, so chunks are set back to each possible one: no file has its name, some have it, all have it. Resuming
/// publishes them.
#[test]
fn a_crash_between_commit_and_publication_is_finished_on_resume() {
    let place = Place::new();
    // Many files, so that publishing takes a while.
    let script = r#"for i in $(seq 100); do echo "$2" > "$3/$i"; done; sleep 0.1; echo digest=1"#;
    manifest(&place, script, &["{chunk}", "{attempt}", "{out}"]);
    let arguments = ["mine.toml", "--events", "60", "--chunk", "2", "--nodes", "2", "--jobs", "2", "--lease", "1"];
    let mut farm = Running::start(&place, &[&arguments[..], &["--products", "p"]].concat(), |_| None);
    farm.wait_for("some chunks", |farm| farm.counted() >= 5 && farm.count("launched") == 2);
    let pilots = [farm.pilot("n1"), farm.pilot("n2")];
    pilots.into_iter().for_each(|pid| signal(pid, Signal::Kill));
    farm.child.kill().unwrap();
    farm.child.wait().unwrap();
    let mut counted = Vec::new();
    farm.look().unwrap().commits(&mut |commit| counted.push((commit.offer.chunk, commit.offer.number))).unwrap();
    for ((chunk, number), named) in counted.iter().zip([0, 40, 100]) {
        let (private, published) =
            (place.file(&format!("p/.attempts/{chunk}-{number}")), place.file(&format!("p/000000/chunk-{chunk:09}")));
        std::fs::create_dir_all(&private).unwrap();
        for name in 1..=100 {
            let (from, to) = (published.join(name.to_string()), private.join(name.to_string()));
            // The kill itself may have left it like this.
            if from.exists() && !to.exists() {
                std::fs::hard_link(&from, &to).unwrap();
            }
            if from.exists() && name > named {
                std::fs::remove_file(&from).unwrap();
            }
        }
    }
    let answer = Running::resume(&place, farm.ledger.clone(), |_| None).finish().fine().json();
    assert_eq!((&answer["totals"]["commits"], &answer["products"]), (&30.into(), &serde_json::json!([])));
    assert_eq!(place.ask(&["farm", "status", "--check", "ledger", "--format=json"]).fine().json()["files"], 3000);
    assert_eq!(std::fs::read_dir(place.file("p/.attempts")).unwrap().count(), 0);
}

#[test]
fn a_live_run_says_that_it_goes_on_and_a_deleted_ledger_is_rescued() {
    let place = Place::new();
    let arguments =
        ["builtin:simulate", "--events", "100", "--chunk", "1", "--nodes", "1", "--jobs", "1", "--pace", "0.1"];
    let mut farm = Running::start(&place, &arguments, |_| None);
    farm.wait_for("a chunk", |farm| farm.counted() > 0);
    assert!(place.ask(&["farm", "status", "ledger"]).fine().out.contains("still running"));
    std::fs::remove_file(place.file("ledger")).unwrap();
    let answer = farm.finish();
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("deleted or replaced") && answer.err.contains("ledger.rescued"), "{answer:?}");
    std::fs::rename(place.file("ledger.rescued"), place.file("ledger")).unwrap();
    let said = place.ask(&["farm", "status", "ledger"]).fine().out;
    assert!(said.contains("stopped before the end; continue with: prony farm resume ledger"), "{said}");
    let answer = place.ask(&["farm", "resume", "ledger", "--format=json"]).fine().json();
    assert_eq!(answer["totals"]["commits"], 100);
    assert!(place.ask(&["farm", "status", "ledger"]).fine().out.contains("finished"));
}

#[test]
fn input_files_are_staged_once_and_checked() {
    let place = Place::new();
    std::fs::create_dir(place.file("data")).unwrap();
    for chunk in 0..10 {
        std::fs::write(place.file(&format!("data/run-{chunk}")), format!("events of {chunk}\n").repeat(100)).unwrap();
    }
    manifest(
        &place,
        r#"case "$2" in */cache/*) ;; *) exit 9;; esac; echo "digest=$(cksum < "$2" | cut -c1-6)""#,
        &["{chunk}", "{in}"],
    );
    let stage = ["--stage", "data/run-{chunk}", "--stage-to", "cache"];
    let sums = || {
        let output = std::process::Command::new("sh")
            .args(["-c", "sha256sum data/run-*"])
            .current_dir(place.path())
            .output()
            .unwrap();
        std::fs::write(place.file("sums"), output.stdout).unwrap();
    };
    sums();
    let one = place.ask(&[&RUN[..], &stage, &["--stage-sums", "sums"]].concat()).fine().json();
    // If a chunk was done twice, the later result is refused, and perhaps it read the copy.
    let refused = one["totals"]["refused"].as_u64().unwrap();
    assert!(one["totals"]["read"].as_u64().unwrap() + 1200 * refused >= 10 * 1200, "{}", one["totals"]);
    // The second run finds the copies.
    let two = place.ask(&[&RUN[..], &stage].concat()).fine().json();
    assert_eq!(one["digest"], two["digest"]);
    // Chunks must not read copies that were changed.
    let cache = std::fs::read_dir(place.file("cache")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::metadata(&cache).unwrap().permissions().mode() & 0o777, 0o700);
    for entry in std::fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|end| end == "data") {
            let changed = std::fs::read(&entry).unwrap().iter().map(|byte| byte ^ 1).collect::<Vec<u8>>();
            std::fs::write(entry, changed).unwrap();
        }
    }
    let three = place.ask(&[&RUN[..], &stage, &["--stage-sums", "sums"]].concat()).fine().json();
    assert_eq!(one["digest"], three["digest"]);
    // A file with unexpected contents fails its chunk, which names it.
    std::fs::write(place.file("data/run-3"), "something else").unwrap();
    let failed = place.ask(&[&RUN[..], &stage, &["--stage-sums", "sums"]].concat());
    assert_eq!(failed.code, Some(2), "{failed:?}");
    assert!(failed.err.contains("9 of 10 planned chunks are committed"), "{failed:?}");
    assert!(failed.out.contains("run-3") && failed.out.contains("was expected"), "{failed:?}");
    assert!(place.ask(&[&RUN[..], &["--stage", "data/{nothing}"]].concat()).refused().contains("{chunk}"));
}

/// Everyone may write into the directory for temporary files: what others put there is not used, and keeps no one out.
#[test]
fn what_others_put_into_the_temporary_directory_is_not_used() {
    let place = Place::new();
    std::fs::create_dir(place.file("data")).unwrap();
    for chunk in 0..10 {
        std::fs::write(place.file(&format!("data/run-{chunk}")), format!("events of {chunk}\n")).unwrap();
    }
    manifest(
        &place,
        r#"dirname "$2" > "$3/where"; echo "digest=$(cksum < "$2" | cut -c1-6)""#,
        &["{chunk}", "{in}", "{out}"],
    );
    let run = |products: &str| {
        let mut command = place.prony();
        command.env("TMPDIR", place.file("tmp")).args(RUN).args([
            "--stage",
            "data/run-{chunk}",
            "--products",
            products,
        ]);
        Answer::of(command.output().unwrap()).fine().json()["digest"].clone()
    };
    std::fs::create_dir(place.file("tmp")).unwrap();
    let before = run("p");
    let place_of = |products: &str| {
        std::fs::read_to_string(place.file(&format!("{products}/000000/chunk-000000003/where"))).unwrap()
    };
    let where_it_was = place_of("p");
    assert!(where_it_was.contains("tmp/prony-stage-"), "{where_it_was}");
    let left = || std::fs::read_dir(place.file("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    assert_eq!(left(), Vec::<std::path::PathBuf>::new(), "copies were left behind");
    // Someone else makes the directories of earlier runs, with links to files of this user.
    std::fs::write(place.file("secret"), "only mine").unwrap();
    let user = std::fs::metadata(place.file("secret")).unwrap().uid();
    let traps = [where_it_was.trim().to_owned(), place.file("tmp/prony-stage").display().to_string()];
    let traps = traps.into_iter().chain([place.file(&format!("tmp/prony-stage-{user}")).display().to_string()]);
    for trap in traps {
        std::fs::create_dir(&trap).unwrap();
        std::fs::set_permissions(&trap, PermissionsExt::from_mode(0o777)).unwrap();
        for name in ["users.lock", "x.data"] {
            std::os::unix::fs::symlink(place.file("secret"), format!("{trap}/{name}")).unwrap();
        }
    }
    assert_eq!(run("q"), before);
    assert_ne!(place_of("q"), where_it_was);
    assert_eq!(std::fs::read_to_string(place.file("secret")).unwrap(), "only mine");
    assert_eq!(left().len(), 3, "{:?}", left());
}

#[test]
fn a_program_whose_result_is_not_wanted_is_ended() {
    let place = Place::new();
    // The first attempt at chunk 0 hangs; a second pilot does it after all others, and the first one's program ends.
    let script = r#"if [ "$1" = 0 ] && mkdir hung 2>/dev/null; then echo $$ > hung/pid; exec sleep 600; fi; sleep 0.1; echo digest=1"#;
    manifest(&place, script, &["{chunk}"]);
    let arguments = [&RUN[..], &["--jobs", "1", "--lease", "2", "--ledger", "l"]].concat();
    let answer = place.ask(&arguments).fine().json();
    assert_eq!(answer["totals"]["commits"], 10);
    let stopped = answer["incidents"].as_array().unwrap().iter().filter(|one| one["what"] == "stopped").count();
    assert_eq!(stopped, 1, "{}", answer["incidents"]);
    let pid = std::fs::read_to_string(place.file("hung/pid")).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let left = std::fs::read(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
    assert!(!String::from_utf8_lossy(&left).contains("sleep"), "the program goes on");
}
