//! Words for readers: names of families and points, outcomes, flags, times.

mod ascii;
mod clock;
mod command;
mod factor;
mod label;
mod outcome;
mod time;

pub use ascii::ascii;
pub(crate) use clock::{no_clock, unknown_clock};
pub use command::{quoted, resume_command};
pub use factor::{Factor, factor};
pub(crate) use label::exact_words;
pub use label::{axis_value, family_title, figure_label, label, point_words};
pub use outcome::{Told, list, modes, plural, remarks, unconfirmed};
pub use time::{day, duration};

/// Whether a character controls the output instead of being shown: control characters, and marks of writing direction
/// (Unicode Standard Annex 9) by which a text could rearrange its neighbours.
#[must_use]
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
