//! Large blocks, one after another: plain, as `dd` moves them, or as a `tar` stream.

use sys::file::AlignedBuffer;

use model::Point;

use super::medium::{FILE, MARK, Medium, Step, Way};
use super::tar::{self, MEMBER};
use crate::party::answer;
use crate::{Axis, BatchRule, Bench, Fault, Kernel, Trial, Unfit, Work};

/// The axes.
pub(super) const AXES: &[Axis] = &[
    Axis::choice("block", &["10KiB", "16KiB", "20KiB", "64KiB", "128KiB", "256KiB", "1MiB", "4MiB"], &["1MiB"]),
    Axis::choice("format", &["plain", "tar"], &["plain"]),
    Axis::choice("medium", &["file", "device", "target"], &["file"]),
];

/// No batch moves more than a gibibyte in the smallest blocks.
pub(super) const BATCH: BatchRule = BatchRule::at_most(1 << 14);

/// What the blocks carry.
enum Format {
    /// A number, and what cannot be compressed: drives try to.
    Plain,
    Tar(Box<Archive>),
}

/// An endless archive, written or read.
#[derive(Default)]
struct Archive {
    writer: tar::Writer,
    reader: tar::Reader,
    /// What every member holds.
    content: Vec<u8>,
}

/// Blocks to or from a medium.
pub(super) struct Sequential {
    medium: Medium,
    way: Way,
    format: Format,
    block: AlignedBuffer,
    /// Whether the last batch ran into the end.
    ended: bool,
    began: u64,
    headers: u64,
}

/// Prepares a medium at a point.
pub(super) fn prepare(way: Way, at: &Point, bench: &mut Bench) -> Result<Trial, Unfit> {
    let mut block = AlignedBuffer::new(at.bytes("block")? as usize)?;
    noise(bench.seed(), &mut block);
    let format = match at.choice("format")? {
        "plain" => Format::Plain,
        _ => {
            let mut content = vec![0; MEMBER as usize];
            noise(bench.seed(), &mut content);
            Format::Tar(Box::new(Archive { content, ..Archive::default() }))
        }
    };
    let medium = match at.choice("medium")? {
        "file" => Medium::file(way, bench)?,
        "device" => Medium::device(way, bench)?,
        _ => {
            stamp(&mut block, 0);
            Medium::target(way, &block, bench)?
        }
    };
    let mut sequential = Sequential { medium, way, format, block, ended: false, began: 0, headers: 0 };
    if way == Way::Read && sequential.medium.is_own() {
        sequential.write_whole()?;
    }
    Ok(Trial::one(sequential))
}

/// Bytes that no drive can make shorter.
fn noise(seed: u64, bytes: &mut [u8]) {
    let mut value = seed;
    for word in bytes.as_chunks_mut::<8>().0 {
        value = answer(value);
        // The low bits of such a generator repeat soon; the high ones do not.
        *word = (value ^ value >> 32).to_ne_bytes();
    }
}

impl Sequential {
    /// Writes what will be read.
    fn write_whole(&mut self) -> Result<(), Fault> {
        self.medium.turn_to(Way::Write)?;
        let block = self.block.len();
        while self.medium.fits(block) && self.medium.at() + block as u64 <= FILE {
            fill(&mut self.format, &mut self.block, self.medium.at());
            if self.medium.transfer(&mut self.block)? == Step::End {
                if self.medium.at() == 0 {
                    return Err(Fault::new("the medium is full from the beginning"));
                }
                break;
            }
        }
        self.medium.ends_here();
        self.medium.turn_to(Way::Read)
    }

    /// One block, or the end.
    fn one(&mut self) -> Result<Step, Fault> {
        if !self.medium.fits(self.block.len()) {
            self.restart()?;
        }
        let at = self.medium.at();
        if self.way == Way::Write {
            fill(&mut self.format, &mut self.block, at);
            return self.medium.transfer(&mut self.block);
        }
        if self.medium.transfer(&mut self.block)? == Step::End {
            return Ok(Step::End);
        }
        match &mut self.format {
            Format::Plain if self.medium.is_own() => Fault::unless_equal(stamped(&self.block), at)?,
            Format::Plain => {}
            Format::Tar(archive) => {
                let reader = &mut archive.reader;
                let before = reader.headers;
                if !reader.take(&self.block)? {
                    return Ok(Step::End);
                }
                self.headers += reader.headers - before;
            }
        }
        Ok(Step::Whole)
    }

    fn restart(&mut self) -> Result<(), Fault> {
        if let Format::Tar(archive) = &mut self.format {
            (archive.writer, archive.reader) = Default::default();
        }
        self.medium.restart()
    }

    /// Tar headers that so many blocks from where the batch began hold; the file begins again where it is used up.
    fn headers_of(&self, blocks: u64) -> u64 {
        let (mut at, mut headers) = (self.began, 0);
        let block = self.block.len() as u64;
        let size = self.medium.size().unwrap_or(u64::MAX);
        for _ in 0..blocks {
            at = if at + block > size { 0 } else { at };
            headers += tar::headers_until(at + block) - tar::headers_until(at);
            at += block;
        }
        headers
    }
}

impl Kernel for Sequential {
    fn ready(&mut self, _: u64) -> Result<(), Fault> {
        if std::mem::take(&mut self.ended) {
            self.restart()?;
        }
        if self.way == Way::Read {
            self.medium.forget()?;
        }
        Ok(())
    }

    fn batch(&mut self, ops: u64) -> Result<Work, Fault> {
        self.began = self.medium.at();
        self.headers = 0;
        let (mut blocks, mut fresh) = (0, self.began == 0);
        while blocks < ops {
            match self.one()? {
                Step::Whole => blocks += 1,
                // The end of the medium: the batch is what was done until here.
                Step::End if blocks > 0 => {
                    self.ended = true;
                    break;
                }
                // The batch before ended just there.
                Step::End if !fresh => {
                    self.restart()?;
                    self.began = 0;
                    fresh = true;
                }
                Step::End => return Err(Fault::new("the medium is at its end from the beginning")),
            }
        }
        if self.way == Way::Write {
            self.medium.settle()?;
        }
        Ok(Work { ops: blocks, token: blocks << 32 | self.headers })
    }

    fn check(&mut self, done: &Work) -> Result<(), Fault> {
        let headers = match (&self.format, self.way, self.medium.is_own()) {
            (Format::Tar(_), Way::Read, true) => self.headers_of(done.ops),
            (Format::Tar(_), Way::Read, false) => self.headers,
            _ => 0,
        };
        Fault::unless_equal(done.token, done.ops << 32 | headers)?;
        if self.way == Way::Write && self.medium.reads_back() && matches!(self.format, Format::Plain) {
            let last = self.medium.at() - self.block.len() as u64;
            self.medium.read_back(&mut self.block, last)?;
            Fault::unless_equal(stamped(&self.block), last)?;
        }
        Ok(())
    }

    fn amount(&self) -> f64 {
        self.block.len() as f64
    }
}

/// The next block of the stream, which stands at an offset of the medium.
fn fill(format: &mut Format, block: &mut [u8], at: u64) {
    match format {
        Format::Plain => stamp(block, at),
        Format::Tar(archive) => archive.writer.fill(block, &archive.content),
    }
}

/// Says in a block where it stands.
fn stamp(block: &mut [u8], at: u64) {
    block[..8].copy_from_slice(&(at ^ MARK).to_ne_bytes());
}

fn stamped(block: &[u8]) -> u64 {
    block.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes)) ^ MARK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setting;

    fn trial(way: Way, device: &str, format: &str) -> Result<Box<dyn Kernel>, Unfit> {
        let mut bench = Bench::new(Setting {
            seed: 1,
            cpus: vec![],
            allowed: vec![],
            directory: device.into(),
            variant: None,
            calibrating: false,
        });
        let at = format!("block=64KiB,format={format},medium=device").parse().unwrap();
        match prepare(way, &at, &mut bench)? {
            Trial::One(kernel) => Ok(kernel),
            _ => panic!("one kernel"),
        }
    }

    #[test]
    fn character_devices_are_written_and_read_to_their_end() {
        for format in ["plain", "tar"] {
            let mut sink = trial(Way::Write, "/dev/null", format).unwrap();
            let done = sink.batch(10).unwrap();
            assert_eq!(done.ops, 10);
            sink.check(&done).unwrap();
        }
        let mut source = trial(Way::Read, "/dev/zero", "plain").unwrap();
        assert_eq!(source.batch(5).unwrap().ops, 5);
        // Zeros end a tar archive, and nothing was read before.
        assert!(trial(Way::Read, "/dev/zero", "tar").unwrap().batch(5).is_err());
        assert!(trial(Way::Read, "/dev/null", "plain").unwrap().batch(1).is_err(), "an empty medium");
        assert!(trial(Way::Write, "/dev/full", "plain").unwrap().batch(1).is_err(), "a full medium");
        assert!(trial(Way::Write, "/tmp", "plain").is_err(), "no device");
    }
}
