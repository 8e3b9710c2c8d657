//! Options of what measures: which figures of the catalogue, how long and how surely, and what becomes of the run. They
//! are the same wherever they stand.

use anyhow::Result;
use clap::Args;
use model::PlanEntry;

use crate::run_saver::SaveOptions;
use crate::value_parsers::{percent, seconds};

/// Which figures of the catalogue, for verbs that measure them here or on a fleet.
#[derive(Debug, Args)]
pub(crate) struct FigureSelection {
    /// A named selection of figures (prony probes --suites) [default: default]
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// A probe, at a point or its default ones: os.fork_exit, 'ipc.*', memory.copy:threads=1,working_set=64MiB
    #[arg(long, value_name = "PROBE[:POINT]")]
    pub(crate) probe: Vec<String>,
}

impl FigureSelection {
    /// The suite: the default one where neither a suite nor a probe was named, none where only probes were.
    pub(crate) fn suite(&self) -> Option<&str> {
        match &self.suite {
            None if self.probe.is_empty() => Some("default"),
            named => named.as_deref(),
        }
    }

    /// Whether anything was selected.
    pub(crate) fn given(&self) -> bool {
        self.suite.is_some() || !self.probe.is_empty()
    }

    /// The figures of the catalogue that are meant.
    ///
    /// # Errors
    /// When a suite, a probe or a point is unknown; the nearest names are told.
    pub(crate) fn entries(&self, target: f64) -> Result<Vec<PlanEntry>> {
        Ok(measure::select(self.suite(), &self.probe, target)?)
    }

    /// Seconds after which no further round begins: as asked, or as the suite has it.
    pub(crate) fn limit(&self, asked: Option<f64>) -> Option<f64> {
        asked.or_else(|| probes::suite(self.suite()?)?.seconds)
    }
}

/// How long and how surely figures are measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct RoundOptions {
    /// Half-width of the interval at which a figure has converged, in percent [default: 2; net: 2.5]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) target: Option<f64>,
    /// Begin no further round after this time, such as 90s or 5m [default: the suite's, else none]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Seed of orders and memory layouts [default: drawn]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
}

/// Half-width at which a figure has converged, where nothing else is asked for.
const TARGET: f64 = 0.02;

impl RoundOptions {
    /// The target asked for, else the usual one.
    pub(crate) fn target(&self) -> f64 {
        self.target.unwrap_or(TARGET)
    }

    /// The seed asked for, else one that no other run has.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(draw_seed)
    }
}

/// Options of every verb that measures in rounds on this machine.
#[derive(Debug, Clone, Args)]
pub(crate) struct MeasureOptions {
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
    /// Most launches of a figure; it may end after 10, 14, 20, 28 and 40 [default: 40]
    #[arg(long, alias = "launches", value_name = "N", value_parser = clap::value_parser!(u32).range(10..=40))]
    pub(crate) max_launches: Option<u32>,
    /// Resume a run that was cut off, with the same command line otherwise
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) saving: SaveOptions,
    /// No progress line
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl MeasureOptions {
    /// Whether a progress line is drawn: a person looks, and did not decline.
    pub(crate) fn progress(&self) -> bool {
        !self.quiet && std::io::IsTerminal::is_terminal(&std::io::stderr())
    }
}

/// A seed that no other run has; written down, so that the run can be repeated.
pub(crate) fn draw_seed() -> u64 {
    // 53 bits: a number that every JSON reader keeps.
    (sys::clock::realtime() ^ u64::from(std::process::id()) << 32) & ((1 << 53) - 1)
}
