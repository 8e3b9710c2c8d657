//! Words for readers: names of families and sets of parameters, outcomes, flags, times.

mod ascii;
mod clock;
mod command;
mod factor;
mod label;
mod outcome;
mod time;

pub use ascii::ascii;
pub(crate) use clock::{no_clock, unknown_clock};
pub use command::resume_command;
pub use factor::{Factor, factor};
pub(crate) use label::exact_words;
pub use label::{family_title, label, parameter_value, parameters_words, result_label};
pub use model::words::{capital, list, quoted};
pub use outcome::{Told, modes, plural, remarks, unconfirmed};
pub use time::{day, duration};

/// What belongs to each key, in the order in which keys and values come.
pub fn grouped<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Values without those that came before.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut known: Vec<T> = Vec::new();
    for value in values {
        if !known.contains(&value) {
            known.push(value);
        }
    }
    known
}

/// Whether a character controls the output instead of being shown: control characters, and marks of writing direction
/// (Unicode Standard Annex 9) by which a text could rearrange its neighbours.
#[must_use]
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
