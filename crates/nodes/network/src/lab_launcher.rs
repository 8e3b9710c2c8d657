//! Agents as threads at the hosts of a laboratory.

use std::io::BufReader;
use std::net::IpAddr;
use std::sync::Arc;

use lab::Lab;
use launcher::agent::{By, Hello, serve};
use launcher::{Launcher, Link, StderrTail};

use crate::{Error, Result, build};

/// Node n is a thread at host n.
pub struct LabLauncher(pub Arc<Lab>);

impl Launcher for LabLauncher {
    fn start(&mut self, node: usize) -> Result<Link> {
        let pipe = || std::io::pipe().map_err(Error::io("make a pipe"));
        let ((hears, input), (output, mut says)) = (pipe()?, pipe()?);
        // It ends with its input.
        let thread = self.0.spawn(node, move || {
            let _ = serve(Box::new(BufReader::new(hears)), &mut says, By::Local, &[build::DUTY]);
        })?;
        Ok(Link {
            name: self.name(node),
            output: Box::new(BufReader::new(output)),
            input: Box::new(input),
            stderr: StderrTail::default(),
            keep: Box::new(thread),
        })
    }

    fn name(&self, node: usize) -> String {
        format!("host {node}")
    }

    fn address(&self, node: usize, _: &Hello) -> IpAddr {
        Lab::address(node).into()
    }
}
