//! The laboratory without privileges, and after its owner was killed. No harness, since it needs a process with one
//! thread.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use lab::{Lab, LabShape, gain, labs, sweep};

const ROLE: &str = "PRONY_LAB_ROLE";
const NOBODY: u32 = 65_534;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        println!("lab_without_privileges_and_after_a_kill: test");
        return ExitCode::SUCCESS;
    }
    match std::env::var(ROLE).as_deref() {
        Ok("hold") => hold(),
        Ok("sweep") => {
            println!("swept {}, {} left", sweep(), labs().unwrap().len());
            ExitCode::SUCCESS
        }
        _ => {
            killed(None);
            if sys_is_root() {
                killed(Some(NOBODY));
            }
            println!("test lab_without_privileges_and_after_a_kill ... ok");
            ExitCode::SUCCESS
        }
    }
}

fn sys_is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Builds a laboratory, prints that, and waits to be killed.
fn hold() -> ExitCode {
    match gain().and_then(|means| Ok((means, Lab::up(LabShape { hosts: 3, ..LabShape::default() })?))) {
        Ok((means, lab)) => {
            let links = lab.run(1, "ip", &["-o", "addr", "show", "dev", "eth0"]).unwrap();
            let network = std::fs::read_link(format!("/proc/self/fd/{}", descriptor())).unwrap();
            let address = String::from_utf8_lossy(&links.output).contains("198.18.0.2/15");
            println!("up {means:?} {address} {}", network.display());
            std::thread::sleep(Duration::from_secs(60));
            drop(lab);
        }
        Err(reason) => testing::skip!("{reason}"),
    }
    ExitCode::SUCCESS
}

/// A descriptor of this process that holds a network namespace.
fn descriptor() -> String {
    let all = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let net = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|target| target.to_string_lossy().starts_with("net:"))
    };
    let mut names = all.filter(net).map(|entry| entry.file_name().into_string().unwrap());
    names.next().unwrap()
}

/// Whether any process has the namespace open or is in it.
fn held(network: &str) -> bool {
    let link =
        |path: std::path::PathBuf| std::fs::read_link(path).is_ok_and(|target| target.to_string_lossy() == network);
    std::fs::read_dir("/proc").unwrap().flatten().any(|process| {
        let path = process.path();
        link(path.join("ns/net"))
            || std::fs::read_dir(path.join("fd")).is_ok_and(|all| all.flatten().any(|fd| link(fd.path())))
    })
}

/// This program in another role, as another user if given.
fn command(role: &str, user: Option<u32>, runtime: &Path) -> Command {
    // Other users may not read the directory of this program.
    let copy = runtime.join("holder");
    if !copy.exists() {
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    }
    let mut command = Command::new(copy);
    command.env(ROLE, role).env("XDG_RUNTIME_DIR", runtime).stdout(Stdio::piped()).current_dir("/");
    if let Some(user) = user {
        std::os::unix::fs::chown(runtime, Some(user), Some(user)).unwrap();
        command.uid(user).gid(user);
    }
    command
}

/// A laboratory whose owner is killed leaves only a file, which the sweep removes.
fn killed(user: Option<u32>) {
    let runtime = tempfile::tempdir().unwrap();
    let mut holder = command("hold", user, runtime.path()).spawn().unwrap();
    let mut output = BufReader::new(holder.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    if !line.starts_with("up ") {
        eprintln!("{}", line.trim());
        holder.wait().unwrap();
        return;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[1], if user.is_some() { "User" } else { "Own" });
    assert_eq!(words[2], "true", "the host has its address");
    let network = words[3].to_owned();
    assert!(held(&network));
    holder.kill().unwrap();
    holder.wait().unwrap();
    let mut rest = String::new();
    let _ = output.read_to_string(&mut rest);
    let began = Instant::now();
    while held(&network) {
        assert!(began.elapsed() < Duration::from_secs(60), "{network} outlives its owner");
        std::thread::sleep(Duration::from_millis(20));
    }
    let swept = command("sweep", user, runtime.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&swept.stdout).trim(), "swept 1, 0 left");
}
