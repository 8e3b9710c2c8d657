//! Accelerators through the program: measured on the CPU through OpenCL, absent, and chosen by their energy.
#![allow(clippy::unwrap_used, reason = "tests and their helpers")]

use serde_json::{Value, json};

use crate::common::{Place, estimate};

#[test]
fn devices_are_measured_with_their_facts_in_one_process_a_sample() {
    let place = Place::new();
    let named = ["gpu.triad:array=64KiB", "gpu.launch:mode=queue", "gpu.matrix:type=bf16"];
    let mut arguments = vec!["run", "--time-limit", "6s", "--output", "a.json", "--format=json"];
    named.iter().for_each(|name| arguments.extend(["--benchmark", name]));
    let answer = place.ask(&arguments);
    let run: Value = serde_json::from_slice(&std::fs::read(place.file("a.json")).unwrap()).unwrap();
    let results = run["results"].as_array().unwrap();
    let of = |id: &str| results.iter().find(|result| result["benchmark"] == id).unwrap();
    let said = of("gpu.triad").to_string();
    if said.contains("there is no NVIDIA driver") {
        testing::skip!("neither NVIDIA's driver nor OpenCL; Debian: pocl-opencl-icd, ocl-icd-libopencl1");
        return;
    }
    assert!(estimate(of("gpu.triad")).is_some() && estimate(of("gpu.launch")).is_some(), "{answer:?}: {said}");
    let facts = run["machine"]["facts"].as_array().unwrap();
    let model = facts.iter().any(|fact| ["gpu.0.model", "opencl.0.model"].iter().any(|name| fact["name"] == *name));
    assert!(model, "no fact names the device");
    assert_eq!(of("gpu.triad")["parameters"]["device"], "0");
    if of("gpu.triad")["parameters"]["api"] == "opencl" {
        assert!(of("gpu.matrix").to_string().contains("OpenCL C has no instructions for matrix_bf16"));
    }
}

#[test]
fn a_run_of_the_cpu_alone_has_no_facts_of_devices() {
    let place = Place::with_a_run();
    let run = std::fs::read_to_string(place.file("a.json")).unwrap();
    assert!(!run.contains("gpu.0.") && !run.contains("opencl.0."));
}

/// A document of a card that was made for this test: a rate of events and the energy of one.
fn made(place: &Place, name: &str, events: f64, joules: f64) {
    let mut run: Value = serde_json::from_slice(&std::fs::read(place.file("a.json")).unwrap()).unwrap();
    run["id"] = json!(format!("made-{name}"));
    run["label"] = json!(name);
    run["origin"] = json!({ "tool": "made for a test", "document": "rates of GPU.md's class of card" });
    run["machine"]["name"] = json!(name);
    run["plan"]["entries"] = json!([]);
    let result = |id: &str, unit: &str, per: &str, better: &str, value: f64| {
        json!({
            "benchmark": id, "parameters": { "api": "cuda", "device": "0" }, "title": id,
            "metric": { "unit": unit, "per": per, "better": better }, "class": "accelerator",
            "stresses": ["gpu_arithmetic"], "ops": 1, "batches": 5, "samples": [],
            "outcome": { "measured": {
                "value": value, "low": 0.99 * value, "high": 1.01 * value, "level": 0.95, "samples": 10, "batches": 50,
                "method": "order_statistic",
            } },
        })
    };
    run["results"] = json!([
        result("gpu.reconstruct", "per_second", "events", "higher", events),
        result("gpu.energy", "joules", "event", "lower", joules),
    ]);
    std::fs::write(place.file(&format!("{name}.json")), run.to_string()).unwrap();
}

#[test]
fn the_card_with_more_events_for_a_joule_is_chosen_where_energy_counts() {
    let place = Place::with_a_run();
    // The first is 1.5 times faster, and the second needs a third of its energy for an event.
    made(&place, "large", 3e6, 240e-6);
    made(&place, "frugal", 2e6, 80e-6);
    let offers = |energy: &str| {
        format!(
            "currency = \"EUR\"\n[demand]\nrate = \"20e6 events/s\"\nyears = \"5 years\"\nenergy_price = \"{energy}\"\n\
             [[demand.application]]\nname = \"gpu.reconstruct\"\n\
             [[offer]]\nname = \"large\"\nprice = \"15000 EUR\"\nruns = \"large.json\"\n\
             [[offer]]\nname = \"frugal\"\nprice = \"12000 EUR\"\nruns = \"frugal.json\"\n"
        )
    };
    let chosen = |energy: &str| {
        std::fs::write(place.file("offers.toml"), offers(energy)).unwrap();
        place.ask(&["choose", "offers.toml", "--format=json"]).fine().json()
    };
    let [free, dear] = ["0 EUR/kWh", "0.60 EUR/kWh"].map(chosen);
    let plan = |found: &Value| found["answer"]["plan"]["plan"][0]["offer"].clone();
    assert_eq!((plan(&free), plan(&dear)), (json!("large"), json!("frugal")), "{dear:#}");
}
