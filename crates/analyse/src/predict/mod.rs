//! How fast would an application be on a machine where it never ran?
//!
//! Probes are known on all machines, the application on some. On logarithms the application is fitted by the probes; the
//! method is chosen by its error on models of CPU that it never saw, and the interval comes from those same errors
//! (jackknife+), or, on few machines, from how well the rest of the store would have been predicted in the same way.
//! What the probes did not see is said, and the interval widened or the answer refused. `docs/predict.md` says why.

mod cpu;
mod error;
mod evaluate;
mod forecast;
mod interval;
mod leave_out;
mod matrix;
mod method;
mod prior;
mod result;
mod runs;
mod scope;
mod sentences;
mod table;

pub use cpu::{cpu_family, cpu_model};
pub use error::Error;
pub use evaluate::{AtSize, PredictionRecord, TriedPrediction, evaluate, try_at_random};
pub use forecast::{PredictOptions, predict};
pub use interval::IntervalMethod;
pub use method::PredictMethod;
pub use result::{BehaviourShare, Forecast, ForecastStanding, LeftOutError, Prediction};
pub use runs::from_runs;
pub use table::{PredictedApplication, PredictorColumn, PredictorMachine, PredictorTable, ResourceKind};
