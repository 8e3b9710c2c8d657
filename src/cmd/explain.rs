//! `prony explain`: why two machines differ.

use anyhow::Result;
use clap::Args;
use explain::{ExplainOptions, explain};
use model::Point;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, run_finder};

/// Options of `prony explain`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The run to explain from: number, id, label, file or published:EVALUATION/MACHINE
    a: String,
    /// The run to explain; the same as the first when it is left out (give --at then)
    b: Option<String>,
    /// Only figures that match, such as 'os.*'
    #[arg(long, value_name = "GLOB")]
    figures: Option<String>,
    /// Take the first run's figures at one point and the second's at another, such as placement=same_cpu
    /// placement=cross_cpu
    #[arg(long, num_args = 2, value_names = ["POINT_A", "POINT_B"])]
    at: Option<Vec<Point>>,
    /// Show the arithmetic
    #[arg(long, short)]
    verbose: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let a = run_finder::find_one(&arguments.a, common)?;
    let b = match &arguments.b {
        Some(name) => run_finder::find_one(name, common)?,
        None if arguments.at.is_some() => run_finder::find_one(&arguments.a, common)?,
        None => anyhow::bail!("name a second run, or two points of the first one with --at"),
    };
    let (a_run, b_run) = (&a.run, &b.run);
    let history = run_finder::history(&[a_run, b_run], common)?;
    let at = arguments.at.as_ref().and_then(|points| match points.as_slice() {
        [first, second] => Some((first.clone(), second.clone())),
        _ => None,
    });
    let options = ExplainOptions {
        catalogue: probes::catalogue(),
        figures: arguments.figures.clone(),
        at,
        history: &history,
        handles: vec![a.handle, b.handle],
        ..ExplainOptions::default()
    };
    let explanation = explain(a_run, b_run, &options)?;
    output::print(
        &report::view::explain(&explanation, &report::view::ExplainContext { verbose: arguments.verbose }),
        common,
    )?;
    Ok(ExitStatus::Fine)
}
