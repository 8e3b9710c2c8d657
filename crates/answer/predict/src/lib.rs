//! Predicts the speed of an application on a machine where it never ran.
//!
//! Benchmarks are known on all machines, the application on some. The application is fitted by the benchmarks, and by
//! facts of the machines, on a logarithmic scale. Methods are blended by their errors on models of CPU left out of the
//! fit, or on families or makers left out for a new one. The interval comes from those errors and from how well other
//! columns are predicted on machines as new. Values that are off by a factor are named and excluded. Resources that no
//! benchmark measures are reported, and the interval is widened or the prediction refused. `docs/guide/predict.md`
//! gives the reasons.
#![forbid(unsafe_code)]

mod cpu;
mod difficulty;
mod error;
mod evaluate;
mod family;
mod forecast;
mod interval;
mod leave_out;
mod matrix;
mod method;
mod near;
mod prior;
mod result;
mod runs;
mod scope;
mod sentences;
mod split;
mod summary;
mod suspect;
mod table;
mod tried;

pub use cpu::cpu_model;
pub use error::Error;
pub use evaluate::{AtSize, LeastHeld, MemberError, PredictionRecord, evaluate};
pub use family::cpu_family;
pub use forecast::{PredictOptions, predict};
pub use interval::IntervalMethod;
pub use method::PredictMethod;
pub use result::{BehaviourShare, Forecast, ForecastStanding, LeftOutError, Prediction};
pub use runs::{from_runs, near_machines};
pub use split::{AtSplit, SplitKind};
pub use summary::TriedSummary;
pub use suspect::{SuspectValue, suspect_values};
pub use table::{PredictedApplication, PredictorColumn, PredictorMachine, PredictorTable, ResourceKind};
pub use tried::{PredictionTrial, TriedPrediction};
