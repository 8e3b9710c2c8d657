//! Any bytes are frames of a channel or refused, in pieces of any size. No message is longer than allowed, whatever its
//! frames say. The cipher accepts everything, so that the code behind it is reached.
#![no_main]

use channel::Result;
use channel::frame::{FrameCipher, FrameReader, sealed};
use libfuzzer_sys::fuzz_target;

struct NullCipher;

impl FrameCipher for NullCipher {
    fn seal(&mut self, plain: &[u8], sealed: &mut [u8]) -> Result<usize> {
        sealed[..plain.len()].copy_from_slice(plain);
        Ok(plain.len() + 16)
    }

    fn open(&mut self, sealed: &[u8], plain: &mut [u8]) -> Result<usize> {
        let length = sealed.len() - 16;
        plain[..length].copy_from_slice(&sealed[..length]);
        Ok(length)
    }
}

/// The messages in bytes that come in pieces of at most `step`, until one is refused.
fn messages(mut bytes: &[u8], step: usize, most: usize) -> Vec<Vec<u8>> {
    let (mut reader, mut messages, all) = (FrameReader::default(), Vec::new(), bytes.len());
    while !bytes.is_empty() {
        let space = reader.space();
        let count = space.len().min(bytes.len()).min(step);
        space[..count].copy_from_slice(&bytes[..count]);
        reader.fill(count);
        bytes = &bytes[count..];
        loop {
            match reader.next(&mut NullCipher, most) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(_) => return messages,
            }
        }
        assert!(reader.held() <= (1 << 18) + 2 * (all + most), "{} bytes are kept", reader.held());
    }
    messages
}

fuzz_target!(|input: (u16, u16, Vec<u8>)| {
    let (step, most, bytes) = (usize::from(input.0).max(1), usize::from(input.1), input.2);
    let found = messages(&bytes, step, most);
    assert!(found.iter().all(|message| message.len() <= most));
    assert_eq!(found, messages(&bytes, usize::MAX, most), "the pieces matter");
    // What was read can be sent again and is the same.
    for message in found {
        let again = sealed(&message, &mut NullCipher).unwrap_or_default();
        assert_eq!(messages(&again, step, most), [message]);
    }
});
