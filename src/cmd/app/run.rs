//! `prony app run`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use application::{Application, BUILTIN, Campaign, CampaignOrder, Manifest, best};
use measure::{EndReason, RunResult, Saver};
use model::{Outcome, Run};
use report::view::RunContext;

use super::{starter, view};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::cmd::run::{claim, watch_for_signals};
use crate::output;
use crate::progress::ProgressLine;
use crate::run_options::draw_seed;
use crate::run_saver::{RunSaver, SaveOptions};
use crate::value_parsers::{percent, seconds};

/// Options of `prony app run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A manifest (prony app init writes one), builtin:reconstruct, builtin:simulate, builtin:analyse, or builtin for all
    #[arg(value_name = "MANIFEST|builtin:NAME")]
    manifest: String,
    /// One application of the manifest [default: all]
    #[arg(value_name = "APPLICATION")]
    application: Option<String>,
    /// Numbers of copies started together, where the manifest does not say [default: 1 and the number of CPUs]
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    copies: Vec<u32>,
    /// Half-width of the interval at which a figure is settled, in percent
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = percent)]
    target: f64,
    /// Begin no further round after this time, such as 90s or 5m
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    time_limit: Option<f64>,
    /// Seed of the order of launches [default: drawn]
    #[arg(long)]
    seed: Option<u64>,
    /// Keep the builds in this directory [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    builds: Option<PathBuf>,
    #[command(flatten)]
    saving: SaveOptions,
    /// No progress line
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let applications = applications(arguments)?;
    let starter = starter()?;
    let mut saver = RunSaver::open(&arguments.saving, common)?;
    let stopper = watch_for_signals()?;
    let temporary;
    let root = match &arguments.builds {
        Some(root) => {
            std::fs::create_dir_all(root).with_context(|| format!("could not make {}", root.display()))?;
            root.canonicalize()?
        }
        None => {
            temporary = tempfile::Builder::new()
                .prefix("prony-builds-")
                .tempdir()
                .context("could not make a folder for builds")?;
            temporary.path().to_owned()
        }
    };
    let directory = applications.first().map_or_else(std::env::temp_dir, |first| first.directory.clone());
    let seed = arguments.seed.unwrap_or_else(draw_seed);
    let mut document = application::document("app", seed, arguments.target, arguments.time_limit, directory);
    document.label.clone_from(&arguments.saving.label);
    let claim = claim("app");
    document.session.conditions.beside.clone_from(&claim.beside);
    let order = CampaignOrder { run: document, applications, copies: copies(arguments), root };
    let visible = !arguments.quiet && std::io::IsTerminal::is_terminal(&std::io::stderr());
    let mut progress = ProgressLine::new(arguments.target, visible);
    let ended = Campaign::measure(order, &starter, &mut progress, &mut saver, stopper)?;
    conclude(ended, saver, common)
}

fn applications(arguments: &Arguments) -> Result<Vec<Application>> {
    let here = std::env::current_dir().context("could not find the present directory")?;
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
    let cpus = sys::affinity::allowed().map_or(1, |allowed| allowed.len());
    let mut copies = vec![1, u32::try_from(cpus).unwrap_or(1)];
    copies.dedup();
    copies
}

fn conclude(ended: RunResult, mut saver: RunSaver, common: &CommonOptions) -> Result<ExitStatus> {
    let RunResult { run, ending } = ended;
    let ending = saver.save(&run).err().map_or(ending, EndReason::NotSaved);
    let stored = saver.number.is_some() && !matches!(ending, EndReason::NotSaved(_));
    let handle = saver.number.map(|number| number.to_string());
    let mut document = report::view::run(&run, &RunContext { handle, previous: None, stored });
    document.sections.extend(view::builds(&best(&run)));
    document.sections.extend(view::failures(&run));
    output::print(&document, common)?;
    match ending {
        EndReason::NotSaved(reason) => {
            output::remark(&format!("the run could not be kept: {reason}; what was measured stands above"));
            Ok(ExitStatus::Failed)
        }
        EndReason::Stopped => {
            output::remark("stopped; what was measured is kept");
            Ok(ExitStatus::Stopped)
        }
        EndReason::Complete | EndReason::TimeLimit if measured(&run) => Ok(ExitStatus::Fine),
        EndReason::Complete | EndReason::TimeLimit => {
            output::remark("nothing could be measured; the table says why");
            Ok(ExitStatus::Failed)
        }
    }
}

/// Whether some rate was: the size of a program that crashed is no result.
fn measured(run: &Run) -> bool {
    let rate = |figure: &&model::Figure| figure.metric.unit == model::Unit::PerSecond;
    run.figures.iter().filter(rate).any(|figure| matches!(figure.outcome, Outcome::Measured(_) | Outcome::Modes(_)))
}
