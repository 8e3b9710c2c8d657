//! The data types of Prony, used by all crates: plain data, without code that measures, computes or prints.
//!
//! A [`Run`] is the self-describing document of one session on one machine. Every [`BenchmarkResult`] in it has its own
//! unit, direction, title and primitives, so that runs of removed benchmarks can still be compared.
#![forbid(unsafe_code)]

pub mod advice;
mod catalogue;
mod class;
mod command;
mod conditions;
mod cpu_set;
mod definition;
mod distance;
mod error;
mod estimate;
mod farm;
mod footprint;
mod machine;
mod metric;
mod microarchitecture;
mod moments;
mod name;
mod number;
mod parameters;
mod plan;
mod plausible;
mod primitive;
mod result;
mod rules;
mod run;
mod sample;
mod schema;
mod sensors;
mod share;
mod size;
mod small_steps;
mod tidy;
mod topology;
mod verdict;
pub mod words;

pub use catalogue::{
    BenchmarkDescription, Catalogue, ExpectedShare, KeyResult, Operation, ParameterDescription, PartLimit, Reference,
};
pub use class::Class;
pub use command::{command_line, holds_password, presentable, without_password};
pub use conditions::{Conditions, TakenTime};
pub use cpu_set::CpuSet;
pub use definition::Definition;
pub use distance::CpuDistance;
pub use error::{DocumentPosition, Error};
pub use estimate::{Estimate, EstimateMethod, FEWEST_SAMPLES, Mode, Outcome, QuantileEstimate, RANGE_BELOW};
pub use farm::{FarmIncident, FarmNode, FarmRecord, FarmWindow};
pub use footprint::{Footprint, Hardware};
pub use machine::{Fact, FactValue, Machine};
pub use metric::{Better, Metric, Unit};
pub use microarchitecture::arm_core;
pub use moments::SensorMoment;
pub use name::{glob, nearest};
pub use number::{UnitScale, exponent, number, percent, significant};
pub use parameters::{ANY_CROSSING, BEYOND_CACHES, CROSSINGS, Parameters};
pub use plan::{CHECKPOINTS, EXECUTION_SPACING, Plan, PlanEntry, SPACING, USUAL_SAMPLES, checkpoints, target_number};
pub use primitive::Primitive;
pub use result::{
    BenchmarkResult, CLOCK, COMPILER, CORE_SHARED, Flag, NOT_REACHED, RECORD, ResultKey, SURVEYED_LEVELS,
    surveyed_level,
};
pub use rules::{RULES, Rule, Rules};
pub use run::{Identity, Origin, Run, Session};
pub use sample::{Invalid, Placement, Sample, TimedBatch, split_pairs, work_first};
#[cfg(feature = "schema")]
pub use schema::json_schema;
pub use schema::{SCHEMA, parse_run, render_run};
pub use sensors::{
    CleanBatches, Domain, ExclusiveCore, ExclusiveSource, RawReason, ResultSensors, SampleSensors, SensorLengths,
    SensorReading, SensorSamples, SensorTrack, SessionSensors, ValueBasis,
};
pub use share::Share;
pub use size::{GIB, KIB, MIB, format_size, parse_size, spoken_size};
pub use small_steps::SmallSteps;
pub use tidy::{TIDY_COLUMNS, code, tidy_rows};
pub use topology::{CacheGroup, CacheKind, CoreClass, CpuGroup, NumaNode, Topology};
pub use verdict::{Direction, GateAnswer, Verdict};
