//! Which figures of the catalogue to measure and how: the same options on this machine and on a fleet.

use anyhow::Result;
use clap::Args;
use model::PlanEntry;

use crate::value_parsers::{percent, seconds};

/// Options of every verb that measures figures of the catalogue.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// A named selection of figures (prony list --suites) [default: default]
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// A probe, at a point or its usual ones: os.fork_exit, 'ipc.*', memory.copy:threads=1,working_set=64MiB
    #[arg(long, value_name = "PROBE[:POINT]")]
    pub(crate) probe: Vec<String>,
    /// Half-width of the interval at which a figure is settled, in percent
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = percent)]
    pub(crate) target: f64,
    /// Begin no further round after this time, such as 90s or 5m [default: the suite's, see list --suites --json]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Seed of orders and memory layouts [default: drawn]
    #[arg(long)]
    seed: Option<u64>,
    /// Neither read the clock and the neighbour beside batches nor leave disturbed batches out
    #[arg(long)]
    no_rulers: bool,
}

impl RunOptions {
    /// The suite: the default one where neither a suite nor a probe was named, none where only probes were.
    pub(crate) fn suite(&self) -> Option<&str> {
        match &self.suite {
            None if self.probe.is_empty() => Some("default"),
            named => named.as_deref(),
        }
    }

    /// The figures of the catalogue that are meant.
    ///
    /// # Errors
    /// When a suite, a probe or a point is unknown; the nearest names are told.
    pub(crate) fn entries(&self) -> Result<Vec<PlanEntry>> {
        Ok(measure::select(self.suite(), &self.probe, self.target)?)
    }

    /// Seconds after which no further round begins: as asked, or as the suite has it.
    pub(crate) fn limit(&self) -> Option<f64> {
        self.time_limit.or_else(|| probes::suite(self.suite()?)?.seconds)
    }

    /// Whether the references are read beside batches.
    pub(crate) const fn references(&self) -> bool {
        !self.no_rulers
    }

    /// The seed asked for, or one that no other run has.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(draw_seed)
    }
}

/// A seed that no other run has; written down, so that the run can be repeated.
pub(crate) fn draw_seed() -> u64 {
    // 53 bits: a number that every JSON reader keeps.
    (sys::clock::realtime() ^ u64::from(std::process::id()) << 32) & ((1 << 53) - 1)
}
