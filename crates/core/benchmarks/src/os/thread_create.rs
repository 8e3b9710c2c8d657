//! Creating a thread that does nothing.

use kernels::process::run_bare_thread;

use crate::peer_process::fold;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.thread_create",
    title: "thread creation",
    about: "Starts a thread of this process, which returns a number at once, and joins it. With `runtime=none` it \
            uses the C library alone, as C programs do. With `rust` it uses Rust's standard library: each thread also \
            looks up its stack and maps another one for signals.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "thread"),
    class: Class::Process,
    stresses: &[Primitive::ThreadCreate],
    usual: true,
    sources: &[
        DefinitionSource::new("POSIX", "pthread_create, pthread_join", "pthreads(7)").at("runtime=none"),
        DefinitionSource::new("POSIX", "pthread_create, pthread_join", "pthreads(7)").other(RUST),
    ],
    parameters: &[Parameter::choice("runtime", &["none", "rust"], &["none"])],
    prepare: |at, _| {
        let start = if at.choice("runtime")? == "rust" { rust_thread } else { bare_thread };
        Ok(Trial::one(ThreadCreateKernel { start }))
    },
    ..Benchmark::BLANK
};

const RUST: &str = "Rust's threads each make several system calls more, for a second stack";

/// Starts a thread that returns the square of a number, and joins it.
type StartThread = fn(usize) -> Result<usize, BenchmarkError>;

struct ThreadCreateKernel {
    start: StartThread,
}

fn bare_thread(number: usize) -> Result<usize, BenchmarkError> {
    Ok(run_bare_thread(|number| number * number, number)?)
}

fn rust_thread(number: usize) -> Result<usize, BenchmarkError> {
    let thread = std::thread::Builder::new().spawn(move || number * number)?;
    thread.join().map_err(|_| BenchmarkError::new("a thread panicked"))
}

impl Kernel for ThreadCreateKernel {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut token = 0;
        for index in 0..ops {
            token = fold(token, (self.start)(index as usize)? as u64 + 1);
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, (0..done.ops).fold(0, |token, index| fold(token, index * index + 1)))
    }
}
