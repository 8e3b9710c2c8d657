//! Facts about the devices of this machine, and the limits that follow from them.

use model::{Fact, FactValue, Primitive};

use crate::cuda::{self, CardAttributes};
use crate::nvml::{CORE, Card, MEMORY};
use crate::{Api, opencl};

const ALL: &[Primitive] = &[
    Primitive::GpuArithmetic,
    Primitive::GpuMatrix,
    Primitive::GpuMemory,
    Primitive::GpuLatency,
    Primitive::GpuAtomic,
    Primitive::GpuLink,
    Primitive::GpuLaunch,
];
const CLOCKED: &[Primitive] =
    &[Primitive::GpuArithmetic, Primitive::GpuMatrix, Primitive::GpuLatency, Primitive::GpuAtomic];
const STORED: &[Primitive] = &[Primitive::GpuMemory];
const LINKED: &[Primitive] = &[Primitive::GpuLink];

/// Facts of one device so far.
struct Facts {
    prefix: String,
    source: &'static str,
    facts: Vec<Fact>,
}

impl Facts {
    fn add(&mut self, name: &str, value: FactValue, unit: Option<&str>, affects: &[Primitive]) {
        let name = format!("{}.{name}", self.prefix);
        let (unit, source) = (unit.map(str::to_owned), self.source.to_owned());
        self.facts.push(Fact { name, value, unit, source, affects: affects.to_vec() });
    }

    fn text(&mut self, name: &str, value: impl Into<String>, affects: &[Primitive]) {
        self.add(name, FactValue::Text(value.into()), None, affects);
    }

    fn number(&mut self, name: &str, value: Option<f64>, unit: &str, affects: &[Primitive]) {
        let value = value.map_or_else(|| FactValue::Unknown("the driver does not tell".to_owned()), FactValue::Number);
        self.add(name, value, Some(unit), affects);
    }

    fn truth(&mut self, name: &str, value: Option<bool>, affects: &[Primitive]) {
        let value = value.map_or_else(|| FactValue::Unknown("the driver does not tell".to_owned()), FactValue::Truth);
        self.add(name, value, None, affects);
    }
}

/// Facts about all devices, as `gpu.0.model` of NVIDIA's driver and `opencl.0.model` of OpenCL. Empty without devices.
/// It loads the drivers, so only runs that measure devices ask for them.
#[must_use]
pub fn facts(api: Api) -> Vec<Fact> {
    let count = api.count().unwrap_or(0);
    let of = |index| match api {
        Api::Cuda => of_card(index),
        Api::OpenCl => of_opencl(index),
    };
    (0..count).flat_map(of).collect()
}

fn of_opencl(index: usize) -> Vec<Fact> {
    let mut facts = Facts { prefix: format!("opencl.{index}"), source: "OpenCL", facts: Vec::new() };
    if let Ok(device) = opencl::about(index) {
        facts.text("model", device.name, ALL);
        facts.text("driver", device.driver, ALL);
        facts.number("units", Some(f64::from(device.units)), "1", ALL);
        facts.number("memory", Some(device.memory as f64), "B", &[]);
        facts.number("cache", Some(device.cache as f64), "B", STORED);
    }
    facts.facts
}

fn of_card(index: usize) -> Vec<Fact> {
    let Ok(card) = cuda::attributes(index) else { return Vec::new() };
    let mut facts = Facts { prefix: format!("gpu.{index}"), source: "libcuda.so.1", facts: Vec::new() };
    facts.text("model", card.name.as_str(), ALL);
    facts.text("cuda", card.version.as_str(), &[]);
    facts.text("capability", format!("{}.{}", card.capability / 10, card.capability % 10), ALL);
    facts.number("units", Some(card.units), "1", ALL);
    facts.number("memory", Some(card.memory), "B", &[]);
    facts.number("cache", Some(card.cache), "B", STORED);
    facts.number("memory_bus", Some(card.bus_bits), "bits", STORED);
    let node = std::fs::read_to_string(format!("/sys/bus/pci/devices/{}/numa_node", card.bus.to_lowercase()));
    let node = node.ok().and_then(|text| text.trim().parse().ok()).filter(|node| *node >= 0.0);
    facts.source = "/sys/bus/pci/devices";
    facts.number("node", node, "1", LINKED);
    facts.source = "libnvidia-ml.so.1";
    match Card::at(&card.bus) {
        Some(state) => of_state(&mut facts, &card, &state),
        None => facts.add("driver", FactValue::Unknown("there is no libnvidia-ml.so.1".to_owned()), None, ALL),
    }
    facts.facts
}

fn of_state(facts: &mut Facts, card: &CardAttributes, state: &Card) {
    facts.text("driver", state.driver().unwrap_or_default(), ALL);
    let [clock, most, asked] = state.clocks(CORE);
    facts.number("clock", clock, "Hz", &[]);
    facts.number("clock_max", most, "Hz", CLOCKED);
    facts.number("clock_asked", asked, "Hz", CLOCKED);
    let [memory_clock, memory_most, _] = state.clocks(MEMORY);
    facts.number("memory_clock", memory_clock, "Hz", &[]);
    facts.number("memory_clock_max", memory_most, "Hz", STORED);
    let [power, limit] = state.power();
    facts.number("power", power, "W", &[]);
    facts.number("power_limit", limit, "W", ALL);
    facts.number("temperature", state.temperature(), "C", &[]);
    let [ecc, slices] = state.modes();
    facts.truth("ecc", ecc, STORED);
    facts.truth("slices", slices, ALL);
    let [corrected, uncorrected] = state.errors();
    facts.number("ecc_corrected", corrected, "1", STORED);
    facts.number("ecc_uncorrected", uncorrected, "1", STORED);
    facts.number("remapped_rows", state.remapped(), "1", STORED);
    let [generation, width, generation_max, width_max] = state.link();
    facts.number("link_generation", generation, "1", LINKED);
    facts.number("link_width", width, "1", LINKED);
    facts.number("link_generation_max", generation_max, "1", LINKED);
    facts.number("link_width_max", width_max, "1", LINKED);
    facts.truth("persistence", state.persistence(), &[Primitive::GpuLaunch]);
    facts.source = "computed from the facts above";
    facts.number("limit.memory", memory_most.map(|hertz| memory_limit(hertz, card.bus_bits)), "B/s", &[]);
    let lanes = lanes(card.capability);
    for (name, lanes) in ["limit.fma32", "limit.fma64"].into_iter().zip(lanes) {
        facts.number(name, most.map(|hertz| 2.0 * lanes * card.units * hertz), "1/s", &[]);
    }
    facts.number("limit.link", generation_max.zip(width_max).map(|(g, w)| link_limit(g, w)), "B/s", &[]);
}

/// Bytes a second of a memory bus that transfers at both edges of its clock.
fn memory_limit(hertz: f64, bits: f64) -> f64 {
    2.0 * hertz * bits / 8.0
}

/// Bytes a second of a PCIe link in one direction: 2.5 and 5 GT/s with 8 of 10 bits, then 8 GT/s with 128 of 130 bits,
/// which doubles in each generation.
fn link_limit(generation: f64, width: f64) -> f64 {
    let lane =
        if generation < 3.0 { 0.25e9 * generation } else { 8e9 / 8.0 * 128.0 / 130.0 * 2f64.powf(generation - 3.0) };
    lane * width
}

/// Multiply-adds of 32 and 64 bits that a multiprocessor does in a clock cycle (CUDA C++ Programming Guide, throughput
/// of native arithmetic instructions).
fn lanes(capability: u32) -> [f64; 2] {
    match capability {
        70 | 72 | 75 => [64.0, if capability == 75 { 2.0 } else { 32.0 }],
        80 => [64.0, 32.0],
        90 | 100 => [128.0, 64.0],
        _ => [128.0, 2.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_the_data_sheets() {
        // H100 SXM: HBM3 at 2619 MHz on 5120 bits; 132 multiprocessors at 1980 MHz; PCIe 5.0 x16.
        assert!((memory_limit(2.619e9, 5120.0) / 3.352e12 - 1.0).abs() < 1e-3);
        let [single, double] = lanes(90).map(|lanes| 2.0 * lanes * 132.0 * 1.98e9);
        assert!((single / 66.9e12 - 1.0).abs() < 1e-2 && (double / 33.5e12 - 1.0).abs() < 1e-2);
        assert!(
            (link_limit(5.0, 16.0) / 63.0e9 - 1.0).abs() < 1e-2 && (link_limit(3.0, 16.0) / 15.75e9 - 1.0).abs() < 1e-2
        );
    }
}
