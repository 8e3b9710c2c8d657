//! `prony explain`: why two machines differ.

use anyhow::Result;
use clap::Args;
use explain::{ExplainOptions, explain};
use model::Parameters;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony explain    the latest run and the previous one
  prony explain 1 2
  prony explain 1 --at placement=same_cpu placement=cross_cpu  one run at two sets of parameters")]
pub(crate) struct Arguments {
    /// A number, label, file or published:NAME [default: previous]
    #[arg(value_name = "BASELINE")]
    a: Option<String>,
    /// The run to explain [default: latest; with --at, the baseline]
    #[arg(value_name = "RUN")]
    b: Option<String>,
    /// Use only results that match, such as 'os.*'
    #[arg(long, value_name = "GLOB")]
    results: Option<String>,
    /// Compare one set of parameters with another
    #[arg(long, num_args = 2, value_names = ["PARAMETERS_A", "PARAMETERS_B"])]
    at: Option<Vec<Parameters>>,
    /// Show evidence, facts, assumptions and arithmetic
    #[arg(long)]
    details: bool,
    /// Try the settings that differ here; say how much each one explains
    #[arg(long, conflicts_with_all = ["at", "details"])]
    experiment: bool,
    /// Allow settings of the whole machine; all of them are restored
    #[arg(long, value_name = "WHAT", value_parser = ["system"], requires = "experiment", help_heading = "Experiment")]
    allow: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let (a, b) = match (&arguments.a, &arguments.b) {
        (Some(a), Some(b)) => (a.as_str(), b.as_str()),
        (a, _) if arguments.at.is_some() => (a.as_deref().unwrap_or("latest"), a.as_deref().unwrap_or("latest")),
        (None, _) => ("previous", "latest"),
        _ => anyhow::bail!("name a second run, or two sets of parameters of the first one with --at"),
    };
    let (a, b) = (run_finder::find_one(a, common)?, run_finder::find_one(b, common)?);
    if arguments.a.is_none() && arguments.at.is_none() {
        run_finder::say_which(&a.handle, &b.handle);
    }
    let (a_run, b_run) = (&a.run, &b.run);
    if arguments.experiment {
        let (results, system) = (arguments.results.as_deref(), arguments.allow.is_some());
        return super::explain_experiment::run(a_run, b_run, results, system, common);
    }
    let history = run_finder::history(&[a_run, b_run], common)?;
    let at = arguments.at.as_ref().and_then(|points| match points.as_slice() {
        [first, second] => Some((first.clone(), second.clone())),
        _ => None,
    });
    let options = ExplainOptions {
        catalogue: benchmarks::catalogue(),
        results: arguments.results.clone(),
        at,
        history: &history,
        mean: true,
        label: report::words::label,
        handles: vec![a.handle, b.handle],
        ..ExplainOptions::default()
    };
    let explanation = explain(a_run, b_run, &options)?;
    let context = report::view::ExplainContext { details: arguments.details, command: Some(arguments.with_details()) };
    output::print(&report::view::explain(&explanation, &context), common)
}

impl Arguments {
    /// The same command with its details.
    fn with_details(&self) -> String {
        let mut words = vec!["prony".to_owned(), "explain".to_owned()];
        words.extend([&self.a, &self.b].into_iter().flatten().cloned());
        if let Some(results) = &self.results {
            words.extend(["--results".to_owned(), results.clone()]);
        }
        if let Some(parameters) = &self.at {
            words.push("--at".to_owned());
            words.extend(parameters.iter().map(ToString::to_string));
        }
        words.push("--details".to_owned());
        words.iter().map(|word| report::words::quoted(word)).collect::<Vec<_>>().join(" ")
    }
}
