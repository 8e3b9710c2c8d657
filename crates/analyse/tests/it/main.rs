//! Comparing, explaining, predicting, choosing: against published tables, recorded noise and planted causes. One
//! binary, so that it is linked once.

mod any_runs;
mod choose;
mod choose_told;
mod choose_uncertain;
mod common;
mod compare_bases;
mod compare_cycles;
mod compare_guest;
mod compare_matched;
mod compare_modes;
mod compare_published;
mod compare_rating;
mod compare_recorded;
mod compare_recorded_cycles;
mod compare_same;
mod compare_simulated;
mod compare_uncounted;
mod coverage_page;
mod explain_answers;
mod explain_cycles;
mod explain_few;
mod explain_limits;
mod explain_measured;
mod explain_published;
mod explain_rivals;
mod explain_streams;
mod fleet;
mod plan_network;
mod predict;
mod predict_machines;
mod predict_public;
mod trend;
