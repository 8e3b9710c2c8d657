//! Content of reports, and the formats that render it.
//!
//! A view in [`view`] turns a run or findings into one [`Document`], which every [`ReportFormat`] renders. Numbers are
//! formatted by [`PrintedQuantity`] alone.
#![forbid(unsafe_code)]

mod chart;
mod document;
mod error;
mod format;
pub mod view;
pub mod words;

pub use document::{
    Badge, Block, BoxPicture, BoxTree, Cell, Chart, ChartAxis, ChartPlot, Column, ColumnKind, Curves, Digits, Division,
    Document, DocumentSection, EmbeddedJson, Forest, ForestRow, HeatMap, Ladder, LadderRow, MachineCard, Mark,
    PrintedQuantity, PrintedSpread, Records, RowDetail, RowGroup, RowLink, SamplePoint, SampleSet, SamplesPlot,
    ScatterPlot, Series, Table, TableRow, Timeline, TimelineRow, Tone, VerdictCard,
};
pub use error::Error;
pub use format::{
    Csv, FORMATS, Html, JsonFormat, Markdown, PageFrame, ReportFormat, Terminal, Tsv, by_name, content_security_policy,
    page,
};
