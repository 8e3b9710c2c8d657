//! `prony serve`, `prony push` and `run --push` through the real program.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use crate::common::{Place, TINY};

const TOKEN: &str = "a-token-of-sixteen-characters";

/// A site that takes runs; it ends with the test.
struct Site {
    child: Child,
    url: String,
}

impl Site {
    /// Starts it on a port, with a store of its own in the test's folder.
    fn start(place: &Place, port: u16) -> Self {
        let mut command = place.prony();
        command.args(["serve", "--accept", "--listen", &format!("127.0.0.1:{port}"), "--store", "site.sqlite"]);
        let mut child = command.env("PRONY_SITE_TOKEN", TOKEN).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, url }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.url.trim_start_matches("http://").trim_end_matches('/')).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 "), "{path}: {text}");
        text.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port on which nothing listens.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn with_token(place: &Place, arguments: &[&str]) -> crate::common::Answer {
    crate::common::Answer::of(place.prony().env("PRONY_SITE_TOKEN", TOKEN).args(arguments).output().unwrap())
}

fn recorded(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/docs/{name}.json.zst"))
}

#[test]
fn a_run_waits_for_its_site_and_is_sent_later() {
    let place = Place::new();
    let files = ["alone", "loaded"].map(|name| recorded(name).display().to_string());
    place.ask(&["import", &files[0], &files[1]]).fine();
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}");
    let said = with_token(&place, &["push", &url, "alone", "2"]).refused();
    assert!(said.contains("2 runs in the queue") && said.contains(&format!("prony push {url}")), "{said}");
    let site = Site::start(&place, port);
    let sent = with_token(&place, &["push", &url, "--format", "json"]).fine().json();
    let told = |at: usize| (sent[at]["site_run"].as_u64(), sent[at]["outcome"].as_str());
    assert_eq!((told(0), told(1)), ((Some(1), Some("new")), (Some(2), Some("new"))));
    // Nothing waits any longer: the latest run is sent again, and is there once.
    let again = with_token(&place, &["push", &url, "--format", "json"]).fine().json();
    assert_eq!(again[0]["outcome"], "known");
    let file = with_token(&place, &["push", &url, &files[0], "--format", "json"]).fine().json();
    assert_eq!((file[0]["site_run"].as_u64(), file[0]["outcome"].as_str()), (Some(1), Some("known")));
    let listed = place.ask(&["runs", "--store", "site.sqlite", "--format", "json"]).fine().json();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    drop(site);
}

#[test]
fn a_page_has_the_numbers_of_the_command() {
    let place = Place::new();
    let files = ["alone", "loaded"].map(|name| recorded(name).display().to_string());
    place.ask(&["import", &files[0], &files[1], "--store", "site.sqlite"]).fine();
    let site = Site::start(&place, 0);
    let main = |page: &str| page.split("<main>").nth(1).unwrap().split("</main>").next().unwrap().to_owned();
    for (path, command) in [("/runs/1", vec!["show", "1"]), ("/compare/1,2", vec!["compare", "1", "2", "--all"])] {
        let printed = place.ask(&[&command[..], &["--store", "site.sqlite", "--format", "html"]].concat()).fine().out;
        let shown = site.get(path);
        // A page of the site has twins, and no data inside.
        let main_of = main(&printed);
        let printed = main_of.split("<section id=\"data\">").next().unwrap();
        assert!(main(&shown).starts_with(printed), "{path} differs from {command:?}");
    }
    assert!(site.get("/fleet/quick").contains("one machine"));
}

#[test]
fn a_measurement_is_pushed_when_it_ends() {
    let place = Place::new();
    let site = Site::start(&place, 0);
    let measured = with_token(&place, &[TINY, &["--push", &site.url]].concat()).fine();
    assert!(measured.err.contains("Pushed 1 run to http://127.0.0.1:"), "{measured:?}");
    let runs: serde_json::Value = serde_json::from_str(&site.get("/runs.json")).unwrap();
    let here = place.ask(&["runs", "--format", "json"]).fine().json();
    assert_eq!((runs.as_array().unwrap().len(), &runs[0]["id"]), (1, &here[0]["id"]));
}

#[test]
fn what_is_wrong_is_said_before_anything_is_done() {
    let place = Place::new();
    place.ask(&["import", &recorded("alone").display().to_string()]).fine();
    let refused = |arguments: &[&str]| place.ask(arguments).refused();
    assert!(refused(&["push", "http://localhost"]).contains("PRONY_SITE_TOKEN"));
    assert!(refused(&["serve", "--accept", "--listen", "127.0.0.1:0"]).contains("without a token"));
    assert!(refused(&["serve", "--listen", "0.0.0.0:0"]).contains("other hosts reach this address"));
    assert!(refused(&["serve", "--store", "nothing.sqlite"]).contains("nothing.sqlite"));
    assert!(refused(&["serve", "--certificate", "a", "--key", "b"]).contains("PEM"));
    assert!(refused(&[TINY, &["--push", "http://localhost"]].concat()).contains("PRONY_SITE_TOKEN"));
    assert!(with_token(&place, &["push", "ftp://localhost"]).refused().contains("https://host:7117"));
    assert!(with_token(&place, &["push", "http://127.0.0.1:1", "nothing"]).refused().contains("nothing"));
    assert!(place.ask(&["serve", "--listen", "127.0.0.1:0", "--time-limit", "100ms"]).fine().out.contains("http://"));
}
