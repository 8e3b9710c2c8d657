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
    /// Largest segment that it sends, bytes.
    segment: u32 = 16;
    /// Smoothed round-trip time, microseconds.
    rtt_us: u32 = 68;
    /// Congestion window, segments.
    congestion_window: u32 = 80;
    /// Segments retransmitted so far, spuriously or not.
    total_retransmits: u32 = 100;
    /// Rate at which it paces its segments, bytes a second; all ones: no limit.
    pacing_rate: u64 = 104;
    /// Most that it may pace at, bytes a second; all ones: no limit.
    max_pacing_rate: u64 = 112;
    /// Shortest round-trip time so far, microseconds.
    min_rtt_us: u32 = 148;
    /// Segments with data sent so far.
    data_segments: u32 = 156;
    /// Time with data to send, microseconds.
    busy_us: u64 = 168;
    /// The part that the receiver's window limited, microseconds.
    receive_window_limited_us: u64 = 176;
    /// The part that the send buffer limited, microseconds.
    send_buffer_limited_us: u64 = 184;
    /// Segments that the receiver reported twice: spurious retransmissions.
    duplicate_acks: u32 = 216;
    /// Window that the peer offers, bytes.
    send_window: u32 = 228;
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
        assert_eq!((old.total_retransmits, old.busy_us, old.losses()), (Some(7), None, None));
        assert_eq!(TcpInfo::parse(&raw).losses(), Some(5));
        assert_eq!(TcpInfo::parse(&raw[..103]).total_retransmits, None);
        assert_eq!(TcpInfo::parse(&[]), TcpInfo::default());
    }
}
