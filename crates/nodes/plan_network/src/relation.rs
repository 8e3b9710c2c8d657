//! The buffer relation of a switch port to which many senders send at once, `BUF = (N - 1) l dt`, and its inverses.
//!
//! While N senders each send at the port's own rate l for a time dt, N l dt arrive and l dt leave. The rest must be
//! buffered (Pavel, Millsom, Huffer and Day, "Network Performance Testing for the BABAR Event Builder", CHEP 98). Bytes
//! are those that the buffer counts; [`Framing`] converts them to payload.

use serde::Serialize;

use super::Framing;

/// Longest burst that a buffer holds, seconds; infinite for one sender.
#[must_use]
pub fn burst_seconds(senders: u32, rate: f64, buffer: f64) -> f64 {
    buffer / (f64::from(senders.saturating_sub(1)) * rate)
}

/// Largest number of senders whose bursts of `seconds` at `rate` (bytes/s) a buffer holds; not rounded.
#[must_use]
pub fn most_senders(rate: f64, seconds: f64, buffer: f64) -> f64 {
    1.0 + buffer / (rate * seconds)
}

/// Rate in bytes/s at which bursts of `seconds` from `senders` fill a buffer.
#[must_use]
pub fn port_rate(senders: u32, seconds: f64, buffer: f64) -> f64 {
    buffer / (f64::from(senders.saturating_sub(1)) * seconds)
}

/// Whole frames that each of `senders` may send at once without loss; `None` for one sender, which never loses.
#[must_use]
pub fn frames_per_sender(senders: u32, buffer: u64, framing: Framing) -> Option<u64> {
    let others = u64::from(senders.saturating_sub(1));
    (others > 0).then(|| buffer / u64::from(framing.full()) / others)
}

/// Full frames lost of a burst in which each of `senders` sends `frames` at once:
/// `max(0, N k - k - floor(BUF / frame))`.
#[must_use]
pub fn lost_frames(senders: u32, frames: u64, buffer: u64, framing: Framing) -> u64 {
    let arriving = u64::from(senders) * frames;
    arriving.saturating_sub(frames).saturating_sub(buffer / u64::from(framing.full()))
}

/// The share of the burst that [`lost_frames`] counts.
#[must_use]
pub fn lost_share(senders: u32, frames: u64, buffer: u64, framing: Framing) -> f64 {
    let sent = u64::from(senders) * frames;
    if sent == 0 { 0.0 } else { lost_frames(senders, frames, buffer, framing) as f64 / sent as f64 }
}

/// Largest window in bytes of payload, in whole frames, with which `senders` connections to one port can never overrun
/// its buffer. It is the effective window, and not the requested socket buffer.
#[must_use]
pub fn window_bytes(senders: u32, buffer: u64, framing: Framing) -> u64 {
    buffer / u64::from(framing.full()) / u64::from(senders.max(1)) * u64::from(framing.payload)
}

/// Window in bytes that a connection needs for a rate of payload over a round trip of `seconds`.
#[must_use]
pub fn window_for_rate(rate: f64, seconds: f64) -> f64 {
    rate * seconds
}

/// Effects of a burst of `frames` frames from each sender on a port.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Burst {
    /// Simultaneous senders.
    pub senders: u32,
    /// Frames of each sender.
    pub frames: u64,
    /// Payload of each sender, bytes.
    pub payload: u64,
    /// Bytes of each sender as the buffer counts them.
    pub buffered: u64,
    /// Duration of each sender's burst including gaps, seconds.
    pub seconds: f64,
    /// Lost frames.
    pub lost: u64,
    /// Share of the frames lost.
    pub lost_share: f64,
}

impl Burst {
    /// The burst of `frames` full frames from each of `senders` into a port of `rate` (bytes/s) and `buffer` bytes.
    #[must_use]
    pub fn of(senders: u32, frames: u64, rate: f64, buffer: u64, framing: Framing) -> Self {
        let payload = frames * u64::from(framing.payload);
        Self {
            senders,
            frames,
            payload,
            buffered: frames * u64::from(framing.full()),
            seconds: (frames * u64::from(framing.full() + framing.gap)) as f64 / rate,
            lost: lost_frames(senders, frames, buffer, framing),
            lost_share: lost_share(senders, frames, buffer, framing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_edge_of_22_senders_and_160_kb_lies_at_8_kb_a_sender() {
        let at = |payload: u64| {
            let frames = Framing::UDP.frames(payload);
            lost_share(22, frames, 160_000, Framing::UDP)
        };
        assert_eq!(at(7_360), 0.0);
        assert!((at(8_832) - 0.159).abs() < 5e-4, "{}", at(8_832));
        assert!((at(11_776) - 0.358).abs() < 5e-4, "{}", at(11_776));
        assert_eq!(frames_per_sender(22, 160_000, Framing::UDP), Some(5));
        assert_eq!(window_bytes(22, 160_000, Framing::TCP), 5_792);
        assert!((burst_seconds(22, 12.5e6, 160_000.0) - 0.6095e-3).abs() < 1e-7);
    }

    proptest! {
        #[test]
        fn inverses_invert(senders in 2_u32..5000, rate in 1e3_f64..1e11, seconds in 1e-6_f64..1.0) {
            let buffer = f64::from(senders - 1) * rate * seconds;
            let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
            prop_assert!(near(burst_seconds(senders, rate, buffer), seconds));
            prop_assert!(near(most_senders(rate, seconds, buffer), f64::from(senders)));
            prop_assert!(near(port_rate(senders, seconds, buffer), rate));
            prop_assert!(near(window_for_rate(buffer / seconds, seconds), buffer));
        }

        #[test]
        fn a_burst_that_fits_is_not_lost_and_one_more_frame_is(senders in 2_u32..500, buffer in 10_000_u64..10_000_000) {
            let frames = frames_per_sender(senders, buffer, Framing::UDP).unwrap();
            prop_assert_eq!(lost_frames(senders, frames, buffer, Framing::UDP), 0);
            prop_assert!(lost_frames(senders, frames + 1, buffer, Framing::UDP) > 0);
            let window = window_bytes(senders, buffer, Framing::TCP);
            prop_assert!(u64::from(senders) * window / 1448 * 1514 <= buffer);
        }
    }
}
