//! Creating a process that does nothing.

use kernels::memory::{Arena, Pages};
use kernels::process::{ProcessExit, fork_exit};

use crate::peer_process::fold;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.fork_exit",
    title: "fork and exit",
    about: "Forks a child that ends at once, and waits for it. The parent has `resident` memory in base pages of its \
            own, and the kernel copies their page tables.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "process"),
    class: Class::Process,
    stresses: &[Primitive::Fork],
    usual: true,
    operation: Some(Operation::new("fork", &[(Primitive::ContextSwitch, 2.0), (Primitive::SyscallEntry, 4.0)])),
    sources: &[
        DefinitionSource::new("BaBar", "table 3, null process", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_proc fork", "McVoy & Staelin, USENIX ATC 1996"),
        DefinitionSource::new("BYTE", "Process Creation", "UnixBench, src/spawn.c"),
    ],
    parameters: &[Parameter::doubling("resident", 2 * MIB, GIB, &["2MiB"])],
    prepare,
    ..Benchmark::BLANK
};

struct ForkExit {
    _resident: Option<Arena>,
}

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let wanted = at.bytes("resident")?;
    let available = os::usage::available_bytes().unwrap_or(u64::MAX);
    if wanted > available / 2 {
        let available = model::format_size(available / MIB * MIB);
        return Err(Unsupported::new(format!(
            "{available} of memory are available, and it takes twice its resident size"
        )));
    }
    // Memory that this process already has; program and libraries are file mappings and are not copied.
    let own = os::usage::anonymous_bytes()?;
    let missing = wanted.saturating_sub(own);
    if missing == 0 {
        context.note(format!("the parent has {own} bytes of its own to begin with"));
    }
    let resident = (missing > 0).then(|| Arena::populated(missing as usize, Pages::Base)).transpose()?;
    Ok(Trial::one(ForkExit { _resident: resident }))
}

/// The status with which child number `index` ends.
fn code(index: u64) -> i32 {
    (index * 7 % 113) as i32
}

impl Kernel for ForkExit {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut token = 0;
        for index in 0..ops {
            match fork_exit(code(index))? {
                ProcessExit::Code(status) => token = fold(token, status as u64 + 1),
                ProcessExit::Signal { number, .. } => {
                    return Err(BenchmarkError::new(format!("a child was ended by signal {number}")));
                }
            }
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let expected = (0..done.ops).fold(0, |token, index| fold(token, code(index) as u64 + 1));
        BenchmarkError::unless_equal(done.token, expected)
    }
}
