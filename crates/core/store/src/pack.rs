//! Compressed documents: zstd frames (RFC 8878) with a checksum, so that damage is noticed.

use std::io::{self, Read};

/// First bytes of a zstd frame.
pub(crate) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// First bytes of a gzip file, which is recognised in errors but not read.
pub(crate) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Batches are random seven-digit numbers: higher levels take time and save next to nothing.
const LEVEL: i32 = 3;

/// Compresses a text.
///
/// # Errors
/// When the compressor has no memory.
pub(crate) fn pack(text: &str) -> io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.include_checksum(true)?;
    compressor.compress(text.as_bytes())
}

/// Decompresses bytes; more than `limit` bytes are refused with [`io::ErrorKind::FileTooLarge`].
///
/// # Errors
/// When the bytes are damaged, are not UTF-8, or exceed the limit.
pub(crate) fn unpack(bytes: &[u8], limit: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    zstd::stream::read::Decoder::with_buffer(bytes)?.take(limit.saturating_add(1)).read_to_end(&mut text)?;
    if text.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_text_is_read_back_and_damage_is_noticed() {
        let text = "nanos: 1234567, ".repeat(1000);
        let bytes = pack(&text).unwrap();
        assert!(bytes.starts_with(&ZSTD_MAGIC) && bytes.len() < text.len() / 10);
        assert_eq!(unpack(&bytes, 1 << 20).unwrap(), text.as_bytes());
        for place in 4..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x10;
            assert!(unpack(&damaged, 1 << 20).map_or(true, |read| read == text.as_bytes()), "byte {place}");
            assert!(unpack(&bytes[..place], 1 << 20).is_err(), "cut at {place}");
        }
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        let bytes = pack(&" ".repeat(1 << 24)).unwrap();
        assert!(bytes.len() < 4096);
        assert_eq!(unpack(&bytes, 1 << 20).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
