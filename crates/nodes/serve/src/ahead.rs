//! Makes pages of many runs before a reader asks for them. Such a page takes as long as a comparison of all its runs.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use store::RunFilter;

use crate::address::{self, Target};
use crate::library::Turn;
use crate::pages::{self, Failed};
use crate::site::Site;

/// Time between two looks for a new run.
const LOOK: Duration = Duration::from_millis(500);
/// Time after which all pages are looked at again. A changed label is no new run.
const AGAIN: Duration = Duration::from_secs(30);
/// Suites whose fleets are made when the site starts, the most frequent ones.
const FIRST: usize = 8;

/// Works until the other end of `stop` is dropped.
pub(crate) fn run(site: &Site, stop: &Receiver<()>) {
    let mut last = (None, Instant::now());
    let mut pause = Duration::ZERO;
    while stop.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let begun = Instant::now();
        // A store that cannot be read now is read at the next look.
        if let Ok((newest, paths)) = due(site)
            && (newest != last.0 || last.1.elapsed() > AGAIN)
        {
            last = (newest, begun);
            for target in paths.iter().filter_map(|path| Target::parse(path)) {
                // An error is the reader's, who sees it again.
                let _ = pages::page(&target, &site.library, site.views.as_ref(), Turn::Ahead);
                if stop.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected) {
                    return;
                }
            }
        }
        // While runs keep coming, half of a CPU at most.
        pause = LOOK.max(begun.elapsed());
    }
}

/// The newest run, and the addresses of the pages to make.
fn due(site: &Site) -> Result<(Option<store::Summary>, Vec<String>), Failed> {
    let library = &site.library;
    library.read(|store| {
        let mut paths = library.paths();
        if paths.is_empty() {
            paths = store.suites()?.iter().take(FIRST).map(|(suite, _)| address::fleet(suite)).collect();
            paths.push("/metrics".to_owned());
        }
        Ok((store.page(&RunFilter::All, 1, 0)?.pop(), paths))
    })
}
