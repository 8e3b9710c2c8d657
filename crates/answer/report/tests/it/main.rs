//! Formats, widths, and the page in a real browser. One binary, so that it is linked once.

mod answer;
mod browser;
mod cycles;
mod edge;
mod evaluation;
mod fixture;
mod formats;
mod history;
mod interaction;
mod numbers;
mod page;
mod width;
