//! Two processes that pass a number back and forth.

use crate::echo::EchoKernel;
use crate::line::pipes;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.pipe_switch",
    title: "pipe-based context switching",
    about: "Two processes bounce a number over two pipes, and the second advances it. A loop is two writes, two reads \
            and, on one CPU, two switches.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "loops"),
    class: Class::Ipc,
    stresses: &[Primitive::ContextSwitch, Primitive::Pipe, Primitive::Wakeup],
    operation: Some(Operation::new("switch", &[(Primitive::SyscallEntry, 4.0)])),
    sources: &[
        DefinitionSource::new("BYTE", "Pipe-based Context Switching", "UnixBench, src/context1.c"),
        DefinitionSource::new("CyberLife", "Pipe-based Context Switching", "CyberLife Labs notes, 2004"),
        DefinitionSource::new("perf", "bench sched pipe", "tools/perf/bench/sched-pipe.c of Linux")
            .near("perf sends 4 bytes, and states a mean that counts pre-emption"),
    ],
    parameters: &[Parameter::placement(&["same_cpu", "cross_cpu", "free"])],
    parties: Parties::Placed,
    prepare: |_, context| Ok(Trial::one(EchoKernel::<4>::start(context, pipes()?)?)),
    ..Benchmark::BLANK
};
