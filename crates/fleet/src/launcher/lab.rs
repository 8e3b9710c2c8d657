//! Agents as threads at the hosts of a laboratory.

use std::io::BufReader;
use std::net::IpAddr;
use std::sync::Arc;

use super::{Launcher, Link};
use crate::lab::Lab;
use crate::{Error, Result, build};

/// Node n is a thread at host n.
pub struct LabLauncher(pub Arc<Lab>);

impl Launcher for LabLauncher {
    fn start(&mut self, node: usize) -> Result<Link> {
        let pipe = || std::io::pipe().map_err(Error::io("make a pipe"));
        let ((hears, input), (output, mut says)) = (pipe()?, pipe()?);
        // It ends when its input does.
        let thread = self.0.spawn(node, move || {
            let _ = build::agent(BufReader::new(hears), &mut says);
        })?;
        Ok(Link {
            name: format!("host {node}"),
            output: Box::new(BufReader::new(output)),
            input: Box::new(input),
            keep: Box::new(thread),
        })
    }

    fn address(&self, node: usize) -> IpAddr {
        Lab::address(node).into()
    }
}
