//! Words for people: names of families and points, outcomes, flags, times.

mod label;
mod outcome;
mod time;

pub use label::{axis_value, family_title, figure_label, label, point_words};
pub use outcome::{list, modes, percent, plural, remarks};
pub use time::{day, duration};

/// The word that documents use for a choice: `cannot_converge`, `bytes_per_second`.
#[must_use]
pub fn code<T: serde::Serialize>(choice: &T) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
