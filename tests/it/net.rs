//! The network commands through the program: runs are stored, compared, explained and reported like any other; a
//! laboratory leaves nothing behind, whatever ends it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Answer, Place};
use serde_json::Value;

/// A child that ends with its test.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program and returns its first lines.
fn start(place: &Place, arguments: &[&str], lines: usize) -> (Held, Vec<String>) {
    let mut command = place.prony();
    command.args(arguments).env("XDG_RUNTIME_DIR", place.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let said = output.lines().take(lines).map_while(Result::ok).collect();
    (Held(child), said)
}

fn lab(place: &Place) -> Option<Held> {
    let (mut held, said) = start(place, &["net", "lab", "up", "--nodes", "2", "--time-limit", "60s"], 1);
    if said.is_empty() {
        let mut reason = String::new();
        let _ = std::io::Read::read_to_string(&mut held.0.stderr.take().unwrap(), &mut reason);
        testing::skip!("{}", reason.trim());
        return None;
    }
    Some(held)
}

fn inside(place: &Place, program: &[&str]) -> Command {
    let mut command = place.prony();
    command.args(["net", "lab", "run", "--inside", "1", "--"]).args(program).env("XDG_RUNTIME_DIR", place.path());
    command
}

/// Whether a process with this argument runs.
fn runs(argument: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|process| {
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == argument.as_bytes())
    })
}

fn within(seconds: u64, what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(seconds), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_laboratory_leaves_nothing_running_in_it() {
    let place = Place::new();
    let Some(mut owner) = lab(&place) else { return };
    let code =
        inside(&place, &["sh", "-c", "ip -o addr show dev eth0 | grep -q 198.18.0.2 && exit 7"]).status().unwrap();
    assert_eq!(code.code(), Some(7), "the program ran inside, and its status is what counts");
    let absent = inside(&place, &["no-such-program-here"]).output().unwrap();
    assert_eq!(absent.status.code(), Some(2), "{absent:?}");
    // Children of the program run in the laboratory too, and some are created while the first are being killed.
    let own = format!("61{}", std::process::id());
    let script = format!("for i in $(seq 400); do sleep {own} & done; wait");
    let mut running = Held(inside(&place, &["sh", "-c", &script]).stderr(Stdio::null()).spawn().unwrap());
    within(60, "the program did not start", || runs(&own));
    owner.0.kill().unwrap();
    owner.0.wait().unwrap();
    within(60, "a program outlives its laboratory", || !runs(&own));
    assert_eq!(running.0.wait().unwrap().code(), Some(2));
    let mut list = place.prony();
    let list = list.args(["net", "lab", "list"]).env("XDG_RUNTIME_DIR", place.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&list.stdout).starts_with("0 laboratories"), "{list:?}");
}

#[test]
fn a_laboratory_is_taken_down_on_request() {
    let place = Place::new();
    let Some(mut owner) = lab(&place) else { return };
    let down = place.prony().args(["net", "lab", "down"]).env("XDG_RUNTIME_DIR", place.path()).output().unwrap();
    assert!(down.status.success(), "{down:?}");
    within(60, "the owner stays", || owner.0.try_wait().unwrap().is_some());
    let gone = inside(&place, &["true"]).output().unwrap();
    assert!(String::from_utf8_lossy(&gone.stderr).contains("hold one with: prony net lab up"), "{gone:?}");
}

fn figures(json: &Value) -> Vec<&Value> {
    json["figures"].as_array().unwrap().iter().collect()
}

#[test]
fn streams_are_kept_compared_explained_and_reported() {
    let place = Place::new();
    let stream = |label: &str, window: &str| {
        let records = ["net", "stream", "--record", "16B,256B,4KiB,64KiB,256KiB", "--max-launches", "8", "--json"];
        let answer =
            in_blocks(&place, &[&records[..], &["--window", window, "--label", label, "--placement", "free"]].concat());
        assert_eq!(answer.code, Some(0), "{}", answer.err);
        serde_json::from_str::<Value>(&answer.out).unwrap()
    };
    let wide = stream("wide", "auto");
    let count = |probe: &str| figures(&wide).iter().filter(|figure| figure["probe"] == probe).count();
    assert_eq!((count("network.tcp_stream"), count("network.tcp_write_bandwidth")), (5, 1));
    assert_eq!((count("network.tcp_cpu_byte"), count("network.tcp_cpu_call")), (10, 10));
    let narrow = stream("narrow", "8KiB");
    let note = figures(&narrow)[0]["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap());
    let windows: Vec<&str> = note.filter(|note| note.starts_with("window requested 8192 B, effective ")).collect();
    assert_eq!(windows.len(), 1, "said once, of all launches");
    let hint = place.ask(&["compare", "wide", "narrow"]);
    assert!(hint.code == Some(2) && hint.err.contains("--across window"), "{hint:?}");
    assert_eq!(place.ask(&["compare", "wide", "narrow", "--across", "window"]).code, Some(0));
    let why = place.ask(&["explain", "wide", "narrow"]);
    let said = why.out.split_whitespace().collect::<Vec<_>>().join(" ");
    // Where noise leaves no line through the times, the two parameters are refused, and nothing is explained by them.
    let fitted = |run: &Value| {
        let found = figures(run).into_iter().find(|figure| figure["probe"] == "network.tcp_write_bandwidth");
        let line = found.unwrap();
        let refused = line["outcome"]["unfit"].as_str();
        assert!(refused.is_none_or(|reason| reason.contains("see the curve")), "{line}");
        refused.is_none()
    };
    let lines = fitted(&wide) && fitted(&narrow);
    assert!(why.code == Some(0) && !said.is_empty(), "{why:?}");
    assert!(
        !lines || said.contains("window auto against 8KiB") && said.contains("time of a write = overhead + bytes"),
        "{why:?}"
    );
    let report = place.ask(&["report", "wide", "narrow", "--output", "page.html"]);
    assert_eq!(report.code, Some(0), "{report:?}");
    let page = std::fs::read_to_string(place.file("page.html")).unwrap();
    assert!(page.contains("TCP stream at every record that was measured") && page.contains("<svg"));
}

#[test]
fn a_server_is_reached_with_its_token_only() {
    let place = Place::new();
    let (_server, said) = start(&place, &["net", "serve", "--time-limit", "300s"], 2);
    let address = said[0].strip_prefix("listening on ").unwrap();
    let token = said[1].strip_prefix("token ").unwrap();
    let with = |token: &str, verb: &[&str]| {
        let mut all = vec!["net"];
        all.extend(verb);
        all.extend(["--server", address, "--token", token, "--max-launches", "8", "--placement", "free", "--json"]);
        place.ask(&all)
    };
    let wrong = with("0123456789abcdef0123456789abcdef", &["rr", "--size", "1B"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("token"), "{wrong:?}");
    let trips = with(token, &["rr", "--size", "1B", "--time-limit", "1m"]);
    assert_eq!(trips.code, Some(0), "{}", trips.err);
    let trips: Value = serde_json::from_str(&trips.out).unwrap();
    let probes: Vec<&str> = figures(&trips).iter().map(|figure| figure["probe"].as_str().unwrap()).collect();
    assert_eq!(probes, ["network.tcp_latency", "network.udp_latency", "network.tcp_connect"]);
    let quantiles = figures(&trips)[0]["launches"][0]["quantiles"].as_array().unwrap();
    assert_eq!(quantiles.len(), 5, "p50, p90, p99, p99.9 and the largest");
    let load = with(token, &["load", "--time-limit", "1m"]);
    assert_eq!(load.code, Some(0), "{}", load.err);
    let udp = with(token, &["udp", "--offered", "500,1000", "--seconds", "0.05", "--time-limit", "1m"]);
    assert_eq!(udp.code, Some(0), "{}", udp.err);
    assert!(udp.out.contains("refused by the sender's queue") || udp.out.contains("lost none of"), "{}", udp.out);
    assert!(udp.out.contains("UDP loss"), "{udp:?}");
}

/// A server that dies leaves what was measured, and a command that did not do what was asked.
#[test]
fn a_server_that_dies_leaves_an_unfinished_run_that_can_be_resumed() {
    let place = Place::new();
    let token = "fedcba9876543210fedcba9876543210";
    let serve = ["net", "serve", "--token", token, "--time-limit", "300s"];
    let (server, said) = start(&place, &serve, 1);
    let address = said[0].strip_prefix("listening on ").unwrap();
    let rr = ["net", "rr", "--kind", "tcp", "--size", "1B", "--placement", "free", "--target", "0.01"];
    let to = ["--server", address, "--token", token];
    let mut client = place.prony();
    client.args(rr).args(to).args(["--output", "cut.json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let client = client.spawn().unwrap();
    let document = || -> Value {
        let text = std::fs::read_to_string(place.file("cut.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    let launches = || document()["figures"][0]["launches"].as_array().map_or(0, Vec::len);
    within(60, "it measures", || launches() >= 3);
    drop(server);
    let answer = Answer::of(client.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("1 figure could not be measured to the end"), "{}", answer.err);
    assert!(answer.err.contains("what was measured is kept; resume with: prony net rr"), "{}", answer.err);
    let kept = launches();
    assert!(kept >= 3 && document()["session"]["complete"] == false);
    // The same server again: the run goes on.
    let port = address.rsplit(':').next().unwrap();
    let (_server, _) = start(&place, &[&serve[..], &["--port", port]].concat(), 1);
    let more = (2 * kept + 8).to_string();
    let resumed =
        place.ask(&[&rr[..], &to, &["--resume", "1", "--max-launches", &more, "--output", "cut.json"]].concat());
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(launches() > kept, "{kept}");
}

/// The answer of a run that ends within seconds, or within a minute where neighbours leave too little for it.
fn shortly(place: &Place, words: &[&str]) -> Answer {
    let mut errors = Vec::new();
    for limit in ["3s", "60s", "60s"] {
        let answer = place.ask(&[words, &["--time-limit", limit]].concat());
        if !answer.err.contains("nothing could be measured") {
            return answer;
        }
        errors.push(answer.err);
    }
    panic!("neighbours left too little time three times: {errors:?}")
}

/// The answer of a run in short blocks, or in longer ones where neighbours have the CPUs for all of a short one, and
/// nothing arrives in it.
fn in_blocks(place: &Place, words: &[&str]) -> Answer {
    for block in ["5", "20", "100"] {
        let answer = place.ask(&[words, &["--block", block]].concat());
        if !answer.out.contains("make them longer") {
            return answer;
        }
    }
    panic!("nothing arrived within blocks of a tenth of a second")
}

#[test]
fn effects_are_studied_and_events_built_between_processes() {
    let place = Place::new();
    let study = in_blocks(&place, &["net", "study", "--time-limit", "60s", "--max-launches", "8", "--json"]);
    assert_eq!(study.code, Some(0), "{}", study.err);
    let study: Value = serde_json::from_str(&study.out).unwrap();
    let factors: Vec<&str> = figures(&study).iter().map(|figure| figure["point"]["factor"].as_str().unwrap()).collect();
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
            "--exponential",
            "--poisson",
            "--max-launches",
            "8",
            "--json",
            "--max-skew",
            "1000",
        ],
    );
    assert_eq!(build.code, Some(0), "{}", build.err);
    let build: Value = serde_json::from_str(&build.out).unwrap();
    assert_eq!(build["figures"][0]["probe"], "network.events");
    let latencies = figures(&build).iter().filter(|figure| figure["probe"] == "network.event_latency").count();
    assert_eq!(latencies, 4);
    let titles: Vec<&str> = figures(&build).iter().map(|figure| figure["title"].as_str().unwrap()).collect();
    assert!(titles.iter().all(|title| title.starts_with(|c: char| c.is_lowercase())), "{titles:?}");
    for lost in ["network.event_loss", "network.payload_loss"] {
        assert!(figures(&build).iter().any(|figure| figure["probe"] == lost), "{lost} is no figure: {build}");
    }
}

#[test]
fn the_published_design_is_recomputed_and_its_slip_named() {
    let place = Place::new();
    let plan = place.ask(&["net", "plan", "--design", "babar", "--events", "2000"]);
    let said = plan.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plan.code == Some(0) && said.contains("609.52 µs 80 µs does not follow"), "{plan:?}");
    assert!(said.contains("64 MB/s 64 MB/s agrees") && said.contains("million steps"), "{said}");
    // One sender has no bursts of all: no infinite time, and no 18446744073709551615 frames.
    let one = place.ask(&["net", "plan", "--senders", "1"]).fine().out;
    assert!(!one.contains("infinite") && !one.contains("18446744073709551615") && !one.contains("longest"), "{one}");
    for rate in ["nan", "inf", "-1"] {
        let said = place.ask(&["net", "plan", "--events-per-second", rate]).refused();
        assert!(said.contains("0 to 1000000000 events"), "{said}");
        let said = place.ask(&["net", "udp", "--offered", rate]).refused();
        assert!(said.contains("datagrams a second"), "{said}");
    }
    let no = place.ask(&["net", "plan", "--link", "fast"]);
    assert!(no.code == Some(2) && no.err.contains("10mbit"), "{no:?}");
}

/// Nodes never start within zero time: such a job is no measurement of a network, and is refused with the skew that it
/// had.
#[test]
fn a_job_whose_nodes_start_too_far_apart_is_refused() {
    let place = Place::new();
    let build = ["net", "build", "--senders", "1", "--receivers", "1", "--events", "50", "--max-launches", "8"];
    let answer = place.ask(&[&build[..], &["--max-skew", "0", "--json"]].concat());
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let said = format!("{}{}", answer.out, answer.err);
    assert!(said.contains("s apart, above the 0 s of --max-skew") && !said.contains("other side"), "{answer:?}");
    let said = place.ask(&[&build[..], &["--max-skew", "5 parsecs"]].concat()).refused();
    assert!(said.contains("write one such as 50ms"), "{said}");
}

/// The rate of two receivers is not that of one: a job in which a receiver ends unasked is none that counts.
#[test]
fn a_receiver_that_ends_unasked_spoils_its_job() {
    let place = Place::new();
    let agent = format!("{} agent", env!("CARGO_BIN_EXE_prony"));
    let ends = format!("timeout -s KILL 3 {agent}");
    let build =
        ["net", "build", "--senders", "2", "--receivers", "2", "--events", "3000", "--events-per-second", "200"];
    let agents = ["--agent", &agent, "--agent", &agent, "--agent", &agent, "--agent", &ends];
    let more = ["--max-launches", "8", "--max-skew", "5s", "--time-limit", "60s", "--json"];
    let answer = place.ask(&[&build[..], &agents, &more].concat());
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.out.contains("could not continue without node 3"), "{answer:?}");
}

/// What no job can do is refused before anything is started.
#[test]
fn jobs_that_cannot_be_done_are_refused_in_one_line() {
    let place = Place::new();
    let build = ["net", "build", "--senders", "3", "--receivers", "2", "--events", "50", "--max-launches", "8"];
    let pushed = ["--lose", "1", "--transport", "tcp", "--pattern", "burst"];
    let cases: [(&[&str], &str); 6] = [
        (&["--lose", "2"], "there is no receiver 2 to lose"),
        (&["--lose", "4294967295"], "there is no receiver 4294967295 to lose"),
        (&["--lose", "0", "--receivers", "1"], "another one is left"),
        (&pushed, "only be lost with credits"),
        (&["--event", "0"], "could not share 0 B among 3 senders"),
        (&["--event", "2"], "could not share 2 B among 3 senders"),
    ];
    for (options, wanted) in cases {
        let alone = build.to_vec();
        let alone = if options.contains(&"--receivers") { [&alone[..4], &alone[6..]].concat() } else { alone };
        let said = place.ask(&[&alone[..], options].concat()).refused();
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn curves_are_a_table_beside_the_plateaus_of_1998() {
    let place = Place::new();
    let stream = ["net", "stream", "--record", "1KiB,64KiB", "--max-launches", "8"];
    let said = in_blocks(&place, &stream).fine().out;
    for wanted in ["Throughput by record", "1998, Fast Ethernet, full duplex", "< 9", "1KiB", "64KiB"] {
        assert!(said.contains(wanted), "no '{wanted}' in {said}");
    }
    assert!(place.ask(&["show", "1"]).fine().out.contains("1998, Fast Ethernet, half duplex"));
    assert!(place.ask(&["net", "rr", "--server", "a:1,b:1", "--token", "x"]).refused().contains("several servers"));
}

#[test]
fn several_servers_give_curves_to_and_from_each() {
    let place = Place::new();
    let token = "fedcba9876543210fedcba9876543210";
    let serve = ["net", "serve", "--token", token, "--time-limit", "300s"];
    let (_servers, said): (Vec<Held>, Vec<Vec<String>>) = (0..2).map(|_| start(&place, &serve, 1)).unzip();
    let addresses: Vec<&str> = said.iter().map(|said| said[0].strip_prefix("listening on ").unwrap()).collect();
    let both = addresses.join(",");
    let stream = ["net", "stream", "--server", &both, "--token", token, "--direction", "up,down"];
    let few = ["--record", "4KiB,64KiB", "--max-launches", "8", "--placement", "free"];
    let said = in_blocks(&place, &[&stream[..], &few].concat()).fine().out;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for address in addresses {
        for way in ["up", "down"] {
            let curve = format!("Throughput by record: path {address}, placement free, window auto, direction {way}");
            assert!(said.contains(&curve), "no '{curve}' in {said}");
        }
    }
}

/// Hosts on a common medium are another path than a switch, and have no ports whose drops could be counted.
#[test]
fn a_common_medium_is_an_axis_and_has_no_switch() {
    if let Err(reason) = fleet::lab::means() {
        testing::skip!("{reason}");
        return;
    }
    let place = Place::new();
    let nodes = ["net", "build", "--lab", "--senders", "2", "--receivers", "1", "--event", "3000", "--events", "20"];
    let few = ["--link", "2500kbit", "--max-launches", "8", "--max-skew", "1000", "--json"];
    let events = |more: &[&str]| {
        let run = place.ask(&[&nodes[..], &few, more].concat()).fine().json();
        run["figures"].as_array().unwrap().iter().find(|figure| figure["probe"] == "network.events").unwrap().clone()
    };
    let (half, full) = (events(&["--half-duplex"]), events(&[]));
    assert_eq!((half["point"]["duplex"].as_str(), full["point"]["duplex"].as_str()), (Some("half"), None));
    assert_eq!(full["point"]["path"], "lab_2500kbit");
    let drops = |figure: &Value| figure["notes"].to_string().contains("drops: not seen at the switch");
    assert!(drops(&half) && !drops(&full), "{half:#}");
}

/// Eight frames of each of four senders are more than the port's buffer holds, whatever else the machine does: the link
/// is slow, and the relation is in bytes.
#[test]
fn a_sweep_of_bursts_stands_beside_the_relation() {
    if let Err(reason) = fleet::lab::means() {
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
        "--max-launches",
        "8",
        "--max-skew",
        "1000",
    ];
    testing::attempts(3, || {
        let run = place.ask(&[&sweep[..], &["--json"]].concat()).fine().json();
        let figures = run["figures"].as_array().unwrap();
        let lost = |frames: &str| {
            let of = |figure: &&Value| figure["probe"] == "network.burst_loss" && figure["point"]["frames"] == frames;
            figures.iter().find(of).unwrap().clone()
        };
        // max(0, N k - k - floor(BUF / 1514)) of N k: 11 of 32.
        let long = crate::common::estimate(&lost("8")).and_then(|found| found["value"].as_f64()).unwrap_or(0.0);
        testing::hold!((0.2..0.45).contains(&long), "lost {long} of the long bursts");
        testing::hold!(lost("2")["outcome"]["below"].is_object(), "lost of the short bursts: {}", lost("2"));
        Ok(())
    });
    let said = place.ask(&["show", "1"]).fine().out;
    assert!(said.contains("Bursts into one port") && said.contains("by the relation"), "{said}");
}
