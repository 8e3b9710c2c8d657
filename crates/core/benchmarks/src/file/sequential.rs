//! Large blocks in sequence: plain, as `dd` transfers them, or as a `tar` stream.

use kernels::file::AlignedBuffer;

use model::{GIB, MIB, Parameters};

use super::medium::StreamMedium;
use super::tar::{self, MEMBER};
use super::transfer::{MARK, TransferDirection, TransferStep, USUAL};
use crate::peer_process::answer;
use crate::{BatchRule, BatchWork, BenchmarkContext, BenchmarkError, Kernel, Parameter, Trial, Unsupported};

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::choice("block", &["10KiB", "16KiB", "20KiB", "64KiB", "128KiB", "256KiB", "1MiB", "4MiB"], &["1MiB"]),
    Parameter::choice("format", &["plain", "tar"], &["plain"]),
    Parameter::choice("medium", &["file", "device", "target"], &["file"]),
    Parameter { besides: is_long, ..Parameter::choice("length", &["64MiB"], &["64MiB"]) },
];

/// Whether a word is an allowed length other than the usual one: whole blocks of all sizes, and more than the buffer of
/// a drive.
fn is_long(word: &str) -> bool {
    model::parse_size(word).is_ok_and(|bytes| (2 * USUAL..=1024 * GIB).contains(&bytes) && bytes % (4 * MIB) == 0)
}

/// No batch of the usual length transfers more than a gibibyte in the smallest blocks.
pub(super) const BATCH: BatchRule = BatchRule::at_most(1 << 14);

/// Content of the blocks.
enum BlockFormat {
    /// A number, followed by incompressible data: drives compress.
    Plain,
    Tar(Box<Archive>),
}

/// An endless archive, written or read.
#[derive(Default)]
struct Archive {
    writer: tar::TarWriter,
    reader: tar::TarReader,
    /// Content of every member.
    content: Vec<u8>,
}

/// Transfers blocks to or from a medium.
pub(super) struct Sequential {
    medium: StreamMedium,
    way: TransferDirection,
    format: BlockFormat,
    block: AlignedBuffer,
    /// Bytes of a batch, where one that fills the time of a sample would not be enough.
    length: Option<u64>,
    /// Whether the last batch reached the end.
    ended: bool,
    began: u64,
    headers: u64,
}

/// Prepares a medium at a set of parameters.
pub(super) fn prepare(
    way: TransferDirection,
    at: &Parameters,
    context: &mut BenchmarkContext,
) -> Result<Trial, Unsupported> {
    let mut block = AlignedBuffer::new(at.bytes("block")? as usize)?;
    noise(context.seed(), &mut block);
    let format = match at.choice("format")? {
        "plain" => BlockFormat::Plain,
        _ => {
            let mut content = vec![0; MEMBER as usize];
            noise(context.seed(), &mut content);
            BlockFormat::Tar(Box::new(Archive { content, ..Archive::default() }))
        }
    };
    let length = at.bytes("length")?;
    let place = at.choice("medium")?;
    stamp(&mut block, 0);
    let medium = match place {
        "file" => StreamMedium::file(way, length, &block, context)?,
        "device" => StreamMedium::device(way, length, context)?,
        _ => StreamMedium::target(way, length, &block, context)?,
    };
    let batch = (length > USUAL).then_some(length);
    let mut sequential = Sequential { medium, way, format, block, length: batch, ended: false, began: 0, headers: 0 };
    let lays = match way {
        TransferDirection::Read => sequential.medium.is_own(),
        // Blocks that a file does not have yet take longer: of a sample some batches would find them, and some not. A
        // longer stream is laid by the first batch, which does not count.
        TransferDirection::Write => place == "file" && batch.is_none(),
    };
    if lays {
        sequential.write_whole()?;
    }
    Ok(Trial::one(sequential))
}

/// Incompressible bytes.
fn noise(seed: u64, bytes: &mut [u8]) {
    let mut value = seed;
    for word in bytes.as_chunks_mut::<8>().0 {
        value = answer(value);
        // The low bits of such a generator have a short period; the high ones do not.
        *word = (value ^ value >> 32).to_ne_bytes();
    }
}

impl Sequential {
    /// Writes the data that will be read, or written over, and returns to its beginning.
    fn write_whole(&mut self) -> Result<(), BenchmarkError> {
        self.medium.restart_as(TransferDirection::Write)?;
        let block = self.block.len();
        while self.medium.fits(block) && self.medium.at() + block as u64 <= self.length.unwrap_or(USUAL) {
            fill(&mut self.format, &mut self.block, self.medium.at());
            if self.medium.transfer(&mut self.block)? == TransferStep::End {
                if self.medium.at() == 0 {
                    return Err(BenchmarkError::new("the medium has no space at its beginning"));
                }
                break;
            }
        }
        self.medium.ends_here();
        self.begin_archive();
        self.medium.restart_as(self.way)
    }

    /// Transfers one block, or detects the end.
    fn one(&mut self) -> Result<TransferStep, BenchmarkError> {
        if !self.medium.fits(self.block.len()) {
            self.restart()?;
        }
        let at = self.medium.at();
        if self.way == TransferDirection::Write {
            fill(&mut self.format, &mut self.block, at);
            return self.medium.transfer(&mut self.block);
        }
        if self.medium.transfer(&mut self.block)? == TransferStep::End {
            return Ok(TransferStep::End);
        }
        match &mut self.format {
            BlockFormat::Plain if self.medium.is_own() => BenchmarkError::unless_equal(stamped(&self.block), at)?,
            BlockFormat::Plain => {}
            BlockFormat::Tar(archive) => {
                let reader = &mut archive.reader;
                let before = reader.headers;
                if !reader.take(&self.block)? {
                    return Ok(TransferStep::End);
                }
                self.headers += reader.headers - before;
            }
        }
        Ok(TransferStep::Whole)
    }

    fn restart(&mut self) -> Result<(), BenchmarkError> {
        self.begin_archive();
        self.medium.restart()
    }

    fn begin_archive(&mut self) {
        if let BlockFormat::Tar(archive) = &mut self.format {
            (archive.writer, archive.reader) = Default::default();
        }
    }

    /// Number of tar headers in `blocks` blocks from the start of the batch; the file starts again at its end.
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
    fn ready(&mut self, _: u64) -> Result<(), BenchmarkError> {
        if std::mem::take(&mut self.ended) {
            self.restart()?;
        }
        if self.way == TransferDirection::Read {
            self.medium.drop_caches()?;
        }
        Ok(())
    }

    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.medium.at();
        self.headers = 0;
        let (mut blocks, mut fresh) = (0, self.began == 0);
        while blocks < ops {
            match self.one()? {
                TransferStep::Whole => blocks += 1,
                // The end of the medium ends the batch.
                TransferStep::End if blocks > 0 => {
                    self.ended = true;
                    break;
                }
                // The batch before ended exactly there.
                TransferStep::End if !fresh => {
                    self.restart()?;
                    self.began = 0;
                    fresh = true;
                }
                TransferStep::End => return Err(BenchmarkError::new("the medium ends before its first block")),
            }
        }
        if self.way == TransferDirection::Write {
            self.medium.flush()?;
        }
        Ok(BatchWork { ops: blocks, token: blocks << 32 | self.headers })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let headers = match (&self.format, self.way, self.medium.is_own()) {
            (BlockFormat::Tar(_), TransferDirection::Read, true) => self.headers_of(done.ops),
            (BlockFormat::Tar(_), TransferDirection::Read, false) => self.headers,
            _ => 0,
        };
        BenchmarkError::unless_equal(done.token, done.ops << 32 | headers)?;
        if self.way == TransferDirection::Write && self.medium.reads_back() && matches!(self.format, BlockFormat::Plain)
        {
            let last = self.medium.at() - self.block.len() as u64;
            self.medium.read_back(&mut self.block, last)?;
            BenchmarkError::unless_equal(stamped(&self.block), last)?;
        }
        Ok(())
    }

    fn amount(&self) -> f64 {
        self.block.len() as f64
    }

    fn granule(&self) -> u64 {
        self.length.map_or(1, |length| (length / self.block.len() as u64).max(1))
    }
}

/// Fills the next block of the stream, which is written at offset `at` of the medium.
fn fill(format: &mut BlockFormat, block: &mut [u8], at: u64) {
    match format {
        BlockFormat::Plain => stamp(block, at),
        BlockFormat::Tar(archive) => archive.writer.fill(block, &archive.content),
    }
}

/// Stores the offset of a block in it.
fn stamp(block: &mut [u8], at: u64) {
    block[..8].copy_from_slice(&(at ^ MARK).to_ne_bytes());
}

fn stamped(block: &[u8]) -> u64 {
    block.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes)) ^ MARK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleSetting;

    fn trial(way: TransferDirection, device: &str, format: &str) -> Result<Box<dyn Kernel>, Unsupported> {
        trial_of(way, device, format, "64MiB")
    }

    fn trial_of(
        way: TransferDirection,
        device: &str,
        format: &str,
        length: &str,
    ) -> Result<Box<dyn Kernel>, Unsupported> {
        let mut context = BenchmarkContext::new(SampleSetting::within(device));
        let at = format!("block=64KiB,format={format},medium=device,length={length}").parse().unwrap();
        match prepare(way, &at, &mut context)? {
            Trial::One(kernel) => Ok(kernel),
            _ => panic!("one kernel"),
        }
    }

    #[test]
    fn character_devices_are_written_and_read_to_their_end() {
        for format in ["plain", "tar"] {
            let mut sink = trial(TransferDirection::Write, "/dev/null", format).unwrap();
            let done = sink.batch(10).unwrap();
            assert_eq!(done.ops, 10);
            sink.check(&done).unwrap();
        }
        let mut source = trial(TransferDirection::Read, "/dev/zero", "plain").unwrap();
        assert_eq!(source.batch(5).unwrap().ops, 5);
        // Zeros end a tar archive, and nothing was read before.
        assert!(trial(TransferDirection::Read, "/dev/zero", "tar").unwrap().batch(5).is_err());
        assert!(trial(TransferDirection::Read, "/dev/null", "plain").unwrap().batch(1).is_err(), "an empty medium");
        assert!(trial(TransferDirection::Write, "/dev/full", "plain").unwrap().batch(1).is_err(), "a full medium");
        assert!(trial(TransferDirection::Write, "/tmp", "plain").is_err(), "no device");
    }

    #[test]
    fn batches_of_writing_find_a_file_that_is_there() {
        let directory = tempfile::tempdir().unwrap();
        for format in ["plain", "tar"] {
            let mut context = BenchmarkContext::new(SampleSetting::within(directory.path()));
            let at = format!("block=1MiB,format={format},medium=file,length=64MiB").parse().unwrap();
            let mut sink = match prepare(TransferDirection::Write, &at, &mut context) {
                Ok(Trial::One(kernel)) => kernel,
                Ok(_) => panic!("one kernel"),
                Err(not_measured) => return testing::skip!("{not_measured}"),
            };
            let scratch = context.scratch().unwrap();
            let mut files = std::fs::read_dir(scratch.path()).unwrap().map(|file| file.unwrap().path());
            let path = files.find(|path| path.to_string_lossy().contains("sequential")).unwrap();
            let beginning = || std::fs::read(&path).unwrap()[..512].to_vec();
            assert_eq!(std::fs::metadata(&path).unwrap().len(), USUAL, "{format}");
            let before = beginning();
            sink.ready(3).unwrap();
            let done = sink.batch(3).unwrap();
            sink.check(&done).unwrap();
            assert_eq!((beginning(), done.ops), (before, 3), "the stream begins where the file does");
            assert_eq!(std::fs::metadata(&path).unwrap().len(), USUAL, "{format}");
        }
    }

    #[test]
    fn a_long_stream_is_moved_whole_in_every_batch() {
        let long = trial_of(TransferDirection::Write, "/dev/null", "tar", "2GiB").unwrap();
        assert_eq!(long.granule() as f64 * long.amount(), (2 * GIB) as f64);
        assert_eq!(trial(TransferDirection::Write, "/dev/null", "plain").unwrap().granule(), 1);
        assert!(is_long("1GiB") && is_long("200GiB") && !is_long("64MiB") && !is_long("1000000000B") && !is_long("x"));
        let refused = crate::find("file.sequential_write").unwrap().complete(&"length=63MiB".parse().unwrap());
        assert!(refused.unwrap_err().contains("64MiB, a multiple of 4MiB from 128MiB to 1024GiB"));
    }
}
