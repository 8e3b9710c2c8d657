//! What all benchmarks of accelerators share: the device of a sample, its defaults, and readings that watch its state.

use gpu::{Api, Device};

use crate::prelude::*;

/// The way to the device; `any` is the first that has one.
pub(super) const API: Parameter =
    Parameter { besides: |word| word == "any", ..Parameter::choice("api", &["cuda", "opencl"], &["any"]) };
/// Number of the device; `each` is all of them.
pub(super) const DEVICE: Parameter = Parameter::numbered("device", &["each"]);
/// Batches of a sample: drivers start once for all benchmarks of a sample.
pub(super) const BATCHES: BatchRule = BatchRule::single(5);
/// One process measures all benchmarks of a device, because a driver takes longer to start than they take.
pub(super) const SHARES: Option<crate::benchmark::Shares> =
    Some(crate::benchmark::Shares { key: "gpu", parameters: &["api", "device"] });

/// Threads of a group.
pub(super) const THREADS: u32 = 256;

/// What a benchmark of an accelerator does not say itself.
pub(super) const BLANK: Benchmark = Benchmark {
    class: Class::Accelerator,
    parameters: &[API, DEVICE],
    batch: BATCHES,
    shares: SHARES,
    ..Benchmark::BLANK
};

/// The device at a set of parameters.
pub(super) fn open(at: &Parameters, context: &mut BenchmarkContext) -> Result<Device, Unsupported> {
    let named = at.get("api").and_then(Api::named);
    let api = named.or_else(|| gpu::present().map(|(api, _)| api)).unwrap_or(Api::Cuda);
    let index: usize = at.get("device").and_then(|word| word.parse().ok()).unwrap_or(0);
    let key = format!("gpu:{}:{index}", at.get("api").unwrap_or("any"));
    let device = context.shared(&key, || Ok(Device::new(api.open(index)?)))?;
    if let Some(note) = &device.about().note {
        context.note(note.clone());
    }
    Ok((*device).clone())
}

/// A benchmark that reads its own values of a device.
pub(super) fn reading(
    device: &Device,
    read: impl FnMut(&Device) -> Result<Vec<f64>, BenchmarkError> + 'static,
) -> Trial {
    Trial::Readings(Box::new(DeviceReading { device: device.clone(), read: Box::new(read), throttled: None }))
}

type Read = Box<dyn FnMut(&Device) -> Result<Vec<f64>, BenchmarkError>>;

struct DeviceReading {
    device: Device,
    read: Read,
    throttled: Option<String>,
}

impl Readings for DeviceReading {
    fn read(&mut self) -> Result<Vec<f64>, BenchmarkError> {
        let values = (self.read)(&self.device)?;
        self.throttled = self.throttled.take().or_else(|| self.device.sense().throttled);
        Ok(values)
    }

    fn throttled(&mut self) -> Option<String> {
        self.throttled.take()
    }
}

/// Seconds of pieces of work at the same time, by the clock of the host.
pub(super) fn host_seconds(device: &Device, work: &mut [gpu::Work<'_>]) -> Result<f64, gpu::Error> {
    let began = kernels::clock::now();
    device.together(work)?;
    Ok((kernels::clock::now() - began).max(1) as f64 * 1e-9)
}

/// The number of turns that take about `wanted` seconds, from the time of a few.
pub(super) fn turns(
    wanted: f64,
    most: u64,
    mut time: impl FnMut(u64) -> Result<f64, gpu::Error>,
) -> Result<u64, gpu::Error> {
    let mut turns = 8;
    loop {
        let seconds = time(turns)?;
        if seconds >= 0.25 * wanted || turns >= most {
            return Ok(((turns as f64 * wanted / seconds.max(1e-9)) as u64).clamp(1, most));
        }
        turns = (8 * turns).min(most);
    }
}

/// Fails with the first difference between what the device computed and what the host expects.
pub(super) fn compare<T: PartialEq + std::fmt::Display>(
    found: impl IntoIterator<Item = T>,
    expected: impl IntoIterator<Item = T>,
) -> Result<(), BenchmarkError> {
    match found.into_iter().zip(expected).enumerate().find(|(_, (found, expected))| found != expected) {
        None => Ok(()),
        Some((at, (found, expected))) => Err(BenchmarkError::new(format!(
            "the device computed {found} at {at}, where the host computes {expected}: its results cannot be trusted"
        ))),
    }
}

/// The same of many bytes, which are compared as a whole first.
pub(super) fn compare_bytes(found: &[u8], expected: &[u8]) -> Result<(), BenchmarkError> {
    if found == expected { Ok(()) } else { compare(found.iter(), expected.iter()) }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the random word of a number.
pub(super) const fn random(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The double that the kernel `pattern` writes at a place.
pub(super) fn pattern(seed: u64, place: u64) -> f64 {
    (random(seed.wrapping_add(place)) >> 44) as f64
}
