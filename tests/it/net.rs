//! The network commands through the program: runs are stored, compared, explained and reported like any other. A
//! laboratory leaves nothing behind, whatever ends it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Answer, Place};
use serde_json::Value;

/// A child that ends with its test.
pub(crate) struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program and returns its first lines.
pub(crate) fn start(place: &Place, arguments: &[&str], lines: usize) -> (Held, Vec<String>) {
    let mut command = place.prony();
    command.args(arguments).env("XDG_RUNTIME_DIR", place.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let said = output.lines().take(lines).map_while(Result::ok).collect();
    (Held(child), said)
}

/// A file with a token that only its owner can read.
pub(crate) fn token_file(place: &Place) -> String {
    let path = place.file("token");
    std::fs::write(&path, "fedcba9876543210fedcba9876543210\n").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    path.display().to_string()
}

/// Every user can read the arguments of a process, and a file that its owner lets them read.
#[test]
fn a_token_that_others_can_see_is_refused() {
    let place = Place::new();
    let token = token_file(&place);
    for words in [&["net", "serve"][..], &["net", "rr", "--server", "127.0.0.1:1"]] {
        let visible = [words, &["--token", "fedcba9876543210"]].concat();
        let said = place.ask(&visible).refused();
        assert!(said.contains("--token-file") && !said.contains("fedcba9876543210"), "{said}");
        std::fs::set_permissions(&token, PermissionsExt::from_mode(0o640)).unwrap();
        let said = place.ask(&[words, &["--token-file", &token]].concat()).refused();
        assert!(said.contains("other users have access") && said.contains("chmod 600"), "{said}");
    }
    let said = place.ask(&["net", "rr", "--server", "127.0.0.1:1"]).refused();
    assert!(said.contains("--token-file") && said.contains("PRONY_NET_TOKEN"), "{said}");
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
    command.args(["net", "lab", "run", "1", "--"]).args(program).env("XDG_RUNTIME_DIR", place.path());
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
    let gone = inside(&place, &["true"]).output().unwrap();
    assert!(String::from_utf8_lossy(&gone.stderr).contains("could not find a laboratory"), "{gone:?}");
}

pub(crate) fn results(json: &Value) -> Vec<&Value> {
    json["results"].as_array().unwrap().iter().collect()
}

#[test]
fn streams_are_kept_compared_explained_and_reported() {
    let place = Place::new();
    let stream = |label: &str, window: &str| {
        let records = ["net", "stream", "--size", "16B,256B,4KiB,64KiB,256KiB", "--max-samples", "8", "--format=json"];
        let answer =
            in_blocks(&place, &[&records[..], &["--window", window, "--label", label, "--placement", "free"]].concat());
        assert_eq!(answer.code, Some(0), "{}", answer.err);
        serde_json::from_str::<Value>(&answer.out).unwrap()
    };
    let wide = stream("wide", "auto");
    let count = |benchmark: &str| results(&wide).iter().filter(|result| result["benchmark"] == benchmark).count();
    assert_eq!((count("network.tcp_stream"), count("network.tcp_write_bandwidth")), (5, 1));
    assert_eq!((count("network.tcp_cpu_byte"), count("network.tcp_cpu_call")), (10, 10));
    let narrow = stream("narrow", "8KiB");
    let note = results(&narrow)[0]["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap());
    let windows: Vec<&str> = note.filter(|note| note.starts_with("window requested 8192 B, effective ")).collect();
    assert_eq!(windows.len(), 1, "said once, of all samples");
    let hint = place.ask(&["compare", "wide", "narrow"]);
    assert!(hint.code == Some(2) && hint.err.contains("--across window"), "{hint:?}");
    assert_eq!(place.ask(&["compare", "wide", "narrow", "--across", "window"]).code, Some(0));
    let why = place.ask(&["explain", "wide", "narrow"]);
    let said = why.out.split_whitespace().collect::<Vec<_>>().join(" ");
    // If noise hides the line through the times, the two parameters are refused, and explain nothing.
    let fitted = |run: &Value| {
        let found = results(run).into_iter().find(|result| result["benchmark"] == "network.tcp_write_bandwidth");
        let line = found.unwrap();
        let refused = line["outcome"]["not_measured"].as_str();
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
    assert!(page.contains("TCP stream by record, both axes logarithmic") && page.contains("<svg"));
    assert!(page.contains("1998, Fast Ethernet, full duplex"), "the plateaus of 1998 stand on the curve of today");
}

#[test]
fn a_server_is_reached_with_its_token_only() {
    let place = Place::new();
    let (_server, said) = start(&place, &["net", "serve", "--time-limit", "300s"], 2);
    let address = said[0].strip_prefix("listening on ").unwrap();
    let token = said[1].strip_prefix("token ").unwrap();
    let with = |token: &str, command_line: &[&str]| {
        let mut command = place.prony();
        command.env("PRONY_NET_TOKEN", token).arg("net").args(command_line);
        command.args(["--server", address, "--max-samples", "8", "--placement", "free", "--format=json"]);
        Answer::of(command.output().unwrap())
    };
    let wrong = with("0123456789abcdef0123456789abcdef", &["rr", "--size", "1B"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("token"), "{wrong:?}");
    let trips = with(token, &["rr", "--size", "1B", "--time-limit", "1m"]);
    assert_eq!(trips.code, Some(0), "{}", trips.err);
    let trips: Value = serde_json::from_str(&trips.out).unwrap();
    let benchmarks: Vec<&str> = results(&trips).iter().map(|result| result["benchmark"].as_str().unwrap()).collect();
    assert_eq!(benchmarks, ["network.tcp_latency", "network.udp_latency", "network.tcp_connect"]);
    let quantiles = results(&trips)[0]["samples"][0]["quantiles"].as_array().unwrap();
    assert_eq!(quantiles.len(), 5, "p50, p90, p99, p99.9 and the largest");
    let load = with(token, &["rr", "--kind", "tcp", "--size", "64B", "--load", "1,1", "--time-limit", "1m"]);
    assert_eq!(load.code, Some(0), "{}", load.err);
    let udp = with(token, &["udp", "--rate", "500,1000", "--block", "0.05s", "--time-limit", "1m"]);
    assert_eq!(udp.code, Some(0), "{}", udp.err);
    assert!(udp.out.contains("at the sender's queue") || udp.out.contains("lost none of"), "{}", udp.out);
    assert!(udp.out.contains("UDP loss"), "{udp:?}");
}

/// After the death of a server the results stay, and the command reports that it did not finish.
#[test]
fn a_server_that_dies_leaves_an_unfinished_run_that_can_be_resumed() {
    // A run that ends before the server dies, as one with two modes may, says nothing.
    testing::attempts(5, || {
        let place = Place::new();
        let token = token_file(&place);
        let serve = ["net", "serve", "--token-file", &token, "--time-limit", "300s"];
        let (server, said) = start(&place, &serve, 1);
        let address = said[0].strip_prefix("listening on ").unwrap();
        let rr = ["net", "rr", "--kind", "tcp", "--size", "1B", "--placement", "free", "--target", "0.01"];
        let to = ["--server", address, "--token-file", &token];
        let mut client = place.prony();
        client.args(rr).args(to).args(["--output", "cut.json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let client = client.spawn().unwrap();
        let document = || -> Value {
            let text = std::fs::read_to_string(place.file("cut.json")).unwrap_or_default();
            serde_json::from_str(&text).unwrap_or_default()
        };
        let samples = || document()["results"][0]["samples"].as_array().map_or(0, Vec::len);
        within(60, "it measures", || samples() >= 3);
        drop(server);
        let answer = Answer::of(client.wait_with_output().unwrap());
        testing::hold!(answer.code != Some(0), "{answer:?}");
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.err.contains("1 result could not be measured to the end"), "{}", answer.err);
        assert!(answer.err.contains("what was measured is kept; resume with: prony net rr"), "{}", answer.err);
        let kept = samples();
        assert!(kept >= 3 && document()["session"]["complete"] == false);
        // The same server again: the run continues.
        let (_server, _) = start(&place, &[&serve[..], &["--listen", address]].concat(), 1);
        let more = (2 * kept + 8).to_string();
        let resumed =
            place.ask(&[&rr[..], &to, &["--resume", "1", "--max-samples", &more, "--output", "cut.json"]].concat());
        assert_eq!(resumed.code, Some(0), "{resumed:?}");
        assert!(samples() > kept, "{kept}");
        Ok(())
    });
}

/// The answer of a run that ends within seconds, or within a minute where neighbours leave too little for it.
pub(crate) fn shortly(place: &Place, words: &[&str]) -> Answer {
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

/// Impossible jobs are refused before anything is started.
#[test]
fn jobs_that_cannot_be_done_are_refused_in_one_line() {
    let place = Place::new();
    let build = ["net", "build", "--senders", "3", "--receivers", "2", "--events", "50", "--max-samples", "8"];
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

/// The answer of a run in short blocks, or in longer ones where neighbours have the CPUs for all of a short one, and
/// nothing arrives in it.
pub(crate) fn in_blocks(place: &Place, words: &[&str]) -> Answer {
    for block in ["5", "20", "100"] {
        let answer = place.ask(&[words, &["--block", block]].concat());
        if !answer.out.contains("make them longer") {
            return answer;
        }
    }
    panic!("nothing arrived within blocks of a tenth of a second")
}
