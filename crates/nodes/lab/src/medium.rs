//! One medium for all hosts, as half-duplex Ethernet has it: data and acknowledgements share it, and collide.
//!
//! IEEE 802.3, clause 4: a station whose medium is busy sends as soon as it is free. Stations that begin together
//! collide, and each waits a random number of slots, from a range that doubles with its attempts. All hosts are near
//! each other, so only stations that waited for the end of the same frame collide. Frames are carried by a thread,
//! between interfaces whose frames it reads and writes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Error, Result};

/// Preamble and start, and the check sequence that the interfaces do not carry, bytes.
const AROUND: usize = 8 + 4;
/// Shortest frame without its check sequence, bytes.
const SHORTEST: usize = 60;
/// Gap between frames, preamble and jam of a collision, and a slot, in bits.
const GAP: f64 = 96.0;
const JAM: f64 = 64.0 + 32.0;
const SLOT: f64 = 512.0;
/// Collisions up to which the range of slots doubles, and after which the frame is given up.
const DOUBLINGS: u32 = 10;
const ATTEMPTS: u32 = 16;
/// Nanoseconds by which the thread may be late without the medium standing still for it.
const LATE: u64 = 300_000;
/// Nanoseconds before a moment in which the thread does not sleep.
const SPIN: u64 = 120_000;

/// Frames that a station's card holds while the medium is busy.
const RING: usize = 4;

/// The waiting frames of one station.
#[derive(Debug, Default)]
struct Station {
    frame: Option<Vec<u8>>,
    collisions: u32,
    /// It does not begin before this moment, nanoseconds.
    ready: u64,
}

/// The result of an attempt.
#[derive(Debug, PartialEq, Eq)]
enum MediumAttempt {
    /// A station's frame is on the medium until this moment.
    Sent(usize, Vec<u8>, u64),
    /// Several began together.
    Collided,
}

/// Who may send when.
#[derive(Debug)]
struct Arbiter {
    /// Nanoseconds of a bit.
    bit: f64,
    stations: Vec<Station>,
    /// From here on the medium is free, nanoseconds.
    free: u64,
    random: ChaCha8Rng,
}

impl Arbiter {
    fn new(stations: usize, bits_per_second: u64) -> Self {
        let stations = (0..stations).map(|_| Station::default()).collect();
        Self { bit: 1e9 / bits_per_second as f64, stations, free: 0, random: ChaCha8Rng::seed_from_u64(1) }
    }

    fn bits(&self, bits: f64) -> u64 {
        (bits * self.bit) as u64
    }

    /// A station wants to send a frame from a moment on.
    fn offer(&mut self, station: usize, frame: Vec<u8>, now: u64) {
        self.stations[station] = Station { frame: Some(frame), collisions: 0, ready: now };
    }

    /// The next moment at which a station begins.
    fn next(&self) -> Option<u64> {
        let waiting = self.stations.iter().filter(|station| station.frame.is_some());
        waiting.map(|station| station.ready).min().map(|ready| ready.max(self.free))
    }

    /// Those who are ready begin at a moment.
    fn attempt(&mut self, at: u64) -> MediumAttempt {
        let ready = |station: &Station| station.frame.is_some() && station.ready <= at;
        let begin: Vec<usize> = (0..self.stations.len()).filter(|index| ready(&self.stations[*index])).collect();
        if let [only] = begin[..]
            && let Some(frame) = std::mem::take(&mut self.stations[only]).frame
        {
            let end = at + self.bits(8.0 * (frame.len().max(SHORTEST) + AROUND) as f64);
            self.free = end + self.bits(GAP);
            return MediumAttempt::Sent(only, frame, end);
        }
        let end = at + self.bits(JAM);
        self.free = end + self.bits(GAP);
        for index in begin {
            let collisions = self.stations[index].collisions + 1;
            let slots = self.random.random_range(0..1u64 << collisions.min(DOUBLINGS));
            let ready = end + slots * self.bits(SLOT);
            let station = &mut self.stations[index];
            (station.collisions, station.ready) = (collisions, ready);
            if collisions >= ATTEMPTS {
                *station = Station::default();
            }
        }
        MediumAttempt::Collided
    }
}

/// The medium, which carries frames as long as this value.
#[derive(Debug)]
pub(super) struct Medium {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Medium {
    /// Carries frames between interfaces, the hosts in their order.
    pub(super) fn start(interfaces: Vec<File>, bits_per_second: u64) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("medium".to_owned())
            .spawn(move || carry(&interfaces, bits_per_second, &asked))
            .map_err(Error::io("start a thread"))?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Medium {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn carry(interfaces: &[File], bits_per_second: u64, stop: &AtomicBool) {
    let began = Instant::now();
    let now = || began.elapsed().as_nanos() as u64;
    let mut arbiter = Arbiter::new(interfaces.len(), bits_per_second);
    let mut cards = Cards::new(interfaces);
    while !stop.load(Relaxed) {
        cards.take(now());
        cards.offer(&mut arbiter);
        let Some(next) = arbiter.next() else {
            kernels::timer::sleep(Duration::from_nanos(SPIN / 2));
            continue;
        };
        // Others may have become ready, so they are checked again before anyone begins.
        if now() < next {
            wait(next, &now, &mut cards);
            continue;
        }
        let at = next.max(now().saturating_sub(LATE));
        if let MediumAttempt::Sent(from, frame, end) = arbiter.attempt(at) {
            wait(end, &now, &mut cards);
            deliver(interfaces, from, &frame);
        }
    }
}

/// The cards of all stations. They take frames even while another one is on the medium. All stations that became ready
/// during a frame begin at its end, however late this thread is.
struct Cards<'a> {
    interfaces: &'a [File],
    /// Frames in order, each with the moment at which it came.
    rings: Vec<VecDeque<(Vec<u8>, u64)>>,
    buffer: Vec<u8>,
}

impl<'a> Cards<'a> {
    fn new(interfaces: &'a [File]) -> Self {
        Self { interfaces, rings: vec![VecDeque::new(); interfaces.len()], buffer: vec![0; 1 << 16] }
    }

    /// Takes the frames that the hosts send.
    fn take(&mut self, now: u64) {
        for (mut interface, ring) in self.interfaces.iter().zip(&mut self.rings) {
            while ring.len() < RING
                && let Ok(length) = interface.read(&mut self.buffer)
            {
                ring.push_back((self.buffer[..length].to_vec(), now));
            }
        }
    }

    /// The first frame of each card that waits with none.
    fn offer(&mut self, arbiter: &mut Arbiter) {
        for (index, ring) in self.rings.iter_mut().enumerate() {
            if arbiter.stations[index].frame.is_none()
                && let Some((frame, came)) = ring.pop_front()
            {
                arbiter.offer(index, frame, came);
            }
        }
    }
}

/// Waits for a moment, while the cards take frames; sleeping alone is too coarse.
fn wait(until: u64, now: &dyn Fn() -> u64, cards: &mut Cards<'_>) {
    while let Some(left) = until.checked_sub(now()).filter(|left| *left > 0) {
        if left > SPIN {
            kernels::timer::sleep(Duration::from_nanos(left - SPIN));
        } else {
            std::thread::yield_now();
        }
        cards.take(now());
    }
}

/// Gives a frame to the host of its address, or to all others.
fn deliver(interfaces: &[File], from: usize, frame: &[u8]) {
    let to = frame.get(..6).unwrap_or_default();
    for (index, mut interface) in interfaces.iter().enumerate().filter(|(index, _)| *index != from) {
        if to == super::build::address_bytes(index) || to.first().is_some_and(|first| first & 1 == 1) {
            // A host whose queue is full loses it, as on a network.
            let _ = interface.write(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABIT: u64 = 100_000_000;

    fn frame(length: usize) -> Vec<u8> {
        vec![0; length]
    }

    #[test]
    fn a_frame_takes_its_bits_and_the_gap() {
        let mut arbiter = Arbiter::new(2, MEGABIT);
        arbiter.offer(0, frame(1514), 1000);
        assert_eq!(arbiter.next(), Some(1000));
        // 1514 + 12 bytes of 80 ns, then 96 bits of 10 ns.
        assert_eq!(arbiter.attempt(1000), MediumAttempt::Sent(0, frame(1514), 1000 + 122_080));
        assert_eq!((arbiter.free, arbiter.next()), (1000 + 122_080 + 960, None));
        arbiter.offer(1, frame(54), 2000);
        assert_eq!(arbiter.next(), Some(arbiter.free), "the medium is busy");
    }

    #[test]
    fn stations_that_waited_for_the_same_frame_collide_until_their_slots_differ() {
        let mut arbiter = Arbiter::new(2, MEGABIT);
        arbiter.offer(0, frame(1514), 0);
        arbiter.offer(1, frame(60), 0);
        let mut collisions = 0;
        let mut sent = 0;
        while let Some(at) = arbiter.next() {
            match arbiter.attempt(at) {
                MediumAttempt::Collided => collisions += 1,
                MediumAttempt::Sent(..) => sent += 1,
            }
        }
        assert!(sent == 2 && collisions >= 1, "{sent} {collisions}");
    }

    /// A sender that always has a frame, and a receiver that answers every second one: the medium carries clearly less
    /// than its bits, since the two collide.
    #[test]
    fn acknowledgements_cost_more_than_their_bits() {
        let mut arbiter = Arbiter::new(2, MEGABIT);
        let (mut data, mut owed, mut outstanding) = (0u64, 0, 0u32);
        arbiter.offer(0, frame(1514), 0);
        while data < 20_000 {
            let at = arbiter.next().unwrap();
            let MediumAttempt::Sent(from, _, end) = arbiter.attempt(at) else { continue };
            if from == 0 {
                (data, owed, outstanding) = (data + 1, owed + 1, outstanding + 1);
            } else {
                outstanding = 0;
            }
            // 16 frames are a window of 23 KB: no more may be unacknowledged.
            if arbiter.stations[0].frame.is_none() && outstanding < 16 {
                arbiter.offer(0, frame(1514), end);
            }
            if owed >= 2 && arbiter.stations[1].frame.is_none() {
                owed = 0;
                arbiter.offer(1, frame(66), end);
            }
        }
        let rate = data as f64 * 1448.0 / (arbiter.free as f64 * 1e-9) * 1e-6;
        assert!((5.0..9.0).contains(&rate), "{rate} MB/s of payload");
    }

    /// A card takes what its host sends during a frame of another, so that both begin at its end.
    #[test]
    fn who_waits_during_a_frame_collides_at_its_end() {
        let pairs: Vec<_> = (0..2).map(|_| std::os::unix::net::UnixDatagram::pair().unwrap()).collect();
        let (hosts, cards): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let interfaces: Vec<File> = cards
            .into_iter()
            .map(|card| {
                card.set_nonblocking(true).unwrap();
                File::from(std::os::fd::OwnedFd::from(card))
            })
            .collect();
        let (mut cards, mut arbiter) = (Cards::new(&interfaces), Arbiter::new(2, MEGABIT));
        for _ in 0..RING + 3 {
            hosts[0].send(&frame(1514)).unwrap();
        }
        cards.take(0);
        cards.offer(&mut arbiter);
        let MediumAttempt::Sent(0, _, end) = arbiter.attempt(0) else { panic!("it was alone") };
        hosts[1].send(&frame(60)).unwrap();
        cards.take(end / 2);
        assert_eq!(cards.rings[0].len(), RING, "the rest waits in the host");
        // The thread is late, and it changes nothing.
        cards.take(end + LATE);
        cards.offer(&mut arbiter);
        assert_eq!(arbiter.next(), Some(arbiter.free));
        assert_eq!(arbiter.attempt(arbiter.free), MediumAttempt::Collided);
    }
}
