//! What a report says, and the formats that draw it.
//!
//! A view in [`view`] turns a run or findings into a [`Document`] once; every [`Format`] draws that same document. No
//! number is formatted anywhere but in [`Quantity`].
#![forbid(unsafe_code)]

mod document;
mod error;
mod format;
pub mod view;
pub mod words;

pub use document::{
    Block, Cell, Column, Data, Digits, Document, Group, Kind, Quantity, Records, Row, Scale, Section, Spread, Table, Tone,
};
pub use error::Error;
pub use format::{Csv, FORMATS, Format, Json, Markdown, Terminal, by_name};
