//! SHA-256 of sources, as words.

use sha2::{Digest, Sha256};

/// SHA-256 of bytes, in hexadecimal (FIPS 180-4).
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(half), 16).unwrap_or('?'));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn digest_is_the_standards_example() {
        let abc = super::sha256(b"abc");
        assert_eq!(abc, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
