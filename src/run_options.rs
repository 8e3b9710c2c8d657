//! Options of commands that measure: results of the catalogue, duration and precision, and the storage of the run. They
//! are the same in all commands.

use anyhow::Result;
use clap::Args;
use model::{CHECKPOINTS, PlanEntry, USUAL_SAMPLES};

use crate::progress::ProgressMode;
use crate::run_saver::SaveOptions;
use crate::value_parsers::{percent, seconds, seconds_or_none};

/// Results of the catalogue, for commands that measure them here or on a fleet.
#[derive(Debug, Args)]
pub(crate) struct ResultSelection {
    /// Measure this suite, or a folder with evaluation.toml [default: default]
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// Measure this benchmark, such as os.fork_exit, 'ipc.*' or memory.copy:threads=1
    #[arg(long, value_name = "BENCHMARK")]
    pub(crate) benchmark: Vec<String>,
}

impl ResultSelection {
    /// The suite: the default one if neither a suite nor a benchmark was named, none if only benchmarks were.
    pub(crate) fn suite(&self) -> Option<&str> {
        match &self.suite {
            None if self.benchmark.is_empty() => Some("default"),
            named => named.as_deref(),
        }
    }

    /// Whether anything was selected.
    pub(crate) fn given(&self) -> bool {
        self.suite.is_some() || !self.benchmark.is_empty()
    }

    /// The selected results of the catalogue.
    ///
    /// # Errors
    /// When a suite, a benchmark or a set of parameters is unknown; the nearest names are listed.
    pub(crate) fn entries(&self, target: f64) -> Result<Vec<PlanEntry>> {
        Ok(measure::select(self.suite(), &self.benchmark, target)?)
    }

    /// Seconds after which no further sample begins: as requested, else those of the suite.
    pub(crate) fn limit(&self, asked: Option<f64>) -> Option<f64> {
        asked.or_else(|| benchmarks::suite(self.suite()?).map(|suite| suite.seconds))
    }
}

/// Duration and precision of measurements.
#[derive(Debug, Clone, Args)]
pub(crate) struct RoundOptions {
    /// Stop sampling a result once its interval is within ± this percentage [default: 2; net: 2.5]
    #[arg(long, help_heading = "Sampling", value_name = "PERCENT", value_parser = percent)]
    pub(crate) target: Option<f64>,
    /// Stop after this time, such as 90s or 5m [default: the suite's or none]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Set the seed of orders and memory layouts [default: random]
    #[arg(long, help_heading = "Sampling")]
    pub(crate) seed: Option<u64>,
}

/// How far apart the executions of whole programs lie.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ExecutionSpacing {
    /// Wait at least this long between executions [default: 0.5s, less if all would take over 20s]
    #[arg(long, help_heading = "Sampling", value_name = "TIME", value_parser = seconds_or_none, env = "PRONY_SPACING", hide_env_values = true)]
    pub(crate) spacing: Option<f64>,
}

impl ExecutionSpacing {
    /// Executions that are so many, or end so soon, are closer together, so that all of them fit.
    const LONGEST: f64 = 20.0;

    /// Seconds between rounds of a run with that many executions and that time limit, where they are known.
    pub(crate) fn seconds(&self, executions: Option<u32>, limit: Option<f64>) -> f64 {
        let of_count = executions.map(|count| Self::LONGEST / f64::from(count));
        let of_limit = limit.map(|limit| limit / Self::LONGEST);
        let usual = of_count.into_iter().chain(of_limit).fold(model::EXECUTION_SPACING, f64::min);
        self.spacing.unwrap_or(usual)
    }
}

/// Half-width at which a result has converged, if none is requested.
const TARGET: f64 = 0.02;

impl RoundOptions {
    /// The requested target, else the default.
    pub(crate) fn target(&self) -> f64 {
        self.target.unwrap_or(TARGET)
    }

    /// The requested seed, else a new one.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(draw_seed)
    }
}

/// Options of all commands that measure in rounds on this machine.
#[derive(Debug, Clone, Args)]
pub(crate) struct MeasureOptions {
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
    /// Take at most this many samples of a result [default: 40; 320 with a time limit]
    #[arg(long, help_heading = "Sampling", value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(CHECKPOINTS[0])..=i64::from(CHECKPOINTS[CHECKPOINTS.len() - 1])))]
    pub(crate) max_samples: Option<u32>,
    /// Resume an interrupted run; repeat its other options
    #[arg(long, help_heading = "Saving", value_name = "RUN")]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) saving: SaveOptions,
    /// Send the run to this site; PRONY_SITE_TOKEN has the token
    #[arg(long, help_heading = "Saving", value_name = "URL", conflicts_with = "no_store")]
    pub(crate) push: Option<String>,
    /// Print no progress
    #[arg(long, help_heading = "Output", short)]
    pub(crate) quiet: bool,
}

impl MeasureOptions {
    /// These options for a suite that ends by itself: by its limit at the latest, unless another one is given.
    pub(crate) fn of_suite(&self) -> Self {
        let mut options = self.clone();
        if options.resume.is_none() && options.rounds.time_limit.is_none() {
            options.rounds.time_limit = Some(benchmarks::LONGEST_SUITE);
            options.max_samples = options.max_samples.or(Some(USUAL_SAMPLES));
        }
        options
    }

    /// How progress is shown.
    pub(crate) fn progress(&self) -> ProgressMode {
        ProgressMode::new(self.quiet)
    }
}

/// A new seed; recorded, so that the run can be repeated.
pub(crate) fn draw_seed() -> u64 {
    // 53 bits: a number that every JSON reader can represent.
    (kernels::clock::realtime() ^ u64::from(std::process::id()) << 32) & ((1 << 53) - 1)
}
