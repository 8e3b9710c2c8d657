//! The tables of every evaluation, one file each.

mod babar;
mod byte;
mod daisy;
mod ramspeed;
mod stream;
mod tape;

use super::describe::Description;

pub(super) static ALL: &[&Description] = &[
    &babar::EVALUATION,
    &byte::EVALUATION,
    &daisy::EVALUATION,
    &ramspeed::EVALUATION,
    &stream::EVALUATION,
    &tape::EVALUATION,
];
