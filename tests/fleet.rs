//! Fleets through the real binary: launchers, agents, and a real Slurm of four nodes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "a test that cannot go on fails")]

mod common;
#[path = "common/slurm.rs"]
mod slurm;

use slurm::SlurmLab;

#[test]
fn the_laboratory_loses_a_node_and_gets_it_back() {
    let Some(lab) = SlurmLab::start(2) else { return };
    lab.tell(&["kill-node", "2"]);
    lab.wait_for("n2", "down");
    lab.tell(&["start-node", "2"]);
    lab.wait_for("n2", "idle");
}
