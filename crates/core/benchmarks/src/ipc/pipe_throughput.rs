//! One process writing to itself through a pipe.

use std::fs::File;

use crate::line::{peer_ended, pipe, receive, send};
use crate::peer_process::fold;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.pipe_throughput",
    title: "pipe throughput",
    about: "A loop writes 512 bytes into a pipe and reads them back in one process, without any switch.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "loops"),
    class: Class::Compute,
    stresses: &[Primitive::Pipe, Primitive::SyscallEntry],
    operation: Some(Operation::new("write and read of 512 B", &[(Primitive::SyscallEntry, 2.0)])),
    sources: &[
        DefinitionSource::new("BYTE", "Pipe Throughput", "UnixBench, src/pipe.c"),
        DefinitionSource::new("CyberLife", "Pipe Throughput", "CyberLife Labs notes, 2004"),
    ],
    prepare,
    ..Benchmark::BLANK
};

struct PipeLoop {
    from: File,
    to: File,
    began: u64,
    next: u64,
}

fn prepare(_: &Parameters, _: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let (from, to) = pipe()?;
    Ok(Trial::one(PipeLoop { from, to, began: 0, next: 0 }))
}

impl Kernel for PipeLoop {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.next;
        let mut token = 0;
        let (mut sent, mut received) = ([0; 512], [0; 512]);
        for _ in 0..ops {
            sent[504..].copy_from_slice(&self.next.to_ne_bytes());
            send(&self.to, &sent)?;
            if !receive(&self.from, &mut received)? {
                return Err(peer_ended());
            }
            let [.., a, b, c, d, e, f, g, h] = received;
            token = fold(token, u64::from_ne_bytes([a, b, c, d, e, f, g, h]) + 1);
            self.next += 1;
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let numbers = self.began..self.began + done.ops;
        BenchmarkError::unless_equal(done.token, numbers.fold(0, |token, number| fold(token, number + 1)))
    }
}
