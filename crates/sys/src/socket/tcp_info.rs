//! `struct tcp_info` of `linux/tcp.h`, read by offset within the length that the kernel returned.

macro_rules! fields {
    ($($(#[doc = $about:literal])+ $name:ident: $width:ty = $offset:literal;)+) => {
        /// State of a TCP connection. A field that this kernel does not have is `None`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct TcpInfo { $($(#[doc = $about])+ pub $name: Option<u64>,)+ }

        impl TcpInfo {
            pub(super) fn parse(raw: &[u8]) -> Self {
                Self { $($name: raw
                    .get($offset..$offset + size_of::<$width>())
                    .and_then(|bytes| bytes.try_into().ok())
                    .map(|bytes| u64::from(<$width>::from_ne_bytes(bytes))),)+ }
            }
        }
    };
}

fields! {
    /// State by its number in `netinet/tcp.h`: 1 is established.
    state: u8 = 0;
    /// Retransmission time-out, microseconds.
    rto_us: u32 = 8;
    /// Largest segment sent, bytes.
    send_mss: u32 = 16;
    /// Largest segment received, bytes.
    receive_mss: u32 = 20;
    /// Segments sent but not acknowledged.
    unacked: u32 = 24;
    /// Segments currently considered lost.
    lost: u32 = 32;
    /// Segments retransmitted and not acknowledged.
    retransmitting: u32 = 36;
    /// MTU of the path, bytes.
    path_mtu: u32 = 60;
    /// Smoothed round-trip time, microseconds.
    rtt_us: u32 = 68;
    /// Mean deviation of the round-trip time, microseconds.
    rtt_deviation_us: u32 = 72;
    /// Slow-start threshold, segments.
    send_threshold: u32 = 76;
    /// Congestion window, segments.
    congestion_window: u32 = 80;
    /// Receive buffer space of autotuning, bytes.
    receive_space: u32 = 96;
    /// Segments retransmitted so far, spuriously or not.
    total_retransmits: u32 = 100;
    /// Pacing rate, bytes per second.
    pacing_rate: u64 = 104;
    /// Bytes acknowledged so far.
    bytes_acked: u64 = 120;
    /// Bytes received so far.
    bytes_received: u64 = 128;
    /// Segments sent so far.
    segments_out: u32 = 136;
    /// Segments received so far.
    segments_in: u32 = 140;
    /// Bytes in the send buffer that were never sent.
    unsent_bytes: u32 = 144;
    /// Least round-trip time, microseconds.
    min_rtt_us: u32 = 148;
    /// Latest delivery rate, bytes per second.
    delivery_rate: u64 = 160;
    /// Time with data to send, microseconds.
    busy_us: u64 = 168;
    /// Of that, limited by the receiver's window, microseconds.
    receive_window_limited_us: u64 = 176;
    /// Of that, limited by the send buffer, microseconds.
    send_buffer_limited_us: u64 = 184;
    /// Bytes sent so far, retransmitted ones included.
    bytes_sent: u64 = 200;
    /// Bytes retransmitted so far.
    bytes_retransmitted: u64 = 208;
    /// Segments that the receiver reported twice: spurious retransmissions.
    duplicate_acks: u32 = 216;
    /// Number of reordering events.
    reorderings: u32 = 220;
    /// Window that the peer offers, bytes.
    send_window: u32 = 228;
    /// Window that this side offers, bytes.
    receive_window: u32 = 232;
    /// Retransmission time-outs so far.
    timeouts: u16 = 240;
}

impl TcpInfo {
    /// Segments lost so far: retransmissions without those that the receiver reported as spurious. `None` if the kernel
    /// does not report both.
    #[must_use]
    pub fn losses(&self) -> Option<u64> {
        Some(self.total_retransmits?.saturating_sub(self.duplicate_acks?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_answer_has_fewer_fields() {
        let mut raw = [0u8; 512];
        raw[100..104].copy_from_slice(&7u32.to_ne_bytes());
        raw[216..220].copy_from_slice(&2u32.to_ne_bytes());
        let old = TcpInfo::parse(&raw[..104]);
        assert_eq!((old.total_retransmits, old.bytes_acked, old.losses()), (Some(7), None, None));
        assert_eq!(TcpInfo::parse(&raw).losses(), Some(5));
        assert_eq!(TcpInfo::parse(&raw[..103]).total_retransmits, None);
        assert_eq!(TcpInfo::parse(&[]), TcpInfo::default());
    }
}
