//! Plain implementations that the instruction classes are checked against.

pub(super) mod aes;
pub(super) mod crc32c;
pub(super) mod sha256;
