//! Studies of a network: curves, event building and bursts, between processes and in the laboratory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use super::net::{Held, in_blocks, results, shortly, start, token_file};
use crate::common::Place;
use serde_json::Value;

#[test]
fn effects_are_studied_and_events_built_between_processes() {
    let place = Place::new();
    let study = in_blocks(&place, &["net", "study", "--time-limit", "60s", "--max-samples", "8", "--format=json"]);
    assert_eq!(study.code, Some(0), "{}", study.err);
    let study: Value = serde_json::from_str(&study.out).unwrap();
    let factors: Vec<&str> =
        results(&study).iter().map(|result| result["parameters"]["factor"].as_str().unwrap()).collect();
    assert_eq!(&factors[..4], ["window", "congestion", "nagle", "duplex"]);
    let build = shortly(
        &place,
        &[
            "net",
            "build",
            "--senders",
            "3",
            "--receivers",
            "2",
            "--events",
            "300",
            "--rate",
            "2000",
            "--random",
            "exponential,poisson",
            "--max-samples",
            "8",
            "--format=json",
            "--max-skew",
            "1000",
        ],
    );
    assert_eq!(build.code, Some(0), "{}", build.err);
    let build: Value = serde_json::from_str(&build.out).unwrap();
    assert_eq!(build["results"][0]["benchmark"], "network.events");
    let latencies = results(&build).iter().filter(|result| result["benchmark"] == "network.event_latency").count();
    assert_eq!(latencies, 3, "300 events have no p99.9");
    let titles: Vec<&str> = results(&build).iter().map(|result| result["title"].as_str().unwrap()).collect();
    assert!(titles.iter().all(|title| title.starts_with(|c: char| c.is_lowercase())), "{titles:?}");
    for lost in ["network.event_loss", "network.payload_loss"] {
        assert!(results(&build).iter().any(|result| result["benchmark"] == lost), "{lost} is no result: {build}");
    }
}

#[test]
fn the_published_design_is_recomputed_and_its_slip_named() {
    let place = Place::new();
    let plan = place.ask(&["net", "plan", "babar", "--events", "2000"]);
    let said = plan.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plan.code == Some(0) && said.contains("609.52 µs 80 µs disagrees"), "{plan:?}");
    assert!(said.contains("64 MB/s 64 MB/s agrees") && said.contains("million steps"), "{said}");
    // One sender has no bursts of all: no infinite time, and no 18446744073709551615 frames.
    let one = place.ask(&["net", "plan", "--senders", "1"]).fine().out;
    assert!(!one.contains("infinite") && !one.contains("18446744073709551615") && !one.contains("longest"), "{one}");
    for rate in ["nan", "inf", "-1"] {
        let said = place.ask(&["net", "plan", "--rate", rate]).refused();
        assert!(said.contains("--rate takes 0 to 1000000000"), "{said}");
        let said = place.ask(&["net", "udp", "--rate", rate]).refused();
        assert!(said.contains("datagrams per second"), "{said}");
    }
    let no = place.ask(&["net", "plan", "--link", "fast"]);
    assert!(no.code == Some(2) && no.err.contains("10mbit"), "{no:?}");
}

/// Nodes never start within zero time: such a job is no measurement of a network, and is refused with the skew that it
/// had.
#[test]
fn a_job_whose_nodes_start_too_far_apart_is_refused() {
    let place = Place::new();
    let build = ["net", "build", "--senders", "1", "--receivers", "1", "--events", "50", "--max-samples", "8"];
    let answer = place.ask(&[&build[..], &["--max-skew", "0", "--format=json"]].concat());
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let said = format!("{}{}", answer.out, answer.err);
    assert!(said.contains("s apart, above the 0 s of --max-skew") && !said.contains("other side"), "{answer:?}");
    let said = place.ask(&[&build[..], &["--max-skew", "5 parsecs"]].concat()).refused();
    assert!(said.contains("write one such as 50ms"), "{said}");
}

#[test]
fn curves_are_a_table_beside_the_plateaus_of_1998() {
    let place = Place::new();
    let stream = ["net", "stream", "--size", "1KiB,64KiB", "--max-samples", "8"];
    let said = in_blocks(&place, &stream).fine().out;
    for wanted in ["Throughput by record", "1998, Fast Ethernet, full duplex", "< 9", "1KiB", "64KiB"] {
        assert!(said.contains(wanted), "no '{wanted}' in {said}");
    }
    assert!(place.ask(&["show", "1"]).fine().out.contains("1998, Fast Ethernet, half duplex"));
    assert!(place.ask(&["net", "rr", "--server", "a:1,b:1"]).refused().contains("several servers"));
}

#[test]
fn several_servers_give_curves_to_and_from_each() {
    let place = Place::new();
    let token = token_file(&place);
    let serve = ["net", "serve", "--token-file", &token, "--time-limit", "300s"];
    let (_servers, said): (Vec<Held>, Vec<Vec<String>>) = (0..2).map(|_| start(&place, &serve, 1)).unzip();
    let addresses: Vec<&str> = said.iter().map(|said| said[0].strip_prefix("listening on ").unwrap()).collect();
    let both = addresses.join(",");
    let stream = ["net", "stream", "--server", &both, "--token-file", &token, "--direction", "up,down"];
    let few = ["--size", "4KiB,64KiB", "--max-samples", "8", "--placement", "free"];
    let said = in_blocks(&place, &[&stream[..], &few].concat()).fine().out;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for address in addresses {
        for way in ["up", "down"] {
            let curve = format!("Throughput by record: path {address}, unpinned, window auto, direction {way}");
            assert!(said.contains(&curve), "no '{curve}' in {said}");
        }
    }
}

/// Hosts on a common medium are another path than a switch, and have no ports whose drops could be counted.
#[test]
fn a_common_medium_is_an_parameter_and_has_no_switch() {
    if let Err(reason) = lab::means() {
        testing::skip!("{reason}");
        return;
    }
    let place = Place::new();
    let nodes = ["net", "build", "--lab", "--senders", "2", "--receivers", "1", "--event", "3000", "--events", "20"];
    let few = ["--link", "2500kbit", "--max-samples", "8", "--max-skew", "1000", "--format=json"];
    let events = |more: &[&str]| {
        let run = place.ask(&[&nodes[..], &few, more].concat()).fine().json();
        run["results"]
            .as_array()
            .unwrap()
            .iter()
            .find(|result| result["benchmark"] == "network.events")
            .unwrap()
            .clone()
    };
    let (half, full) = (events(&["--half-duplex"]), events(&[]));
    assert_eq!((half["parameters"]["duplex"].as_str(), full["parameters"]["duplex"].as_str()), (Some("half"), None));
    assert_eq!(full["parameters"]["path"], "lab_2500kbit");
    let drops = |result: &Value| result["notes"].to_string().contains("drops: no switch to watch");
    assert!(drops(&half) && !drops(&full), "{half:#}");
}

/// Eight frames of each of four senders exceed the port's buffer, whatever else the machine does: the link is slow, and
/// the relation is in bytes.
#[test]
fn a_sweep_of_bursts_stands_beside_the_relation() {
    if let Err(reason) = lab::means() {
        testing::skip!("{reason}");
        return;
    }
    let place = Place::new();
    let sweep = [
        "net",
        "build",
        "--lab",
        "--link",
        "10mbit",
        "--senders",
        "4",
        "--receivers",
        "1",
        "--buffer",
        "20000",
        "--burst-frames",
        "2,8",
        "--events",
        "4",
        "--max-samples",
        "8",
        "--max-skew",
        "1000",
    ];
    testing::attempts(3, || {
        let run = place.ask(&[&sweep[..], &["--format=json"]].concat()).fine().json();
        let results = run["results"].as_array().unwrap();
        let lost = |frames: &str| {
            let of = |result: &&Value| {
                result["benchmark"] == "network.burst_loss" && result["parameters"]["frames"] == frames
            };
            results.iter().find(of).unwrap().clone()
        };
        // max(0, N k - k - floor(BUF / 1514)) out of N k: 11 of 32.
        let long = crate::common::estimate(&lost("8")).and_then(|found| found["value"].as_f64()).unwrap_or(0.0);
        testing::hold!((0.2..0.45).contains(&long), "lost {long} of the long bursts");
        testing::hold!(lost("2")["outcome"]["below"].is_object(), "lost of the short bursts: {}", lost("2"));
        Ok(())
    });
    let said = place.ask(&["show", "1"]).fine().out;
    assert!(said.contains("Bursts into one port") && said.contains("by the relation"), "{said}");
}
