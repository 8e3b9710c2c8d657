//! `prony net`: networks and event building, one file per command.

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

pub(crate) use self::options::plateaus;
use crate::ExitStatus;
use crate::cli::CommonOptions;

/// Options of `prony net`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: NetVerb,
}

#[expect(clippy::large_enum_variant, reason = "one is made, at the start of the program")]
#[derive(Debug, Subcommand)]
enum NetVerb {
    /// Be the other end of network tests, for who knows the token
    Serve(serve::Arguments),
    /// Throughput against the size of one write
    Stream(stream::Arguments),
    /// Round trips over TCP and UDP, also while streams run, and connections made
    Rr(rr::Arguments),
    /// Datagrams at rising rates, and where they are lost
    Udp(udp::Arguments),
    /// Effects of window, congestion control, Nagle, placement, duplex, MTU and offloads, in interleaved pairs
    Study(study::Arguments),
    /// Build events of many senders' fragments at many receivers
    Build(build::Arguments),
    /// Work out the buffers that a design needs, or simulate it
    Plan(plan::Arguments),
    /// A switch with finite buffers on this host
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
