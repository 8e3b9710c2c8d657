//! `prony report`: one self-contained HTML file of one run or several.

mod subject;
mod with;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;
use clap::Args;
use compare::{CompareOptions, compare};
use explain::explain;
use model::Run;
use report::Document;
use report::view::ReportInput;
use store::Detail;

use self::subject::ReportSubject;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::value_parsers::price;
use crate::{evaluation, output, run_finder};

/// A file name that means standard output.
const STANDARD_OUTPUT: &str = "-";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony report --open                  the latest run, in your browser
  prony report 1 2 --output two.html   two runs and their comparison")]
pub(crate) struct Arguments {
    /// Runs, the baseline first: numbers, labels, files, published:NAME [default: latest]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Open the report in your browser
    #[arg(long)]
    open: bool,
    /// Write this file; - for standard output [default: prony-RUN.html; with --format: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Add what predict, choose, trend or app fit finds, such as 'trend dated.csv'; repeatable
    #[arg(long, value_name = "COMMAND")]
    with: Vec<String>,
    /// Use only results that match, such as 'memory.*'
    #[arg(long, value_name = "GLOB")]
    results: Option<String>,
    /// Add performance per price; repeat for each run, such as B=0.59/h
    #[arg(long, help_heading = "Comparison", value_name = "RUN=AMOUNT", value_parser = price, conflicts_with = "evaluation")]
    price: Vec<(String, f64, String)>,
    /// Show one run in the tables of an evaluation, such as babar, or of a folder with evaluation.toml
    #[arg(long = "as", value_name = "EVALUATION", conflicts_with = "results")]
    evaluation: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let (mut document, subject) = match &arguments.evaluation {
        Some(name) => in_tables(name, &run_finder::names_or_latest(&arguments.runs, ["latest"]), common)?,
        None if arguments.runs.is_empty() && !arguments.with.is_empty() => {
            (Document::new("Findings"), ReportSubject::findings(&arguments.with))
        }
        None => reported(arguments, common)?,
    };
    with::add(&mut document, &arguments.with, common)?;
    written(&document, &subject, arguments, common)
}

/// One run among the machines of an evaluation.
fn in_tables(evaluation: &str, runs: &[String], common: &CommonOptions) -> Result<(Document, ReportSubject)> {
    let tables = evaluation::named(evaluation)?;
    let [name] = runs else { anyhow::bail!("the tables of an evaluation take one run; {} were named", runs.len()) };
    let found = run_finder::find_one(name, common)?;
    let subject = ReportSubject::of(std::slice::from_ref(&found));
    let context = report::view::RunContext { handle: Some(found.handle), ..Default::default() };
    Ok((report::view::in_tables(&found.run, &tables, &context), subject))
}

fn reported(arguments: &Arguments, common: &CommonOptions) -> Result<(Document, ReportSubject)> {
    let names = run_finder::names_or_latest(&arguments.runs, ["latest"]);
    let named = run_finder::find(&names, common, Detail::Whole)?;
    let runs: Vec<&Run> = named.iter().map(|named| &named.run).collect();
    let handles: Vec<String> = named.iter().map(|named| named.handle.clone()).collect();
    let history = run_finder::history(&runs, common)?;
    let results = arguments.results.clone();
    let comparison = if runs.len() > 1 {
        let options = CompareOptions {
            results: results.clone(),
            history: &history,
            handles: handles.clone(),
            ..CompareOptions::default()
        };
        match compare(&runs, &options) {
            Ok(mut comparison) => {
                if !arguments.price.is_empty() {
                    let prices = super::compare::prices(&comparison, &named, &arguments.price)?;
                    comparison.set_prices(&prices);
                }
                Some(comparison)
            }
            // Runs without common results are reported side by side.
            Err(reason @ compare::Error::NothingInCommon { .. }) => {
                output::remark(&format!("{reason}; the report sets nothing against anything"));
                None
            }
            Err(reason) => return Err(reason.into()),
        }
    } else {
        None
    };
    let explanation = match runs.as_slice() {
        [a, b] => {
            let options = explain::ExplainOptions {
                catalogue: benchmarks::catalogue(),
                results,
                history: &history,
                mean: true,
                label: report::words::label,
                handles: handles.clone(),
                ..Default::default()
            };
            // Runs that cannot be explained can still be reported: the comparison shows their common results.
            explain(a, b, &options).ok()
        }
        _ => None,
    };
    let answer = match runs.as_slice() {
        [run] => super::time::answer(run),
        _ => Vec::new(),
    };
    let input = ReportInput {
        catalogue: benchmarks::catalogue(),
        runs: &runs,
        handles: &handles,
        comparison: comparison.as_ref(),
        explanation: explanation.as_ref(),
        plateaus: &super::net::plateaus()?,
        answer: &answer,
    };
    Ok((report::view::report(&input), ReportSubject::of(&named)))
}

fn written(
    document: &Document,
    subject: &ReportSubject,
    arguments: &Arguments,
    common: &CommonOptions,
) -> Result<ExitStatus> {
    let asked = common.format.as_deref();
    let path = match (&arguments.output, asked) {
        (Some(path), _) => path.clone(),
        (None, Some(_)) => PathBuf::from(STANDARD_OUTPUT),
        (None, None) => subject.file()?,
    };
    let path = path.as_path();
    anyhow::ensure!(
        !arguments.open || path != Path::new(STANDARD_OUTPUT),
        "could not open standard output in a browser; leave --open out, or name a file with --output"
    );
    if path == Path::new(STANDARD_OUTPUT) && asked.is_some() {
        return output::print(document, common);
    }
    let format = asked.unwrap_or("html");
    let mut text = output::rendered(document, format)?;
    if path == Path::new(STANDARD_OUTPUT) {
        return output::write(&text);
    }
    if format == "html" {
        text.extend(subject.mark().into_bytes());
    }
    let exit = output::write_report(path, &text)?;
    if arguments.open {
        open(path);
    }
    Ok(exit)
}

/// Opens a file with the program that the desktop has for it. The report is there in any case: a failure is a remark.
fn open(path: &Path) {
    const OPENER: &str = "xdg-open";
    let status = Command::new(OPENER).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => output::remark(&format!("could not open {} with {OPENER}: {status}", path.display())),
        Err(error) => output::remark(&format!("could not open {} with {OPENER}: {error}", path.display())),
    }
}
