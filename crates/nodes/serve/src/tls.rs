//! Certificates of a site, and whom its clients trust.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::Error;
use crate::wire::{Timed, Wire};

/// Files of a site's certificate chain and of its private key, both PEM.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The chain, the site's own certificate first.
    pub chain: PathBuf,
    /// The key.
    pub key: PathBuf,
}

/// Where systems keep the authorities that they trust; `SSL_CERT_FILE` names another file.
const SYSTEM: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

fn refuse(file: &Path, reason: impl ToString) -> Error {
    Error::Certificate { file: file.display().to_string(), reason: reason.to_string() }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = CertificateDer::pem_file_iter(file).map_err(|error| refuse(file, error))?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| refuse(file, error))?;
    if found.is_empty() { Err(refuse(file, "it holds no certificate")) } else { Ok(found) }
}

/// The server's side of TLS 1.2 and 1.3.
pub(crate) fn server(files: &Certificate) -> Result<Arc<ServerConfig>, Error> {
    let chain = certificates(&files.chain)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| refuse(&files.key, error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key));
    config.map(Arc::new).map_err(|error| refuse(&files.chain, error))
}

/// The client's side, which trusts the certificates of this file, or else those of the system.
pub(crate) fn client(trusted: Option<&Path>) -> Result<Arc<ClientConfig>, Error> {
    let system = || {
        let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
        named.or_else(|| SYSTEM.iter().map(PathBuf::from).find(|path| path.is_file()))
    };
    let file = trusted.map(Path::to_owned).or_else(system).unwrap_or_else(|| SYSTEM[0].into());
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(certificates(&file)?);
    if added == 0 {
        return Err(refuse(&file, "none of its certificates can be used"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map(|config| config.with_root_certificates(roots).with_no_client_auth());
    config.map(Arc::new).map_err(|error| refuse(&file, error))
}

/// The server's end of a connection; the handshake is part of its first read.
pub(crate) fn accepted(stream: TcpStream, tls: Option<&Arc<ServerConfig>>, time: Duration) -> Option<Wire> {
    let timed = Timed::new(stream, time);
    let Some(tls) = tls else { return Some(Wire::Plain(timed)) };
    let connection = ServerConnection::new(Arc::clone(tls)).ok()?;
    Some(Wire::Server(Box::new(StreamOwned::new(connection, timed))))
}

/// The client's end of a connection.
pub(crate) fn connected(
    stream: TcpStream,
    tls: Option<&Arc<ClientConfig>>,
    host: &str,
    time: Duration,
) -> Option<Wire> {
    let timed = Timed::new(stream, time);
    let Some(tls) = tls else { return Some(Wire::Plain(timed)) };
    let name = ServerName::try_from(host.to_owned()).ok()?;
    let connection = ClientConnection::new(Arc::clone(tls), name).ok()?;
    Some(Wire::Client(Box::new(StreamOwned::new(connection, timed))))
}
