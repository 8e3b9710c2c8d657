//! The store as the pages read it: a few connections, and the runs that were read last.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::pages::{Failed, Page};
use model::Run;
use store::{Detail, RunFilter, Store, Summary};

/// Runs, and pages of many runs, that are kept in memory.
const KEPT: usize = 128;
const PAGES: usize = 32;

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

/// A page of many runs, which takes longer to make than to draw.
struct Remembered {
    name: String,
    /// The runs that it is made of.
    of: Vec<Summary>,
    page: Page,
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

    /// The page of this name, made anew if any of its runs is another than the last time.
    pub(crate) fn remembered(
        &self,
        name: &str,
        of: &[Summary],
        make: impl FnOnce(Vec<Held>) -> Result<Page, Failed>,
        store: &dyn Store,
    ) -> Result<Page, Failed> {
        let known = |page: &&Remembered| page.name == name && page.of == of;
        if let Some(known) = lock(&self.pages).iter().find(known) {
            return Ok(known.page.clone());
        }
        let runs: Vec<Held> = of.iter().map(|summary| self.held(store, summary)).collect::<Result<_, _>>()?;
        let page = make(runs)?;
        let mut pages = lock(&self.pages);
        pages.retain(|page| page.name != name);
        pages.push_back(Remembered { name: name.to_owned(), of: of.to_vec(), page: page.clone() });
        if pages.len() > PAGES {
            pages.pop_front();
        }
        Ok(page)
    }
}
