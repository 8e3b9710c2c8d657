//! The formats: one file each, named in one table.

mod babelstream;
mod byte4;
mod coremark;
mod criterion;
mod fio;
mod google_benchmark;
mod hep;
mod hpcg;
mod hpl;
mod hyperfine;
mod iperf3;
mod likwid_bench;
mod lmbench;
mod mbw;
mod netperf;
mod osu;
mod perf_bench;
mod phoronix;
mod prony;
mod ramspeed;
mod seven_zip;
mod sockperf;
mod spec_cpu;
mod stream;
mod stress_ng;
mod sysbench;
mod tidy;
mod unixbench;

use memchr::memmem;
use model::Run;

use crate::sheet::SourceSheet;
use crate::text::SourceFault;

/// How sure a format is that a source is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Confidence {
    /// It is not.
    No,
    /// Its tables look like it, but no name says so.
    Likely,
    /// It names itself.
    Sure,
    /// Its very first words are its own: whatever else it names, it only quotes.
    Certain,
}

/// A source's name and text.
pub(crate) struct SourceText<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

/// What a source holds.
pub(crate) enum Parsed {
    /// Sheets, to be put into our words.
    Sheets(Vec<SourceSheet>),
    /// Our own runs, as they were written.
    Runs(Vec<Run>),
}

/// A foreign format.
pub struct ImportFormat {
    /// Name to say it by.
    pub name: &'static str,
    /// The program that writes it.
    pub tool: &'static str,
    /// Which of its outputs are read and what becomes of the spread that they state.
    pub about: &'static str,
    /// Whether it is read line by line, and so has a limit on lines.
    pub(crate) by_lines: bool,
    pub(crate) detect: fn(&[u8]) -> Confidence,
    pub(crate) parse: fn(&SourceText<'_>) -> Result<Parsed, SourceFault>,
}

/// Every format.
pub(crate) static FORMATS: &[&ImportFormat] = &[
    &babelstream::FORMAT,
    &byte4::FORMAT,
    &coremark::FORMAT,
    &criterion::FORMAT,
    &fio::FORMAT,
    &google_benchmark::FORMAT,
    &hep::FORMAT,
    &hpcg::FORMAT,
    &hpl::FORMAT,
    &hyperfine::FORMAT,
    &iperf3::FORMAT,
    &likwid_bench::FORMAT,
    &lmbench::FORMAT,
    &mbw::FORMAT,
    &netperf::FORMAT,
    &osu::FORMAT,
    &perf_bench::FORMAT,
    &phoronix::FORMAT,
    &prony::FORMAT,
    &ramspeed::FORMAT,
    &seven_zip::FORMAT,
    &sockperf::FORMAT,
    &spec_cpu::FORMAT,
    &stream::FORMAT,
    &stress_ng::FORMAT,
    &sysbench::FORMAT,
    &tidy::FORMAT,
    &unixbench::FORMAT,
];

/// `Sure` when the head holds all of these words.
fn sure(head: &[u8], words: &[&str]) -> Confidence {
    rated(head, words, Confidence::Sure)
}

/// `Likely` when the head holds all of these words.
fn likely(head: &[u8], words: &[&str]) -> Confidence {
    rated(head, words, Confidence::Likely)
}

fn rated(head: &[u8], words: &[&str], confidence: Confidence) -> Confidence {
    let holds = |word: &&str| memmem::find(head, word.as_bytes()).is_some();
    if words.iter().all(holds) { confidence } else { Confidence::No }
}
