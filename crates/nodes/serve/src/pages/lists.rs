//! Lists: machines, runs, suites, and what a search finds.

use report::words::{day, plural};
use report::{Block, Cell, Column, Document, EmbeddedJson, Table, TableRow, Tone};
use serde_json::json;
use store::{MachineSummary, RunFilter, Store, Summary};

use super::{Failed, machine_link, run_link};
use crate::address::{self, Target};

/// Rows of a page.
pub(super) const ROWS: usize = 100;

/// Every machine, the one with the newest run first.
pub(super) fn machines(store: &dyn Store, page: usize) -> Result<Document, Failed> {
    let all = store.machines(None, ROWS + 1, (page - 1) * ROWS)?;
    let title = if all.is_empty() && page == 1 { "No run is stored yet" } else { "Machines" };
    let mut document = Document::new(title);
    let columns = Column::list("machine|newest run|started|suite|#runs");
    let row = |machine: &MachineSummary| {
        let newest = &machine.newest;
        TableRow::of(vec![
            machine_link(newest),
            run_link(newest.number, newest.label.as_deref()),
            Cell::text(day(&newest.started)),
            Cell::text(&newest.suite),
            Cell::Count(machine.runs),
        ])
    };
    let rows = all.iter().take(ROWS).map(row).collect();
    document.add("", Block::Table(Table::plain(columns, rows)));
    turn(&mut document, "/machines", page, all.len() > ROWS);
    document.data = EmbeddedJson::of(&all.iter().take(ROWS).collect::<Vec<_>>()).ok();
    Ok(document)
}

/// Every run, the newest first.
pub(super) fn runs(store: &dyn Store, page: usize) -> Result<Document, Failed> {
    let all = store.page(&RunFilter::All, ROWS + 1, (page - 1) * ROWS)?;
    Ok(listed(Document::new("Runs, the newest first"), &all, "/runs", page))
}

/// A page with runs, of which one more than it shows was read.
fn listed(mut document: Document, runs: &[Summary], path: &str, page: usize) -> Document {
    let shown = &runs[..runs.len().min(ROWS)];
    if !shown.is_empty() {
        document.add("", Block::Table(table(shown)));
    }
    turn(&mut document, path, page, runs.len() > ROWS);
    document.data = EmbeddedJson::of(&shown).ok();
    document
}

/// Runs as rows with links.
pub(super) fn table(runs: &[Summary]) -> Table {
    let row = |run: &Summary| {
        let remark = if run.interrupted { Cell::Text("incomplete".to_owned(), Tone::Caution) } else { Cell::Empty };
        TableRow::of(vec![
            run_link(run.number, run.label.as_deref()),
            machine_link(run),
            Cell::text(day(&run.started)),
            Cell::text(&run.suite),
            Cell::Count(run.results.into()),
            remark,
        ])
    };
    Table::plain(Column::list("run|machine|started|suite|#results|~"), runs.iter().map(row).collect())
}

/// Links to the pages before and after this one.
pub(super) fn turn(document: &mut Document, path: &str, page: usize, more: bool) {
    let join = if path.contains('?') { '&' } else { '?' };
    let link = |text: &str, page: usize| Cell::Link { text: text.to_owned(), to: format!("{path}{join}page={page}") };
    let mut cells = Vec::new();
    cells.extend((page > 1).then(|| link("newer", page - 1)));
    cells.extend(more.then(|| link("older", page + 1)));
    if !cells.is_empty() {
        let columns = cells.iter().map(|_| Column::words("")).collect();
        document.add("", Block::table(columns, vec![TableRow::of(cells)]));
    }
}

/// Suites whose machines can be held against each other.
pub(super) fn suites(store: &dyn Store) -> Result<Document, Failed> {
    let all = store.suites()?;
    let mut document = Document::new("Fleet: machines that should be equal");
    document
        .summary
        .push("Choose a suite to compare the newest run of each machine, and to see which one is odd.".to_owned());
    let row = |(suite, runs): &(String, u64)| {
        TableRow::of(vec![Cell::Link { text: suite.clone(), to: address::fleet(suite) }, Cell::Count(*runs)])
    };
    document.add("", Block::table(Column::list("suite|#runs"), all.iter().map(row).collect()));
    let data: Vec<_> = all.iter().map(|(suite, runs)| json!({ "suite": suite, "runs": runs })).collect();
    document.data = EmbeddedJson::of(&data).ok();
    Ok(document)
}

/// Runs in whose label, machine, suite, tool or id a text occurs.
pub(super) fn search(store: &dyn Store, target: &Target) -> Result<Document, Failed> {
    let text: String = target.asked("q").unwrap_or_default().trim().chars().take(100).collect();
    let page = target.page();
    let found = match text.as_str() {
        "" => Vec::new(),
        text => store.page(&RunFilter::Text(text), ROWS + 1, (page - 1) * ROWS)?,
    };
    let title = match (text.as_str(), found.len()) {
        ("", _) => "Type what the label, the machine, the suite or the tool of a run contains".to_owned(),
        (text, 0) => format!("No run contains \"{text}\""),
        (text, more) if more > ROWS => format!("Runs with \"{text}\""),
        (text, count) => format!("{} with \"{text}\"", plural(count, "run")),
    };
    Ok(listed(Document::new(title), &found, &format!("/search?q={}", address::part(&text)), page))
}
