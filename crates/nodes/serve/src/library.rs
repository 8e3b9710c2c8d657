//! The store as the pages read it: a few connections, and the runs that were read last.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::pages::{Failed, Page};
use model::Run;
use store::{Detail, RunFilter, Store, Summary};

/// Runs, and pages of many runs, that are kept in memory.
const KEPT: usize = 128;
const PAGES: usize = 32;

/// How long a page of many runs is shown without a look at whether it has all of them: after a new run, readers get the
/// page before it until the next one is made. See [`crate::ahead`].
const LATE: Duration = Duration::from_secs(60);

/// Opens the store for reading.
pub(crate) type Opener = Box<dyn Fn() -> Result<Box<dyn Store>, store::Error> + Send + Sync>;

/// A run and its number in the store.
#[derive(Debug, Clone)]
pub struct Held {
    /// Its number.
    pub number: u64,
    /// Its document, without the inside of samples.
    pub run: Arc<Run>,
}

pub(crate) struct Library {
    open: Opener,
    idle: Mutex<Vec<Box<dyn Store>>>,
    kept: Mutex<VecDeque<(Summary, Arc<Run>)>>,
    pages: Mutex<VecDeque<Remembered>>,
}

/// For whom a page is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A reader, who does not wait for what takes long.
    Reader,
    /// The next readers.
    Ahead,
}

/// A page of many runs, which takes longer to make than to draw.
struct Remembered {
    /// Its address.
    path: String,
    /// The runs that it is made of.
    of: Vec<Summary>,
    page: Page,
    /// When it was seen to have all of them.
    checked: Instant,
}

/// What a panic of another thread leaves behind is whole: values are moved in and out.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Library {
    pub(crate) fn new(open: Opener) -> Self {
        Self { open, idle: Mutex::default(), kept: Mutex::default(), pages: Mutex::default() }
    }

    /// Lends a connection to the store.
    pub(crate) fn read<T, E: From<store::Error>>(&self, work: impl FnOnce(&dyn Store) -> Result<T, E>) -> Result<T, E> {
        let idle = lock(&self.idle).pop();
        let store = match idle {
            Some(store) => store,
            None => (self.open)()?,
        };
        let done = work(store.as_ref());
        lock(&self.idle).push(store);
        done
    }

    /// The run of a number, if there is one.
    pub(crate) fn find(&self, store: &dyn Store, number: u64) -> Result<Option<(Summary, Held)>, store::Error> {
        let Some(summary) = store.page(&RunFilter::Number(number), 1, 0)?.pop() else { return Ok(None) };
        let held = self.held(store, &summary)?;
        Ok(Some((summary, held)))
    }

    /// The run of a summary. One that was measured further since then has another summary.
    pub(crate) fn held(&self, store: &dyn Store, summary: &Summary) -> Result<Held, store::Error> {
        let known = lock(&self.kept).iter().find(|(known, _)| known == summary).map(|(_, run)| Arc::clone(run));
        if let Some(run) = known {
            return Ok(Held { number: summary.number, run });
        }
        let run = Arc::new(store.get(&summary.id, Detail::Values)?);
        let mut kept = lock(&self.kept);
        kept.push_back((summary.clone(), Arc::clone(&run)));
        if kept.len() > KEPT {
            kept.pop_front();
        }
        Ok(Held { number: summary.number, run })
    }

    /// The addresses of the pages of many runs.
    pub(crate) fn paths(&self) -> Vec<String> {
        lock(&self.pages).iter().map(|page| page.path.clone()).collect()
    }

    /// The page of many runs of an address, made anew if any of them is another than the last time and the reader
    /// would else see what is long past.
    pub(crate) fn remembered(
        &self,
        path: String,
        of: Vec<Summary>,
        turn: Turn,
        make: impl FnOnce(Vec<Held>) -> Result<Page, Failed>,
        store: &dyn Store,
    ) -> Result<Page, Failed> {
        let seen = Instant::now();
        if let Some(known) = lock(&self.pages).iter_mut().find(|page| page.path == path) {
            if known.of == of {
                known.checked = seen;
            }
            if known.of == of || (turn == Turn::Reader && known.checked.elapsed() < LATE) {
                return Ok(known.page.clone());
            }
        }
        let runs: Vec<Held> = of.iter().map(|summary| self.held(store, summary)).collect::<Result<_, _>>()?;
        let page = make(runs)?;
        let mut pages = lock(&self.pages);
        pages.retain(|page| page.path != path);
        pages.push_back(Remembered { path, of, page: page.clone(), checked: seen });
        if pages.len() > PAGES {
            pages.pop_front();
        }
        Ok(page)
    }
}
