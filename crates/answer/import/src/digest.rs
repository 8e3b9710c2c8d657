//! SHA-256 of sources, as words.

use model::words::hexadecimal;
use sha2::{Digest, Sha256};

/// SHA-256 of bytes, in hexadecimal (FIPS 180-4).
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    #[test]
    fn digest_is_the_standards_example() {
        let abc = super::sha256(b"abc");
        assert_eq!(abc, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
