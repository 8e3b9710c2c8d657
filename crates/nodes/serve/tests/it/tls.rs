//! TLS: the site proves who it is, and a client that does not trust it sends nothing.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::process::{Command, Stdio};

use channel::Token;
use serve::{Certificate, PushError, Pusher};

use crate::common::{Place, TOKEN, serve, small};

#[test]
fn runs_are_pushed_over_tls_to_a_trusted_site_alone() {
    let place = Place::new();
    let file = |name: &str| place.path().join(name);
    for name in ["good", "other"] {
        let subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
            .args(subject)
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-keyout")
            .arg(file(&format!("{name}.key")))
            .arg("-out")
            .arg(file(&format!("{name}.pem")))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if made.is_err() {
            testing::skip!("no certificates: openssl is not installed");
            return;
        }
        assert!(made.unwrap().success());
    }
    let certificate = Certificate { chain: file("good.pem"), key: file("good.key") };
    let server = serve(&place.store(), 0, Some(certificate));
    assert!(server.url().starts_with("https://"));
    let site = |host: &str, trusted: &str| {
        let url = format!("https://{host}:{}", server.address().port());
        Pusher::new(&url, Token::parse(TOKEN).unwrap(), Some(&file(trusted))).unwrap()
    };
    assert_eq!(site("localhost", "good.pem").push(&small("a", 1)).unwrap().run, 1);
    for (host, trusted) in [("localhost", "other.pem"), ("127.0.0.1", "good.pem")] {
        let error = site(host, trusted).push(&small("b", 1)).unwrap_err();
        assert!(matches!(error, PushError::Later { .. }) && error.to_string().contains("certificate"), "{error}");
    }
    // One that does not encrypt gets no answer that it would take for one.
    let plain =
        Pusher::new(&format!("http://localhost:{}", server.address().port()), Token::parse(TOKEN).unwrap(), None);
    assert!(matches!(plain.unwrap().push(&small("c", 1)), Err(PushError::Later { .. })));
    assert_eq!(place.summaries().len(), 1);
    let bad = Pusher::new("https://localhost", Token::parse(TOKEN).unwrap(), Some(&file("good.key"))).map(drop);
    assert!(bad.unwrap_err().to_string().contains("PEM"));
}
