//! Interactive analysis: reads ntuples, combines pairs of tracks, and fills their masses into a histogram.

mod ntuple;
mod sample;
mod spectrum;

pub use ntuple::{Malformed, NtupleReader, NtupleRow, NtupleWriter, TrackRow};
pub use sample::{RESONANCE_MASS, RESONANCE_SHARE, sample};
pub use spectrum::Spectrum;

use std::io::{BufRead, Write};

/// Writes an ntuple of `count` events from `first` on.
///
/// # Errors
/// When the output cannot be written.
pub fn write_ntuple(output: impl Write, seed: u64, first: u64, count: u64) -> std::io::Result<u64> {
    let mut writer = NtupleWriter::new(output)?;
    for number in first..first + count {
        writer.write(&sample(seed, number))?;
    }
    writer.finish()
}

/// Reads an ntuple and fills its spectrum.
///
/// # Errors
/// When it cannot be read or is not an ntuple.
pub fn analyse(input: impl BufRead) -> Result<Spectrum, Malformed> {
    let mut reader = NtupleReader::new(input)?;
    let mut spectrum = Spectrum::default();
    let mut row = NtupleRow::default();
    while reader.next_into(&mut row)? {
        spectrum.fill(&row);
    }
    Ok(spectrum)
}
