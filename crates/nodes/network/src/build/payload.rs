//! The payload of fragments: a function of event, sender and offset, so that receivers can verify it. Headers and
//! lengths do not show errors, and the checksums of TCP and UDP have only 16 bits.
//!
//! A part is a fragment on a connection or one of its datagrams. Its bytes come from one table, from a position that
//! follows from its key, a hash of job, event, sender and offset. Its first and last eight bytes are masked with the
//! key. So senders write no payload: they send out of their table, where a header and two masks are put and removed.
//!
//! Datagrams are verified whole, because receiving one costs far more. For connections that would be a tenth of the
//! cost, so both ends of every fragment are verified, and one fragment in 16 as a whole.

use std::ops::Range;

use super::message::{BuildJob, DatagramHeader, VerifiedPayload, WrongByte};
use crate::pattern::{ALIGNMENT, PERIOD, first_wrong, mixed, table};

/// Bytes at either end of a part that are masked.
const MASK: usize = 8;
/// Bytes at either end of a part that are always verified.
const EDGE: usize = 16;
/// One fragment in two to the power of this number is verified whole; its key decides.
const SAMPLED_BITS: u32 = 4;
/// Longest header, bytes.
const LONGEST_HEAD: usize = super::message::HEAD;

/// Data sent at once under one header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    event: u32,
    sender: u32,
    /// Its place in the fragment, bytes.
    place: u32,
    length: usize,
    key: u64,
    /// Whether it is verified whole.
    whole: bool,
}

impl Part {
    /// A whole fragment.
    pub(super) fn fragment(job: &BuildJob, event: u32, sender: u32) -> Self {
        let part = Self::new(job, [event, sender, 0], job.length(event, sender) as usize);
        Self { whole: part.key >> (u64::BITS - SAMPLED_BITS) == 0, ..part }
    }

    /// A datagram of a fragment.
    pub(super) fn datagram(job: &BuildJob, head: DatagramHeader) -> Self {
        let length = job.chunk(head.event, head.sender, head.chunk);
        Self::new(job, [head.event, head.sender, head.chunk * super::message::CHUNK], length)
    }

    fn new(job: &BuildJob, [event, sender, place]: [u32; 3], length: usize) -> Self {
        let key = mixed(u64::from(job.seed) << 32 | u64::from(event));
        let key = mixed(key ^ (u64::from(sender) << 32 | u64::from(place)));
        Self { event, sender, place, length, key, whole: true }
    }

    /// Its length, bytes.
    pub(super) const fn length(&self) -> usize {
        self.length
    }

    /// Its first bytes, those between that are verified, and its last ones. A short part is all of it first ones.
    fn sections(&self) -> [Range<usize>; 3] {
        let length = self.length;
        if length <= 2 * EDGE {
            return [0..length, length..length, length..length];
        }
        let end = if self.whole { length - EDGE } else { EDGE };
        [0..EDGE, EDGE..end, length - EDGE..length]
    }

    /// Bytes of it that are verified.
    #[cfg(test)]
    pub(super) fn verified(&self) -> u64 {
        self.sections().iter().map(|section| section.len() as u64).sum()
    }

    /// Start in the table.
    const fn start(&self) -> usize {
        (self.key % (PERIOD / ALIGNMENT) as u64) as usize * ALIGNMENT
    }

    /// Masks the first bytes; once more removes the mask.
    fn mask_first(&self, bytes: &mut [u8]) {
        mask(bytes, self.key);
    }

    /// Masks the last bytes, as [`Self::mask_first`] does the first.
    fn mask_last(&self, bytes: &mut [u8]) {
        let from = bytes.len().saturating_sub(MASK);
        mask(&mut bytes[from..], self.key.rotate_left(32));
    }

    /// Masks both ends of the whole part.
    fn mask(&self, bytes: &mut [u8]) {
        self.mask_first(bytes);
        self.mask_last(bytes);
    }
}

fn mask(bytes: &mut [u8], key: u64) {
    if let Some(eight) = bytes.first_chunk_mut::<MASK>() {
        *eight = (u64::from_le_bytes(*eight) ^ key).to_le_bytes();
        return;
    }
    for (byte, key) in bytes.iter_mut().zip(key.to_le_bytes()) {
        *byte ^= key;
    }
}

/// The table from which a sender sends.
pub(super) struct PayloadSource {
    /// Room for a header, then the table.
    bytes: Vec<u8>,
}

impl PayloadSource {
    /// With room for parts of `part` bytes; longer ones allocate it when they are sent.
    pub(super) fn new(part: usize) -> Self {
        let mut source = Self { bytes: vec![0; LONGEST_HEAD] };
        source.reach(part);
        source
    }

    fn reach(&mut self, part: usize) {
        self.bytes.truncate(LONGEST_HEAD);
        self.bytes.extend(table(PERIOD + part));
    }

    /// Calls `send` with a header and the payload of a part behind it.
    pub(super) fn send<R>(&mut self, part: &Part, head: &[u8], send: impl FnOnce(&[u8]) -> R) -> R {
        let start = LONGEST_HEAD + part.start();
        let (from, end) = (start - head.len(), start + part.length);
        if self.bytes.len() < end {
            // At least doubled, so that growing sizes reallocate only a few times.
            self.reach(part.length.max(self.bytes.len()));
        }
        let mut under = [0; LONGEST_HEAD];
        under[..head.len()].copy_from_slice(&self.bytes[from..start]);
        self.bytes[from..start].copy_from_slice(head);
        part.mask(&mut self.bytes[start..end]);
        let sent = send(&self.bytes[from..end]);
        part.mask(&mut self.bytes[start..end]);
        self.bytes[from..start].copy_from_slice(&under[..head.len()]);
        sent
    }
}

/// The table of a receiver, against which it verifies.
pub(super) struct PayloadCheck {
    table: Vec<u8>,
    /// The payload verified so far.
    pub(super) seen: VerifiedPayload,
}

impl PayloadCheck {
    pub(super) fn new() -> Self {
        Self { table: table(PERIOD + 2 * EDGE), seen: VerifiedPayload::default() }
    }

    /// Verifies a part that came as a whole.
    pub(super) fn whole(&mut self, part: &Part, bytes: &[u8]) {
        self.piece(part, 0, bytes, &mut false);
    }

    /// Verifies what came of a part from `from` on. A part counts as wrong once: `wrong` is whether it does already.
    pub(super) fn piece(&mut self, part: &Part, from: usize, bytes: &[u8], wrong: &mut bool) {
        let came = from..from + bytes.len();
        let [head, middle, tail] = part.sections();
        let mut found = None;
        for (section, is_edge) in [(head, true), (middle, false), (tail, true)] {
            let (first, end) = (came.start.max(section.start), came.end.min(section.end));
            if first >= end {
                continue;
            }
            let these = &bytes[first - from..end - from];
            self.seen.bytes += these.len() as u64;
            let at = || {
                if is_edge {
                    self.wrong_at_edge(part, section, first, these)
                } else {
                    self.wrong_within(part, first, these)
                }
            };
            found = found.or_else(at);
        }
        let Some(WrongByte { offset, came, sent, .. }) = found.filter(|_| !*wrong) else { return };
        *wrong = true;
        self.seen.wrong += 1;
        let offset = part.place + offset;
        self.seen.first.get_or_insert(WrongByte { event: part.event, sender: part.sender, offset, came, sent });
    }

    /// Compares bytes between the ends of a part with the table; the first is that at `first`.
    fn wrong_within(&self, part: &Part, first: usize, bytes: &[u8]) -> Option<WrongByte> {
        let place = part.start() + first;
        let at = first_wrong(&self.table, place, bytes)?;
        let (offset, sent) = ((first + at) as u32, self.table[(place + at) % PERIOD]);
        Some(WrongByte { offset, came: bytes[at], sent, ..WrongByte::default() })
    }

    /// Compares bytes of an end of a part; the first is that at `first`.
    fn wrong_at_edge(&self, part: &Part, edge: Range<usize>, first: usize, bytes: &[u8]) -> Option<WrongByte> {
        let mut sent = [0; 2 * EDGE];
        let sent = &mut sent[..edge.len()];
        let start = (part.start() + edge.start) % PERIOD;
        sent.copy_from_slice(&self.table[start..start + edge.len()]);
        if edge.start == 0 {
            part.mask_first(sent);
        }
        if edge.end == part.length {
            part.mask_last(sent);
        }
        let sent = &sent[first - edge.start..][..bytes.len()];
        // Nearly always: one comparison, not one for each byte.
        if bytes == sent {
            return None;
        }
        let at = bytes.iter().zip(sent).position(|(came, sent)| came != sent)?;
        let (offset, sent) = ((first + at) as u32, sent[at]);
        Some(WrongByte { offset, came: bytes[at], sent, ..WrongByte::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{Arrivals, CHUNK, HEAD, SizeDistribution};
    use super::super::sizes::tests::job;
    use super::*;

    /// The part of a fragment of `length` bytes.
    fn part(event: u32, sender: u32, length: u32) -> Part {
        let sizes = SizeDistribution::Measured(vec![length]);
        Part::fragment(&job(sizes, Arrivals::Regular), event, sender)
    }

    fn sent(source: &mut PayloadSource, part: &Part) -> Vec<u8> {
        source.send(part, b"headhead", |bytes| bytes.to_vec())
    }

    /// The part of the first fragment of a sender with this length that is verified whole.
    fn whole(sender: u32, length: u32) -> Part {
        (0..).map(|event| part(event, sender, length)).find(|part| part.whole).unwrap()
    }

    const LENGTHS: [u32; 10] = [1, 7, 8, 16, 31, 32, 33, 1_456, 16_336, 70_000];

    #[test]
    fn what_was_sent_is_right_however_it_comes_in_pieces() {
        let (mut source, mut check) = (PayloadSource::new(1), PayloadCheck::new());
        let mut bytes = 0;
        for (event, length) in (0..40).flat_map(|event| LENGTHS.map(|length| (event, length))) {
            let part = part(event, 2, length);
            let all = sent(&mut source, &part);
            assert_eq!((&all[..8], all.len()), (&b"headhead"[..], 8 + length as usize));
            check.whole(&part, &all[8..]);
            let pieces = [1, 5, 17, 1_000, 65_536];
            for piece in pieces {
                let mut wrong = false;
                for (at, bytes) in all[8..].chunks(piece).enumerate() {
                    check.piece(&part, at * piece, bytes, &mut wrong);
                }
            }
            bytes += part.verified() * (1 + pieces.len() as u64);
        }
        assert_eq!(check.seen, VerifiedPayload { bytes, wrong: 0, first: None });
    }

    #[test]
    fn every_byte_that_is_flipped_is_found_and_named() {
        let mut source = PayloadSource::new(1);
        for length in LENGTHS {
            let part = whole(3, length);
            let right = sent(&mut source, &part)[8..].to_vec();
            for at in (0..right.len()).step_by(1 + right.len() / 2_000) {
                let (mut wrong, mut check) = (right.clone(), PayloadCheck::new());
                wrong[at] ^= 1;
                check.whole(&part, &wrong);
                let first =
                    WrongByte { event: part.event, sender: 3, offset: at as u32, came: wrong[at], sent: wrong[at] ^ 1 };
                assert_eq!((check.seen.wrong, check.seen.first), (1, Some(first)), "{length}");
            }
        }
    }

    #[test]
    fn payload_of_another_event_sender_or_place_is_found() {
        let (mut source, mut check) = (PayloadSource::new(1), PayloadCheck::new());
        let mut found = 0;
        for length in LENGTHS.into_iter().filter(|length| *length >= 8) {
            let own = part(5, 3, length);
            for other in (0..40).flat_map(|event| (0..8).map(move |sender| (event, sender))) {
                let other = part(other.0, other.1, length);
                check.whole(&own, &sent(&mut source, &other)[8..]);
                found += u64::from((other.event, other.sender) != (5, 3));
            }
            assert_eq!(check.seen.wrong, found, "{length}");
        }
        // Datagrams of one fragment that are swapped, and pages that are moved within one.
        let job = BuildJob { fragment: 3 * CHUNK, ..job(SizeDistribution::Fixed, Arrivals::Regular) };
        let of = |chunk| Part::datagram(&job, DatagramHeader { seed: job.seed, event: 1, sender: 0, chunk });
        let first = source.send(&of(0), &[0; HEAD], |bytes| bytes[HEAD..].to_vec());
        let mut check = PayloadCheck::new();
        check.whole(&of(1), &first);
        assert_eq!(check.seen.first.map(|wrong| (wrong.event, wrong.sender, wrong.offset)), Some((1, 0, CHUNK)));
        let long = whole(1, 200_000);
        let mut moved = sent(&mut source, &long)[8..].to_vec();
        moved.copy_within(4_096..69_632, 69_632);
        let mut check = PayloadCheck::new();
        check.whole(&long, &moved);
        assert_eq!(check.seen.first.map(|wrong| wrong.offset), Some(69_632));
    }

    #[test]
    fn of_fragments_on_connections_both_ends_are_verified_and_one_in_sixteen_whole() {
        let all = (0..20_000).map(|event| part(event, 1, 5_000));
        let count = all.filter(|part| part.whole).count();
        // The standard deviation is 34.
        assert!((1_100..1_400).contains(&count), "{count}");
        let other = (0..).map(|event| part(event, 1, 5_000)).find(|part| !part.whole).unwrap();
        let right = sent(&mut PayloadSource::new(1), &other)[8..].to_vec();
        for (at, found) in [(0, 1), (15, 1), (16, 0), (2_500, 0), (4_983, 0), (4_984, 1), (4_999, 1)] {
            let (mut bytes, mut check) = (right.clone(), PayloadCheck::new());
            bytes[at] ^= 0x80;
            check.whole(&other, &bytes);
            assert_eq!((check.seen.bytes, check.seen.wrong), (32, found), "{at}");
        }
    }
}
