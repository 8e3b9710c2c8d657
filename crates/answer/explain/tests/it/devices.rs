//! Causes of differences between accelerators, planted with decoys.

#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use explain::{Explanation, explain};
use model::{Class, Fact, FactValue, Metric, Primitive as P, Run, Unit};
use stats::simulate::{generator, standard_normal};

use crate::common::{from_values, run, time};
use crate::measured::fact;

/// Results of a card at its parameters, each slower by the factor of its primitive, and its facts.
fn card(id: &str, seed: u64, slower: &[(P, f64)], facts: &[Fact]) -> Run {
    let rate = |counted| Metric::higher(Unit::PerSecond, counted);
    let bytes = |which| Metric::higher(Unit::BytesPerSecond, which);
    let all = [
        ("gpu.triad", bytes("bytes read + written"), P::GpuMemory, 2.91e12),
        ("gpu.read", bytes("bytes read"), P::GpuMemory, 3.06e12),
        ("gpu.load_latency", time("load"), P::GpuLatency, 210.8e-9),
        ("gpu.fma", rate("floating-point operations"), P::GpuArithmetic, 66.0e12),
        ("gpu.matrix", rate("operations"), P::GpuMatrix, 643e12),
        ("gpu.atomic", rate("additions"), P::GpuAtomic, 1.37e9),
        ("gpu.host_copy", bytes("bytes copied"), P::GpuLink, 55.3e9),
        ("gpu.launch", time("launch"), P::GpuLaunch, 9.2e-6),
    ];
    let rng = &mut generator(seed);
    let results = all.map(|(benchmark, metric, primitive, value)| {
        let factor = slower.iter().find(|(which, _)| *which == primitive).map_or(1.0, |(_, factor)| *factor);
        let value = if metric.unit.is_rate() { value / factor } else { value * factor };
        let values: Vec<f64> = (0..20).map(|_| value * (0.003 * standard_normal(rng)).exp()).collect();
        let mut made = from_values(benchmark, "api=cuda,device=0", metric, Class::Accelerator, &values);
        made.stresses = vec![primitive];
        made
    });
    let mut made = run(id, id, id, results.to_vec());
    made.machine.facts = facts.to_vec();
    made
}

fn explained(a: &Run, b: &Run) -> Explanation {
    explain(a, b, &crate::options()).unwrap()
}

fn number(name: &str, value: f64) -> Fact {
    fact(name, FactValue::Number(value), &[])
}

/// The title of the only cause that is named.
fn named(slower: &[(P, f64)], a: &[Fact], b: &[Fact]) -> Vec<String> {
    let found = explained(&card("a", 1, &[], a), &card("b", 2, slower, b));
    assert!(found.difference, "{:#?}", found.sentences());
    found.sentences()
}

#[test]
fn a_narrow_link_a_power_limit_and_error_correction_are_told_apart() {
    // Temperature and memory in use differ too, and are no causes.
    let facts = |width: f64, power: f64, ecc: bool, temperature: f64| {
        vec![
            number("gpu.0.link_width", width),
            number("gpu.0.power_limit", power),
            fact("gpu.0.ecc", FactValue::Truth(ecc), &[]),
            number("gpu.0.temperature", temperature),
        ]
    };
    let whole = facts(16.0, 700.0, false, 40.0);
    let cases = [
        ([(P::GpuLink, 2.0)], facts(8.0, 700.0, false, 61.0), "PCIe link of the GPU"),
        ([(P::GpuMatrix, 1.3)], facts(16.0, 450.0, false, 61.0), "power limit of the GPU"),
        ([(P::GpuMemory, 1.1)], facts(16.0, 700.0, true, 61.0), "error correction of the GPU's memory"),
    ];
    for (slower, facts, title) in &cases {
        let said = named(slower, &whole, facts).join(" ");
        assert!(said.contains(title) && !said.contains("temperature"), "{said}");
        for (.., other) in cases.iter().filter(|(.., other)| other != title) {
            assert!(!said.contains(other), "{said}");
        }
    }
}

#[test]
fn a_fact_that_touches_what_did_not_change_is_no_cause() {
    let [a, b] = [16.0, 8.0].map(|width| vec![number("gpu.0.link_width", width)]);
    let said = named(&[(P::GpuMemory, 1.3)], &a, &b).join(" ");
    assert!(!said.contains("PCIe link of the GPU is") && !said.contains("because of PCIe"), "{said}");
}
