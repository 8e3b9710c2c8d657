//! Files read, written and copied with small buffers through the page cache, as BYTE does: from beginning to end,
//! repeatedly.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::rc::Rc;

use kernels::file::AlignedBuffer;
use model::{KIB, Parameters};

use super::place;
use crate::peer_process::fold;
use crate::room::require_length;
use crate::{BatchWork, BenchmarkContext, BenchmarkError, Kernel, Parameter, Scratch, Unsupported};

/// The parameters: each buffer size with its file size.
pub(super) const PARAMETERS: &[Parameter] =
    &[Parameter::choice("buffer", &["256B", "1KiB", "4KiB"], &["1KiB"]), place::place(&["target"])];

/// The same for results that write, and whether a file reaches the disk before it is written again.
pub(super) const WRITING: &[Parameter] =
    &[PARAMETERS[0], PARAMETERS[1], Parameter::choice("durability", &["none", "fsync"], &["none"])];

/// The action of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BufferedAction {
    Read,
    Write,
    Copy,
}

/// A file that is read, a file that is written, or both.
pub(super) struct Buffered {
    action: BufferedAction,
    source: File,
    target: File,
    _files: Rc<Scratch>,
    buffer: AlignedBuffer,
    /// Buffers of the file.
    laps_at: u64,
    /// Whether an operation is a whole file, made durable, instead of one buffer.
    durable: bool,
    began: u64,
    next: u64,
}

impl Buffered {
    /// Prepares the files at a set of parameters.
    pub(super) fn new(
        action: BufferedAction,
        at: &Parameters,
        context: &mut BenchmarkContext,
    ) -> Result<Self, Unsupported> {
        let buffer = at.bytes("buffer")?;
        let size = match buffer {
            256 => 500 * KIB,
            1024 => 2000 * KIB,
            _ => 8000 * KIB,
        };
        require_length(size)?;
        let files = place::open(at, context, 2 * size)?;
        let durable = at.get("durability") == Some("fsync");
        let open = |name: &str| {
            let path = files.path().join(format!("{name}-{action:?}-{buffer}"));
            File::options().read(true).write(true).create_new(true).open(path)
        };
        let (mut source, target) = (open("source")?, open("target")?);
        let laps_at = size / buffer;
        let mut content = AlignedBuffer::new(buffer as usize)?;
        for number in 0..laps_at {
            stamp(&mut content, number);
            source.write_all(&content)?;
        }
        source.rewind()?;
        let mut prepared =
            Self { action, source, target, _files: files, buffer: content, laps_at, durable, began: 0, next: 0 };
        prepared.first_lap()?;
        Ok(prepared)
    }

    /// Writes the file that batches write over, and reads the one that they read again. A lap that finds no pages
    /// allocates them, which takes half as long again. Without this lap the speed of a sample depends on its number of
    /// batches.
    fn first_lap(&mut self) -> Result<(), BenchmarkError> {
        while !self.durable && self.next < self.laps_at {
            self.one()?;
        }
        Ok(())
    }

    #[inline]
    fn one(&mut self) -> Result<u64, BenchmarkError> {
        if self.next.is_multiple_of(self.laps_at) {
            self.source.rewind()?;
            self.target.rewind()?;
        }
        if self.action == BufferedAction::Write {
            stamp(&mut self.buffer, self.next);
        } else {
            self.source.read_exact(&mut self.buffer)?;
        }
        if self.action != BufferedAction::Read {
            self.target.write_all(&self.buffer)?;
        }
        self.next += 1;
        Ok(stamped(&self.buffer))
    }

    /// Buffers of an operation.
    const fn per_op(&self) -> u64 {
        if self.durable { self.laps_at } else { 1 }
    }

    /// The stamp of buffer `number`: those of a source repeat with each lap, those of a writer continue.
    fn expected(&self, number: u64) -> u64 {
        if self.action == BufferedAction::Write { number } else { number % self.laps_at }
    }
}

/// Buffers that are read back after a batch of writing.
const AGAIN: u64 = 64;

impl Kernel for Buffered {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.next;
        let mut token = 0;
        for _ in 0..ops {
            for _ in 0..self.per_op() {
                token = fold(token, self.one()? + 1);
            }
            if self.durable {
                self.target.sync_all()?;
            }
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let buffers = done.ops * self.per_op();
        let numbers = self.began..self.began + buffers;
        let expected = numbers.fold(0, |token, number| fold(token, self.expected(number) + 1));
        BenchmarkError::unless_equal(done.token, expected)?;
        if self.action == BufferedAction::Read {
            return Ok(());
        }
        let mut found = vec![0; self.buffer.len()];
        for number in self.next.saturating_sub(AGAIN.min(buffers))..self.next {
            let offset = number % self.laps_at * found.len() as u64;
            BenchmarkError::unless_equal(kernels::file::read_at(&self.target, &mut found, offset)?, found.len())?;
            BenchmarkError::unless_equal(stamped(&found), self.expected(number))?;
        }
        Ok(())
    }

    fn amount(&self) -> f64 {
        self.buffer.len() as f64 * self.per_op() as f64
    }
}

fn stamp(buffer: &mut [u8], number: u64) {
    buffer[..8].copy_from_slice(&number.to_ne_bytes());
}

fn stamped(buffer: &[u8]) -> u64 {
    buffer.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleSetting;

    #[test]
    fn batches_begin_on_a_file_that_is_there() {
        let directory = tempfile::tempdir().unwrap();
        for action in [BufferedAction::Read, BufferedAction::Write, BufferedAction::Copy] {
            for (buffer, size) in [("256B", 500 * KIB), ("1KiB", 2000 * KIB), ("4KiB", 8000 * KIB)] {
                let mut context = BenchmarkContext::new(SampleSetting::within(directory.path()));
                let at = format!("buffer={buffer},durability=none,place=target").parse().unwrap();
                let mut files = match Buffered::new(action, &at, &mut context) {
                    Ok(files) => files,
                    Err(not_measured) => return testing::skip!("{not_measured}"),
                };
                let written = if action == BufferedAction::Read { 0 } else { size };
                assert_eq!(files.target.metadata().unwrap().len(), written, "{action:?} {buffer}");
                // Later laps write over it.
                let done = files.batch(files.laps_at + 7).unwrap();
                files.check(&done).unwrap();
                assert_eq!(files.target.metadata().unwrap().len(), written, "{action:?} {buffer}");
            }
        }
    }
}
