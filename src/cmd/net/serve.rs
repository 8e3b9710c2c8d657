//! `prony net serve`: the other end of network tests.

use std::net::IpAddr;
use std::time::Duration;

use anyhow::Result;
use channel::Token;
use clap::Args;
use fleet::serve::{ListenSettings, ServeLimits, Server};

use super::super::session::watch_for_signals;
use super::options::TokenSource;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;
use crate::value_parsers::seconds;

/// Options of `prony net serve`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Address to listen on; the default is reached from this machine only
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Port; 0 lets the system choose
    #[arg(long, default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    token: TokenSource,
    /// Longest test
    #[arg(long, alias = "most-time", value_name = "TIME", default_value = "60s", value_parser = seconds)]
    max_time: f64,
    /// Most bytes of one test
    #[arg(long, alias = "most-bytes", value_name = "BYTES", default_value_t = 1 << 40)]
    max_bytes: u64,
    /// Most bytes a second of one test and direction [default: no limit]
    #[arg(long, alias = "most-rate", value_name = "BYTES")]
    max_rate: Option<u64>,
    /// Longest turn of one client
    #[arg(long, alias = "turn", value_name = "TIME", default_value = "1h", value_parser = seconds)]
    max_turn: f64,
    /// End after this time, such as 90s or 5m
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    time_limit: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let known = arguments.token.find()?;
    let is_new = known.is_none();
    let token = known.map_or_else(Token::draw, Ok)?;
    let limits = ServeLimits {
        seconds: arguments.max_time,
        bytes: arguments.max_bytes,
        bytes_per_second: arguments.max_rate,
        lease: arguments.max_turn,
        ..ServeLimits::default()
    };
    let stopper = watch_for_signals()?;
    let server = Server::start(ListenSettings { address: arguments.bind, port: arguments.port, token, limits })?;
    let (address, token) = (server.address().to_string(), is_new.then(|| server.token().reveal()));
    if common.format() == "terminal" {
        let token = token.map(|token| format!("token {token}\n")).unwrap_or_default();
        output::write(format!("listening on {address}\n{token}").as_bytes())?;
    } else {
        let data = serde_json::json!({ "address": address, "token": token });
        output::done("Listening".to_owned(), Vec::new(), (&["address", "token"], &data), common)?;
    }
    let began = std::time::Instant::now();
    while !stopper.asked() && arguments.time_limit.is_none_or(|limit| began.elapsed().as_secs_f64() < limit) {
        sys::timer::sleep(Duration::from_millis(100));
    }
    Ok(ExitStatus::Fine)
}
