//! Files read, written and copied with small buffers through the page cache, as BYTE does: from beginning to end,
//! repeatedly.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::rc::Rc;

use model::{KIB, Point};
use sys::file::AlignedBuffer;

use super::place;
use crate::peer_process::fold;
use crate::{Axis, BatchWork, Kernel, ProbeContext, ProbeError, Scratch, Unsupported};

/// The axes: each buffer size with its file size.
pub(super) const AXES: &[Axis] =
    &[Axis::choice("buffer", &["256B", "1KiB", "4KiB"], &["1KiB"]), place::place(&["target"])];

/// The action of the figure.
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
    began: u64,
    next: u64,
}

impl Buffered {
    /// Prepares the files at a point.
    pub(super) fn new(action: BufferedAction, at: &Point, context: &mut ProbeContext) -> Result<Self, Unsupported> {
        let buffer = at.bytes("buffer")?;
        let size = match buffer {
            256 => 500 * KIB,
            1024 => 2000 * KIB,
            _ => 8000 * KIB,
        };
        let files = place::open(at, context, 2 * size)?;
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
        Ok(Self { action, source, target, _files: files, buffer: content, laps_at, began: 0, next: 0 })
    }

    #[inline]
    fn one(&mut self) -> Result<u64, ProbeError> {
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

    /// The stamp of buffer `number`: those of a source repeat with each lap, those of a writer continue.
    fn expected(&self, number: u64) -> u64 {
        if self.action == BufferedAction::Write { number } else { number % self.laps_at }
    }
}

/// Buffers that are read back after a batch of writing.
const AGAIN: u64 = 64;

impl Kernel for Buffered {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        self.began = self.next;
        let mut token = 0;
        for _ in 0..ops {
            token = fold(token, self.one()? + 1);
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        let numbers = self.began..self.began + done.ops;
        let expected = numbers.fold(0, |token, number| fold(token, self.expected(number) + 1));
        ProbeError::unless_equal(done.token, expected)?;
        if self.action == BufferedAction::Read {
            return Ok(());
        }
        let mut found = vec![0; self.buffer.len()];
        for number in self.next.saturating_sub(AGAIN.min(done.ops))..self.next {
            let offset = number % self.laps_at * found.len() as u64;
            ProbeError::unless_equal(sys::file::read_at(&self.target, &mut found, offset)?, found.len())?;
            ProbeError::unless_equal(stamped(&found), self.expected(number))?;
        }
        Ok(())
    }

    fn amount(&self) -> f64 {
        self.buffer.len() as f64
    }
}

fn stamp(buffer: &mut [u8], number: u64) {
    buffer[..8].copy_from_slice(&number.to_ne_bytes());
}

fn stamped(buffer: &[u8]) -> u64 {
    buffer.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}
