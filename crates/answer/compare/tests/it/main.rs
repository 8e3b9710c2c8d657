//! Comparing: against published tables, recorded noise and planted differences. One
//! binary, so that it is linked once.

mod bases;
mod common;
mod coverage_page;
mod cycles;
mod fleet;
mod guest;
mod matched;
mod modes;
mod published;
mod rating;
mod recorded;
mod recorded_cycles;
mod same;
mod simulated;
mod uncounted;
