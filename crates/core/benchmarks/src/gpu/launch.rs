//! Starting work on a device.

use gpu::{Launch, kernel};

use super::device::{API, BLANK, DEVICE, compare, host_seconds, open, reading};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.launch",
    title: "GPU launch",
    about: "Launches one thread that adds 1 to a word. With `round_trip` it waits for each; with `queue` it launches \
            1000 and then waits. Timed by the clock of the host. The word is compared with the number of launches.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "launch"),
    stresses: &[Primitive::GpuLaunch],
    usual: true,
    parameters: &[Parameter::choice("mode", &["round_trip", "queue"], &["round_trip", "queue"]), API, DEVICE],
    prepare,
    ..BLANK
};

/// Launches of a reading.
const ALONE: u64 = 100;
const QUEUED: u64 = 1000;

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let device = open(at, context)?;
    let queue = at.get("mode") == Some("queue");
    Ok(reading(&device, move |device| {
        let word = device.poisoned(8, 0x11)?;
        let launch = Launch { kernel: kernel("atomic"), blocks: 1, threads: 1, buffers: &[&word], scalars: &[1, 0] };
        // The first launch loads the kernel.
        device.together(&mut [launch.work(1)?])?;
        let (turns, each) = if queue { (1, QUEUED) } else { (ALONE, 1) };
        let mut times = Vec::new();
        for _ in 0..turns {
            let mut work = [launch.work(each as u32)?];
            times.push(host_seconds(device, &mut work)? / each as f64);
        }
        compare([word.words(0, 1)?[0] & 0xffff_ffff], [0x1111_1111 + 1 + turns * each])?;
        Ok(times)
    }))
}
