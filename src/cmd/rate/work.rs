//! One component once, as a process of its own; and the list of them.

use std::time::Instant;

use anyhow::{Context, Result};
use rating::{BUILD, COMPONENTS, optimised};
use report::{Block, Cell, Column, Document, Kind, Row, Section, Table};

use crate::cli::Common;
use crate::{Exit, output};

/// Makes the input, does the work, and says how long it took and what came out.
pub(super) fn run(name: &str) -> Result<Exit> {
    let component = rating::component(name).context("could not find the component")?;
    let mut job = (component.make)();
    let began = Instant::now();
    let checksum = job.run().map_err(anyhow::Error::msg)?;
    let seconds = began.elapsed().as_secs_f64();
    let text = format!("seconds={seconds:.9}\nchecksum={checksum:016x}\nbuild={BUILD}\noptimised={}\n", optimised());
    output::write(text.as_bytes())?;
    Ok(Exit::Fine)
}

/// The components of every set.
pub(super) fn list(common: &Common) -> Result<Exit> {
    let columns = vec![
        Column::new("", Kind::Label),
        Column::new("set", Kind::Words),
        Column::new("what it does", Kind::Words),
        Column::new("stands for", Kind::Words),
        Column::new("reference", Kind::Number),
    ];
    let row = |component: &rating::Component| {
        let seconds = report::Quantity::bare(component.reference, model::Unit::Seconds);
        let words = [component.name, component.set.name(), component.about, component.stands_for].map(Cell::text);
        Row { cells: words.into_iter().chain([Cell::Value(seconds)]).collect() }
    };
    let mut document = Document::new("Components of the frozen sets");
    let rows = COMPONENTS.iter().map(row).collect();
    document.sections.push(Section::of("", Block::Table(Table::plain(columns, rows))));
    let listed = |component: &rating::Component| {
        serde_json::json!({
            "set": component.set.name(), "name": component.name, "about": component.about,
            "checksum": format!("{:016x}", component.checksum), "reference_seconds": component.reference,
        })
    };
    let all: Vec<serde_json::Value> = COMPONENTS.iter().map(listed).collect();
    document.data = report::Data::of(&all).ok();
    output::print(&document, common)?;
    Ok(Exit::Fine)
}
