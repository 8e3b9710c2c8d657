//! `prony app sessions`: many sessions at once over many files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use application::{FileSharing, SessionOrder, SessionReport, run_sessions, session_run};
use clap::Args;
use measure::{ConditionsWatch, Saver, Stopper};
use model::{Conditions, Unit, percent};
use report::view::RunContext;
use report::{Block, Cell, Column, ColumnKind, DocumentSection, PrintedQuantity, Table, TableRow};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::cmd::session::{claim, watch_for_signals};
use crate::output;
use crate::run_options::draw_seed;
use crate::run_saver::{RunSaver, SaveOptions};
use crate::value_parsers::seconds;

/// Options of `prony app sessions`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Sessions at once
    #[arg(long, short = 'n', value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=4096))]
    sessions: u32,
    /// Files to read [default: ntuples written for this and removed afterwards]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Ntuples to write, when no files are named
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    write: u32,
    /// Size of each, in MB
    #[arg(long, alias = "size", default_value_t = 16, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    file_size: u64,
    /// Directory in which the files are made and measured [default: the current one]
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// All sessions read all files, instead of each its own
    #[arg(long)]
    shared: bool,
    /// Files are put out of the page cache before, instead of into it
    #[arg(long)]
    cold: bool,
    /// Only read the bytes, instead of analysing ntuples
    #[arg(long)]
    bytes: bool,
    /// Iterations: each is one launch of all sessions
    #[arg(long, alias = "goes", value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    iterations: u32,
    /// End what takes longer than this
    #[arg(long, default_value = "10m", value_parser = seconds, value_name = "TIME")]
    timeout: f64,
    /// Your own program and its arguments, to which the names of a session's files are appended
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    saving: SaveOptions,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let stopper = watch_for_signals()?;
    let mut saver = RunSaver::open(&arguments.saving, common)?;
    let sessions = arguments.sessions as usize;
    let written;
    let files = if arguments.files.is_empty() {
        anyhow::ensure!(
            arguments.shared || arguments.write as usize >= sessions,
            "{sessions} sessions with files of their own need at least as many files; write more with --write, or use --shared"
        );
        written = write_files(arguments, &stopper)?;
        written.1.clone()
    } else {
        anyhow::ensure!(
            arguments.shared || arguments.files.len() >= sessions,
            "{sessions} sessions with files of their own need at least as many files, and there are {}; use --shared",
            arguments.files.len()
        );
        arguments.files.clone()
    };
    let (command, name) = reader(arguments)?;
    let order = SessionOrder {
        sessions,
        files,
        sharing: if arguments.shared { FileSharing::Shared } else { FileSharing::Own },
        cached: !arguments.cold,
        command,
        patience: arguments.timeout,
    };
    let claim = claim("sessions");
    let conditions = ConditionsWatch::begin(&Conditions::default(), &sys::affinity::allowed()?);
    let mut iterations = Vec::new();
    // The first iteration is cold in ways that no rule of caching covers, and is always discarded.
    for iteration in 0..=arguments.iterations {
        match run_sessions(&order, &stopper) {
            Ok(report) if iteration > 0 => iterations.push(report),
            Ok(_) => {}
            Err(application::Error::Stopped) if !iterations.is_empty() => break,
            Err(error) => return Err(error.into()),
        }
    }
    let mut run = session_run(&order, &name, draw_seed(), &iterations);
    run.session.conditions.beside.clone_from(&claim.other);
    conditions.record(&mut run);
    saver.mark(&mut run);
    saver.save(&run).map_err(anyhow::Error::msg).context("the run could not be kept")?;
    let handle = saver.number.map(|number| number.to_string());
    let mut document =
        report::view::run(&run, &RunContext { stored: handle.is_some(), handle, ..RunContext::default() });
    if let Some(last) = iterations.last() {
        document.sections.push(each(last));
        document.summary.insert(0, verdicts(&iterations));
    }
    output::print(&document, common)?;
    Ok(if stopper.asked() { ExitStatus::Stopped } else { ExitStatus::Fine })
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
    let analyse = arguments.files.is_empty() && !arguments.bytes;
    command.extend(analyse.then(|| "--analyse".to_owned()));
    Ok((command, if analyse { "analyse" } else { "bytes" }.to_owned()))
}

/// Writes ntuples in a folder that is removed when it is dropped.
fn write_files(arguments: &Arguments, stopper: &Stopper) -> Result<(tempfile::TempDir, Vec<PathBuf>)> {
    /// Approximate size of an event of the sample, bytes.
    const EVENT: u64 = 424;
    let directory = &arguments.directory;
    let folder = tempfile::Builder::new().prefix("prony-sessions-").tempdir_in(directory).with_context(|| {
        format!("could not write files in {}; name another place with --directory", directory.display())
    })?;
    let events = arguments.file_size * 1_000_000 / EVENT;
    let mut files = Vec::new();
    for number in 0..u64::from(arguments.write) {
        anyhow::ensure!(!stopper.asked(), "stopped while files were written");
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
    let columns = vec![
        Column::new("session", ColumnKind::Label),
        Column::new("time", ColumnKind::Number),
        Column::new("CPU", ColumnKind::Number),
        Column::new("asked", ColumnKind::Number),
        Column::new("from the device", ColumnKind::Number),
    ];
    let row = |(index, used): (usize, &application::SessionUse)| {
        let data = |value| Cell::Value(PrintedQuantity::bare(value, Unit::BytesPerSecond));
        let cells = vec![
            Cell::text((index + 1).to_string()),
            Cell::Value(PrintedQuantity::bare(used.wall, Unit::Seconds)),
            Cell::text(percent(used.cpu)),
            data(used.asked),
            data(used.device),
        ];
        TableRow { cells }
    };
    let rows = iteration.sessions.iter().enumerate().map(row).collect();
    DocumentSection::of("the sessions of the last iteration", Block::Table(Table::plain(columns, rows)))
}

/// The verdict of most iterations, and its count.
fn verdicts(iterations: &[SessionReport]) -> String {
    use application::SessionsVerdict::{CpuBound, DiskBound, Neither};
    let count = |verdict| iterations.iter().filter(|iteration| iteration.verdict == verdict).count();
    let words = [(CpuBound, "CPU bound"), (DiskBound, "disk bound"), (Neither, "neither CPU nor disk bound")];
    let most = words.into_iter().max_by_key(|(verdict, _)| count(*verdict));
    let (verdict, word) = most.unwrap_or((Neither, "neither"));
    let because = iterations
        .iter()
        .rev()
        .find(|iteration| iteration.verdict == verdict)
        .map_or("", |iteration| iteration.because.as_str());
    format!("{word} in {} of {} iterations: {because}.", count(verdict), iterations.len())
}
