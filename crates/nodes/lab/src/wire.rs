//! A switch whose links take time: a thread carries the frames, with the rate, the buffer, the delay and the losses of
//! each port. A kernel without `netem` needs no more than this.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::build::host_of;
use super::{LabShape, Queue};
use crate::{Error, Result};

/// Longest sleep: frames are late by at most about this.
const SLEEP: Duration = Duration::from_micros(50);
/// Frames taken from one host before the others are looked at.
const BURST: usize = 64;

/// A port: frames leave it one after the other at the link's rate, and arrive after the delay. Times in nanoseconds.
#[derive(Debug)]
struct WirePort {
    nanos_per_byte: f64,
    buffer: u64,
    delay: u64,
    /// When the last accepted frame will have left.
    free: u64,
    flying: VecDeque<(u64, Vec<u8>)>,
}

impl WirePort {
    fn new(shape: &LabShape) -> Self {
        Self {
            nanos_per_byte: 8e9 / shape.bits_per_second as f64,
            buffer: shape.port_buffer,
            delay: (shape.delay * 1e9) as u64,
            free: 0,
            flying: VecDeque::new(),
        }
    }

    /// Accepts a frame at a moment; false if the buffer is full.
    fn offer(&mut self, frame: Vec<u8>, now: u64) -> bool {
        let held = self.free.saturating_sub(now) as f64 / self.nanos_per_byte;
        if held as u64 + frame.len() as u64 > self.buffer {
            return false;
        }
        self.free = self.free.max(now) + (frame.len() as f64 * self.nanos_per_byte) as u64;
        self.flying.push_back((self.free + self.delay, frame));
        true
    }

    /// The next frame that has arrived.
    fn arrived(&mut self, now: u64) -> Option<Vec<u8>> {
        self.flying.front().filter(|(due, _)| *due <= now)?;
        self.flying.pop_front().map(|(_, frame)| frame)
    }
}

/// Counters of a port.
#[derive(Debug, Default)]
struct WireCounters {
    bytes: AtomicU64,
    packets: AtomicU64,
    drops: AtomicU64,
}

/// The switch, which carries frames as long as this value.
#[derive(Debug)]
pub(super) struct Wire {
    stop: Arc<AtomicBool>,
    counters: Arc<Vec<WireCounters>>,
    thread: Option<JoinHandle<()>>,
}

impl Wire {
    /// Carries frames between interfaces, the hosts in their order.
    pub(super) fn start(interfaces: Vec<File>, shape: LabShape) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let counters: Arc<Vec<WireCounters>> = Arc::new(interfaces.iter().map(|_| WireCounters::default()).collect());
        let (asked, counted) = (Arc::clone(&stop), Arc::clone(&counters));
        let thread = std::thread::Builder::new()
            .name("wire".to_owned())
            .spawn(move || carry(&interfaces, &shape, &counted, &asked))
            .map_err(Error::io("start a thread"))?;
        Ok(Self { stop, counters, thread: Some(thread) })
    }

    /// Counters of the ports.
    pub(super) fn ports(&self) -> Vec<Queue> {
        let queue = |counters: &WireCounters| Queue {
            bytes: counters.bytes.load(Relaxed),
            packets: counters.packets.load(Relaxed),
            drops: counters.drops.load(Relaxed),
            backlog: 0,
        };
        self.counters.iter().map(queue).collect()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn carry(interfaces: &[File], shape: &LabShape, counters: &[WireCounters], stop: &AtomicBool) {
    let began = Instant::now();
    let now = || began.elapsed().as_nanos() as u64;
    let mut ports: Vec<WirePort> = interfaces.iter().map(|_| WirePort::new(shape)).collect();
    let (mut random, mut buffer) = (ChaCha8Rng::seed_from_u64(1), vec![0; 1 << 16]);
    while !stop.load(Relaxed) {
        let mut moved = false;
        for mut interface in interfaces {
            for _ in 0..BURST {
                let Ok(length) = interface.read(&mut buffer) else { break };
                moved = true;
                let frame = &buffer[..length];
                let Some(to) = host_of(frame).filter(|host| *host < ports.len()) else { continue };
                if shape.loss > 0.0 && random.random::<f64>() < shape.loss {
                    continue;
                }
                let counters = &counters[to];
                if ports[to].offer(frame.to_vec(), now()) {
                    counters.bytes.fetch_add(length as u64, Relaxed);
                    counters.packets.fetch_add(1, Relaxed);
                } else {
                    counters.drops.fetch_add(1, Relaxed);
                }
            }
        }
        for (port, mut interface) in ports.iter_mut().zip(interfaces) {
            while let Some(frame) = port.arrived(now()) {
                moved = true;
                // A host whose queue is full loses it, as on a network.
                let _ = interface.write(&frame);
            }
        }
        if !moved {
            kernels::timer::sleep(SLEEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_take_their_time_and_what_the_buffer_does_not_hold_is_dropped() {
        let shape = LabShape { bits_per_second: 8_000_000, port_buffer: 3_000, delay: 0.001, ..LabShape::default() };
        let mut port = WirePort::new(&shape);
        // A byte takes a microsecond.
        assert_eq!([1, 2, 3].map(|_| port.offer(vec![0; 1_500], 0)), [true, true, false]);
        assert_eq!(port.arrived(2_499_999), None);
        assert_eq!(port.arrived(2_500_000).map(|frame| frame.len()), Some(1_500));
        assert!(port.offer(vec![0; 1_500], 1_500_000), "the first has left");
        assert_eq!(port.arrived(4_000_000).map(|frame| frame.len()), Some(1_500));
        assert_eq!(port.arrived(5_499_999), None);
        assert!(port.arrived(5_500_000).is_some() && port.arrived(u64::MAX).is_none());
    }
}
