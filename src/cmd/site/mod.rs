//! `prony serve` and `prony push`: a site that has the runs of many nodes.

pub(crate) mod push;
pub(crate) mod serve;
mod views;

/// The variable that holds the token, where no file is named.
const TOKEN_VARIABLE: &str = "PRONY_SITE_TOKEN";
