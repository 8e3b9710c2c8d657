//! `prony net`: networks and event building, one file per command.

mod answer;
mod build;
mod jobs;
mod lab;
mod options;
mod plan;
mod predict;
mod rr;
mod serve;
mod stream;
mod study;
mod udp;
mod waterfall;

use anyhow::Result;
use clap::{Args, Subcommand};

pub(crate) use self::options::{document, plateaus, shared_token};
use crate::ExitStatus;
use crate::cli::CommonOptions;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: NetAction,
}

#[derive(Debug, Subcommand)]
enum NetAction {
    /// Serve the other end of network tests to those who have the token
    Serve(serve::Arguments),
    /// Measure from memory to event building, and name the limit of each step
    Waterfall(waterfall::Arguments),
    /// Measure throughput against the size of one write
    Stream(stream::Arguments),
    /// Measure round trips over TCP and UDP, and connections
    Rr(rr::Arguments),
    /// Send datagrams at rising rates and find where they are lost
    Udp(udp::Arguments),
    /// Measure what window, congestion control, Nagle, duplex, MTU and offloads change
    Study(study::Arguments),
    /// Build events from many senders' fragments at many receivers
    Build(build::Arguments),
    /// Predict event building with more senders than were measured
    Predict(predict::Arguments),
    /// Calculate the buffers that a design needs, or simulate it
    Plan(plan::Arguments),
    /// Build a switch with finite buffers on this host
    Lab(lab::Arguments),
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    match &arguments.action {
        NetAction::Serve(arguments) => serve::run(arguments, common),
        NetAction::Waterfall(arguments) => waterfall::run(arguments, common),
        NetAction::Stream(arguments) => stream::run(arguments, common),
        NetAction::Rr(arguments) => rr::run(arguments, common),
        NetAction::Udp(arguments) => udp::run(arguments, common),
        NetAction::Study(arguments) => study::run(arguments, common),
        NetAction::Build(arguments) => build::run(arguments, common),
        NetAction::Predict(arguments) => predict::run(arguments, common),
        NetAction::Plan(arguments) => plan::run(arguments, common),
        NetAction::Lab(arguments) => lab::run(arguments),
    }
}
