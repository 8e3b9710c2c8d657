//! Pushes runs to a site.

use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use channel::Token;
use model::Run;
use rustls::ClientConfig;
use sha2::{Digest, Sha256};

use crate::http::exchange;
use crate::{Error, Receipt, tls};

/// Time for a connection, for each address of the host.
const CONNECT: Duration = Duration::from_secs(10);
/// Time for a run and its acknowledgement: the site may be busy with many others.
const PATIENCE: Duration = Duration::from_secs(120);
/// Longest acknowledgement, bytes.
const LONGEST: usize = 64 << 10;
/// The port of a site that names none.
const PORT: u16 = 7117;

/// Why a run was not pushed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PushError {
    /// The site could not be reached, or has no room now; the same run may be pushed later.
    #[error("could not reach {site}: {reason}")]
    Later {
        /// The site.
        site: String,
        /// The cause.
        reason: String,
    },
    /// The site takes no runs from this client.
    #[error("could not push to {site}: {reason}; check the token")]
    Denied {
        /// The site.
        site: String,
        /// The cause.
        reason: String,
    },
    /// The site refused this run.
    #[error("{site} refused run {id}: {reason}")]
    Refused {
        /// The site.
        site: String,
        /// The id of the run.
        id: String,
        /// The cause.
        reason: String,
    },
    /// The run is no document.
    #[error(transparent)]
    Document(Arc<store::Error>),
}

/// The way to one site.
pub struct Pusher {
    /// The address, as the queue names it.
    site: String,
    host: String,
    port: u16,
    /// What stands before the site's own paths.
    base: String,
    tls: Option<Arc<ClientConfig>>,
    token: Token,
}

impl Pusher {
    /// The way to the site at a URL such as `https://host:7117`. Certificates are trusted as `trusted` or else this
    /// system says.
    ///
    /// # Errors
    /// When the URL is none of HTTP, or the certificates cannot be read.
    pub fn new(url: &str, token: Token, trusted: Option<&Path>) -> Result<Self, Error> {
        let (encrypted, host, port, base) = parsed(url).ok_or_else(|| Error::Address(url.to_owned()))?;
        let tls = if encrypted { Some(tls::client(trusted)?) } else { None };
        let scheme = if encrypted { "https" } else { "http" };
        let pusher = Self { site: String::new(), host, port, base, tls, token };
        Ok(Self { site: format!("{scheme}://{}{}", pusher.authority(), pusher.base), ..pusher })
    }

    fn authority(&self) -> String {
        let is_address = self.host.contains(':');
        if is_address { format!("[{}]:{}", self.host, self.port) } else { format!("{}:{}", self.host, self.port) }
    }

    /// The address of the site, in one spelling.
    #[must_use]
    pub fn site(&self) -> &str {
        &self.site
    }

    /// Whether the token and the runs cross a network that others may read.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let local =
            self.host == "localhost" || self.host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
        self.tls.is_none() && !local
    }

    /// Pushes a run, and returns when the site has it on its disk. Doing so again changes nothing.
    ///
    /// # Errors
    /// When the site cannot be reached, or refuses.
    pub fn push(&self, run: &Run) -> Result<Receipt, PushError> {
        let bytes = store::pack_document(run).map_err(|error| PushError::Document(Arc::new(error)))?;
        let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let later = |reason: String| PushError::Later { site: self.site.clone(), reason };
        let (status, body) = self.put(&digest, &bytes).map_err(|error| later(error.to_string()))?;
        let site = self.site.clone();
        let reason = || {
            let said: Option<serde_json::Value> = serde_json::from_slice(&body).ok();
            let said = said.and_then(|said| Some(said["error"].as_str()?.to_owned()));
            said.unwrap_or_else(|| format!("its answer is status {status}"))
        };
        match status {
            200 | 201 => {
                let receipt: Option<Receipt> = serde_json::from_slice(&body).ok();
                receipt
                    .filter(|receipt| receipt.sha256 == digest)
                    .ok_or_else(|| later("it is no site of Prony".to_owned()))
            }
            401 | 403 => Err(PushError::Denied { site, reason: reason() }),
            409 | 411 | 413 | 422 => Err(PushError::Refused { site, id: run.id.clone(), reason: reason() }),
            _ => Err(later(reason())),
        }
    }

    fn put(&self, digest: &str, bytes: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
        let mut last = std::io::Error::new(std::io::ErrorKind::NotFound, "its name has no address");
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT) {
                Ok(stream) => {
                    let _ = stream.set_nodelay(true);
                    let wire = tls::connected(stream, self.tls.as_ref(), &self.host, PATIENCE);
                    let mut wire = wire.ok_or_else(|| std::io::Error::other("its name fits no certificate"))?;
                    let head = format!(
                        "PUT {}/push/{digest} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\
                         Content-Type: application/zstd\r\nConnection: close\r\n\r\n",
                        self.base,
                        self.authority(),
                        self.token.reveal(),
                        bytes.len()
                    );
                    return exchange(&mut wire, &head, bytes, LONGEST);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// Whether it is encrypted, host, port, and path of a URL.
fn parsed(url: &str) -> Option<(bool, String, u16, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let encrypted = match scheme.to_ascii_lowercase().as_str() {
        "https" => true,
        "http" => false,
        _ => return None,
    };
    let (place, base) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let fits = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#@\\".contains(&byte));
    let bracketed = place.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, port) = match bracketed {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let port = port.map_or(Some(PORT), |port| port.parse().ok())?;
    (!host.is_empty() && fits(host) && fits(base))
        .then(|| (encrypted, host.to_ascii_lowercase(), port, base.trim_end_matches('/').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_in_one_spelling() {
        let site = |url: &str| parsed(url).map(|(tls, host, port, base)| format!("{tls} {host} {port} {base}"));
        assert_eq!(site("https://Perf.example").as_deref(), Some("true perf.example 7117 "));
        assert_eq!(site("http://127.0.0.1:80/prony/").as_deref(), Some("false 127.0.0.1 80 /prony"));
        assert_eq!(site("http://[::1]:99").as_deref(), Some("false ::1 99 "));
        for wrong in [
            "",
            "host",
            "ftp://x",
            "http://",
            "http://a:b",
            "http://a b/",
            "http://u@h/",
            "http://h/?q",
            "http://h/\r\n",
        ] {
            assert_eq!(site(wrong), None, "{wrong}");
        }
    }
}
