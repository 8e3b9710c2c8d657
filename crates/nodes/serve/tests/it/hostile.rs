//! What hostile clients send is refused, costs little, and reaches nobody.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use channel::Token;
use serve::{Error, PushError, Pusher, Server};
use store::Access;

use crate::common::{Place, TOKEN, answer, get, pusher, send, settings, small};

/// A request that pushes these bytes with this digest.
fn put(digest: &str, token: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "PUT /push/{digest} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn digest(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn what_is_no_request_is_refused_in_one_line() {
    let place = Place::new();
    let server = place.serve();
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(500));
    let length = |lines: &str| {
        format!("PUT /push/x HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n{lines}\r\n")
    };
    for (sent, status) in [
        (long, 431),
        (many, 431),
        ("\u{16}\u{3}\u{1}\u{2}nonsense\r\n\r\n".to_owned(), 400),
        ("GET http://elsewhere/ HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), 400),
        ("GET /%ff HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), 400),
        ("DELETE /runs/1 HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), 405),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: other\r\n\r\n".to_owned(), 400),
        (length("Transfer-Encoding: chunked\r\n"), 411),
        (length("Content-Length: 5\r\nContent-Length: 6\r\n"), 400),
        (length("Content-Length: +5\r\n"), 400),
        (length("Content-Length: 99999999999\r\n"), 413),
        (length(""), 411),
    ] {
        let answer = send(&server, sent.as_bytes()).unwrap();
        assert_eq!(answer.status, status, "{}: {}", &sent[..60.min(sent.len())], answer.body);
        assert!(answer.body.len() < 300 && answer.body.contains("error"), "{}", answer.body);
    }
    assert_eq!(get(&server, "/").status, 200, "the site is still there");
}

#[test]
fn no_path_leads_out_of_the_site() {
    let place = Place::new();
    std::fs::write(place.path().join("secret"), "xyzzy").unwrap();
    let server = place.serve();
    for path in [
        "/../../../../etc/passwd",
        "/runs/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/runs/%2e%2e/secret",
        "/secret",
        "/runs/1%00.json",
        "//etc/passwd",
        "/machines/..%2fsecret",
        "/runs/-1",
        "/runs/99999999999999999999999",
        "/compare/1,2,3,4,5,6,7,8,9,10,11,12,13",
        "/history/a/b",
        "/history/a/'%20OR%201=1--",
        "/fleet/'%3B%20DROP%20TABLE%20runs",
    ] {
        let answer = get(&server, path);
        assert!(matches!(answer.status, 404 | 422), "{path}: {}", answer.status);
        assert!(!answer.body.contains("root:") && !answer.body.contains("xyzzy"), "{path}");
    }
}

#[test]
fn a_slow_client_keeps_nobody_out_and_its_part_is_not_stored() {
    let place = Place::new();
    let server = place.serve();
    // Fewer than there are threads send a head, a token, and then hardly anything.
    let body = store::pack_document(&small("slow", 1)).unwrap();
    let mut slow: Vec<TcpStream> = (0..30)
        .map(|at| {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            let whole = put(&digest(&body), TOKEN, &body);
            let part = if at % 2 == 0 { &whole[..20] } else { &whole[..whole.len() - 1] };
            stream.write_all(part).unwrap();
            stream
        })
        .collect();
    assert_eq!(pusher(&server).push(&small("quick", 1)).unwrap().run, 1);
    assert_eq!(get(&server, "/runs").status, 200);
    // A client that goes away in the middle of a run leaves nothing.
    drop(slow.split_off(2));
    assert_eq!(answer(&mut slow[0]).map(|answer| answer.status), Some(408), "a head has ten seconds");
    assert_eq!(place.summaries().len(), 1);
}

#[test]
fn only_those_with_the_token_push() {
    let place = Place::new();
    let server = place.serve();
    let body = store::pack_document(&small("a", 1)).unwrap();
    for token in ["", "wrong", "0123456789abcdef0124", "0123456789abcdef01234"] {
        let answer = send(&server, &put(&digest(&body), token, &body)).unwrap();
        assert_eq!(answer.status, 401, "{token}");
        assert!(answer.head.contains("WWW-Authenticate"), "{}", answer.head);
    }
    let other = Pusher::new(&server.url(), Token::parse("another-token-of-size").unwrap(), None).unwrap();
    assert!(matches!(other.push(&small("a", 1)), Err(PushError::Denied { .. })));
    assert!(place.summaries().is_empty());
    assert_eq!(send(&server, &put(&digest(&body), TOKEN, &body)).unwrap().status, 201);
}

#[test]
fn what_is_no_run_is_refused_with_its_reason() {
    let place = Place::new();
    let server = place.serve();
    let good = small("a", 1);
    let text = store::render_document(&good).unwrap();
    let changed = |from: &str, to: &str| text.replacen(from, to, 1).into_bytes();
    let named = |name: &str| {
        let mut run = good.clone();
        run.machine.name = name.to_owned();
        store::render_document(&run).unwrap().into_bytes()
    };
    let labelled = |label: &str| {
        let run = model::Run { label: Some(label.to_owned()), ..good.clone() };
        store::render_document(&run).unwrap().into_bytes()
    };
    for (what, body) in [
        ("empty", Vec::new()),
        ("no JSON", b"{".to_vec()),
        ("not UTF-8", vec![0xff; 100]),
        ("another document", b"{\"schema\":1}".to_vec()),
        ("a later schema", changed("\"schema\":1", "\"schema\":99")),
        ("damaged", store::pack_document(&good).unwrap().into_iter().rev().collect()),
        ("a label that selects", labelled("latest")),
        ("control characters", named("a\u{1b}[31m")),
        ("a long name", named(&"x".repeat(5000))),
    ] {
        let answer = send(&server, &put(&digest(&body), TOKEN, &body)).unwrap();
        assert_eq!(answer.status, 422, "{what}: {}", answer.body);
        assert!(answer.body.lines().count() == 1 && answer.body.len() < 600, "{what}: {}", answer.body);
    }
    let answer = send(&server, &put(&digest(b"other"), TOKEN, text.as_bytes())).unwrap();
    assert!(answer.status == 422 && answer.body.contains("SHA-256"), "{}", answer.body);
    assert!(place.summaries().is_empty());
}

#[test]
fn a_page_of_another_site_cannot_read_this_one() {
    let place = Place::new();
    let server = place.serve();
    let asked = |host: &str| send(&server, format!("GET /runs HTTP/1.1\r\n{host}\r\n").as_bytes()).unwrap().status;
    for host in ["Host: localhost:7117\r\n", "Host: 127.0.0.1\r\n", "Host: [::1]:80\r\n"] {
        assert_eq!(asked(host), 200, "{host}");
    }
    for host in ["", "Host: evil.example\r\n", "Host: localhost.evil.example:80\r\n", "Host: 192.0.2.1\r\n"] {
        assert_eq!(asked(host), 421, "{host}");
    }
}

#[test]
fn an_address_that_others_reach_needs_a_token_of_readers_too() {
    let place = Place::new();
    drop(store::open(&place.store(), Access::Write).unwrap());
    assert!(matches!(Server::start(settings(&place.store(), "0.0.0.0:0", None, false)).map(drop), Err(Error::Open(_))));
    assert!(matches!(
        Server::start(settings(&place.store(), "127.0.0.1:0", None, true)).map(drop),
        Err(Error::NoToken)
    ));
    let server = Server::start(settings(&place.store(), "0.0.0.0:0", Some(TOKEN), false)).unwrap();
    let asked = |line: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", server.address().port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(format!("GET /metrics HTTP/1.1\r\nHost: x\r\n{line}\r\n").as_bytes()).unwrap();
        answer(&mut stream).unwrap().status
    };
    assert_eq!(asked(""), 401);
    assert_eq!(asked(&format!("Authorization: Bearer {TOKEN}\r\n")), 200);
    // What a browser sends after it has asked its user: anyone, and the token.
    assert_eq!(asked("Authorization: Basic eDowMTIzNDU2Nzg5YWJjZGVmMDEyMw==\r\n"), 200);
    assert_eq!(asked("Authorization: Basic !!!\r\n"), 401);
}

#[test]
fn a_site_that_does_not_accept_runs_is_read_only() {
    let place = Place::new();
    drop(store::open(&place.store(), Access::Write).unwrap());
    let server = Server::start(settings(&place.store(), "127.0.0.1:0", Some(TOKEN), false)).unwrap();
    assert!(
        matches!(pusher(&server).push(&small("a", 1)), Err(PushError::Denied { reason, .. }) if reason.contains("--accept"))
    );
    let url = server.url();
    drop(server);
    let gone = Pusher::new(&url, Token::parse(TOKEN).unwrap(), None).unwrap();
    assert!(matches!(gone.push(&small("a", 1)), Err(PushError::Later { .. })));
}
