//! Agents that leave processes behind or do not read: the driver returns all the same.

use std::io::{Read, Write};

use launcher::{Launcher, Local};

fn local(script: &str) -> Local {
    let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    Local { commands: vec![command], addresses: Vec::new() }
}

#[test]
fn processes_left_behind_by_an_agent_delay_nothing() {
    let mut link = local("setsid sleep 1000 & echo $!; exit 0").start(0).unwrap();
    let mut said = String::new();
    link.output.read_to_string(&mut said).unwrap();
    drop(link);
    os::process::send(said.trim().parse().unwrap(), Some(kernels::signal::Signal::Kill)).unwrap();
}

#[test]
fn an_agent_that_has_ended_takes_no_message() {
    let mut link = local("exec 0</dev/null; exec sleep 1000").start(0).unwrap();
    let large = vec![b'x'; 1 << 22];
    assert!(link.input.write_all(&large).is_err());
}
