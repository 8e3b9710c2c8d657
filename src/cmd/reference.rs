//! `prony reference`: the pages of `docs/reference`, generated from the catalogue and from the definition of the
//! command line.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use benchmarks::{Benchmark, FAMILIES, SUITES};
use clap::Command;
use model::Definition;

use super::app::ams;
use super::rating;
use crate::cli::{self, GROUPS, HelpForm};
use crate::{ExitStatus, output};

/// Columns of help in the reference.
const WIDTH: usize = 100;

/// What can be written.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum ReferencePage {
    /// Every benchmark with its parameters and sources, and the suites
    Catalogue,
    /// The commands and their options
    Commands,
    /// The manual: one page for each command
    Man,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    page: ReferencePage,
    /// Write the pages of the manual into this folder
    #[arg(long, value_name = "DIR", required_if_eq("page", "man"))]
    folder: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus> {
    let text = match arguments.page {
        ReferencePage::Catalogue => catalogue()?,
        ReferencePage::Commands => commands()?,
        ReferencePage::Man => return manual(arguments.folder.as_deref().unwrap_or(Path::new("."))),
    };
    output::write(text.as_bytes())
}

fn catalogue() -> Result<String> {
    Ok(wrapped(&whole_catalogue()?))
}

/// Markdown whose lines have at most [`WIDTH`] columns, tables apart.
fn wrapped(text: &str) -> String {
    // A line that began with an operator would be an item of a list.
    let kept = |text: &str| ["+", "-", "*", "="].iter().fold(text.to_owned(), tied);
    let line = |line: &str| match line.strip_prefix("- ") {
        _ if line.starts_with(['|', '#']) => format!("{line}\n"),
        Some(item) => format!("- {}\n", cli::hanging(&kept(item), 2, WIDTH)),
        None => format!("{}\n", cli::hanging(&kept(line), 0, WIDTH)),
    };
    text.lines().map(line).collect::<String>().replace(TIE, " ")
}

/// A blank that must not end a line.
const TIE: char = '\u{2}';

fn tied(text: String, operator: &&str) -> String {
    text.replace(&format!(" {operator} "), &format!("{TIE}{operator} "))
}

fn whole_catalogue() -> Result<String> {
    let mut text = String::from(
        "# The catalogue\n\nGenerated from the benchmarks by `prony reference catalogue`; do not edit. Values in bold are those of the default suite.\n",
    );
    for family in FAMILIES.iter().filter(|family| !family.benchmarks.is_empty()) {
        writeln!(text, "\n## {} (`{}`)", family.title, family.name)?;
        for benchmark in family.benchmarks {
            describe(&mut text, benchmark)?;
        }
    }
    text.push_str("\n## Suites\n\n| suite | results | what it measures |\n|---|---|---|\n");
    let suites = SUITES.iter().map(|suite| (suite.name, suite.selections().len(), suite.about));
    for (name, results, about) in suites.chain(rating::SUITES.iter().copied()).chain([ams::LISTED]) {
        writeln!(text, "| `{name}` | {results} | {about} |")?;
    }
    Ok(text)
}

fn describe(text: &mut String, benchmark: &Benchmark) -> Result<()> {
    writeln!(text, "\n### `{}`: {}\n\n{}\n", benchmark.id, benchmark.title, benchmark.about)?;
    let metric = benchmark.metric.model();
    let better = model::code(&metric.better);
    writeln!(text, "- {}: {}; {better} is better", model::code(&metric.unit).replace('_', " "), metric.per)?;
    let stresses: Vec<&str> = benchmark.stresses.iter().map(|primitive| primitive.title()).collect();
    writeln!(text, "- stresses {}", stresses.join(", "))?;
    for parameter in benchmark.parameters {
        let values: Vec<String> = parameter
            .all()
            .into_iter()
            .map(|value| if parameter.defaults.contains(&value.as_str()) { format!("**{value}**") } else { value })
            .collect();
        let others = parameter.defaults.iter().filter(|value| !parameter.all().iter().any(|known| known == *value));
        let others: Vec<String> = others.map(|value| format!("**{value}**")).collect();
        let all = [values, others].concat();
        writeln!(text, "- `{}`: {}", parameter.name, all.join(" "))?;
    }
    for source in benchmark.sources {
        let described = source.describe();
        let at = if described.at.is_empty() { String::new() } else { format!(" at `{}`", described.at) };
        let stands = match &described.definition {
            Definition::Same => String::new(),
            Definition::Near(differs) => format!("; near: {differs}"),
            Definition::Other(differs) => format!("; another definition: {differs}"),
        };
        writeln!(text, "- continues {} {} ({}){at}{stands}", source.tool, source.name, source.document)?;
    }
    Ok(())
}

fn commands() -> Result<String> {
    let mut text = String::from(
        "# Commands\n\nGenerated from the command line's definition by `prony reference commands`; do not edit.\n",
    );
    let mut command = cli::command_with_help(HelpForm::Whole).term_width(WIDTH);
    writeln!(text, "\n```text\n{}\n```", command.render_help().to_string().trim_end())?;
    for (title, names) in GROUPS {
        writeln!(text, "\n## {title}")?;
        for below in names.iter().filter_map(|name| command.find_subcommand(name)) {
            describe_command(&mut text, below, "prony")?;
        }
    }
    // The version is in run documents; a reference page need not change with it.
    Ok(text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n")
}

/// The help of a command, then of its subcommands. The global options stand once, on top.
fn describe_command(text: &mut String, command: &Command, above: &str) -> Result<()> {
    let name = format!("{above} {}", command.get_name());
    let help = command.clone().term_width(WIDTH).render_help().to_string();
    let help = help.trim_end().trim_end_matches(cli::GLOBAL).trim_end();
    writeln!(text, "\n### {name}\n\n```text\n{help}\n```")?;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help") {
        describe_command(text, below, &name)?;
    }
    Ok(())
}

/// Writes prony.1, and a page such as prony-net-rr.1 for each command below it.
fn manual(folder: &Path) -> Result<ExitStatus> {
    let mut command = cli::command().disable_help_subcommand(true);
    command.build();
    let write = || {
        std::fs::create_dir_all(folder)?;
        clap_mangen::generate_to(command, folder)
    };
    write().with_context(|| format!("could not write the manual into {}", folder.display()))?;
    Ok(ExitStatus::Fine)
}
