//! Every command of README and docs works: `sh` blocks are run, page by page, in a directory with a prepared store, and
//! their output must be that of the page. `PRONY_BLESS=1 cargo test --test it docs` updates it; `PRONY_BLESS=measured`
//! also updates measured values, with the program that `PRONY_DOCS_PROGRAM` names.
//!
//! - `sh`: run, and ends with 0; `sh exit 1`: ends with 1.
//! - `sh no-run: REASON`: not run, but counted. Another test checks that its options exist.
//! - `text output`: the output of the block before it. `text output 9`: the first nine lines.
//! - `text measured`: the same, but with numbers that differ each time: updated only on request.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../docs/pages.rs"]
mod pages;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use self::pages::{DocumentationPage, FencedBlock};

/// Kinds of blocks that are not run, and their maximum number: no test tries their commands.
const MOST_LEFT_OUT: usize = 30;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A directory in which the commands of a page run.
struct Workplace {
    folder: tempfile::TempDir,
}

impl Workplace {
    /// Two real runs are stored, as 1 and 2, and as files, together with the examples of the documentation and the runs
    /// as they come with the source.
    fn new() -> Self {
        const STORED: [&str; 3] = ["alone.json", "loaded.json", "runs.sqlite"];
        static KEPT: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let path = place.folder.path();
        fs::create_dir(path.join("bin")).unwrap();
        let real = std::env::var("PRONY_DOCS_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_prony").to_owned());
        // Options that shorten long commands: the test checks that they work, not their results.
        let limit = "export PRONY_SPACING=0\n\
                     few='--target 50 --max-samples 8'\n\
                     case \"$1 $2 $3\" in\n\
                     run\\ --suite\\ rating|run\\ --suite\\ int-1) few=\"$few --time-limit 8s\";;\n\
                     app\\ run\\ *) few=\"$few --time-limit 1m --copies 1\";;\n\
                     net\\ rr\\ *) few=\"$few --time-limit 1m\";;\n\
                     esac\n\
                     case \"$1 $2 $3\" in\n\
                     'run --suite quick') shift 3; exec {} run --benchmark os.syscall_write --benchmark os.clock_read $few \"$@\";;\n\
                     run\\ *|app\\ run\\ *|net\\ rr\\ *|net\\ stream\\ *) {} \"$@\" $few && exit 0; code=$?\n\
                     # So short a run may have no interval.\n\
                     test $code = 3 || exit $code; exit 0;;\n\
                     esac\n";
        let limit = limit.replace("{}", &real);
        write_program(&path.join("bin/prony"), &format!("#!/bin/sh\n{limit}exec {real} \"$@\"\n"));
        std::os::unix::fs::symlink(root().join("docs"), path.join("docs")).unwrap();
        std::os::unix::fs::symlink(root().join("examples"), path.join("examples")).unwrap();
        std::os::unix::fs::symlink(root().join("tests"), path.join("tests")).unwrap();
        let runs = root().join("tests/docs");
        let script = format!(
            "for run in alone loaded; do prony show {}/$run.json.zst --format json >$run.json; done; \
             prony import alone.json loaded.json",
            runs.display()
        );
        let stored = KEPT.get_or_init(|| {
            let answer = place.shell(&script);
            assert!(answer.0 == Some(0), "{answer:?}");
            STORED.map(|name| fs::read(path.join(name)).unwrap())
        });
        for (name, bytes) in STORED.iter().zip(stored) {
            fs::write(path.join(name), bytes).unwrap();
        }
        place
    }

    /// Exit code, standard output and standard error.
    fn shell(&self, script: &str) -> (Option<i32>, String, String) {
        let path = self.folder.path();
        let search = format!("{}:{}", path.join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let output = Command::new("sh")
            .args(["-e", "-c", script])
            .current_dir(path)
            .env("PATH", search)
            .env("PRONY_STORE", path.join("runs.sqlite"))
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C.UTF-8")
            .env("COLUMNS", "100")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
}

fn write_program(path: &PathBuf, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The part of an output that a page shows: its first lines, without the directory of the test.
fn shown(output: &str, info: &str, place: &Workplace) -> String {
    let output = output.replace(&place.folder.path().display().to_string(), "/home/me");
    let Some(most) = info.split_whitespace().last().and_then(|word| word.parse::<usize>().ok()) else { return output };
    let mut text: String = output.lines().take(most).map(|line| format!("{line}\n")).collect();
    if output.lines().count() > most {
        text.push_str("…\n");
    }
    text
}

/// Runs the blocks of a page in order. Returns its text with the present outputs, and the number of skipped blocks.
fn run_page(page: &DocumentationPage, bless: &str) -> (String, usize) {
    let place = Workplace::new();
    let (mut text, mut left_out, mut last) = (page.text.clone(), 0, None::<String>);
    for FencedBlock { line, info, text: script } in &page.blocks {
        let words: Vec<&str> = info.split_whitespace().collect();
        match words.as_slice() {
            ["sh", "no-run:", reason @ ..] => {
                assert!(!reason.is_empty(), "{}:{line} says no reason", page.name);
                left_out += 1;
            }
            ["sh"] | ["sh", "exit", _] => {
                let wanted = words.get(2).map_or(0, |code| code.parse().unwrap());
                let (code, out, err) = place.shell(script);
                assert_eq!(code, Some(wanted), "{}:{line}: {script}{out}{err}", page.name);
                last = Some(out);
            }
            ["text", kind @ ("output" | "measured"), ..] => {
                let out = last.take().unwrap_or_else(|| panic!("{}:{line} has no command before it", page.name));
                if *kind == "output" || bless == "measured" {
                    let fences =
                        [format!("```{info}\n{script}```"), format!("```{info}\n{}```", shown(&out, info, &place))];
                    text = text.replacen(&fences[0], &fences[1], 1);
                }
            }
            _ => {}
        }
    }
    (text, left_out)
}

#[test]
fn every_command_of_the_pages_works_and_prints_what_they_show() {
    let bless = std::env::var("PRONY_BLESS").unwrap_or_default();
    let (mut left_out, mut run, mut stale) = (0, 0, Vec::new());
    for page in pages::pages(root()) {
        run += page.blocks.iter().filter(|block| block.info.starts_with("sh")).count();
        if !page.blocks.iter().any(|block| block.info.starts_with("sh")) {
            continue;
        }
        let (text, left) = run_page(&page, &bless);
        left_out += left;
        if text != page.text && !bless.is_empty() {
            fs::write(root().join(&page.name), text).unwrap();
        } else if text != page.text {
            stale.push(page.name);
        }
    }
    println!("{run} blocks, {left_out} of them not run");
    assert!(stale.is_empty(), "stale: {stale:?}; run PRONY_BLESS=1 cargo test --test it docs");
    assert!(run > 15 && left_out <= MOST_LEFT_OUT, "{left_out} of {run} blocks are not run");
}

#[test]
fn lines_of_the_pages_wrap_at_100_columns_and_links_lead_somewhere() {
    for page in pages::pages(root()) {
        let folder = root().join(&page.name).parent().unwrap().to_owned();
        let mut fenced = false;
        for (at, line) in page.text.lines().enumerate() {
            fenced ^= line.starts_with("```");
            let long = !fenced && !line.starts_with('|') && line.chars().count() > 100;
            assert!(!long, "{}:{} is longer than 100 columns", page.name, at + 1);
            // A row cannot wrap, so longer texts are below their table.
            let wide = !fenced && line.starts_with('|') && line.chars().count() > 120;
            assert!(!wide, "{}:{} is a row of more than 120 columns", page.name, at + 1);
            let cut = fenced && line.chars().count() > 120;
            assert!(!cut, "{}:{} is a line of more than 120 columns, which a reader must scroll", page.name, at + 1);
            for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let target = link.split('#').next().unwrap_or_default();
                let elsewhere = target.is_empty() || target.contains("://");
                assert!(elsewhere || folder.join(target).exists(), "{}:{} leads to {link}", page.name, at + 1);
            }
        }
    }
}
