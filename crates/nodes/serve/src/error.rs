//! Errors of this crate.

/// Why a site could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be listened on.
    #[error("could not listen on {address}: {reason}; name another address with --listen")]
    Listen {
        /// The address.
        address: String,
        /// The cause.
        reason: String,
    },
    /// An address that others reach, without encryption and without a token.
    #[error(
        "could not listen on {0}: other hosts reach this address; give --certificate and --key, or a token, or listen \
         on 127.0.0.1"
    )]
    Open(String),
    /// Pushing without a token.
    #[error("could not accept pushed runs without a token; give --token-file, or set PRONY_SITE_TOKEN")]
    NoToken,
    /// A certificate or key that cannot be used.
    #[error("could not use the certificate {file}: {reason}; name a PEM file")]
    Certificate {
        /// The file.
        file: String,
        /// The cause.
        reason: String,
    },
    /// An address that is no site's.
    #[error("could not use '{0}' as the address of a site; it is one such as https://host:7117")]
    Address(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}
