//! `prony net`: networks and event building, one file per command.

mod answer;
mod build;
mod jobs;
mod lab;
mod options;
mod plan;
mod rr;
mod serve;
mod stream;
mod study;
mod udp;

use anyhow::Result;
use clap::{Args, Subcommand};

pub(crate) use self::options::document;
use crate::ExitStatus;
use crate::cli::CommonOptions;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: NetVerb,
}

#[derive(Debug, Subcommand)]
enum NetVerb {
    /// Serve the other end of network tests, for those who have the token
    Serve(serve::Arguments),
    /// Measure throughput against the size of one write
    Stream(stream::Arguments),
    /// Measure round trips over TCP and UDP, and connections
    Rr(rr::Arguments),
    /// Send datagrams at rising rates, and say where they are lost
    Udp(udp::Arguments),
    /// Measure the effects of window, congestion control, Nagle, duplex, MTU and offloads, in pairs
    Study(study::Arguments),
    /// Build events from many senders' fragments at many receivers
    Build(build::Arguments),
    /// Work out the buffers that a design needs, or simulate it
    Plan(plan::Arguments),
    /// Build a switch with finite buffers on this host
    Lab(lab::Arguments),
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    match &arguments.verb {
        NetVerb::Serve(arguments) => serve::run(arguments, common),
        NetVerb::Stream(arguments) => stream::run(arguments, common),
        NetVerb::Rr(arguments) => rr::run(arguments, common),
        NetVerb::Udp(arguments) => udp::run(arguments, common),
        NetVerb::Study(arguments) => study::run(arguments, common),
        NetVerb::Build(arguments) => build::run(arguments, common),
        NetVerb::Plan(arguments) => plan::run(arguments, common),
        NetVerb::Lab(arguments) => lab::run(arguments),
    }
}
