//! Creating a thread that does nothing.

use crate::peer_process::fold;
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "os.thread_create",
    title: "thread creation",
    about: "Starts a thread of this process, which returns a number at once, and joins it.",
    metric: ProbeMetric::lower(Unit::Seconds, "thread"),
    class: Class::Process,
    stresses: &[Primitive::ThreadCreate],
    sources: &[DefinitionSource::new("POSIX", "pthread_create, pthread_join", "pthreads(7)")],
    prepare: |_, _| Ok(Trial::one(ThreadCreateKernel)),
    ..Probe::BLANK
};

struct ThreadCreateKernel;

impl Kernel for ThreadCreateKernel {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        let mut token = 0;
        for index in 0..ops {
            let thread = std::thread::Builder::new().spawn(move || index * index)?;
            let returned = thread.join().map_err(|_| ProbeError::new("a thread panicked"))?;
            token = fold(token, returned + 1);
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        ProbeError::unless_equal(done.token, (0..done.ops).fold(0, |token, index| fold(token, index * index + 1)))
    }
}
