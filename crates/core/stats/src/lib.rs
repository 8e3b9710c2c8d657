//! Statistics of measurement: the conclusions that a set of samples supports.
//!
//! Every function is pure, without clock, file or hidden state. Randomised methods take a seed. Functions that cannot
//! answer (too few values, a value that is not finite) return `None`. The unit of replication is the sample: one value
//! for each fresh process.
#![forbid(unsafe_code)]

pub mod autocorrelation;
pub mod benchmark_weighting;
pub mod difference;
pub mod distribution;
pub mod drift;
mod effective;
pub mod equivalence;
pub mod fit;
pub mod histogram;
pub mod hodges_lehmann;
mod holm;
mod interval;
pub mod jackknife_plus;
pub mod mann_whitney;
pub mod mixture;
pub mod modes;
pub mod order_statistic;
pub mod quantile;
pub mod rank;
pub mod ratio;
pub mod ridge;
mod signed_rank;
pub mod simulate;
pub mod steady_state;
pub mod stop;
pub mod theil_sen;

pub use benchmark_weighting::{BenchmarkWeighting, benchmark_weighting};
pub use difference::{PairedDifference, difference};
pub use equivalence::{
    BAND, DecisionNeed, EquivalenceVerdict, Floor, RatioEstimate, compare, detectable, detectable_within,
    equivalence_level, need, verdict,
};
pub use histogram::Histogram;
pub use holm::holm;
pub use interval::{Estimated, Interval};
pub use jackknife_plus::{LeftOut, jackknife_plus};
pub use mixture::mixture;
pub use modes::{FastBatches, ModeGroup, modes, modes_of_samples};
pub use order_statistic::{
    MedianInterval, median_interval, sample_median_interval, sample_median_range, serial_median_interval,
};
pub use quantile::{median, quantile};
pub use rank::{RankInterval, rank_intervals};
pub use ratio::geometric_mean;
pub use stop::{CALLING_LEVEL, CheckpointResult, decide_at_checkpoint, decide_on_clean};
