//! The ntuple format: an eight-byte mark, then for each event a header of two 64-bit numbers (event, tracks) and six
//! doubles for each track, all little-endian.

use std::io::{BufRead, Write};

const MARK: &[u8; 8] = b"PRONYNT1";
/// Tracks of one event, at most; a larger number means a damaged file.
const MAX_TRACKS: u64 = 4096;
const NUMBERS: usize = 6;

/// One track of an event.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TrackRow {
    /// Transverse momentum, GeV/c.
    pub transverse: f64,
    /// Azimuth of the direction.
    pub phi: f64,
    /// Tangent of the dip angle.
    pub tan_dip: f64,
    /// Distance to the axis, cm.
    pub d0: f64,
    /// Origin along the axis, cm.
    pub z0: f64,
    /// Charge.
    pub charge: f64,
}

/// One event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NtupleRow {
    /// Its number.
    pub event: u64,
    /// Its tracks.
    pub tracks: Vec<TrackRow>,
}

/// Why an ntuple could not be read.
#[derive(Debug)]
pub enum Malformed {
    /// Reading failed.
    Io(std::io::Error),
    /// The first bytes are not those of an ntuple.
    Mark,
    /// An event claims more tracks than possible.
    Tracks(u64),
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => write!(f, "could not read the ntuple: {error}"),
            Self::Mark => f.write_str("could not read the ntuple: it does not begin with the mark of one"),
            Self::Tracks(count) => write!(f, "could not read the ntuple: it has an event of {count} tracks"),
        }
    }
}

impl std::error::Error for Malformed {}

impl From<std::io::Error> for Malformed {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes events.
#[derive(Debug)]
pub struct NtupleWriter<W> {
    output: W,
    buffer: Vec<u8>,
    written: u64,
}

impl<W: Write> NtupleWriter<W> {
    /// Begins an ntuple.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn new(mut output: W) -> std::io::Result<Self> {
        output.write_all(MARK)?;
        Ok(Self { output, buffer: Vec::new(), written: MARK.len() as u64 })
    }

    /// Writes one event.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn write(&mut self, row: &NtupleRow) -> std::io::Result<()> {
        self.buffer.clear();
        self.buffer.extend(row.event.to_le_bytes());
        self.buffer.extend((row.tracks.len() as u64).to_le_bytes());
        for track in &row.tracks {
            for number in [track.transverse, track.phi, track.tan_dip, track.d0, track.z0, track.charge] {
                self.buffer.extend(number.to_le_bytes());
            }
        }
        self.written += self.buffer.len() as u64;
        self.output.write_all(&self.buffer)
    }

    /// Flushes the output and returns the number of bytes written.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(mut self) -> std::io::Result<u64> {
        self.output.flush()?;
        Ok(self.written)
    }
}

/// Reads events.
#[derive(Debug)]
pub struct NtupleReader<R> {
    input: R,
    buffer: Vec<u8>,
}

impl<R: BufRead> NtupleReader<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// When the input is not an ntuple.
    pub fn new(mut input: R) -> Result<Self, Malformed> {
        let mut mark = [0; MARK.len()];
        input.read_exact(&mut mark)?;
        if &mark == MARK { Ok(Self { input, buffer: Vec::new() }) } else { Err(Malformed::Mark) }
    }

    /// Reads the next event into `row`; false at the end.
    ///
    /// # Errors
    /// When the input ends inside an event or is damaged.
    pub fn next_into(&mut self, row: &mut NtupleRow) -> Result<bool, Malformed> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(false);
        }
        row.event = self.word()?;
        let count = self.word()?;
        if count > MAX_TRACKS {
            return Err(Malformed::Tracks(count));
        }
        self.buffer.resize(count as usize * NUMBERS * 8, 0);
        self.input.read_exact(&mut self.buffer)?;
        row.tracks.clear();
        row.tracks.extend(self.buffer.chunks_exact(NUMBERS * 8).map(track));
        Ok(true)
    }

    fn word(&mut self) -> Result<u64, Malformed> {
        let mut bytes = [0; 8];
        self.input.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

fn track(bytes: &[u8]) -> TrackRow {
    let number = |index: usize| {
        let mut eight = [0; 8];
        eight.copy_from_slice(&bytes[8 * index..8 * index + 8]);
        f64::from_le_bytes(eight)
    };
    TrackRow {
        transverse: number(0),
        phi: number(1),
        tan_dip: number(2),
        d0: number(3),
        z0: number(4),
        charge: number(5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::{analyse, sample, write_ntuple};

    #[test]
    fn events_are_read_back_as_written() {
        let mut bytes = Vec::new();
        let size = write_ntuple(&mut bytes, 3, 10, 20).unwrap();
        assert_eq!(size, bytes.len() as u64);
        let mut reader = NtupleReader::new(&bytes[..]).unwrap();
        let mut row = NtupleRow::default();
        for number in 10..30 {
            assert!(reader.next_into(&mut row).unwrap());
            assert_eq!(row, sample(3, number));
        }
        assert!(!reader.next_into(&mut row).unwrap());
    }

    #[test]
    fn damage_is_reported() {
        let mut bytes = Vec::new();
        write_ntuple(&mut bytes, 3, 0, 3).unwrap();
        assert!(analyse(&bytes[..bytes.len() - 5]).unwrap_err().to_string().starts_with("could not read"));
        assert!(matches!(analyse(&b"NOTUPLES"[..]), Err(Malformed::Mark)));
        bytes[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(analyse(&bytes[..]), Err(Malformed::Tracks(u64::MAX))));
    }
}
