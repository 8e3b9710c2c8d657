//! How long something lasted, and how often, in words.

use analyse::host::Spells;
use model::number;

use crate::words::plural;

/// `in 3 spells, median 1.2 s, longest 4 s`
pub(super) fn lasting(spells: &Spells) -> String {
    match spells.count {
        1 => format!("once for {}", seconds(spells.longest)),
        _ => format!(
            "in {}, median {}, longest {}",
            plural(spells.count, "spell"),
            seconds(spells.median),
            seconds(spells.longest)
        ),
    }
}

fn seconds(time: f64) -> String {
    if time < 1.0 { format!("{} ms", number(time * 1e3, 0, true)) } else { format!("{:.1} s", time) }
}
