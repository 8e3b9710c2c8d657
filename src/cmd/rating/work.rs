//! One component in a separate process; and the list of components.

use std::time::Instant;

use anyhow::{Context, Result};
use rating::{BUILD, COMPONENTS, optimised};
use report::{Block, Cell, Column, Document, TableRow};

use crate::{ExitStatus, output};

/// Creates the input, does the work, and prints its time and checksum.
pub(crate) fn run(name: &str) -> Result<ExitStatus> {
    let component = rating::component(name).context("could not find the component")?;
    let mut job = (component.make)();
    let began = Instant::now();
    let checksum = job.run().map_err(anyhow::Error::msg)?;
    let seconds = began.elapsed().as_secs_f64();
    let text = format!("seconds={seconds:.9}\nchecksum={checksum:016x}\nbuild={BUILD}\noptimised={}\n", optimised());
    output::write(text.as_bytes())
}

/// The components of a suite of frozen sets.
pub(super) fn components(suite: &str) -> Document {
    let wanted = |component: &&rating::Component| suite == "rating" || suite == component.set.name();
    let columns = Column::list("|set|what it does|stands for|#reference");
    let row = |component: &rating::Component| {
        let seconds = report::PrintedQuantity::bare(component.reference, model::Unit::Seconds);
        let words = [component.name, component.set.name(), component.about, component.stands_for].map(Cell::text);
        TableRow::of(words.into_iter().chain([Cell::Value(seconds)]).collect())
    };
    let mut document = Document::new("Components of the frozen sets");
    let rows = COMPONENTS.iter().filter(wanted).map(row).collect();
    document.add("", Block::table(columns, rows));
    let listed = |component: &rating::Component| {
        serde_json::json!({
            "set": component.set.name(), "name": component.name, "about": component.about,
            "checksum": format!("{:016x}", component.checksum), "reference_seconds": component.reference,
        })
    };
    let all: Vec<serde_json::Value> = COMPONENTS.iter().filter(wanted).map(listed).collect();
    document.data = report::EmbeddedJson::of(&all).ok();
    document.next = vec![format!("prony run --suite {suite}")];
    document
}
