//! ONC remote procedure calls, limited to the call of one procedure with one character: messages of RFC 5531, data of
//! RFC 4506 (XDR), and record marking for streams.

use crate::BenchmarkError;

/// A program number of the range reserved for users (RFC 5531, section 13).
pub(crate) const PROGRAM: u32 = 0x2070_726f;
pub(crate) const VERSION: u32 = 1;
/// Its only procedure: answers a character with another one.
pub(crate) const PROCEDURE: u32 = 1;

const CALL: u32 = 0;
const REPLY: u32 = 1;
const RPC_VERSION: u32 = 2;
const AUTH_NONE: u32 = 0;
const ACCEPTED: u32 = 0;
const SUCCESS: u32 = 0;
/// The bit of a record mark that ends the record.
const LAST: u32 = 1 << 31;

/// Bytes of a call: transaction, kind, three versions and numbers, procedure, credentials, verifier, one character.
pub(crate) const CALL_BYTES: usize = 44;
/// Bytes of a reply: transaction, kind, accepted, verifier, success, one character.
pub(crate) const REPLY_BYTES: usize = 28;
/// Bytes of a record mark.
pub(crate) const MARK_BYTES: usize = 4;

/// Writes a call into `to`, whose length must be [`CALL_BYTES`]. XDR encodes a character as a signed word.
#[inline]
pub(crate) fn put_call(to: &mut [u8], transaction: u32, character: u8) {
    let none = [AUTH_NONE, 0];
    put(
        to,
        &[
            transaction,
            CALL,
            RPC_VERSION,
            PROGRAM,
            VERSION,
            PROCEDURE,
            none[0],
            none[1],
            none[0],
            none[1],
            signed(character),
        ],
    );
}

/// Reads a call: its transaction and its character.
#[inline]
pub(crate) fn get_call(from: &[u8]) -> Result<(u32, u8), BenchmarkError> {
    let words = get::<{ CALL_BYTES / 4 }>(from)?;
    let [transaction, ref kind @ .., character] = words;
    match kind {
        [CALL, RPC_VERSION, PROGRAM, VERSION, PROCEDURE, AUTH_NONE, 0, AUTH_NONE, 0] => {
            Ok((transaction, character as u8))
        }
        _ => Err(BenchmarkError::new(format!("an unexpected remote procedure call: {words:x?}"))),
    }
}

/// Writes the reply to a call into `to`, whose length must be [`REPLY_BYTES`].
#[inline]
pub(crate) fn put_reply(to: &mut [u8], transaction: u32, character: u8) {
    put(to, &[transaction, REPLY, ACCEPTED, AUTH_NONE, 0, SUCCESS, signed(character)]);
}

/// Reads the reply to a call: its character.
#[inline]
pub(crate) fn get_reply(from: &[u8], transaction: u32) -> Result<u8, BenchmarkError> {
    let words = get::<{ REPLY_BYTES / 4 }>(from)?;
    match words {
        [found, REPLY, ACCEPTED, AUTH_NONE, 0, SUCCESS, character] if found == transaction => Ok(character as u8),
        _ => Err(BenchmarkError::new(format!("a reply does not match the call {transaction:x}: {words:x?}"))),
    }
}

/// Writes the mark of a record in one fragment (RFC 5531, section 11).
#[inline]
pub(crate) fn put_mark(to: &mut [u8], bytes: usize) {
    put(to, &[LAST | bytes as u32]);
}

/// Reads the mark of a record that must be one fragment of a given length.
#[inline]
pub(crate) fn get_mark(from: &[u8], bytes: usize) -> Result<(), BenchmarkError> {
    match get::<1>(from)? {
        [mark] if mark == LAST | bytes as u32 => Ok(()),
        [mark] => {
            Err(BenchmarkError::new(format!("a record mark is {mark:x} instead of one fragment of {bytes} bytes")))
        }
    }
}

/// A character in XDR: C's `char`, taken as signed, extended to a word.
fn signed(character: u8) -> u32 {
    i32::from(character.cast_signed()).cast_unsigned()
}

fn put(to: &mut [u8], words: &[u32]) {
    for (bytes, word) in to.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *bytes = word.to_be_bytes();
    }
}

fn get<const N: usize>(from: &[u8]) -> Result<[u32; N], BenchmarkError> {
    match from.as_chunks::<4>() {
        (words, []) if words.len() == N => Ok(std::array::from_fn(|index| u32::from_be_bytes(words[index]))),
        _ => Err(BenchmarkError::new(format!("a message has {} bytes instead of {}", from.len(), 4 * N))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encoded by hand from the structures of RFC 5531, section 9.
    #[test]
    fn messages_conform_to_the_standard() {
        let mut call = [0; CALL_BYTES];
        put_call(&mut call, 0x0102_0304, b'a');
        let expected = [
            "01020304", "00000000", "00000002", "2070726f", "00000001", "00000001", // to the procedure
            "00000000", "00000000", "00000000", "00000000", // credentials and verifier, both AUTH_NONE and empty
            "00000061",
        ];
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(&call), expected.concat());
        assert_eq!(get_call(&call).unwrap(), (0x0102_0304, b'a'));

        let mut reply = [0; REPLY_BYTES];
        put_reply(&mut reply, 0x0102_0304, 0xff);
        let expected = ["01020304", "00000001", "00000000", "00000000", "00000000", "00000000", "ffffffff"];
        assert_eq!(hex(&reply), expected.concat());
        assert_eq!(get_reply(&reply, 0x0102_0304).unwrap(), 0xff);

        let mut mark = [0; MARK_BYTES];
        put_mark(&mut mark, CALL_BYTES);
        assert_eq!(hex(&mark), "8000002c");
        get_mark(&mark, CALL_BYTES).unwrap();
    }

    #[test]
    fn unexpected_messages_are_refused() {
        let mut call = [0; CALL_BYTES];
        put_call(&mut call, 1, 2);
        for at in 4..CALL_BYTES - 4 {
            let mut wrong = call;
            wrong[at] ^= 0x40;
            assert!(get_call(&wrong).is_err(), "byte {at}");
        }
        assert!(get_call(&call[..40]).is_err());
        let mut reply = [0; REPLY_BYTES];
        put_reply(&mut reply, 1, 2);
        assert!(get_reply(&reply, 2).is_err(), "another call's reply");
        reply[23] = 1;
        assert!(get_reply(&reply, 1).is_err(), "not a success");
        let mut mark = [0; MARK_BYTES];
        put_mark(&mut mark, 8);
        assert!(get_mark(&mark, 9).is_err());
        mark[0] = 0;
        assert!(get_mark(&mark, 8).is_err(), "not the last fragment");
    }
}
