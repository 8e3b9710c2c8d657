//! Words for people: names of families and points, outcomes, flags, times.

mod label;
mod outcome;
mod time;

pub use label::{axis_value, family_title, figure_label, label, point_words};
pub use outcome::{list, modes, percent, plural, remarks};
pub use time::{day, duration};
