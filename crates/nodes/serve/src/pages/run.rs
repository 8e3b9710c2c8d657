//! One run: its results, and the ways on.

use report::{Block, Cell, Column, Document, EmbeddedJson, TableRow};
use store::{Detail, RunFilter, Store, Summary};

use super::{Failed, Page, Views, machine_link};
use crate::address;
use crate::http::JSON;
use crate::library::Library;

/// Runs of a machine among which an earlier one of the same suite is looked for.
const EARLIER: usize = 50;

pub(super) fn page(
    store: &dyn Store,
    library: &Library,
    views: &dyn Views,
    number: u64,
    twin: bool,
) -> Result<Page, Failed> {
    let missing = || Failed::missing(format!("There is no run {number}"));
    if twin {
        // The twin is the whole document, which other commands read.
        let summary = store.page(&RunFilter::Number(number), 1, 0)?.pop().ok_or_else(missing)?;
        let run = store.get(&summary.id, Detail::Whole)?;
        let text = model::render_run(&run).map_err(|error| Failed::unfit(error.to_string()))?;
        return Ok(Page::Raw(JSON, text.into_bytes()));
    }
    let (summary, held) = library.find(store, number)?.ok_or_else(missing)?;
    let mut document = views.run(&held).map_err(Failed::unfit)?;
    document.next = Vec::new();
    ways(store, &summary, &mut document)?;
    document.data = EmbeddedJson::of(&summary).ok();
    Ok(document.into())
}

/// Links to the machine, and to the comparison with the run before this one.
fn ways(store: &dyn Store, summary: &Summary, document: &mut Document) -> Result<(), Failed> {
    let of_machine = store.page(&RunFilter::Machine(summary.identity()), EARLIER, 0)?;
    let after = of_machine.iter().skip_while(|run| run.number != summary.number).skip(1);
    let earlier = after.into_iter().find(|run| run.suite == summary.suite);
    let mut rows = vec![TableRow::of(vec![Cell::text("machine"), machine_link(summary)])];
    if let Some(earlier) = earlier {
        let text = format!("with run {}, the one before", earlier.number);
        let to = address::compare(&[earlier.number, summary.number]);
        rows.push(TableRow::of(vec![Cell::text("compare"), Cell::Link { text, to }]));
    }
    document.add("go on", Block::table(Column::list("|"), rows));
    Ok(())
}
