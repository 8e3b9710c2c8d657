//! Threads of the data path. A thread that cannot be started is an error of the test and does not end the program.

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::AtomicBool;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::{Api, FlowCounter, FlowLimit, Flows, ReceiverWork, Sending, receive, receive_multishot, send, send_framed};
use crate::path::pin;
use crate::pattern::StreamRecords;
use crate::{Error, Result};

/// Starts a data thread, pinned if requested and allowed.
pub(crate) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    cpu: Option<usize>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    let pinned = move || {
        pin(cpu);
        work()
    };
    Builder::new().spawn_scoped(scope, pinned).map_err(Error::io("start a thread"))
}

/// Makes calls of this thread as fast as those of a process with one thread, where the system allows it.
fn alone() {
    let _ = os::process::own_descriptors();
}

/// How the streams of a test are sent and received.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ways {
    pub(crate) api: Api,
    pub(crate) work: ReceiverWork,
    /// Bytes of one read, at most; 0: those that Prony chooses.
    pub(crate) read: u32,
}

/// Starts a thread for every stream of a client: it sends records on upward ones until `stop`, and receives on downward
/// ones.
pub(crate) fn start_flows<'scope>(
    scope: &'scope Scope<'scope, '_>,
    cpu: Option<usize>,
    data: &'scope DataSockets,
    (up, down): (&'scope Flows, &'scope Flows),
    records: &'scope StreamRecords,
    stop: &'scope AtomicBool,
    ways: Ways,
) -> Result<()> {
    for (stream, flow) in data.up.iter().zip(up.0.iter()) {
        if ways.work == ReceiverWork::Bytes {
            start_sending(scope, cpu, ways.api, stream, (records, flow, stop))?;
        } else {
            start(scope, cpu, || send_framed(stream, records, flow, stop))?;
        }
    }
    for (stream, flow) in data.down.iter().zip(down.0.iter()) {
        start_receiving(scope, cpu, ways, stream, (flow, FlowLimit::none()))?;
    }
    Ok(())
}

/// Starts a thread that sends records by these calls, if the system has them.
pub(crate) fn start_sending<'scope>(
    scope: &'scope Scope<'scope, '_>,
    cpu: Option<usize>,
    api: Api,
    stream: &'scope TcpStream,
    (records, flow, stop): (&'scope StreamRecords, &'scope FlowCounter, &'scope AtomicBool),
) -> Result<()> {
    let sending = Sending::new(api, stream, records).map_err(|error| Error::Lacking(error.to_string()))?;
    start(scope, cpu, move || {
        if sending.has_no_file() {
            alone();
        }
        send(stream, sending, records, flow, stop);
    })
    .map(drop)
}

/// Starts a thread that receives bytes by these calls.
pub(crate) fn start_receiving<'scope>(
    scope: &'scope Scope<'scope, '_>,
    cpu: Option<usize>,
    ways: Ways,
    stream: &'scope TcpStream,
    (flow, limit): (&'scope FlowCounter, FlowLimit<'scope>),
) -> Result<()> {
    start(scope, cpu, move || {
        // Without rings it receives by calls: a test without bytes would say less.
        if ways.api != Api::UringMultishot || receive_multishot(stream, flow, limit).is_err() {
            alone();
            receive(stream, ways.read, flow, limit);
        }
    })
    .map(drop)
}

/// Data sockets of one test, connected and accepted.
#[derive(Debug)]
pub(crate) struct DataSockets {
    pub(crate) up: Vec<TcpStream>,
    pub(crate) down: Vec<TcpStream>,
    pub(crate) echo: Vec<TcpStream>,
    pub(crate) udp: Option<UdpSocket>,
    /// Address for further connections.
    pub(crate) tcp: SocketAddr,
}

impl DataSockets {
    pub(crate) fn streams(&self) -> impl Iterator<Item = &TcpStream> {
        self.up.iter().chain(&self.down).chain(&self.echo)
    }
}
