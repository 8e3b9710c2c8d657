//! The formats: one file each, listed in one table.

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

/// How certain a format is that a source is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Confidence {
    /// The source is not in this format.
    No,
    /// Its tables look like it, but no name confirms it.
    Likely,
    /// It names the tool.
    Sure,
    /// Its very first words are those of this format: other names in it are quotations.
    Certain,
}

/// A source's name and text.
pub(crate) struct SourceText<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

/// Content of a source.
pub(crate) enum Parsed {
    /// Sheets, to be converted to runs.
    Sheets(Vec<SourceSheet>),
    /// Run documents of this program.
    Runs(Vec<Run>),
}

/// A foreign format.
pub struct ImportFormat {
    /// Its name.
    pub name: &'static str,
    /// The program that writes it.
    pub tool: &'static str,
    /// Which of its outputs are read, and how the spread is used.
    pub about: &'static str,
    /// Whether it is read line by line and so has a limit on lines.
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

/// `Sure` when the head contains all of these words.
fn sure(head: &[u8], words: &[&str]) -> Confidence {
    rated(head, words, Confidence::Sure)
}

/// `Likely` when the head contains all of these words.
fn likely(head: &[u8], words: &[&str]) -> Confidence {
    rated(head, words, Confidence::Likely)
}

fn rated(head: &[u8], words: &[&str], confidence: Confidence) -> Confidence {
    let holds = |word: &&str| memmem::find(head, word.as_bytes()).is_some();
    if words.iter().all(holds) { confidence } else { Confidence::No }
}
