//! Size of a message by the place where it is counted: application, buffer, wire.

use serde::Serialize;

/// How a transport divides payload into Ethernet frames (IEEE 802.3, MTU 1500).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Framing {
    /// Largest payload of one frame, bytes.
    pub payload: u32,
    /// Bytes of a frame in a buffer in addition to the payload: headers of Ethernet (14 B), IP and the transport.
    pub headers: u32,
    /// Bytes on the wire in addition to a buffer's: preamble, checksum and gap, 24 B on real Ethernet; 0 if a link is a
    /// token bucket.
    pub gap: u32,
}

impl Framing {
    /// Datagrams over IPv4: 1472 B in a frame of 1514 B.
    pub const UDP: Self = Self { payload: 1472, headers: 42, gap: 24 };
    /// TCP over IPv4 with timestamps (RFC 7323): 1448 B in a frame of 1514 B.
    pub const TCP: Self = Self { payload: 1448, headers: 66, gap: 24 };
    /// TCP over IPv4 without options, as in 1998: 1460 B in a frame of 1514 B.
    pub const PLAIN_TCP: Self = Self { payload: 1460, headers: 54, gap: 24 };

    /// The same on a link without a gap between frames.
    #[must_use]
    pub const fn without_gap(self) -> Self {
        Self { gap: 0, ..self }
    }

    /// Bytes of a full frame in a buffer.
    #[must_use]
    pub const fn full(self) -> u32 {
        self.payload + self.headers
    }

    /// Frames of a payload; an empty one needs one frame.
    #[must_use]
    pub fn frames(self, payload: u64) -> u64 {
        payload.div_ceil(u64::from(self.payload)).max(1)
    }

    /// Bytes of a payload in a buffer.
    #[must_use]
    pub fn buffered(self, payload: u64) -> u64 {
        payload + self.frames(payload) * u64::from(self.headers)
    }

    /// Bytes of a payload on the wire, gaps included.
    #[must_use]
    pub fn wire(self, payload: u64) -> u64 {
        self.buffered(payload) + self.frames(payload) * u64::from(self.gap)
    }

    /// Share of a link's rate that is payload, with full frames.
    #[must_use]
    pub fn efficiency(self) -> f64 {
        f64::from(self.payload) / f64::from(self.full() + self.gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_is_1514_bytes_in_a_buffer_and_1538_on_the_wire() {
        for framing in [Framing::UDP, Framing::TCP, Framing::PLAIN_TCP] {
            assert_eq!(framing.full(), 1514);
            assert_eq!(framing.wire(u64::from(framing.payload)), 1538);
            assert_eq!(framing.frames(u64::from(framing.payload) + 1), 2);
        }
        // 11.8 MB/s is what Fast Ethernet leaves for TCP with timestamps.
        assert!((12.5e6 * Framing::TCP.efficiency() / 1e6 - 11.77).abs() < 0.01);
    }
}
