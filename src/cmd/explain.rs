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
  prony explain 1 2
  prony explain 1 --at placement=same_cpu placement=cross_cpu  one run at two sets of parameters")]
pub(crate) struct Arguments {
    /// The run to explain from: number, id, label, file or published:EVALUATION/MACHINE
    a: String,
    /// The run to explain [default: the first one, with --at]
    b: Option<String>,
    /// Only results that match, such as 'os.*'
    #[arg(long, value_name = "GLOB")]
    results: Option<String>,
    /// Compare the first run at one set of parameters with the second at another
    #[arg(long, num_args = 2, value_names = ["PARAMETERS_A", "PARAMETERS_B"])]
    at: Option<Vec<Parameters>>,
    /// Show the evidence, the facts that differ, the assumptions and the arithmetic
    #[arg(long)]
    details: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let a = run_finder::find_one(&arguments.a, common)?;
    let b = match &arguments.b {
        Some(name) => run_finder::find_one(name, common)?,
        None if arguments.at.is_some() => run_finder::find_one(&arguments.a, common)?,
        None => anyhow::bail!("name a second run, or two sets of parameters of the first one with --at"),
    };
    let (a_run, b_run) = (&a.run, &b.run);
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
        let mut words = vec!["prony".to_owned(), "explain".to_owned(), self.a.clone()];
        words.extend(self.b.clone());
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
