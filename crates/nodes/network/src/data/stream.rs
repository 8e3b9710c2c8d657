//! Loops of one connection.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::pattern::{PERIOD, first_wrong, table};

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
    /// Nanoseconds that the thread waited for a CPU, and that it existed; set when it has ended.
    pub(crate) waited: AtomicU64,
    pub(crate) existed: AtomicU64,
    pub(crate) ended: AtomicBool,
    /// Whether the kernel copied what was to be sent without a copy.
    pub(crate) copied: AtomicBool,
    /// Verified received bytes.
    verified: AtomicU64,
    /// One more than the place of the first of these that was wrong; 0 if none was.
    wrong: AtomicU64,
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

    /// Verified received bytes.
    pub(crate) fn verified(&self) -> u64 {
        self.0.iter().map(|flow| flow.verified.load(Relaxed)).sum()
    }

    /// The first connection with a wrong byte, and the byte, both counted from 0.
    pub(crate) fn wrong(&self) -> Option<(u32, u64)> {
        let wrong = |(at, flow): (usize, &FlowCounter)| Some((at as u32, flow.wrong.load(Relaxed).checked_sub(1)?));
        self.0.iter().enumerate().find_map(wrong)
    }

    pub(crate) fn ended(&self) -> bool {
        self.0.iter().all(|flow| flow.ended.load(Relaxed))
    }
}

/// The clocks of a thread when it began.
pub(super) struct FlowClock {
    cpu: Duration,
    waited: Option<Duration>,
    began: Instant,
}

impl FlowClock {
    pub(super) fn start() -> Self {
        let cpu = kernels::clock::thread_cpu().unwrap_or_default();
        Self { cpu, waited: waited(), began: Instant::now() }
    }
}

/// How long this thread has waited for a CPU, where the system reports it.
fn waited() -> Option<Duration> {
    os::usage::thread_schedule().ok().map(|times| times.waited)
}

impl FlowCounter {
    pub(super) fn finish(&self, clock: FlowClock, calls: u64) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.calls.store(calls, Relaxed);
        let used = kernels::clock::thread_cpu().unwrap_or_default().saturating_sub(clock.cpu);
        self.cpu.store(nanos(used), Relaxed);
        let waited = waited().zip(clock.waited).map(|(now, before)| now.saturating_sub(before));
        self.waited.store(nanos(waited.unwrap_or_default()), Relaxed);
        self.existed.store(nanos(clock.began.elapsed()), Relaxed);
        self.ended.store(true, Relaxed);
    }

    /// Verifies the bytes received after the first `before`.
    pub(super) fn verify(&self, table: &[u8], before: u64, bytes: &[u8]) {
        self.verified.fetch_add(bytes.len() as u64, Relaxed);
        let place = (before % PERIOD as u64) as usize;
        if let Some(at) = first_wrong(table, place, bytes) {
            // The first one stays.
            let _ = self.wrong.compare_exchange(0, before + at as u64 + 1, Relaxed, Relaxed);
        }
    }
}

/// Longest sleep of a flow that is ahead of its rate, after which it checks whether to stop.
const LONGEST_SLEEP: f64 = 0.05;

/// The rate of one flow, at most, from the moment at which this is created, and its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlowLimit<'a> {
    rate: Option<f64>,
    stop: Option<&'a AtomicBool>,
    began: Instant,
}

impl<'a> FlowLimit<'a> {
    /// The flow continues until the other side ends it.
    pub(crate) fn none() -> Self {
        Self { rate: None, stop: None, began: Instant::now() }
    }

    /// `rate` bytes a second, if given, until `stop`. Shutting down the socket is not enough: it still receives from
    /// the other side.
    pub(crate) fn new(rate: Option<f64>, stop: &'a AtomicBool) -> Self {
        Self { rate, stop: Some(stop), began: Instant::now() }
    }

    pub(super) fn is_over(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Relaxed))
    }

    /// Waits until the flow may have moved `bytes`.
    pub(crate) fn wait(&self, bytes: u64) {
        let Some(rate) = self.rate else { return };
        let due = bytes as f64 / rate;
        while !self.is_over() {
            let ahead = due - self.began.elapsed().as_secs_f64();
            if ahead <= 0.0 {
                return;
            }
            kernels::timer::sleep(Duration::from_secs_f64(ahead.min(LONGEST_SLEEP)));
        }
    }
}

/// One read of this many is verified: comparing costs a tenth of receiving, for large reads.
pub(super) const VERIFIED_EACH: u64 = 16;

/// Reads until the end of the stream, at most `read` bytes with one call (0: [`READ`]), and verifies a sample of them.
pub(crate) fn receive(mut stream: &TcpStream, read: u32, flow: &FlowCounter, limit: FlowLimit<'_>) {
    let clock = FlowClock::start();
    let length = if read == 0 { READ } else { read as usize };
    let (mut buffer, table) = (vec![0; length], table(PERIOD));
    let (mut bytes, mut calls) = (0, 0_u64);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                if calls.is_multiple_of(VERIFIED_EACH) {
                    flow.verify(&table, bytes, &buffer[..count]);
                }
                bytes += count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        calls += 1;
        flow.bytes.store(bytes, Relaxed);
        limit.wait(bytes);
        if limit.is_over() {
            break;
        }
    }
    flow.finish(clock, calls);
}

/// Echoes every message of `size` bytes. The flow counts both directions, the limit one.
pub(crate) fn echo(mut stream: &TcpStream, size: usize, flow: &FlowCounter, limit: FlowLimit<'_>) {
    let clock = FlowClock::start();
    let mut message = vec![0; size];
    let mut calls = 0;
    while !limit.is_over() && stream.read_exact(&mut message).is_ok() && stream.write_all(&message).is_ok() {
        calls += 1;
        flow.bytes.store(2 * calls * size as u64, Relaxed);
        limit.wait(calls * size as u64);
    }
    flow.finish(clock, calls);
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;

    use super::super::{Api, Sending, send};
    use super::*;
    use crate::pattern::StreamRecords;

    /// What a receiver gets after `work` wrote to the other end of its connection.
    fn received(work: impl FnOnce(&TcpStream) + Send) -> Flows {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (to, _) = listener.accept().unwrap();
        let flows = Flows::new(1);
        std::thread::scope(|scope| {
            scope.spawn(|| receive(&to, 0, &flows.0[0], FlowLimit::none()));
            work(&from);
            from.shutdown(Shutdown::Write).unwrap();
        });
        flows
    }

    #[test]
    fn a_stream_is_verified_and_one_wrong_byte_of_a_verified_read_is_found() {
        let all = Api::ALL.map(|api| (api, 5_000));
        for (api, record) in [1, 16, 100_000].map(|record| (Api::Write, record)).into_iter().chain(all) {
            let (records, stop, enough) = (StreamRecords::new(record), AtomicBool::new(false), FlowCounter::default());
            let flows = received(|stream| {
                std::thread::scope(|scope| {
                    let Ok(sending) = Sending::new(api, stream, &records) else { return };
                    scope.spawn(|| send(stream, sending, &records, &enough, &stop));
                    while enough.bytes.load(Relaxed) < 40 * u64::from(record) {
                        std::thread::yield_now();
                    }
                    stop.store(true, Relaxed);
                });
            });
            assert_eq!((flows.bytes(), flows.wrong()), (enough.bytes.load(Relaxed), None), "{record} {api:?}");
            assert!(flows.bytes() == 0 || (1..=flows.bytes()).contains(&flows.verified()), "{record} {api:?}");
        }
        // The first read is among the verified ones.
        for place in [0, 1, 999] {
            let mut bytes = table(1_000);
            bytes[place] ^= 2;
            let flows = received(|mut stream| stream.write_all(&bytes).unwrap());
            assert_eq!((flows.verified(), flows.wrong()), (1_000, Some((0, place as u64))));
        }
    }

    #[test]
    fn bytes_of_another_place_of_a_stream_are_found() {
        let flow = FlowCounter::default();
        let all = table(3 * PERIOD);
        flow.verify(&all[..PERIOD], 70_000, &all[70_000 % PERIOD..][..20_000]);
        assert_eq!(flow.wrong.load(Relaxed), 0);
        flow.verify(&all[..PERIOD], 70_000 + 4_096, &all[70_000 % PERIOD..][..20_000]);
        assert_eq!(flow.wrong.load(Relaxed), 70_000 + 4_096 + 1);
    }
}
