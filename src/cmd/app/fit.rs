//! `prony app fit`.

use anyhow::Result;
use model::Run;
use report::Document;
use report::words::plural;

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
    /// Runs, of which the newest of each machine that has both counts: numbers, ids, labels, files or published:NAME
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
    let of = |runs: &[Run]| application::pairs(runs, &application, &arguments.against, arguments.family.as_deref());
    let both: usize = runs.iter().map(|run| of(std::slice::from_ref(run)).len()).sum();
    let fit = application::fit(&application, &arguments.against, of(&runs), arguments.level)?;
    let mut document = view::fit(&fit);
    if both > fit.pairs.len() {
        let of = plural(both, "run");
        let note = format!("A machine counts once, by the newest of its runs that have both figures: {of} have them.");
        document.notes.push(note);
    }
    Ok(document)
}
