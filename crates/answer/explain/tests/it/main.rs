//! Explaining: against published tables and planted causes. One
//! binary, so that it is linked once.

mod answers;
mod any_runs;
#[path = "../../../compare/tests/it/common/mod.rs"]
mod common;
mod cycles;
mod devices;
mod few;
mod limits;
mod measured;
mod published;
mod rivals;
mod streams;

/// Options of an explanation that knows the benchmarks.
pub(crate) fn options() -> explain::ExplainOptions<'static> {
    explain::ExplainOptions { catalogue: benchmarks::catalogue(), ..Default::default() }
}
