//! The steps of a network with their limits, ways to send, tails, and predictions, through the program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use super::net::{in_blocks, results};
use crate::common::Place;
use serde_json::Value;

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_step_from_memory_to_events_has_its_cost_and_its_limit() {
    let place = Place::new();
    let waterfall = ["net", "waterfall", "--streams", "2", "--placement", "free", "--max-samples", "8"];
    let run: Value = in_blocks(&place, &[&waterfall[..], &["--format=json"]].concat()).fine().json();
    let streams: Vec<&Value> =
        results(&run).into_iter().filter(|result| result["benchmark"] == "network.tcp_stream").collect();
    assert_eq!(streams.len(), 5, "{run}");
    for stream in streams {
        let notes = stream["notes"].to_string();
        assert!(notes.contains("\"limit: "), "{stream}");
    }
    assert!(results(&run).iter().any(|result| result["benchmark"] == "network.memory_copy"));
    let said = words(&place.ask(&["show", "1"]).fine().out);
    for wanted in ["From memory to event building", "2 TCP streams", "events, each filtered", "Slowest step: "] {
        assert!(said.contains(wanted), "no '{wanted}' in {said}");
    }
}

#[test]
fn each_way_to_send_is_measured_or_says_why_not() {
    let place = Place::new();
    let stream = ["net", "stream", "--api", "all", "--size", "16KiB", "--placement", "free", "--max-samples", "8"];
    let run: Value = in_blocks(&place, &[&stream[..], &["--format=json"]].concat()).fine().json();
    let streams: Vec<&Value> =
        results(&run).into_iter().filter(|result| result["benchmark"] == "network.tcp_stream").collect();
    assert_eq!(streams.len(), 8, "{run}");
    for stream in &streams {
        let lacking = stream["outcome"]["not_measured"].as_str();
        assert!(lacking.is_none_or(|reason| reason.starts_with("could not measure it here: ")), "{stream}");
    }
    assert!(words(&place.ask(&["show", "1"]).fine().out).contains("Ways to send"));
    let said = place.ask(&["net", "stream", "--api", "telepathy"]).refused();
    assert!(said.contains("uring_multishot"), "{said}");
    let said = place.ask(&["net", "stream", "--api", "rdma"]).refused();
    assert!(words(&said).contains("not measured here, because"), "{said}");
}

#[test]
fn tails_are_swept_over_load_and_senders_and_predicted() {
    let place = Place::new();
    let build = |more: &[&str]| {
        let few = ["--receivers", "1", "--max-samples", "8", "--max-skew", "1000", "--format=json"];
        place.ask(&[&["net", "build"], more, &few].concat()).fine().json()
    };
    let tails = build(&[
        "--senders",
        "2",
        "--pattern",
        "burst,staggered",
        "--fragment",
        "3000",
        "--rate",
        "200,400",
        "--events",
        "100",
    ]);
    assert!(tails.to_string().contains("slowest source: sender "), "{tails}");
    let said = words(&place.ask(&["show", "1"]).fine().out);
    for wanted in ["Tails against the offered load", "pattern burst", "pattern staggered", "p99.9"] {
        assert!(said.contains(wanted), "no '{wanted}' in {said}");
    }
    build(&["--senders", "2,3,4", "--fragment", "3000", "--events", "60"]);
    assert!(words(&place.ask(&["show", "2"]).fine().out).contains("Tails against the number of senders"));
    let said = words(&place.ask(&["net", "predict", "2", "--senders", "8,16", "--link", "100mbit"]).fine().out);
    assert!(said.contains("measured") && said.contains("at 90% predicted"), "{said}");
    let none = place.ask(&["net", "predict", "1"]).refused();
    assert!(none.contains("--fragment 8000"), "{none}");
}
