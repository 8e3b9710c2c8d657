//! Opening connections.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use crate::line::{PartyLine, peer_ended, pipes};
use crate::peer_process::PeerProcess;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.tcp_connect",
    title: "TCP connection, loopback",
    about: "Connects to another process over the loopback and closes at once. The other side accepts and closes. A \
            batch ends when its last connection is accepted. The number of connections is limited, because closed \
            ones keep their ports for a minute.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "connection"),
    class: Class::Ipc,
    stresses: &[Primitive::TcpStack, Primitive::ContextSwitch],
    sources: &[DefinitionSource::new("lmbench", "lat_connect", "McVoy & Staelin, USENIX ATC 1996")],
    parameters: &[Parameter::placement(&["same_cpu"])],
    parties: Parties::Placed,
    // Below the length of the queue of connections that are not yet accepted.
    batch: BatchRule { least: 1, most: 96, batches: None },
    prepare,
    ..Benchmark::BLANK
};

struct Connect {
    address: SocketAddr,
    line: PartyLine,
    _peer: PeerProcess,
}

fn prepare(_: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let listener = listen(context.seed())?;
    let address = listener.local_addr()?;
    let (near, far) = pipes()?;
    let (peer, line) = PeerProcess::start(context, 1, near, (far, listener), |(line, listener)| {
        let mut order = [0; 8];
        while line.receive(&mut order)? {
            let mut accepted = 0_u64;
            while accepted < u64::from_ne_bytes(order) {
                drop(listener.accept()?);
                accepted += 1;
            }
            line.send(&accepted.to_ne_bytes())?;
        }
        Ok(())
    })?;
    let mut connect = Connect { address, line, _peer: peer };
    // Outside the clock: a loopback that is down, or a filter on it, is not a failure of the measurement.
    let one = connect.batch(1)?;
    connect.check(&one)?;
    Ok(Trial::one(connect))
}

/// On Linux every address that begins with 127 belongs to the loopback: samples with different addresses do not
/// exhaust the same ports.
fn listen(seed: u64) -> Result<TcpListener, Unsupported> {
    let [a, b, c, ..] = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let own = Ipv4Addr::new(127, a, b, c.clamp(1, 254));
    Ok(TcpListener::bind((own, 0)).or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?)
}

impl Kernel for Connect {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.line.send(&ops.to_ne_bytes())?;
        for _ in 0..ops {
            drop(TcpStream::connect(self.address)?);
        }
        let mut accepted = [0; 8];
        if !self.line.receive(&mut accepted)? {
            return Err(peer_ended());
        }
        Ok(BatchWork { ops, token: u64::from_ne_bytes(accepted) })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}
