//! `prony net serve`: the other end of network tests.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use channel::Token;
use clap::Args;
use network::serve::{ListenSettings, ServeLimits, Server};

use super::super::session::watch_for_signals;
use super::options::TokenSource;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;
use crate::value_parsers::{endpoint, seconds};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony net serve --listen 192.0.2.1:7070                       prints the token
  PRONY_NET_TOKEN=... prony net stream --server 192.0.2.1:7070  the other end")]
pub(crate) struct Arguments {
    /// Listen on this address [default port: a free one]
    #[arg(long, value_name = "ADDRESS[:PORT]", default_value = "127.0.0.1", value_parser = endpoint)]
    listen: SocketAddr,
    #[command(flatten)]
    token: TokenSource,
    /// Limit bytes per second, for each test and direction [default: no limit]
    #[arg(long, value_name = "RATE")]
    rate: Option<u64>,
    /// Stop after this time, such as 90s or 5m [default: when you stop it]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    time_limit: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let known = arguments.token.find()?;
    let is_new = known.is_none();
    let token = known.map_or_else(Token::draw, Ok)?;
    let limits = ServeLimits { bytes_per_second: arguments.rate, ..ServeLimits::default() };
    let (address, port) = (arguments.listen.ip(), arguments.listen.port());
    let stopper = watch_for_signals()?;
    let server = Server::start(ListenSettings { address, port, token, limits })?;
    let (address, token) = (server.address().to_string(), is_new.then(|| server.token().reveal()));
    if common.format() == "terminal" {
        let token = token.map(|token| format!("token {token}\n")).unwrap_or_default();
        output::write(format!("listening on {address}\n{token}").as_bytes())?;
    } else {
        let data = serde_json::json!({ "address": address, "token": token });
        output::done("Listening".to_owned(), Vec::new(), ("address token", &data), common)?;
    }
    let began = std::time::Instant::now();
    while !stopper.asked() && arguments.time_limit.is_none_or(|limit| began.elapsed().as_secs_f64() < limit) {
        kernels::timer::sleep(Duration::from_millis(100));
    }
    Ok(ExitStatus::Fine)
}
