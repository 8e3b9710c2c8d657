//! Compression and decompression: zstd, and zlib in pure Rust.

use std::io::{Read, Write};

use crate::input::{Checksum, prose};
use crate::work::RatingWork;

pub(crate) struct Zstd(String);

impl Zstd {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        Box::new(Self(prose(1, 6_000_000)))
    }
}

impl RatingWork for Zstd {
    fn run(&mut self) -> Result<u64, String> {
        let fail = |error: std::io::Error| error.to_string();
        let mut sum = Checksum::default();
        let packed = zstd::bulk::compress(self.0.as_bytes(), 9).map_err(fail)?;
        let back = zstd::bulk::decompress(&packed, self.0.len()).map_err(fail)?;
        sum.word(packed.len() as u64);
        sum.bytes(&back);
        Ok(sum.value())
    }
}

pub(crate) struct Zlib(String);

impl Zlib {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        Box::new(Self(prose(2, 5_000_000)))
    }
}

impl RatingWork for Zlib {
    fn run(&mut self) -> Result<u64, String> {
        let fail = |error: std::io::Error| error.to_string();
        let mut sum = Checksum::default();
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
        encoder.write_all(self.0.as_bytes()).map_err(fail)?;
        let packed = encoder.finish().map_err(fail)?;
        let mut back = Vec::with_capacity(self.0.len());
        flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut back).map_err(fail)?;
        sum.bytes(&packed);
        sum.bytes(&back);
        Ok(sum.value())
    }
}
