//! Loops of one connection.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Bytes of one read, at most.
const READ: usize = 128 << 10;

/// Counters of one thread, on cache lines of their own; other threads read them only from time to time.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct FlowCounter {
    pub(crate) bytes: AtomicU64,
    pub(crate) calls: AtomicU64,
    /// CPU time, nanoseconds; set when the thread has ended.
    pub(crate) cpu: AtomicU64,
    pub(crate) ended: AtomicBool,
}

/// The flows of one direction.
#[derive(Debug, Default, Clone)]
pub(crate) struct Flows(pub(crate) Arc<Vec<FlowCounter>>);

impl Flows {
    pub(crate) fn new(count: usize) -> Self {
        Self(Arc::new((0..count).map(|_| FlowCounter::default()).collect()))
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|flow| flow.bytes.load(Relaxed)).sum()
    }

    pub(crate) fn calls(&self) -> u64 {
        self.0.iter().map(|flow| flow.calls.load(Relaxed)).sum()
    }

    pub(crate) fn cpu_seconds(&self) -> f64 {
        self.0.iter().map(|flow| flow.cpu.load(Relaxed) as f64 * 1e-9).sum()
    }

    pub(crate) fn ended(&self) -> bool {
        self.0.iter().all(|flow| flow.ended.load(Relaxed))
    }
}

impl FlowCounter {
    fn finish(&self, cpu_before: Duration, calls: u64) {
        self.calls.store(calls, Relaxed);
        let used = sys::clock::thread_cpu().unwrap_or_default().saturating_sub(cpu_before);
        self.cpu.store(u64::try_from(used.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        self.ended.store(true, Relaxed);
    }
}

/// Writes records until told to stop or the connection ends.
pub(crate) fn send(mut stream: &TcpStream, record: &[u8], flow: &FlowCounter, stop: &AtomicBool) {
    let cpu = sys::clock::thread_cpu().unwrap_or_default();
    let (mut bytes, mut calls) = (0, 0);
    while !stop.load(Relaxed) {
        if stream.write_all(record).is_err() {
            break;
        }
        calls += 1;
        bytes += record.len() as u64;
        flow.bytes.store(bytes, Relaxed);
    }
    // The other side sees the end of the stream; if it has disconnected already, that is no error.
    let _ = stream.shutdown(Shutdown::Write);
    flow.finish(cpu, calls);
}

/// Reads until the end of the stream, at `rate` bytes a second if given.
pub(crate) fn receive(mut stream: &TcpStream, flow: &FlowCounter, rate: Option<u64>) {
    let cpu = sys::clock::thread_cpu().unwrap_or_default();
    let mut buffer = vec![0; READ];
    let (mut bytes, mut calls) = (0, 0);
    let began = Instant::now();
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => bytes += count as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        calls += 1;
        flow.bytes.store(bytes, Relaxed);
        if let Some(rate) = rate {
            let due = Duration::from_secs_f64(bytes as f64 / rate.max(1) as f64);
            std::thread::sleep(due.saturating_sub(began.elapsed()).min(Duration::from_secs(1)));
        }
    }
    flow.finish(cpu, calls);
}

/// Echoes every message of `size` bytes.
pub(crate) fn echo(mut stream: &TcpStream, size: usize, flow: &FlowCounter) {
    let cpu = sys::clock::thread_cpu().unwrap_or_default();
    let mut message = vec![0; size];
    let mut calls = 0;
    while stream.read_exact(&mut message).is_ok() && stream.write_all(&message).is_ok() {
        calls += 1;
        flow.bytes.store(calls * size as u64, Relaxed);
    }
    flow.finish(cpu, calls);
}
