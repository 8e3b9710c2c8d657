//! `prony farm bench`: the coordinator alone, with many pilots whose work takes no time.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::farm::{Coordinator, CoordinatorSettings, Farm, FarmJob, Invariants, PilotConfig, SqliteLedger, run_pilot};
use anyhow::{Context, Result, bail};
use channel::{Token, nonce};
use report::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Table, TableRow};
use serde::Serialize;

use super::pilot;
use super::work::{FarmWork, WorkerFactory};
use crate::cli::CommonOptions;
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

/// What the coordinator did.
#[derive(Debug, Serialize)]
struct BenchResult {
    chunks: u64,
    pilots: usize,
    /// From the first connection to the last commit.
    seconds: f64,
    commits_per_second: f64,
    refused: u64,
    /// Most at once.
    open_files: usize,
    /// Most at once.
    threads: usize,
    /// Load average of the host at the end.
    load: f64,
    memory: Vec<BenchMemory>,
}

/// Memory of the coordinator's own.
#[derive(Debug, Serialize)]
struct BenchMemory {
    /// Chunks counted so far.
    chunks: u64,
    seconds: f64,
    bytes: u64,
}

impl BenchResult {
    fn document(&self) -> Document {
        let mut document = Document::new(format!(
            "{} chunks, {} pilots, {:.2} s from the first connection to the last commit: {:.0} durable commits/s; {} refused",
            self.chunks, self.pilots, self.seconds, self.commits_per_second, self.refused
        ));
        let limits = format!(
            "at most {} open files and {} threads; load of the host {:.1}",
            self.open_files, self.threads, self.load
        );
        document.sections.push(DocumentSection::of("", Block::Text(limits)));
        let titles = ["chunks", "after, s", "memory of the coordinator's own, MB"];
        let columns = titles.map(|title| Column::new(title, ColumnKind::Number)).to_vec();
        let row = |at: &BenchMemory| TableRow {
            cells: vec![
                Cell::Count(at.chunks),
                Cell::Printed(format!("{:.2}", at.seconds)),
                Cell::Printed(format!("{:.1}", at.bytes as f64 * 1e-6)),
            ],
        };
        let rows = self.memory.iter().map(row).collect();
        document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
        document.data = EmbeddedJson::of(self).ok();
        document
    }
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let folder = tempfile::Builder::new()
        .prefix("prony-farm-bench-")
        .tempdir_in(&arguments.directory)
        .with_context(|| format!("could not work in {}", arguments.directory.display()))?;
    let coordinator = coordinator(arguments, &folder.path().join("ledger"))?;
    let mut herd = herd_of(arguments.pilots, &coordinator)?;
    let began = Instant::now();
    let marks = [0.1, 0.25, 0.5, 0.75, 1.0];
    let mut memory: Vec<BenchMemory> = Vec::new();
    let memory_at = |chunks: u64, seconds: f64| -> Result<BenchMemory> {
        Ok(BenchMemory { chunks, seconds, bytes: sys::usage::anonymous_bytes()? })
    };
    let entries = |path: &str| std::fs::read_dir(path).map_or(0, Iterator::count);
    let (mut files, mut threads) = (0, 0);
    while !coordinator.finished() {
        if let Some(status) = herd.try_wait()? {
            bail!("the simulated pilots ended early: {status}");
        }
        let counted = coordinator.snapshot().counted;
        let share = counted as f64 / arguments.chunks as f64;
        if memory.len() < marks.len() && share >= marks[memory.len()] {
            memory.push(memory_at(counted, began.elapsed().as_secs_f64())?);
            (files, threads) = (entries("/proc/self/fd").max(files), entries("/proc/self/task").max(threads));
        }
        sys::timer::sleep(Duration::from_millis(5));
    }
    let seconds = began.elapsed().as_secs_f64();
    memory.push(memory_at(arguments.chunks, seconds)?);
    let snapshot = coordinator.snapshot();
    let load = sys::usage::load_average()?[0];
    if sys::process::wait_within(&mut herd, LEAVE).is_none() {
        herd.kill().context("could not end the simulated pilots")?;
        bail!("the simulated pilots did not leave within {} s", LEAVE.as_secs());
    }
    let ledger = coordinator.end()?;
    let invariants = Invariants { planned: arguments.chunks, events: arguments.chunks, totals: ledger.totals()? };
    let joined = ledger.incidents()?.iter().filter(|one| one.what == "joined").count();
    let found = BenchResult {
        chunks: arguments.chunks,
        pilots: joined,
        seconds,
        commits_per_second: arguments.chunks as f64 / seconds,
        refused: snapshot.refused,
        open_files: files,
        threads,
        load,
        memory,
    };
    output::print(&found.document(), common)?;
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
