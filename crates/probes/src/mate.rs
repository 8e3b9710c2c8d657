//! The other party of a measurement between threads: one more thread of this process, pinned.

use std::thread::JoinHandle;

use crate::{Bench, Fault, Unfit};

/// A thread, which is joined when dropped: whoever owns it must have told it to end by then.
pub(crate) struct Mate(Option<JoinHandle<Result<(), Fault>>>);

impl Mate {
    /// Starts party number `index`, pinned as the bench says and watched by it.
    ///
    /// # Errors
    /// When it cannot be started or pinned.
    pub(crate) fn start(
        bench: &mut Bench,
        index: usize,
        body: impl FnOnce() -> Result<(), Fault> + Send + 'static,
    ) -> Result<Self, Unfit> {
        let cpu = bench.cpu(index);
        let (tell, told) = std::sync::mpsc::channel();
        let handle = std::thread::Builder::new().name(format!("party {index}")).spawn(move || {
            let placed = cpu.map_or(Ok(()), |cpu| sys::affinity::pin(&[cpu])).map(|()| sys::process::raw::gettid());
            let fine = placed.is_ok();
            // The starter waits for this, so somebody listens.
            let _ = tell.send(placed.map_err(Unfit::from));
            if fine { body() } else { Ok(()) }
        })?;
        let mate = Self(Some(handle));
        bench.watch(index, told.recv().map_err(|_| Unfit::new("a thread ended before it began"))??);
        Ok(mate)
    }
}

impl Drop for Mate {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            // What went wrong there was already seen here as a missing answer.
            let _ = handle.join();
        }
    }
}
