//! Switching between processes.

use std::fs::File;

use crate::line::{gone, pipe, receive, send};
use crate::party::Party;
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "os.context_switch",
    title: "Context switch",
    about: "A ring of processes on one CPU passes a token over pipes, each summing an array of its own before it passes the token \
            on; minus one process that passes the token to itself over as many pipes of the same kind and sums its array as often. \
            What remains of a hop is the switch, and the cache misses that it causes.",
    metric: Metric::lower(Unit::Seconds, "switch"),
    class: Class::Ipc,
    stresses: &[Primitive::ContextSwitch],
    sources: &[
        Source::new("BaBar", "table 5, context switch of 2 and 8 processes", "T. J. Pavel, CHEP 98"),
        Source::new("lmbench", "lat_ctx", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    axes: &[
        Axis::choice("processes", &["2", "8", "16"], &["2", "8"]),
        Axis::choice("working_set", &["0B", "4KiB", "16KiB", "64KiB"], &["0B"]),
    ],
    parties: Parties::SameCpu,
    paired: true,
    prepare,
    ..Probe::BLANK
};

fn prepare(at: &Point, bench: &mut Bench) -> Result<Trial, Unfit> {
    let (count, bytes) = (at.count("processes")? as usize, at.bytes("working_set")? as usize);
    Ok(Trial::paired(Ring::close(bench, count, bytes)?, Alone::new(bench.seed(), count, bytes)?))
}

/// One process's array: no two alike, so that a lap's sum proves that every process added its own.
struct Own {
    words: Vec<u64>,
}

impl Own {
    fn new(seed: u64, process: usize, bytes: usize) -> Self {
        Self { words: contents(seed, process, bytes).collect() }
    }

    /// What the token becomes here: one more, and the array's sum.
    #[inline]
    fn pass(&self, token: u64) -> u64 {
        std::hint::black_box(&self.words).iter().fold(token.wrapping_add(1), |sum, word| sum.wrapping_add(*word))
    }
}

fn contents(seed: u64, process: usize, bytes: usize) -> impl Iterator<Item = u64> {
    (0..bytes as u64 / 8).map(move |index| (seed ^ index).wrapping_mul(2 * process as u64 + 3))
}

/// What a visit to one process adds to the token, from its definition.
fn added(seed: u64, process: usize, bytes: usize) -> u64 {
    contents(seed, process, bytes).fold(1, u64::wrapping_add)
}

fn hop(to: &File, from: &File, token: u64) -> Result<u64, Fault> {
    send(to, &token.to_ne_bytes())?;
    let mut message = [0; 8];
    if receive(from, &mut message)? { Ok(u64::from_ne_bytes(message)) } else { Err(gone()) }
}

/// This process is the ring's first; it writes into the first pipe and reads from the last.
struct Ring {
    to: File,
    from: File,
    others: Vec<Party>,
    own: Own,
    /// What a lap adds.
    lap: u64,
    began: u64,
    token: u64,
}

impl Ring {
    fn close(bench: &mut Bench, count: usize, bytes: usize) -> Result<Self, Unfit> {
        let seed = bench.seed();
        let (mut from, to) = pipe()?;
        let mut to = to;
        let mut others = Vec::new();
        for process in 1..count {
            let (next_from, next_to) = pipe()?;
            // The near ends are closed in every process but this one, so that the ring falls apart when it ends.
            let (party, near) = Party::start(bench, process, (to, next_from), (from, next_to), |(from, to)| {
                let own = Own::new(seed, process, bytes);
                let mut message = [0; 8];
                while receive(&from, &mut message)? {
                    send(&to, &own.pass(u64::from_ne_bytes(message)).to_ne_bytes())?;
                }
                Ok(())
            })?;
            (to, from) = near;
            others.push(party);
        }
        let lap = (0..count).fold(0, |sum: u64, process| sum.wrapping_add(added(seed, process, bytes)));
        Ok(Self { to, from, others, own: Own::new(seed, 0, bytes), lap, began: seed, token: seed })
    }
}

impl Kernel for Ring {
    fn batch(&mut self, ops: u64) -> Result<Work, Fault> {
        self.began = self.token;
        let laps = ops / self.granule();
        for _ in 0..laps {
            self.token = self.own.pass(hop(&self.to, &self.from, self.token)?);
        }
        Ok(Work { ops: laps * self.granule(), token: self.token })
    }

    fn check(&mut self, done: &Work) -> Result<(), Fault> {
        let laps = done.ops / self.granule();
        Fault::unless_equal(done.token, self.began.wrapping_add(self.lap.wrapping_mul(laps)))
    }

    fn granule(&self) -> u64 {
        self.others.len() as u64 + 1
    }
}

/// The same hops in one process.
struct Alone {
    pipes: Vec<(File, File)>,
    own: Own,
    adds: u64,
    began: u64,
    token: u64,
}

impl Alone {
    fn new(seed: u64, count: usize, bytes: usize) -> Result<Self, Unfit> {
        let pipes = (0..count).map(|_| pipe()).collect::<Result<_, _>>()?;
        Ok(Self { pipes, own: Own::new(seed, 0, bytes), adds: added(seed, 0, bytes), began: seed, token: seed })
    }
}

impl Kernel for Alone {
    fn batch(&mut self, ops: u64) -> Result<Work, Fault> {
        self.began = self.token;
        let laps = ops / self.granule();
        for _ in 0..laps {
            for (from, to) in &self.pipes {
                self.token = self.own.pass(hop(to, from, self.token)?);
            }
        }
        Ok(Work { ops: laps * self.granule(), token: self.token })
    }

    fn check(&mut self, done: &Work) -> Result<(), Fault> {
        Fault::unless_equal(done.token, self.began.wrapping_add(self.adds.wrapping_mul(done.ops)))
    }

    fn granule(&self) -> u64 {
        self.pipes.len() as u64
    }
}
