//! `prony serve`: the runs of the store as pages for a browser.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use serve::{Certificate, Server, ServerSettings};
use store::Access;

use super::TOKEN_VARIABLE;
use super::views::SiteViews;
use crate::cli::CommonOptions;
use crate::cmd::net::shared_token;
use crate::cmd::session::watch_for_signals;
use crate::value_parsers::{endpoint, seconds};
use crate::{ExitStatus, output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony serve                    for browsers of this host
  prony serve --listen 0.0.0.0:7117 --certificate site.pem --key site.key
  prony serve --accept --token-file token    takes the runs of prony push")]
pub(crate) struct Arguments {
    /// Listen on this address; others than this host need TLS or a token
    #[arg(long, value_name = "ADDRESS[:PORT]", default_value = "127.0.0.1:7117", value_parser = endpoint)]
    listen: SocketAddr,
    /// Take runs that other nodes push with the token [default: read-only]
    #[arg(long)]
    accept: bool,
    /// Read the shared token from this file, readable by you alone [default: PRONY_SITE_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Read the TLS certificate from this PEM file
    #[arg(long, help_heading = "TLS", value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// Read the key of the certificate from this PEM file
    #[arg(long, help_heading = "TLS", value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Stop after this time, such as 90s or 5m [default: when you stop it]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    time_limit: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let place = run_finder::place(common)?;
    let accept = if arguments.accept { Some(store::open(&place, Access::Write)?) } else { None };
    // A store that cannot be read is an error now and not of each page.
    if let Err(error) = store::open(&place, Access::Read) {
        let missing = run_finder::missing(common).filter(|_| error.is_missing());
        let hint = |missing| anyhow::anyhow!("{missing}; `prony run` measures this machine and keeps the run");
        return Err(missing.map_or_else(|| error.into(), hint));
    }
    let token = shared_token(arguments.token_file.as_deref(), TOKEN_VARIABLE)?;
    let certificate = arguments.certificate.clone().zip(arguments.key.clone());
    let stopper = watch_for_signals()?;
    let server = Server::start(ServerSettings {
        address: arguments.listen,
        token,
        certificate: certificate.map(|(chain, key)| Certificate { chain, key }),
        open: Box::new(move || store::open(&place, Access::Read)),
        accept,
        views: Box::new(SiteViews),
    })?;
    if !arguments.listen.ip().is_loopback() && arguments.certificate.is_none() {
        output::remark("warning: without --certificate, the token and all pages cross the network unencrypted");
    }
    let url = server.url();
    if common.format() == "terminal" {
        output::write(format!("listening on {url}\n").as_bytes())?;
    } else {
        let data = serde_json::json!({ "address": server.address().to_string(), "url": url });
        output::done("Listening".to_owned(), Vec::new(), ("address url", &data), common)?;
    }
    let began = std::time::Instant::now();
    while !stopper.asked() && arguments.time_limit.is_none_or(|limit| began.elapsed().as_secs_f64() < limit) {
        kernels::timer::sleep(Duration::from_millis(100));
    }
    Ok(ExitStatus::Fine)
}
