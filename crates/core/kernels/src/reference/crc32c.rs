//! CRC-32C (Castagnoli), RFC 3720 appendix B.4, one byte at a time from a table.

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// The register after one more word, least significant byte first; without the inversions at either end.
pub(crate) fn step(crc: u32, word: u64) -> u32 {
    word.to_le_bytes().iter().fold(crc, |crc, byte| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_published_vectors() {
        // RFC 3720, B.4: 32 bytes of zeros, of ones, and counting up.
        let crc = |bytes: [u8; 32]| {
            !bytes.chunks_exact(8).fold(!0, |crc, word| step(crc, u64::from_le_bytes(word.try_into().unwrap())))
        };
        assert_eq!(crc([0; 32]), 0x8a91_36aa);
        assert_eq!(crc([0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc(std::array::from_fn(|i| i as u8)), 0x46dd_794e);
    }
}
