//! Views: the content of reports on a run, a catalogue or findings. Each makes one [`Document`](crate::Document).

mod answer;
mod benchmark;
mod catalogue;
mod check;
mod choose;
mod compare;
mod evaluation;
mod experiment;
mod explain;
mod farm;
mod history;
mod host;
mod machine;
mod matrices;
mod network;
mod network_steps;
mod network_tails;
mod predict;
mod quality;
mod report;
mod rules;
mod run;
mod scaling;
mod tails;
mod topology;
mod trend;

pub use answer::{answer, key_results};
pub use benchmark::benchmark;
pub use catalogue::catalogue;
pub use check::check;
pub use choose::choose;
pub use compare::{CompareContext, compare, gate_sentence, self_test};
pub use evaluation::{
    EvaluationChart, EvaluationColumn, EvaluationTable, EvaluationView, PrintedUnit, Slot, TableSort, in_tables,
    in_tables_measured,
};
pub use experiment::{ExperimentContext, experiment, explained};
pub use explain::{ExplainContext, explain};
pub use farm::farm;
pub use history::{HistoryContext, history};
pub use machine::heading;
pub use network::{PrintedPlateau, network};
pub use network_steps::network_step;
pub use predict::predict;
pub use report::{ReportInput, report, samples_of};
pub use rules::rules;
pub use run::{RunContext, run, run_records, several};
pub use topology::topology;
pub use trend::trend;
