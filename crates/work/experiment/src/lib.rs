//! Settings of a machine and of processes, switched in random order between short measurements: which of them matters,
//! and by how much.
//!
//! A setting is one literal in `settings`. A [`Keeper`] changes the system and restores it, however the program ends: it
//! writes a [`Journal`] first, and a guardian process restores if this one is killed. [`Experiment`] is the
//! [`measure::Subject`] whose samples are blocks with and without a change. `compare::experiment` draws the conclusions.
#![forbid(unsafe_code)]

mod bench;
mod error;
mod journal;
mod keeper;
mod plan;
mod process;
mod setting;
mod settings;
mod subject;
mod system;
mod towards;
mod under;

pub use bench::{Bench, FreshProcesses, Held};
pub use error::{Error, UNDO};
pub use journal::{Journal, JournalFolder, JournalItem, Left, left_behind};
pub use keeper::{Keeper, guard, standard_input};
pub use plan::{Chosen, RATIO, Row, Switch, Wanted, choose, fill, journalled, rows};
pub use setting::{Change, Found, Setting, SettingFact, SettingKind};
pub use settings::{NOTHING, SETTINGS};
pub use subject::Experiment;
pub use system::System;
pub use towards::towards;
pub use under::{CHECK, Variable, argument, check, set_all};
