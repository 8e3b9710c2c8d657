//! `prony app fit`.

use anyhow::Result;
use model::Run;
use report::Document;

use super::view;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::cmd::predict::learnt_from;
use crate::value_parsers::percent;
use crate::{output, run_finder};

/// Options of `prony app fit`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The application: NAME of application.NAME, or any figure by its id or id:point
    #[arg(value_name = "APPLICATION")]
    application: String,
    /// The rating: any figure by its id or id:point, such as rating.int_1_speed
    #[arg(long, value_name = "FIGURE", default_value = "rating.int_1_speed")]
    against: String,
    /// Runs, of which the newest of every machine counts: numbers, ids, labels, files, folders or published:NAME
    /// [default: the whole store]
    #[arg(num_args = 0.., value_name = "RUN")]
    runs: Vec<String>,
    /// The fact by which machines are of one family [default: the first word of the CPU's model]
    #[arg(long, value_name = "FACT")]
    family: Option<String>,
    /// Confidence of the intervals, in percent
    #[arg(long, value_name = "PERCENT", default_value = "95", value_parser = percent)]
    level: f64,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    output::print(&document(arguments, common)?, common)?;
    Ok(ExitStatus::Fine)
}

/// Its document, for a report of its own or as part of another.
pub(crate) fn document(arguments: &Arguments, common: &CommonOptions) -> Result<Document> {
    anyhow::ensure!(arguments.level < 1.0, "no interval holds with a confidence of 100%; ask for less, such as 95");
    let runs: Vec<Run> = run_finder::alike(learnt_from(&arguments.runs, common)?);
    let own = format!("application.{}", arguments.application);
    let known = runs.iter().flat_map(|run| &run.figures).any(|figure| figure.probe == own);
    let application = if known { own } else { arguments.application.clone() };
    let pairs = application::pairs(&runs, &application, &arguments.against, arguments.family.as_deref());
    let has = |run: &&Run, name: &str| {
        run.figures.iter().any(|figure| figure.probe == name || figure.key().to_string() == name)
    };
    let used = runs.iter().filter(|run| has(run, &application) || has(run, &arguments.against)).count();
    let fit = application::fit(&application, &arguments.against, pairs, arguments.level)?;
    let mut document = view::fit(&fit);
    if used > fit.pairs.len() {
        document.notes.push(format!("{used} runs have these figures: of every machine the newest counts."));
    }
    Ok(document)
}
