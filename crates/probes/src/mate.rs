//! The other party of a measurement between threads: one more thread of this process, pinned.

use std::thread::JoinHandle;

use crate::{ProbeContext, ProbeError, Unsupported};

/// A thread, which is joined when dropped: whoever owns it must have told it to end by then.
pub(crate) struct PeerThread(Option<JoinHandle<Result<(), ProbeError>>>);

impl PeerThread {
    /// Starts party number `index`, pinned as the bench says and watched by it.
    ///
    /// # Errors
    /// When it cannot be started or pinned.
    pub(crate) fn start(
        bench: &mut ProbeContext,
        index: usize,
        body: impl FnOnce() -> Result<(), ProbeError> + Send + 'static,
    ) -> Result<Self, Unsupported> {
        let cpu = bench.cpu(index);
        let (tell, told) = std::sync::mpsc::channel();
        let handle = std::thread::Builder::new().name(format!("party {index}")).spawn(move || {
            let placed = cpu.map_or(Ok(()), |cpu| sys::affinity::pin(&[cpu])).map(|()| sys::process::raw::gettid());
            let fine = placed.is_ok();
            // The starter waits for this, so somebody listens.
            let _ = tell.send(placed.map_err(Unsupported::from));
            if fine { body() } else { Ok(()) }
        })?;
        let mate = Self(Some(handle));
        bench.watch(index, told.recv().map_err(|_| Unsupported::new("a thread ended before it began"))??);
        Ok(mate)
    }
}

impl Drop for PeerThread {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            // What went wrong there was already seen here as a missing answer.
            let _ = handle.join();
        }
    }
}
