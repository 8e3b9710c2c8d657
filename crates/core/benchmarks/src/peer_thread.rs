//! A peer thread: the second party of a measurement between threads, pinned.

use std::thread::JoinHandle;

use crate::{BenchmarkContext, BenchmarkError, Unsupported};

/// A thread, which is joined when dropped: its owner must have made it end before.
pub(crate) struct PeerThread(Option<JoinHandle<Result<(), BenchmarkError>>>);

impl PeerThread {
    /// Starts party number `index`, pinned and verified as the context specifies.
    ///
    /// # Errors
    /// When it could not be started or pinned.
    pub(crate) fn start(
        context: &mut BenchmarkContext,
        index: usize,
        body: impl FnOnce() -> Result<(), BenchmarkError> + Send + 'static,
    ) -> Result<Self, Unsupported> {
        let cpu = context.cpu(index);
        let (sender, receiver) = std::sync::mpsc::channel();
        let handle = std::thread::Builder::new().name(format!("party {index}")).spawn(move || {
            let placed =
                cpu.map_or(Ok(()), |cpu| kernels::affinity::pin(&[cpu])).map(|()| kernels::process::raw::gettid());
            let fine = placed.is_ok();
            // The receiver exists: the starting thread waits for this.
            let _ = sender.send(placed.map_err(Unsupported::from));
            if fine { body() } else { Ok(()) }
        })?;
        let peer = Self(Some(handle));
        context.watch(index, receiver.recv().map_err(|_| Unsupported::new("a thread ended before it was ready"))??);
        Ok(peer)
    }
}

impl Drop for PeerThread {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            // An error of the thread already appeared in this thread as a missing answer.
            let _ = handle.join();
        }
    }
}
