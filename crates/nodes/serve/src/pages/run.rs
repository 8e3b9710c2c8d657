//! One run: its results, and the ways on.

use report::EmbeddedJson;
use store::{Detail, RunFilter, Store, Summary};

use super::{Failed, Page, Views, machine_way};
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
    document.data = EmbeddedJson::of(&summary).ok();
    Ok(Page::Document(Box::new(document), ways(store, &summary)?))
}

/// Links to the machine, and to the comparison with the run before this one.
fn ways(store: &dyn Store, summary: &Summary) -> Result<Vec<(String, String)>, Failed> {
    let of_machine = store.page(&RunFilter::Machine(summary.identity()), EARLIER, 0)?;
    let mut after = of_machine.iter().skip_while(|run| run.number != summary.number).skip(1);
    let earlier = after.find(|run| run.suite == summary.suite);
    let compare = earlier.map(|earlier| {
        let text = format!("compare with run {}, the one before", earlier.number);
        (text, address::compare(&[earlier.number, summary.number]))
    });
    let (name, machine) = machine_way(summary);
    Ok([(format!("machine {name}"), machine)].into_iter().chain(compare).collect())
}
