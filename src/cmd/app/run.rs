//! `prony app run`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use application::{Application, BUILTIN, Campaign, CampaignOrder, Manifest, best, build_pairs};
use model::{Outcome, Run, USUAL_SAMPLES};
use report::view::RunContext;
use report::words::{duration, plural};

use super::{starter, view};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::cmd::duet::{DUET_BAND, DuetWish, duet_cpus, sentence};
use crate::cmd::resume;
use crate::cmd::session::LocalSession;
use crate::output;
use crate::run_options::{ExecutionSpacing, MeasureOptions};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony app run mine.toml
  prony app run builtin:reconstruct --copies 1,8")]
pub(crate) struct Arguments {
    /// A manifest, builtin:reconstruct, builtin:simulate, builtin:analyse, or builtin for all three
    #[arg(value_name = "MANIFEST|builtin:NAME")]
    manifest: String,
    /// One application of the manifest [default: all]
    #[arg(value_name = "APPLICATION")]
    application: Option<String>,
    /// Run this many copies at once, such as 1,8 [default: as the manifest says, else 1 and all CPUs]
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    copies: Vec<u32>,
    /// Keep the builds in this directory [default: a temporary one]
    #[arg(long, help_heading = "Builds", value_name = "DIR")]
    builds: Option<PathBuf>,
    /// Run two builds at once on two cores; =force: also on two threads of one core
    #[arg(long, help_heading = "Builds", value_name = "WHEN", num_args = 0..=1, default_missing_value = "yes", require_equals = true)]
    duet: Option<DuetWish>,
    #[command(flatten)]
    spacing: ExecutionSpacing,
    #[command(flatten)]
    measure: MeasureOptions,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let options = &arguments.measure;
    let resumed = options.resume.as_ref().map(|name| resume::find(name, "app", common)).transpose()?;
    let applications = applications(arguments)?;
    let starter = starter()?;
    let mut session = LocalSession::open("app", options, common)?;
    let temporary;
    let root = match &arguments.builds {
        Some(root) => {
            std::fs::create_dir_all(root).with_context(|| format!("could not make {}", root.display()))?;
            root.canonicalize()?
        }
        None => {
            os::process::remove_abandoned(&std::env::temp_dir());
            temporary =
                tempfile::Builder::new()
                    .prefix(&format!("{}builds-", os::process::owned_prefix()))
                    .tempdir()
                    .context("could not make a folder for builds; name another place with --builds, or in TMPDIR")?;
            temporary.path().to_owned()
        }
    };
    let directory = applications.first().map_or_else(std::env::temp_dir, |first| first.directory.clone());
    let rounds = &options.rounds;
    let mut run = application::document("app", rounds.seed(), rounds.target(), rounds.time_limit, directory);
    run.plan.spacing = arguments.spacing.seconds(None, rounds.time_limit);
    let duet = arguments.duet.map(|wish| duet_cpus(wish, 2, &session.stopper)).transpose()?;
    let order = CampaignOrder { run, applications, copies: copies(arguments), root, duet, energy: energy() };
    let begun = Campaign::build(order, &starter, &session.stopper).and_then(|(mut campaign, fresh)| {
        let round = campaign.first_runs(&session.stopper)?;
        Ok((campaign, fresh, round))
    });
    let (mut campaign, fresh, round) = match begun {
        Err(application::Error::Stopped) => {
            output::remark("stopped before the first sample; nothing was measured");
            return Ok(ExitStatus::Stopped);
        }
        begun => begun?,
    };
    if let Some(run) = &resumed {
        campaign.recall(run, &fresh)?;
    }
    let announcement = (resumed.is_none() && !options.quiet).then(|| announced(&fresh, options, round));
    let order = session.order(fresh, resumed)?;
    if let Some(announcement) = announcement {
        output::remark(&announcement);
    }
    let result = session.measure(order, &mut campaign)?;
    let draw = |run: &Run, context: &RunContext| {
        let mut document = report::view::run(run, context);
        document.summary.extend(build_pairs(run, DUET_BAND.ln_1p()).iter().map(sentence));
        document.sections.extend(view::builds(&best(run)));
        document.sections.extend(view::failures(run, |result| result.metric.unit == model::Unit::PerSecond));
        Ok(document)
    };
    session.conclude(result, draw, measured)
}

/// How long a run will take whose rounds take so many seconds, roughly.
fn announced(run: &Run, options: &MeasureOptions, round: f64) -> String {
    let round = round.max(run.plan.spacing);
    let most = options.max_samples.unwrap_or(USUAL_SAMPLES);
    let fewest = run.plan.checkpoints.first().copied().unwrap_or(most).min(most);
    let [least, longest] = [fewest, most].map(|samples| round * f64::from(samples));
    let rates = run.results.iter().filter(|result| result.metric.unit == model::Unit::PerSecond).count();
    let rates = plural(rates, "rate");
    match run.plan.time_limit.filter(|limit| *limit < longest) {
        Some(limit) => format!("measuring {rates} takes up to {}", duration(limit)),
        None if fewest == most => {
            format!(
                "measuring {rates} takes about {} ({most} runs of each); --time-limit shortens it",
                duration(longest)
            )
        }
        None => format!(
            "measuring {rates} takes about {} to {} ({fewest} to {most} runs of each); --time-limit shortens it",
            duration(least),
            duration(longest)
        ),
    }
}

/// The counter of energy of this machine's processors, if it has one.
pub(super) fn energy() -> Option<application::EnergyReader> {
    let meter = farm::EnergyMeter::start()?;
    Some(Box::new(move || meter.joules()))
}

fn applications(arguments: &Arguments) -> Result<Vec<Application>> {
    let here = std::env::current_dir().context("could not find the current directory")?;
    let builtin = |name| Ok(Manifest::parse(BUILTIN, "builtin", &here)?.select(name)?);
    match arguments.manifest.strip_prefix("builtin") {
        Some("") => builtin(arguments.application.as_deref()),
        Some(name) if name.starts_with(':') => builtin(Some(&name[1..])),
        _ => Ok(Manifest::read(Path::new(&arguments.manifest))?.select(arguments.application.as_deref())?),
    }
}

fn copies(arguments: &Arguments) -> Vec<u32> {
    if !arguments.copies.is_empty() {
        return arguments.copies.clone();
    }
    let cpus = kernels::affinity::allowed().map_or(1, |allowed| allowed.len());
    let mut copies = vec![1, u32::try_from(cpus).unwrap_or(1)];
    copies.dedup();
    copies
}

/// Whether any rate was measured: the size of a program that crashed is not a result.
fn measured(run: &Run) -> bool {
    let rate = |result: &&model::BenchmarkResult| result.metric.unit == model::Unit::PerSecond;
    run.results.iter().filter(rate).any(|result| matches!(result.outcome, Outcome::Measured(_) | Outcome::Modes(_)))
}
