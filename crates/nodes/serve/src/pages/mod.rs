//! The pages. Each is one [`Document`], which the formats of the crate `report` draw: as HTML, and as JSON for its twin.

mod compare;
mod history;
mod lists;
mod machine;
mod metrics;
mod run;

use report::{Block, Cell, Document};
use store::Store;

use crate::address::{self, Target};
use crate::library::{Held, Library, Turn};

/// Views of what this crate does not know by itself.
pub trait Views: Send + Sync {
    /// The results of a run, as `prony show` prints them.
    ///
    /// # Errors
    /// When the run has no such view; the text says why.
    fn run(&self, held: &Held) -> Result<Document, String>;

    /// Several runs side by side, the baseline first, as `prony compare` prints them.
    ///
    /// # Errors
    /// When they have nothing in common.
    fn compare(&self, store: &dyn Store, runs: &[Held]) -> Result<Document, String>;

    /// The newest runs of machines that should be equal, as `prony fleet spread` prints them.
    ///
    /// # Errors
    /// When they have nothing in common.
    fn fleet(&self, store: &dyn Store, runs: &[Held]) -> Result<Document, String>;
}

/// What an address stands for.
#[derive(Clone)]
pub(crate) enum Page {
    /// A page with a twin, and its links to others: their words and their addresses.
    Document(Box<Document>, Vec<(String, String)>),
    /// Another address.
    Elsewhere(String),
    /// Something else: its kind and its bytes.
    Raw(&'static str, Vec<u8>),
}

impl From<Document> for Page {
    fn from(document: Document) -> Self {
        Self::Document(Box::new(document), Vec::new())
    }
}

/// Why there is no page.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) status: u16,
    reason: String,
}

impl Failed {
    pub(crate) fn missing(what: impl Into<String>) -> Self {
        Self { status: 404, reason: what.into() }
    }

    /// What cannot be shown together.
    pub(crate) fn unfit(reason: impl Into<String>) -> Self {
        Self { status: 422, reason: reason.into() }
    }

    /// The page that says so.
    pub(crate) fn document(&self) -> Document {
        let mut document = Document::new(self.reason.clone());
        document.add("", Block::Text("The first page lists all machines.".to_owned()));
        let data = serde_json::json!({ "error": self.reason });
        document.data = report::EmbeddedJson::of(&data).ok();
        document
    }
}

impl From<store::Error> for Failed {
    fn from(error: store::Error) -> Self {
        Self { status: 503, reason: error.to_string() }
    }
}

/// The page of an address.
pub(crate) fn page(target: &Target, library: &Library, views: &dyn Views, turn: Turn) -> Result<Page, Failed> {
    let parts: Vec<&str> = target.parts.iter().map(String::as_str).collect();
    library.read(|store| match parts.as_slice() {
        [] | ["machines"] => lists::machines(store, target.page()).map(Page::from),
        ["machines", identity] => machine::page(store, library, identity, target.page()).map(Page::from),
        ["runs"] => lists::runs(store, target.page()).map(Page::from),
        ["runs", number] => run::page(store, library, views, number_of(number)?, target.twin),
        ["compare"] => compare::asked(target),
        ["compare", numbers] => compare::page(store, library, views, numbers).map(Page::from),
        ["history", identity, key] => history::page(store, library, identity, key),
        ["fleet"] => lists::suites(store).map(Page::from),
        ["fleet", suite] => compare::fleet(store, library, views, suite, turn),
        ["search"] => lists::search(store, target).map(Page::from),
        ["metrics"] => metrics::page(store, library, target.page(), turn),
        _ => Err(Failed::missing("There is no page of this address")),
    })
}

fn number_of(text: &str) -> Result<u64, Failed> {
    text.parse().map_err(|_| Failed::missing(format!("'{text}' is not the number of a run")))
}

/// A link to a run, by its label if it has one.
fn run_link(number: u64, label: Option<&str>) -> Cell {
    let text = label.map_or_else(|| number.to_string(), |label| format!("{number} \"{label}\""));
    Cell::Link { text, to: address::run(number) }
}

/// A link to a machine.
fn machine_link(summary: &store::Summary) -> Cell {
    let (text, to) = machine_way(summary);
    Cell::Link { text, to }
}

/// The name and the address of a machine.
fn machine_way(summary: &store::Summary) -> (String, String) {
    let name = if summary.machine.is_empty() { summary.identity() } else { &summary.machine };
    (name.to_owned(), address::machine(summary.identity()))
}
