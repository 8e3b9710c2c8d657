//! `prony doctor --host`: what the host does over some time.

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::{Context, Result};

use super::session::{earlier, watch_for_signals};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, progress, run_finder};

/// Shortest watch that can show anything, and the longest one whose readings fit its record.
const SECONDS: std::ops::RangeInclusive<f64> = 1.0..=86_400.0;

/// Watches the host for some seconds, or until Ctrl-C, and prints what was seen.
pub(super) fn run(seconds: f64, common: &CommonOptions) -> Result<ExitStatus> {
    anyhow::ensure!(
        SECONDS.contains(&seconds),
        "could not watch the host for {seconds} s: a watch takes from 1 s to 24 h; write one such as --host 60s"
    );
    let stopper = watch_for_signals()?;
    let machine = measure::machine(&[]);
    // Runs that cannot be read teach nothing; the watch goes on without them.
    let store = run_finder::read(common).ok();
    let earlier = earlier(store.as_deref(), &machine.fingerprint, "");
    let spinner = progress::spinner("watching the host", std::io::stderr().is_terminal());
    let mut show = |so_far: f64| spinner.set_message(format!("watching the host: {so_far:.0} of {seconds:.0} s"));
    let record = measure::watch_host(&machine, earlier.iter(), Duration::from_secs_f64(seconds), &stopper, &mut show);
    spinner.finish_and_clear();
    let record = record.context("could not watch the host")?;
    output::print(&report::view::host(&record), common)?;
    Ok(if stopper.asked() { ExitStatus::Stopped } else { ExitStatus::Fine })
}
