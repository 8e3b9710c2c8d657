//! `prony app sessions`: many sessions at once over many files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use application::{FileSharing, SessionOrder, SessionReport, Sessions};
use clap::Args;
use measure::Stopper;
use model::{Run, Unit, percent};
use report::{Block, Cell, Column, Document, DocumentSection, PrintedQuantity, TableRow};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::cmd::resume;
use crate::cmd::session::{LocalSession, measured};
use crate::exit::StoppedEarly;
use crate::run_options::MeasureOptions;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony app sessions -n 12 --write 24
  prony app sessions -n 4 data/*.raw -- ./reader --fast")]
pub(crate) struct Arguments {
    /// Run this many sessions at once
    #[arg(long, short = 'n', value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=4096))]
    sessions: u32,
    /// Files to read [default: ntuples that Prony writes and removes]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write this many ntuples, if you name no files
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    write: u32,
    /// Write ntuples of this size, in MB
    #[arg(long, help_heading = "Files", default_value_t = 16, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    file_size: u64,
    /// Use files 25% larger than the memory
    #[arg(long, help_heading = "Files", conflicts_with_all = ["file_size", "files"])]
    beyond_memory: bool,
    /// Measure files in this directory
    #[arg(long, help_heading = "Files", value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Read all files in every session, not its own alone
    #[arg(long)]
    shared: bool,
    /// Drop files from the page cache before reading
    #[arg(long)]
    cold: bool,
    /// Run all sessions exactly this many times
    #[arg(long, help_heading = "Sampling", short = 'r', value_name = "N", conflicts_with_all = ["max_samples", "time_limit"],
          value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: Option<u32>,
    /// Your own program; Prony appends the names of a session's files
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    measure: MeasureOptions,
}

/// Seconds after which a session is ended.
const PATIENCE: f64 = 600.0;

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let options = &arguments.measure;
    let resumed = options.resume.as_ref().map(|name| resume::find(name, "sessions", common)).transpose()?;
    let sessions = arguments.sessions as usize;
    let count = if arguments.files.is_empty() { arguments.write as usize } else { arguments.files.len() };
    ensure!(
        arguments.shared || count >= sessions,
        "{sessions} sessions with files of their own need at least as many files, and there are {count}; {} or use --shared",
        if arguments.files.is_empty() { "write more with --write," } else { "name more" }
    );
    let mut session = LocalSession::open("sessions", options, common)?;
    let written;
    let files = if arguments.files.is_empty() {
        written = write_files(arguments.files_to_write()?, &session.stopper)?;
        written.1.clone()
    } else {
        for path in &arguments.files {
            std::fs::File::open(path).with_context(|| format!("could not read {}", path.display()))?;
        }
        arguments.files.clone()
    };
    let (command, name) = reader(arguments)?;
    let order = SessionOrder {
        sessions,
        files,
        sharing: if arguments.shared { FileSharing::Shared } else { FileSharing::Own },
        cached: !arguments.cold,
        command,
        patience: PATIENCE,
    };
    let (mut engine, fresh) = Sessions::new(document(arguments, &order), order, &name, super::attendant()?);
    let order = session.order(fresh, resumed)?;
    let result = session.measure(order, &mut engine)?;
    let draw = |run: &Run, context: &report::view::RunContext| Ok(drawn(run, context, engine.reports()));
    session.conclude(result, draw, measured)
}

/// The run without results.
fn document(arguments: &Arguments, order: &SessionOrder) -> Run {
    let rounds = &arguments.measure.rounds;
    let folder = order.files.first().and_then(|file| file.parent()).map_or_else(std::env::temp_dir, Into::into);
    let mut run = application::document("sessions", rounds.seed(), rounds.target(), rounds.time_limit, folder);
    // A number of iterations leaves no decision to the intervals: one look, at its end.
    if let Some(runs) = arguments.runs {
        run.plan.checkpoints = vec![runs];
    }
    run
}

/// The run with the sessions of its last iteration and what holds them up.
fn drawn(run: &Run, context: &report::view::RunContext, reports: &[SessionReport]) -> Document {
    let mut document = report::view::run(run, context);
    if let Some(last) = reports.last() {
        document.sections.push(each(last));
        document.summary.insert(0, verdicts(reports));
    }
    document
}

/// The program of a session, and its name.
fn reader(arguments: &Arguments) -> Result<(Vec<String>, String)> {
    if let Some(program) = arguments.command.first() {
        let name =
            Path::new(program).file_name().map_or_else(|| program.clone(), |name| name.to_string_lossy().into_owned());
        return Ok((arguments.command.clone(), name.replace([',', '='], "_")));
    }
    let own = std::env::current_exe().context("could not find this program's own file")?;
    let mut command = vec![own.to_string_lossy().into_owned(), "app".to_owned(), "read".to_owned()];
    // Other files are not known to be ntuples.
    let analyse = arguments.files.is_empty();
    command.extend(analyse.then(|| "--analyse".to_owned()));
    Ok((command, if analyse { "analyse" } else { "bytes" }.to_owned()))
}

/// Ntuples to be written.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilesToWrite<'a> {
    directory: &'a Path,
    count: u64,
    /// Size of each, bytes.
    size: u64,
}

impl Arguments {
    fn files_to_write(&self) -> Result<FilesToWrite<'_>> {
        let (directory, count) = (self.directory.as_path(), u64::from(self.write));
        if self.beyond_memory {
            return FilesToWrite::beyond_memory(directory, count);
        }
        Ok(FilesToWrite::of(directory, count, self.file_size * 1_000_000))
    }
}

impl<'a> FilesToWrite<'a> {
    /// Files of a size, bytes.
    pub(super) const fn of(directory: &'a Path, count: u64, size: u64) -> Self {
        Self { directory, count, size }
    }

    /// Bytes of all of them.
    pub(super) const fn total(&self) -> u64 {
        self.count * self.size
    }

    /// Files that together are a quarter larger than the memory of this machine, or of this process's control group.
    ///
    /// # Errors
    /// When the memory is unknown, or the file system has no room for them.
    pub(super) fn beyond_memory(directory: &'a Path, count: u64) -> Result<Self> {
        let limit = os::cgroup::limits().ok().and_then(|limits| limits.memory_bytes);
        let machine = measure::machine(&[]).number("memory.total").map(|bytes| bytes as u64);
        let memory = limit.into_iter().chain(machine).min().context("could not find how much memory there is")?;
        let size = memory / 4 * 5 / count + 1;
        let free = os::file::filesystem(directory).map(|found| found.free_bytes).unwrap_or(u64::MAX);
        ensure!(
            free / 10 * 9 > size * count,
            "could not write {} MB (1.25 times the memory) in {}, where {} MB are free; use --directory or --file-size",
            size * count / 1_000_000,
            directory.display(),
            free / 1_000_000
        );
        Ok(Self { directory, count, size })
    }
}

/// Writes ntuples in a folder that is removed when it is dropped.
pub(super) fn write_files(wanted: FilesToWrite<'_>, stopper: &Stopper) -> Result<(tempfile::TempDir, Vec<PathBuf>)> {
    /// Approximate size of an event of the sample, bytes.
    const EVENT: u64 = 424;
    let FilesToWrite { directory, count, size } = wanted;
    // They may be large, and the room is needed now.
    os::process::remove_abandoned(directory);
    let prefix = format!("{}sessions-", os::process::owned_prefix());
    let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(directory).with_context(|| {
        format!("could not write files in {}; name another place with --directory", directory.display())
    })?;
    let events = size / EVENT;
    let mut files = Vec::new();
    for number in 0..count {
        ensure!(!stopper.asked(), StoppedEarly("stopped while files were written"));
        let path = folder.path().join(format!("{number:05}.ntuple"));
        let file = std::fs::File::create(&path).with_context(|| format!("could not write {}", path.display()))?;
        let output = std::io::BufWriter::with_capacity(1 << 18, file);
        physics::analyse::write_ntuple(output, 1, number * events, events)
            .with_context(|| format!("could not write {}", path.display()))?;
        files.push(path);
    }
    Ok((folder, files))
}

/// The sessions of one iteration.
fn each(iteration: &SessionReport) -> DocumentSection {
    let columns = Column::list("session|#time|#CPU|#asked|#from the device");
    let row = |(index, used): (usize, &application::SessionUse)| {
        let data = |value| Cell::Value(PrintedQuantity::bare(value, Unit::BytesPerSecond));
        let cells = vec![
            Cell::text((index + 1).to_string()),
            Cell::Value(PrintedQuantity::bare(used.wall, Unit::Seconds)),
            Cell::text(percent(used.cpu)),
            data(used.asked),
            data(used.device),
        ];
        TableRow::of(cells)
    };
    let rows = iteration.sessions.iter().enumerate().map(row).collect();
    DocumentSection::of("Sessions of the last iteration", Block::table(columns, rows))
}

/// The verdict of most iterations, and its count.
fn verdicts(iterations: &[SessionReport]) -> String {
    use application::SessionsVerdict::{CpuBound, DiskBound, Neither, TooShort, Unseen};
    let count = |verdict| iterations.iter().filter(|iteration| iteration.verdict == verdict).count();
    let words = [
        (CpuBound, "CPU bound"),
        (DiskBound, "disk bound"),
        (Neither, "neither CPU nor disk bound"),
        (TooShort, "too short to tell the limit"),
        (Unseen, "limit unknown"),
    ];
    let most = words.into_iter().max_by_key(|(verdict, _)| count(*verdict));
    let (verdict, word) = most.unwrap_or((Neither, "neither"));
    let because = iterations
        .iter()
        .rev()
        .find(|iteration| iteration.verdict == verdict)
        .map_or("", |iteration| iteration.because.as_str());
    format!("{word} in {} of {} iterations: {because}.", count(verdict), iterations.len())
}
