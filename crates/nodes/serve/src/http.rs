//! Requests and responses of HTTP/1.1 (RFC 9112), as far as a site needs them: one request a connection, a body of
//! known length, and nothing longer than its limit.

use std::io::{self, Read, Write};

use crate::wire::Wire;

/// Largest head of a request or response, bytes.
const LONGEST_HEAD: usize = 16 << 10;
/// Most lines of a head.
const MOST_HEADERS: usize = 64;

/// The head of a request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The target as sent: a path and perhaps a query.
    pub(crate) target: String,
    pub(crate) host: Option<String>,
    pub(crate) authorization: Option<String>,
    /// Length of the body, bytes.
    pub(crate) length: Option<u64>,
    /// What was read of the body already.
    pub(crate) rest: Vec<u8>,
}

/// Why a request is refused before it is understood: a status, and the reason.
pub(crate) type Malformed = (u16, &'static str);

/// Reads the head of a request; `None` where the client sent nothing or went away.
pub(crate) fn request(wire: &mut Wire) -> Result<Option<Request>, Malformed> {
    let mut bytes = Vec::new();
    loop {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        match head.parse(&bytes) {
            Ok(httparse::Status::Complete(length)) => {
                let request = understood(&head)?;
                return Ok(Some(Request { rest: bytes[length..].to_vec(), ..request }));
            }
            Ok(httparse::Status::Partial) if bytes.len() < LONGEST_HEAD => {}
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err((431, "the head of the request is too large"));
            }
            Err(_) => return Err((400, "this is no request of HTTP/1.1")),
        }
        match more(wire, &mut bytes, LONGEST_HEAD) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err((408, "the request came too slowly")),
            Err(_) => return Ok(None),
        }
    }
}

fn understood(head: &httparse::Request<'_, '_>) -> Result<Request, Malformed> {
    let all = |name: &str| {
        let named = head.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        named.map(|header| std::str::from_utf8(header.value).unwrap_or_default().trim().to_owned()).collect::<Vec<_>>()
    };
    let one = |name: &str| match all(name).as_slice() {
        [] => Ok(None),
        [value] => Ok(Some(value.clone())),
        _ => Err((400, "a line of the head is there twice")),
    };
    if one("transfer-encoding")?.is_some() {
        return Err((411, "the body has no length; send Content-Length"));
    }
    let length = one("content-length")?.map(|text| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| digits).ok_or((400, "Content-Length is no number"))
    });
    Ok(Request {
        method: head.method.unwrap_or_default().to_owned(),
        target: head.path.unwrap_or_default().to_owned(),
        host: one("host")?,
        authorization: one("authorization")?,
        length: length.transpose()?,
        rest: Vec::new(),
    })
}

/// Reads what has arrived, so that `bytes` grows to `most` at the utmost.
fn more(wire: &mut Wire, bytes: &mut Vec<u8>, most: usize) -> io::Result<usize> {
    let mut part = [0; 16 << 10];
    let room = part.len().min(most.saturating_sub(bytes.len()));
    let count = loop {
        match wire.read(&mut part[..room]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    bytes.extend_from_slice(&part[..count]);
    Ok(count)
}

/// Reads the body of a request whose length the caller has checked.
pub(crate) fn body(wire: &mut Wire, request: &mut Request) -> io::Result<Vec<u8>> {
    let length = usize::try_from(request.length.unwrap_or_default()).unwrap_or(usize::MAX);
    let mut bytes = std::mem::take(&mut request.rest);
    bytes.truncate(length);
    while bytes.len() < length {
        if more(wire, &mut bytes, length)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(bytes)
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
    /// Further lines of the head; their values hold no text of a client that is not encoded.
    pub(crate) headers: Vec<(&'static str, String)>,
}

/// Content of a page.
pub(crate) const HTML: &str = "text/html; charset=utf-8";
/// Content of a twin.
pub(crate) const JSON: &str = "application/json";

impl Response {
    pub(crate) fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, kind, body: body.into(), headers: Vec::new() }
    }

    /// An error as JSON.
    pub(crate) fn error(status: u16, reason: &str) -> Self {
        Self::new(status, JSON, serde_json::json!({ "error": reason }).to_string() + "\n")
    }

    /// Writes it, without its body if only the head was asked for.
    pub(crate) fn write(&self, wire: &mut Wire, head_only: bool) -> io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {} \r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-cache\r\n\
             X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        wire.write_all(head.as_bytes())?;
        if !head_only {
            wire.write_all(&self.body)?;
        }
        wire.flush()
    }
}

/// Sends a request and reads the status and body of its response, at most `most` bytes of it.
pub(crate) fn exchange(wire: &mut Wire, head: &str, body: &[u8], most: usize) -> io::Result<(u16, Vec<u8>)> {
    // A server that refuses may answer before it has read all.
    let sent = wire.write_all(head.as_bytes()).and_then(|()| wire.write_all(body)).and_then(|()| wire.flush());
    let mut bytes = Vec::new();
    let bad = |reason: &'static str| io::Error::new(io::ErrorKind::InvalidData, reason);
    let limit = LONGEST_HEAD + most;
    loop {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Response::new(&mut headers);
        if let httparse::Status::Complete(begin) = head.parse(&bytes).map_err(|_| bad("it does not speak HTTP/1.1"))? {
            let of = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case("content-length");
            let length =
                head.headers.iter().find(of).and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok());
            let length: usize = length.ok_or_else(|| bad("its answer has no length"))?;
            if length > most {
                return Err(bad("its answer is too long"));
            }
            if bytes.len() >= begin + length {
                return Ok((head.code.unwrap_or_default(), bytes[begin..begin + length].to_vec()));
            }
        }
        if bytes.len() >= limit {
            return Err(bad("its answer is too long"));
        }
        match more(wire, &mut bytes, limit) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error) => return Err(sent.err().unwrap_or(error)),
        }
    }
}
