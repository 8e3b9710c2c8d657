//! What a report says, and the formats that draw it.
//!
//! A view in [`view`] turns a run or findings into a [`Document`] once; every [`Format`] draws that same document. No
//! number is formatted anywhere but in [`Quantity`].
#![forbid(unsafe_code)]

mod chart;
mod document;
mod error;
mod format;
pub mod view;
pub mod words;

pub use document::{
    Axis, Block, Cell, Chart, Column, Curves, Data, Digits, Division, Document, Forest, ForestRow, Group, Kind, Mark,
    Plot, Quantity, Records, Row, Scale, Scatter, Section, Series, Spread, Strip, StripRow, Table, Tone,
};
pub use error::Error;
pub use format::{Csv, FORMATS, Format, Html, Json, Markdown, Terminal, by_name};
