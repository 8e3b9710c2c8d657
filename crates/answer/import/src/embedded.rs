//! Files that are embedded in the program, as `build.rs` compressed them.

use std::io::Read;

/// The texts of a compressed file, in the order in which `build.rs` packed them.
pub(crate) fn texts(packed: &[u8]) -> Vec<String> {
    let mut text = String::new();
    // What this build packed can be read, which tests make sure of.
    let _ = flate2::read::ZlibDecoder::new(packed).read_to_string(&mut text);
    text.split('\0').map(str::to_owned).collect()
}
