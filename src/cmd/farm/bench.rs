//! `prony farm bench`: the coordinator alone, with many pilots whose work takes no time.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::farm::{Coordinator, CoordinatorSettings, Farm, FarmJob, Invariants, PilotConfig, SqliteLedger, run_pilot};
use anyhow::{Context, Result, bail};
use channel::{Token, nonce};

use super::pilot;
use super::work::{FarmWork, WorkerFactory};
use crate::{ExitStatus, output};

/// Time for the simulated pilots to read their order, and to end.
const LEAVE: Duration = Duration::from_secs(60);

/// Options of `prony farm bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Simulated pilots, each with a connection of its own
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pilots: u32,
    /// Chunks
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    chunks: u64,
    /// Directory in which the ledger is kept and measured: its disk is what is tried
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
}

/// Options of `prony farm herd`.
#[derive(Debug, clap::Args)]
pub(crate) struct HerdArguments {
    pilots: u32,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus> {
    let folder = tempfile::Builder::new()
        .prefix("prony-farm-bench-")
        .tempdir_in(&arguments.directory)
        .with_context(|| format!("could not work in {}", arguments.directory.display()))?;
    let coordinator = coordinator(arguments, &folder.path().join("ledger"))?;
    let mut herd = herd_of(arguments.pilots, &coordinator)?;
    let began = Instant::now();
    let marks = [0.1, 0.25, 0.5, 0.75, 1.0];
    let mut memory: Vec<(u64, f64, u64)> = Vec::new();
    let entries = |path: &str| std::fs::read_dir(path).map_or(0, Iterator::count);
    let (mut files, mut threads) = (0, 0);
    while !coordinator.finished() {
        if let Some(status) = herd.try_wait()? {
            bail!("the simulated pilots ended early: {status}");
        }
        let counted = coordinator.snapshot().counted;
        let share = counted as f64 / arguments.chunks as f64;
        if memory.len() < marks.len() && share >= marks[memory.len()] {
            memory.push((counted, began.elapsed().as_secs_f64(), sys::usage::anonymous_bytes()?));
            (files, threads) = (entries("/proc/self/fd").max(files), entries("/proc/self/task").max(threads));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let seconds = began.elapsed().as_secs_f64();
    memory.push((arguments.chunks, seconds, sys::usage::anonymous_bytes()?));
    let snapshot = coordinator.snapshot();
    let load = sys::usage::load_average()?[0];
    if sys::process::wait_within(&mut herd, LEAVE).is_none() {
        herd.kill().context("could not end the simulated pilots")?;
        bail!("the simulated pilots did not leave within {} s", LEAVE.as_secs());
    }
    let ledger = coordinator.end()?;
    let invariants = Invariants { planned: arguments.chunks, events: arguments.chunks, totals: ledger.totals()? };
    let joined = ledger.incidents()?.iter().filter(|one| one.what == "joined").count();
    let mut text = format!(
        "{} chunks, {joined} pilots, {seconds:.2} s from the first connection to the last commit: {:.0} durable commits/s; {} refused\n",
        arguments.chunks,
        arguments.chunks as f64 / seconds,
        snapshot.refused
    );
    text.push_str(&format!("  at most {files} open files and {threads} threads; load of the host {load:.1}\n"));
    for (counted, at, bytes) in memory {
        text.push_str(&format!(
            "  {counted:>9} chunks, {at:7.2} s: {:.1} MB of memory of the coordinator's own\n",
            bytes as f64 * 1e-6
        ));
    }
    output::write(text.as_bytes())?;
    match invariants.broken().as_slice() {
        [] => Ok(ExitStatus::Fine),
        broken => bail!("could not verify the result: {}", broken.join("; ")),
    }
}

/// A coordinator without finished chunks.
fn coordinator(arguments: &Arguments, path: &Path) -> Result<Coordinator> {
    let work = serde_json::to_value(FarmWork::Null)?;
    let events = arguments.chunks;
    let job = FarmJob { name: "null".to_owned(), work, seed: 1, first: 0, events, chunk: 1, products: None };
    let token = || Token::draw().map(|token| token.reveal().to_owned());
    let farm = Farm {
        id: nonce()?,
        job,
        token: token()?,
        key: token()?,
        address: String::new(),
        created: ::farm::now(),
        settings: serde_json::Value::Null,
    };
    let ledger = SqliteLedger::create(path, &farm)?;
    let mut settings = CoordinatorSettings::at(([127, 0, 0, 1], 0).into());
    settings.connections = arguments.pilots as usize + 64;
    settings.rules.speculate = 0.0;
    settings.rules.expiry = 60.0;
    Ok(Coordinator::start(Box::new(ledger), settings)?)
}

/// Simulated pilots in a separate process, so that their memory is not counted as the coordinator's.
fn herd_of(pilots: u32, coordinator: &Coordinator) -> Result<std::process::Child> {
    let own = std::env::current_exe().context("could not find this program's own file")?;
    let mut herd = Command::new(own)
        .args(["farm", "herd", &pilots.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .context("could not start the simulated pilots")?;
    let order = PilotConfig {
        address: coordinator.address().to_string(),
        token: coordinator.token().reveal().to_owned(),
        node: "herd".to_owned(),
        slots: pilots,
        patience: 30.0,
    };
    let input = herd.stdin.take().context("the simulated pilots have no input")?;
    let mut input = sys::process::TimedInput::new(input, LEAVE)?;
    writeln!(input, "{}", serde_json::to_string(&order)?)?;
    Ok(herd)
}

pub(crate) fn herd(arguments: &HerdArguments) -> Result<ExitStatus> {
    // Simulated pilots end with their bench.
    sys::process::die_with_parent(sys::process::parent_pid())?;
    let mut order = pilot::order()?;
    order.slots = arguments.pilots;
    run_pilot(&order, Arc::new(WorkerFactory::default()))?;
    Ok(ExitStatus::Fine)
}
