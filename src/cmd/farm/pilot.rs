//! `prony farm pilot`: what launchers start on nodes. Its order comes on standard input.

use std::io::{BufRead, Read};
use std::sync::Arc;

use anyhow::{Context, Result};
use farm::{Order, fly};

use super::work::House;
use crate::{Exit, output};

/// Longest order, bytes.
const LIMIT: u64 = 64 << 10;

/// Reads the order that a launcher wrote.
pub(super) fn order() -> Result<Order> {
    let mut line = String::new();
    std::io::stdin().lock().take(LIMIT).read_line(&mut line).context("could not read the order of this pilot")?;
    let mut order: Order = serde_json::from_str(&line).context("could not understand the order of this pilot")?;
    if order.node.is_empty() {
        // A batch job knows its node by the name that the scheduler gave it.
        let named = std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty());
        order.node = named.unwrap_or_else(|| measure::identity().host);
    }
    Ok(order)
}

pub(super) fn run() -> Result<Exit> {
    let order = order()?;
    match fly(&order, Arc::new(House)) {
        Ok(tally) => {
            output::write(format!("{}\n", serde_json::to_string(&tally)?).as_bytes())?;
            Ok(Exit::Fine)
        }
        Err(error) => {
            // The launcher hears it too, and puts it into the story.
            let _ = output::write(format!("{error}\n").as_bytes());
            Err(error.into())
        }
    }
}
