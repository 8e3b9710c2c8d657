//! Messages in encrypted frames, without I/O. A frame is its length (2 bytes, big-endian) and that many sealed bytes. A
//! message is its length (4 bytes) and its bytes, cut into as few frames as possible.
//!
//! Lengths are checked before memory is used: that of a frame before its bytes are stored, that of a message before its
//! second frame. Every frame but the last must be full.

use snow::TransportState;

use crate::{Error, Result};

/// Longest message, bytes.
pub const LONGEST: usize = 1 << 20;
/// Bytes that encryption adds to a frame.
const TAG: usize = 16;
/// Longest sealed frame, bytes (Noise, section 3).
const FRAME: usize = 65_535;
/// Bytes of a frame's length field.
const HEAD: usize = 2;
/// Bytes of a message's length field.
pub(crate) const LENGTH: usize = 4;
/// Payload of a full frame, bytes.
const FULL: usize = FRAME - TAG;
/// Size of the receive buffer, bytes; longer frames enlarge it while they last.
const READY: usize = 2 << 10;

/// Seals and opens frames; each exactly once, in order.
pub trait FrameCipher {
    /// Seals bytes; `sealed` must have room for them and [`TAG`](self) more.
    ///
    /// # Errors
    /// When there are too many.
    fn seal(&mut self, plain: &[u8], sealed: &mut [u8]) -> Result<usize>;

    /// Opens a frame; `plain` must have room for it.
    ///
    /// # Errors
    /// When the frame is not the next one that the other side sealed.
    fn open(&mut self, sealed: &[u8], plain: &mut [u8]) -> Result<usize>;
}

impl FrameCipher for TransportState {
    fn seal(&mut self, plain: &[u8], sealed: &mut [u8]) -> Result<usize> {
        self.write_message(plain, sealed).map_err(|error| Error::Encryption(error.to_string()))
    }

    fn open(&mut self, sealed: &[u8], plain: &mut [u8]) -> Result<usize> {
        self.read_message(sealed, plain).map_err(|_| Error::Altered)
    }
}

/// Appends a message's frames to `into`. The message begins with [`LENGTH`] bytes of room for its length.
pub(crate) fn seal(message: &mut [u8], cipher: &mut dyn FrameCipher, into: &mut Vec<u8>) -> Result<()> {
    let length = message.len().saturating_sub(LENGTH);
    if length > LONGEST {
        return Err(Error::TooLong { length, most: LONGEST });
    }
    message[..LENGTH].copy_from_slice(&(length as u32).to_be_bytes());
    for part in message.chunks(FULL) {
        let begin = into.len();
        into.resize(begin + HEAD + part.len() + TAG, 0);
        let sealed = cipher.seal(part, &mut into[begin + HEAD..])?;
        into[begin..begin + HEAD].copy_from_slice(&(sealed as u16).to_be_bytes());
    }
    Ok(())
}

/// The frames of a message.
///
/// # Errors
/// When it is longer than [`LONGEST`].
pub fn sealed(message: &[u8], cipher: &mut dyn FrameCipher) -> Result<Vec<u8>> {
    let mut frames = Vec::new();
    seal(&mut [&[0; LENGTH], message].concat(), cipher, &mut frames)?;
    Ok(frames)
}

/// Assembles messages from received bytes.
#[derive(Debug, Default)]
pub struct FrameReader {
    /// Received bytes: frames before `opened` are opened, bytes from `filled` on are free.
    bytes: Vec<u8>,
    opened: usize,
    filled: usize,
    /// The opened part of the incomplete message.
    message: Vec<u8>,
    /// Length of that message, once known.
    length: Option<usize>,
    /// A frame was refused. Later frames are then refused too.
    refused: bool,
}

impl FrameReader {
    /// Buffer for the next bytes; never empty. It has room for the rest of a frame whose length is known.
    pub fn space(&mut self) -> &mut [u8] {
        self.bytes.copy_within(self.opened..self.filled, 0);
        (self.filled, self.opened) = (self.filled - self.opened, 0);
        let frame = self.head().map_or(0, |sealed| HEAD + sealed);
        let wanted = frame.max(READY).max(self.filled + 1);
        self.bytes.resize(wanted, 0);
        if self.bytes.capacity() > 4 * wanted {
            self.bytes.shrink_to(wanted);
        }
        &mut self.bytes[self.filled..]
    }

    /// Notes that `count` bytes were put into [`FrameReader::space`].
    pub fn fill(&mut self, count: usize) {
        self.filled = (self.filled + count).min(self.bytes.len());
    }

    /// Whether there are bytes of a message that has not been taken yet.
    #[must_use]
    pub fn has_bytes(&self) -> bool {
        self.opened < self.filled || self.length.is_some()
    }

    /// Memory in use, bytes.
    #[must_use]
    pub fn held(&self) -> usize {
        self.bytes.capacity() + self.message.capacity()
    }

    fn head(&self) -> Option<usize> {
        let head = self.bytes[self.opened..self.filled].first_chunk::<HEAD>()?;
        Some(usize::from(u16::from_be_bytes(*head)))
    }

    /// The next message, of at most `most` bytes; `None` while it is incomplete.
    ///
    /// # Errors
    /// When the message is too long, or a frame is not the next one that the other side sealed. No later frame can be
    /// opened then.
    pub fn next(&mut self, cipher: &mut dyn FrameCipher, most: usize) -> Result<Option<Vec<u8>>> {
        if self.refused {
            return Err(Error::Altered);
        }
        let next = self.open(cipher, most.min(LONGEST));
        self.refused = next.is_err();
        next
    }

    fn open(&mut self, cipher: &mut dyn FrameCipher, most: usize) -> Result<Option<Vec<u8>>> {
        while let Some(sealed) = self.head() {
            self.check(sealed, most)?;
            let begin = self.opened + HEAD;
            if begin + sealed > self.filled {
                break;
            }
            let (had, plain) = (self.message.len(), sealed - TAG);
            self.message.resize(had + plain, 0);
            if cipher.open(&self.bytes[begin..begin + sealed], &mut self.message[had..])? != plain {
                return Err(Error::Altered);
            }
            self.opened = begin + sealed;
            if self.length.is_none() {
                self.begin(most)?;
            }
            if self.length == Some(self.message.len()) {
                self.length = None;
                return Ok(Some(std::mem::take(&mut self.message)));
            }
        }
        Ok(None)
    }

    /// Whether a frame may have this many sealed bytes.
    fn check(&self, sealed: usize, most: usize) -> Result<()> {
        let plain = sealed.saturating_sub(TAG);
        match self.length {
            None if plain < LENGTH => Err(Error::Protocol(format!("a first frame of {sealed} bytes"))),
            None if plain > LENGTH + most => Err(Error::TooLong { length: plain - LENGTH, most }),
            Some(length) if plain != (length - self.message.len()).min(FULL) => {
                Err(Error::Protocol(format!("a further frame of {sealed} bytes")))
            }
            _ => Ok(()),
        }
    }

    /// Takes a message's length from its first frame.
    fn begin(&mut self, most: usize) -> Result<()> {
        let mut head = [0; LENGTH];
        head.copy_from_slice(&self.message[..LENGTH]);
        self.message.drain(..LENGTH);
        let length = u32::from_be_bytes(head) as usize;
        if length > most {
            return Err(Error::TooLong { length, most });
        }
        if self.message.len() != length.min(FULL - LENGTH) {
            return Err(Error::Protocol(format!("a message of {length} bytes begins with {}", self.message.len())));
        }
        self.length = Some(length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Encrypts nothing: it checks that frames arrive whole and in order, so that framing is tested without the cipher.
    #[derive(Default)]
    struct NumberingCipher(u64, u64);

    impl FrameCipher for NumberingCipher {
        fn seal(&mut self, plain: &[u8], sealed: &mut [u8]) -> Result<usize> {
            sealed[..plain.len()].copy_from_slice(plain);
            sealed[plain.len()..plain.len() + 8].copy_from_slice(&self.0.to_be_bytes());
            sealed[plain.len() + 8..plain.len() + TAG].fill(0x77);
            self.0 += 1;
            Ok(plain.len() + TAG)
        }

        fn open(&mut self, sealed: &[u8], plain: &mut [u8]) -> Result<usize> {
            let (text, tag) = sealed.split_at(sealed.len() - TAG);
            if tag[..8] != self.1.to_be_bytes() || tag[8..] != [0x77; 8] {
                return Err(Error::Altered);
            }
            self.1 += 1;
            plain[..text.len()].copy_from_slice(text);
            Ok(text.len())
        }
    }

    fn feed(
        reader: &mut FrameReader,
        mut bytes: &[u8],
        step: usize,
        cipher: &mut NumberingCipher,
    ) -> Result<Vec<Vec<u8>>> {
        let mut messages = Vec::new();
        while !bytes.is_empty() {
            let space = reader.space();
            let count = space.len().min(bytes.len()).min(step.max(1));
            space[..count].copy_from_slice(&bytes[..count]);
            reader.fill(count);
            bytes = &bytes[count..];
            while let Some(message) = reader.next(cipher, LONGEST)? {
                messages.push(message);
            }
        }
        Ok(messages)
    }

    #[test]
    fn messages_of_every_size_arrive_whole_however_they_are_split() {
        let sizes = [0, 1, FULL - LENGTH - 1, FULL - LENGTH, FULL - LENGTH + 1, 2 * FULL, 2 * FULL - LENGTH, LONGEST];
        for step in [1 << 20, 4_099, 65_537] {
            let (mut sealer, mut opener, mut reader) =
                (NumberingCipher::default(), NumberingCipher::default(), FrameReader::default());
            let mut bytes = Vec::new();
            for size in sizes {
                bytes.extend(sealed(&vec![size as u8; size], &mut sealer).unwrap());
            }
            let came = feed(&mut reader, &bytes, step, &mut opener).unwrap();
            assert_eq!(came.iter().map(Vec::len).collect::<Vec<_>>(), sizes);
            assert!(came.iter().zip(sizes).all(|(message, size)| message.iter().all(|byte| *byte == size as u8)));
            let _ = reader.space();
            assert!(!reader.has_bytes() && reader.held() <= 4 * READY, "{} bytes are kept", reader.held());
        }
        assert!(sealed(&vec![0; LONGEST + 1], &mut NumberingCipher::default()).is_err());
    }

    #[test]
    fn lengths_are_checked() {
        let next = |bytes: &[u8], most| {
            let mut reader = FrameReader::default();
            reader.space()[..bytes.len()].copy_from_slice(bytes);
            reader.fill(bytes.len());
            let ended = reader.next(&mut NumberingCipher::default(), most);
            assert!(ended.is_ok() || reader.next(&mut NumberingCipher::default(), most).is_err());
            assert!(reader.held() <= 4 * READY);
            ended
        };
        // The header alone shows that a frame is too long or too short, so its bytes are not read.
        assert!(matches!(next(&[0xff, 0xff], 1000), Err(Error::TooLong { .. })));
        assert!(matches!(next(&[0x03, 0xfc], 1000), Ok(None)));
        assert!(matches!(next(&[0x03, 0xfd], 1000), Err(Error::TooLong { .. })));
        assert!(matches!(next(&[0, 0], 1000), Err(Error::Protocol(_))));
        assert!(matches!(next(&[0, 19], 1000), Err(Error::Protocol(_))));
        // A message whose length field contradicts its frames.
        let seal_raw = |plain: &[u8]| {
            let mut frame = vec![0; HEAD + plain.len() + TAG];
            let sealed = NumberingCipher::default().seal(plain, &mut frame[HEAD..]).unwrap();
            frame[..HEAD].copy_from_slice(&(sealed as u16).to_be_bytes());
            frame
        };
        assert!(matches!(next(&seal_raw(&[0, 0, 0, 9, 1, 2]), 1000), Err(Error::Protocol(_))));
        assert!(matches!(next(&seal_raw(&[0, 0, 0, 1, 1, 2]), 1000), Err(Error::Protocol(_))));
        assert!(matches!(next(&seal_raw(&[0xff, 0xff, 0xff, 0xff, 1]), 1000), Err(Error::TooLong { .. })));
        assert!(matches!(next(&seal_raw(&[0, 0, 0, 2, 1, 2]), 1000), Ok(Some(_))));
    }

    proptest! {
        #[test]
        fn any_bytes_are_messages_or_refused_and_memory_stays_small(
            bytes in prop::collection::vec(any::<u8>(), 0..3_000),
            step in 1..400_usize,
        ) {
            let mut reader = FrameReader::default();
            let _ = feed(&mut reader, &bytes, step, &mut NumberingCipher::default());
            prop_assert!(reader.held() <= 2 * (FRAME + HEAD) + bytes.len());
        }

        #[test]
        fn only_sent_messages_arrive_whatever_happens_to_frames(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..6),
            at in any::<prop::sample::Index>(), value in 1..=255_u8, way in 0..5_u8, step in 1..300_usize,
        ) {
            let mut sealer = NumberingCipher::default();
            let mut frames: Vec<Vec<u8>> = messages.iter().map(|one| sealed(one, &mut sealer).unwrap()).collect();
            let place = at.index(frames.len());
            match way {
                0 => frames.insert(place, frames[place].clone()),
                1 => drop(frames.remove(place)),
                2 => frames.swap(0, place),
                // The frame's number replaces the whole tag here; the real cipher covers every byte.
                3 => { let end = frames[place].len(); frames[place][end - 1] ^= value; }
                _ => frames.truncate(place),
            }
            let mut reader = FrameReader::default();
            let mut came = Vec::new();
            let mut opener = NumberingCipher::default();
            for frame in &frames {
                match feed(&mut reader, frame, step, &mut opener) {
                    Ok(more) => came.extend(more),
                    Err(_) => break,
                }
            }
            prop_assert!(messages.starts_with(&came), "{:?} came of {:?}", came, messages);
        }
    }
}
