//! `prony farm pilot`, which launchers start on nodes. It reads its order from standard input.

use std::io::{BufRead, Read};
use std::sync::Arc;

use anyhow::{Context, Result};
use farm::{PilotConfig, run_pilot};

use super::work::WorkerFactory;
use crate::{ExitStatus, output};

/// Longest order, bytes.
const LIMIT: u64 = 64 << 10;

/// Reads the order that a launcher wrote.
fn order() -> Result<PilotConfig> {
    let mut line = String::new();
    std::io::stdin().lock().take(LIMIT).read_line(&mut line).context("could not read the order of this pilot")?;
    let mut order: PilotConfig = serde_json::from_str(&line).context("could not understand the order of this pilot")?;
    if order.node.is_empty() {
        // A batch job gets the name of its node from the scheduler.
        let named = std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty());
        order.node = named.unwrap_or_else(|| measure::identity().host);
    }
    Ok(order)
}

pub(super) fn run() -> Result<ExitStatus> {
    let order = order()?;
    match run_pilot(&order, Arc::new(WorkerFactory)) {
        Ok(tally) => output::write(format!("{}\n", serde_json::to_string(&tally)?).as_bytes()),
        Err(error) => {
            // The launcher reads it too, and adds it to the story.
            let _ = output::write(format!("{error}\n").as_bytes());
            Err(error.into())
        }
    }
}
