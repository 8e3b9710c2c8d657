//! `prony import`: other tools' outputs as runs.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use ::import::{ImportOptions, NumberPlace, UnreadNumbers};
use anyhow::{Context, Result};
use clap::Args;
use model::{BenchmarkResult, ResultKey, Run};
use report::words::plural;
use report::{Block, Cell, Column, Document, EmbeddedJson, TableRow};
use store::{Detail, Selector};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, progress, run_finder};

/// Runs that are stored in one transaction.
const TOGETHER: usize = 200;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony import results/*.txt --machine web-3
  fio job.fio --output-format=json | prony import -")]
pub(crate) struct Arguments {
    /// Files, folders (every file in them), or - for standard input
    #[arg(required_unless_present = "list", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Read this format (--list shows all) [default: detected from the content]
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<String>,
    /// Give the runs this name
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Set the name of the machine [default: from the files]
    #[arg(long, help_heading = "What the files do not say", value_name = "NAME")]
    machine: Option<String>,
    /// Set the CPU model [default: from the files]
    #[arg(long, help_heading = "What the files do not say", value_name = "MODEL")]
    cpu: Option<String>,
    /// Set the date of the measurement, such as 2024-05-31 [default: from the files]
    #[arg(long, help_heading = "What the files do not say", value_name = "DATE")]
    date: Option<String>,
    /// Treat several outputs of one tool in a file as samples of one run [default: separate runs]
    #[arg(long, help_heading = "What the files do not say")]
    repeats: bool,
    /// Say what would be imported, and store nothing
    #[arg(long)]
    dry_run: bool,
    /// List the formats
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    if arguments.list {
        return output::print(&formats(), common);
    }
    if let Some(label) = &arguments.label {
        store::check_label(label)?;
    }
    let files = expand(&arguments.files)?;
    let catalogue = benchmarks::catalogue();
    let mut store = if arguments.dry_run { store::empty()? } else { run_finder::write(common)? };
    let spinner = progress::spinner("importing", progress::draws());
    let mut imported = Imported::default();
    let mut waiting: Vec<Waiting> = Vec::new();
    let options = ImportOptions {
        format: arguments.input_format.as_deref(),
        machine: arguments.machine.as_deref(),
        cpu: arguments.cpu.as_deref(),
        date: arguments.date.as_deref(),
        repeats: arguments.repeats,
    };
    for file in &files {
        match read(file).and_then(|(name, bytes)| Ok((::import::import(&name, &bytes, &options, catalogue)?, name))) {
            Ok((source, name)) => {
                let unread = source.unread.as_ref().and_then(UnreadNumbers::sentence);
                imported.remarks.extend(unread.into_iter().chain(source.remarks).map(|said| format!("{name}: {said}")));
                let label = |run: Run| Run { label: arguments.label.clone().or(run.label), ..run };
                let unread = source.unread;
                let wait = |run| Waiting { run: checked(label(run)), unread: unread.clone() };
                waiting.extend(source.runs.into_iter().map(wait));
            }
            // One bad file among many must not prevent importing the others.
            Err(error) if files.len() > 1 => imported.refused.push(error),
            Err(error) => return Err(error),
        }
        if waiting.len() >= TOGETHER {
            imported.keep(store.as_mut(), &mut waiting)?;
        }
    }
    imported.keep(store.as_mut(), &mut waiting)?;
    spinner.finish_and_clear();
    for error in &imported.refused {
        output::complain(error);
    }
    let mut document = imported.document(arguments.dry_run);
    if !arguments.dry_run {
        document.next = imported.next(store.as_ref());
    }
    output::print(&document, common)?;
    Ok(if imported.refused.is_empty() { ExitStatus::Fine } else { ExitStatus::Failed })
}

/// A run that is not stored yet, and the unparsed numbers of its source, if they can be counted.
struct Waiting {
    run: Run,
    unread: Option<UnreadNumbers>,
}

/// A row of the answer.
struct ImportedRow {
    number: u64,
    name: String,
    machine: String,
    tool: String,
    results: HashSet<ResultKey>,
    unread: Option<UnreadNumbers>,
}

/// The results of a run, without the conditions under which it measured.
fn keys(run: &Run) -> HashSet<ResultKey> {
    run.results.iter().filter(|result| !result.is_condition()).map(BenchmarkResult::key).collect()
}

/// A run without a label and dates that this program would not have accepted.
fn checked(mut run: Run) -> Run {
    if let Some(Err(error)) = run.label.as_deref().map(store::check_label) {
        let machine = &run.machine.name;
        output::remark(&format!(
            "{error}; the run of {machine} is imported without a label (prony runs label sets one)"
        ));
        run.label = None;
    }
    if let Err(error) = store::check_date(&run.session.started) {
        output::remark(&format!("{error}; the run of {} is imported without a date", run.machine.name));
        run.session.started.clear();
    }
    run
}

#[derive(Default)]
struct Imported {
    rows: Vec<ImportedRow>,
    /// What was not parsed of sources, and what of them stays apart, in words.
    remarks: Vec<String>,
    refused: Vec<anyhow::Error>,
}

impl Imported {
    fn keep(&mut self, store: &mut dyn store::Store, waiting: &mut Vec<Waiting>) -> Result<()> {
        let (runs, unread): (Vec<Run>, Vec<Option<UnreadNumbers>>) =
            waiting.drain(..).map(|waiting| (waiting.run, waiting.unread)).unzip();
        let numbers = store.put_all(&runs)?;
        for ((run, unread), number) in runs.into_iter().zip(unread).zip(numbers) {
            self.rows.push(ImportedRow {
                number,
                name: run.name().to_owned(),
                tool: run.origin.as_ref().map(|origin| origin.tool.clone()).unwrap_or_default(),
                results: keys(&run),
                machine: run.machine.name,
                unread,
            });
        }
        Ok(())
    }

    /// Commands for the runs: show the first, and compare it with one that shares a result, imported with it or the
    /// latest of the store.
    fn next(&self, store: &dyn store::Store) -> Vec<String> {
        let Some((first, others)) = self.rows.split_first() else { return Vec::new() };
        let beside = others.iter().find(|row| row.number != first.number && !row.results.is_disjoint(&first.results));
        let latest = || {
            let selector = Selector::new(store).ok()?;
            let latest = selector.resolve("latest").ok()?;
            let run = store.get(&latest.id, Detail::Values).ok().filter(|_| latest.number != first.number)?;
            (!keys(&run).is_disjoint(&first.results)).then(|| "latest".to_owned())
        };
        let other = beside.map(|row| row.number.to_string()).or_else(latest);
        let show = format!("prony show {}", first.number);
        std::iter::once(show).chain(other.map(|other| format!("prony compare {} {other}", first.number))).collect()
    }

    fn document(&self, dry: bool) -> Document {
        let results: usize = self.rows.iter().map(|row| row.results.len()).sum();
        let verb = if dry { "Would import" } else { "Imported" };
        let mut document =
            Document::new(format!("{verb} {} with {}", plural(self.rows.len(), "run"), plural(results, "result")));
        let columns = Column::list("run|name|machine|tool|#results|unparsed");
        let row = |row: &ImportedRow| {
            TableRow::of(vec![
                Cell::text(if dry { "-".to_owned() } else { row.number.to_string() }),
                Cell::text(&row.name),
                Cell::text(&row.machine),
                Cell::text(&row.tool),
                Cell::text(row.results.len().to_string()),
                Cell::text(row.unread.as_ref().map_or_else(String::new, unparsed)),
            ])
        };
        let rows = self.rows.iter().map(row).collect();
        document.add("", Block::table(columns, rows));
        if !self.remarks.is_empty() {
            let items = self.remarks.clone();
            document.add("", Block::list(items));
        }
        let data: Vec<_> = self
            .rows
            .iter()
            .map(|row| {
                let of = |place| row.unread.as_ref().filter(|unread| unread.place == place).map(|unread| unread.count);
                serde_json::json!({
                    "run": (!dry).then_some(row.number), "name": row.name, "machine": row.machine, "tool": row.tool,
                    "results": row.results.len(), "lines_not_understood": of(NumberPlace::Lines), "members_not_read": of(NumberPlace::Members),
                })
            })
            .collect();
        document.data = EmbeddedJson::of(&data).ok();
        document
    }
}

/// `3 lines`, `12 members`.
fn unparsed(unread: &UnreadNumbers) -> String {
    plural(unread.count, if unread.place == NumberPlace::Lines { "line" } else { "member" })
}

/// The named files, and all files in the named directories.
fn expand(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).with_context(|| format!("could not read {}", path.display()))?;
        let mut inside: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
        inside.sort();
        files.extend(inside);
    }
    anyhow::ensure!(!files.is_empty(), "there is no file to import");
    Ok(files)
}

fn read(path: &Path) -> Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    // One byte more than the limit, so that a longer source is refused instead of truncated.
    let most = ::import::LONGEST as u64 + 1;
    if path == Path::new("-") {
        std::io::stdin().take(most).read_to_end(&mut bytes).context("could not read standard input")?;
        return unpacked("standard input".to_owned(), bytes);
    }
    let name = path.display().to_string();
    let file = std::fs::File::open(path).with_context(|| format!("could not open {name}"))?;
    file.take(most).read_to_end(&mut bytes).with_context(|| format!("could not read {name}"))?;
    unpacked(name, bytes)
}

/// A source with its content, which may be compressed by zstd, as a document that was kept under a name in `.zst` is.
fn unpacked(name: String, bytes: Vec<u8>) -> Result<(String, Vec<u8>)> {
    let content = store::decompressed(&bytes, ::import::LONGEST as u64).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => {
            anyhow::anyhow!("could not import {name}: unpacked it is larger than {} MiB", ::import::LONGEST >> 20)
        }
        std::io::ErrorKind::Unsupported => anyhow::anyhow!("could not import {name}: {error}"),
        _ => anyhow::anyhow!("could not import {name}: it is damaged ({error})"),
    })?;
    let content = content.into_owned();
    Ok((name, content))
}

fn formats() -> Document {
    let known = ::import::formats();
    let mut document = Document::new(format!("{} import formats", known.len()));
    let columns = Column::list("format|what it is");
    let rows =
        known.iter().map(|format| TableRow::of(vec![Cell::text(format.name), Cell::text(format.about)])).collect();
    document.add("", Block::table(columns, rows));
    let data: Vec<_> =
        known.iter().map(|format| serde_json::json!({ "name": format.name, "about": format.about })).collect();
    document.data = EmbeddedJson::of(&data).ok();
    document
}
