//! Who may do what, and which page answers a request.

use channel::{Token, equal_in_constant_time};
use report::Document;
use sha2::{Digest, Sha256};

use crate::Views;
use crate::address::Target;
use crate::frame;
use crate::http::{self, HTML, JSON, Request, Response};
use crate::intake::{Intake, Receipt, Refusal};
use crate::library::{Library, Turn};
use crate::pages::{self, Page};
use crate::wire::Wire;

/// Largest body of a pushed run, bytes; it is compressed.
const LARGEST: u64 = 64 << 20;

/// Whom the site lets in.
pub(crate) struct Door {
    /// The secret of those who push.
    pub(crate) token: Option<Token>,
    /// Whether readers need it too.
    pub(crate) readers_too: bool,
    /// Whether the site listens to this host alone.
    pub(crate) local: bool,
}

impl Door {
    /// Whether a request knows the token: as a bearer's, or as the password that a browser asks for.
    fn knows(&self, request: &Request) -> bool {
        let Some(token) = &self.token else { return false };
        let Some((scheme, given)) = request.authorization.as_deref().and_then(|text| text.split_once(' ')) else {
            return false;
        };
        let given = given.trim();
        let secret = match scheme.to_ascii_lowercase().as_str() {
            "bearer" => given.as_bytes().to_vec(),
            "basic" => password(given),
            _ => return false,
        };
        equal_in_constant_time(&secret, token.reveal().as_bytes())
    }

    /// Whether the request names this host, where only this host is listened to. A page of another site, whose name was
    /// made to point here, would else read everything.
    fn is_meant(&self, request: &Request) -> bool {
        let Some(host) = request.host.as_deref().filter(|_| self.local) else { return !self.local };
        let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        let name = name.map_or(host, |(name, _)| name).trim_matches(['[', ']']);
        name.eq_ignore_ascii_case("localhost")
            || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
    }
}

/// The password of basic authentication; empty where there is none.
fn password(encoded: &str) -> Vec<u8> {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.decode(encoded).unwrap_or_default();
    let colon = text.iter().position(|byte| *byte == b':');
    colon.map_or_else(Vec::new, |colon| text[colon + 1..].to_vec())
}

/// Everything that requests need.
pub(crate) struct Site {
    door: Door,
    pub(crate) library: Library,
    intake: Option<Intake>,
    pub(crate) views: Box<dyn Views>,
    /// Large documents are read one after the other, whoever sends them.
    reading: std::sync::Mutex<()>,
}

impl Site {
    pub(crate) fn new(door: Door, library: Library, intake: Option<Intake>, views: Box<dyn Views>) -> Self {
        Self { door, library, intake, views, reading: std::sync::Mutex::new(()) }
    }

    /// The response to a request; reads its body if it has a right to send one.
    pub(crate) fn answer(&self, request: &mut Request, wire: &mut Wire) -> Response {
        if !self.door.is_meant(request) {
            return Response::error(421, "this site answers to localhost alone");
        }
        let Some(target) = Target::parse(&request.target) else {
            return Response::error(400, "the address cannot be read");
        };
        if let [push, sha256] = target.parts.as_slice()
            && push == "push"
        {
            return self.pushed(request, wire, sha256);
        }
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Response::error(405, "pages are only read; runs are sent with PUT to /push/SHA256");
        }
        if self.door.readers_too && !self.door.knows(request) {
            return denied();
        }
        let shown = pages::page(&target, &self.library, self.views.as_ref(), Turn::Reader);
        match shown {
            Ok(Page::Document(document, links)) => drawn(200, &document, links, &target),
            Ok(Page::Elsewhere(place)) => {
                Response { headers: vec![("Location", place)], ..Response::new(303, JSON, "") }
            }
            Ok(Page::Raw(kind, body)) => Response::new(200, kind, body),
            Err(failed) => drawn(failed.status, &failed.document(), Vec::new(), &target),
        }
    }

    fn pushed(&self, request: &mut Request, wire: &mut Wire, sha256: &str) -> Response {
        let taken = self.take(request, wire, sha256);
        match taken {
            Ok(receipt) => {
                let status = if receipt.taken == crate::Taken::Known { 200 } else { 201 };
                Response::new(status, JSON, serde_json::to_vec(&receipt).unwrap_or_default())
            }
            Err((401, _)) => denied(),
            Err((status, reason)) => Response::error(status, &reason),
        }
    }

    fn take(&self, request: &mut Request, wire: &mut Wire, sha256: &str) -> Result<Receipt, Refusal> {
        let refuse = |status: u16, reason: &str| Err((status, reason.to_owned()));
        if request.method != "PUT" {
            return refuse(405, "a run is sent with PUT");
        }
        let Some(intake) = &self.intake else {
            return refuse(403, "this site is read-only; start it with --accept to push runs to it");
        };
        if !self.door.knows(request) {
            return refuse(401, "the token is wrong");
        }
        match request.length {
            None => return refuse(411, "the body has no length; send Content-Length"),
            Some(length) if length > LARGEST => return refuse(413, "a run has 64 MiB at most"),
            Some(_) => {}
        }
        let Ok(body) = http::body(wire, request) else {
            return refuse(408, "the run came too slowly, or not to its end; push it again");
        };
        let digest: String = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
        if !digest.eq_ignore_ascii_case(sha256) {
            return refuse(422, "the run was damaged on its way: its SHA-256 is another one; push it again");
        }
        let run = {
            let _one = self.reading.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            store::parse_document(&body, "the pushed run").map_err(|error| (422, error.to_string()))?
        };
        drop(body);
        acceptable(&run)?;
        let id = run.id.clone();
        let (run, taken) = intake.take(run)?;
        Ok(Receipt { run, id, sha256: digest, taken })
    }
}

/// Longest name in a pushed run, characters.
const LONGEST_NAME: usize = 200;

/// Refuses what the store would take and a reader would stumble over.
fn acceptable(run: &model::Run) -> Result<(), Refusal> {
    run.label.as_deref().map_or(Ok(()), store::check_label).map_err(|error| (422, error.to_string()))?;
    let names = [("id", &run.id), ("machine's name", &run.machine.name), ("suite", &run.plan.suite)];
    for (what, name) in names {
        if name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
            return Err((422, format!("the {what} of the run is too long, or holds control characters")));
        }
    }
    if run.id.is_empty() {
        return Err((422, "the run has no id".to_owned()));
    }
    Ok(())
}

fn denied() -> Response {
    let challenge = ("WWW-Authenticate", "Basic realm=\"Prony\", charset=\"UTF-8\"".to_owned());
    Response { headers: vec![challenge], ..Response::error(401, "the token is missing or wrong") }
}

/// A document as the page or its twin.
fn drawn(status: u16, document: &Document, links: Vec<(String, String)>, target: &Target) -> Response {
    let made = if target.twin {
        let mut text = Vec::new();
        report::by_name("json", 0, false).and_then(|json| json.render(document, &mut text)).map(|()| (JSON, text))
    } else {
        frame::page(document, links, target).map(|text| (HTML, text.into_bytes()))
    };
    match made {
        Ok((kind, body)) => Response::new(status, kind, body),
        Err(error) => Response::error(500, &error.to_string()),
    }
}
