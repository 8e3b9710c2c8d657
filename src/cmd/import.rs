//! `prony import`: other tools' outputs as runs.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use model::Run;
use report::words::plural;
use report::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Table, TableRow};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, progress, run_finder};

/// Runs that are stored in one transaction.
const TOGETHER: usize = 200;

/// Options of `prony import`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Files, directories (every file in them), or - for standard input
    #[arg(required_unless_present = "formats", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format, where the content does not tell it (see --formats)
    #[arg(long, alias = "from", value_name = "FORMAT")]
    input_format: Option<String>,
    /// A name for the runs
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Read and say what would be imported, and keep nothing
    #[arg(long)]
    dry_run: bool,
    /// List the formats
    #[arg(long)]
    formats: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    if arguments.formats {
        output::print(&formats(), common)?;
        return Ok(ExitStatus::Fine);
    }
    if let Some(label) = &arguments.label {
        store::check_label(label)?;
    }
    let files = expand(&arguments.files)?;
    let catalogue = probes::catalogue();
    let mut store = if arguments.dry_run { store::empty()? } else { run_finder::write(common)? };
    let spinner = progress::spinner("importing", std::io::IsTerminal::is_terminal(&std::io::stderr()));
    let mut imported = Imported::default();
    let mut waiting: Vec<Run> = Vec::new();
    for file in &files {
        match read(file).and_then(|(name, bytes)| {
            Ok(::import::import(&name, &bytes, arguments.input_format.as_deref(), &catalogue)?)
        }) {
            Ok(runs) => {
                waiting.extend(runs.into_iter().map(|run| Run { label: arguments.label.clone().or(run.label), ..run }));
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
    output::print(&imported.document(arguments.dry_run), common)?;
    Ok(if imported.refused.is_empty() { ExitStatus::Fine } else { ExitStatus::Failed })
}

#[derive(Default)]
struct Imported {
    /// Number in the store, run name, tool, figures.
    rows: Vec<(u64, String, String, usize)>,
    refused: Vec<anyhow::Error>,
}

impl Imported {
    fn keep(&mut self, store: &mut dyn store::Store, runs: &mut Vec<Run>) -> Result<()> {
        let numbers = store.put_all(runs)?;
        for (run, number) in runs.drain(..).zip(numbers) {
            let tool = run.origin.as_ref().map(|origin| origin.tool.clone()).unwrap_or_default();
            self.rows.push((number, run.name().to_owned(), tool, run.figures.len()));
        }
        Ok(())
    }

    fn document(&self, dry: bool) -> Document {
        let figures: usize = self.rows.iter().map(|row| row.3).sum();
        let verb = if dry { "Would import" } else { "Imported" };
        let mut document =
            Document::new(format!("{verb} {} with {}", plural(self.rows.len(), "run"), plural(figures, "figure")));
        let columns = vec![
            Column::new("run", ColumnKind::Label),
            Column::new("name", ColumnKind::Words),
            Column::new("tool", ColumnKind::Words),
            Column::new("figures", ColumnKind::Number),
        ];
        let row = |(number, name, tool, figures): &(u64, String, String, usize)| TableRow {
            cells: vec![
                Cell::text(if dry { "-".to_owned() } else { number.to_string() }),
                Cell::text(name),
                Cell::text(tool),
                Cell::text(figures.to_string()),
            ],
        };
        let rows = self.rows.iter().map(row).collect();
        document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
        if let (Some((number, ..)), false) = (self.rows.first(), dry) {
            document.next = vec![format!("prony show {number}"), format!("prony compare {number} latest")];
        }
        let data: Vec<_> = self
            .rows
            .iter()
            .map(|(number, name, tool, figures)| {
                serde_json::json!({ "run": (!dry).then_some(number), "name": name, "tool": tool, "figures": figures })
            })
            .collect();
        document.data = EmbeddedJson::of(&data).ok();
        document
    }
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
        return Ok(("standard input".to_owned(), bytes));
    }
    let name = path.display().to_string();
    let file = std::fs::File::open(path).with_context(|| format!("could not open {name}"))?;
    file.take(most).read_to_end(&mut bytes).with_context(|| format!("could not read {name}"))?;
    Ok((name, bytes))
}

fn formats() -> Document {
    let known = ::import::formats();
    let mut document = Document::new(format!("{} formats that are read", known.len()));
    let columns = vec![Column::new("format", ColumnKind::Label), Column::new("what it is", ColumnKind::Words)];
    let rows = known
        .iter()
        .map(|format| TableRow { cells: vec![Cell::text(format.name), Cell::text(format.about)] })
        .collect();
    document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
    let data: Vec<_> =
        known.iter().map(|format| serde_json::json!({ "name": format.name, "about": format.about })).collect();
    document.data = EmbeddedJson::of(&data).ok();
    document
}
