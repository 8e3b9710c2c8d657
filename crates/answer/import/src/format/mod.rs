//! The formats: one file each, listed in one table.

mod bonnie;
mod core_to_core;
mod criterion;
mod cyclictest;
mod fio_text;
mod ioping;
mod ior;
mod iozone;
mod iperf;
mod jmh;
mod lmbench;
mod mlc;
mod nccl_tests;
mod netperf;
mod openssl;
mod perf_stat;
mod perftest;
mod phoronix;
mod prony;
mod schbench;
mod spec_cpu;
mod tidy;
mod wide;

pub(crate) use prony::is_document;

use std::sync::LazyLock;

use memchr::memmem;
use model::{Catalogue, Run};

use crate::data::{self, DataFormat};
use crate::sheet::SourceSheet;
use crate::text::SourceFault;
use crate::unread::LineLedger;

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

/// A source's name and text, and which of its lines were understood.
pub(crate) struct SourceText<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) ledger: LineLedger,
}

impl SourceText<'_> {
    /// The line was understood, or is known to state nothing to keep.
    pub(crate) fn took(&self, line: usize) {
        self.ledger.took(line);
    }
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
    reader: FormatReader,
}

enum FormatReader {
    Code(&'static CodeFormat),
    Data(&'static DataFormat),
}

impl ImportFormat {
    /// How certain it is that a source is its own, from the head of it.
    pub(crate) fn detect(&self, head: &[u8]) -> Confidence {
        match self.reader {
            FormatReader::Code(format) => (format.detect)(head),
            FormatReader::Data(format) => data::detect(format, head),
        }
    }

    /// Whether it is read line by line and so has a limit on lines.
    pub(crate) const fn by_lines(&self) -> bool {
        match self.reader {
            FormatReader::Code(format) => format.by_lines,
            FormatReader::Data(_) => true,
        }
    }

    pub(crate) fn parse(&self, source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
        match self.reader {
            FormatReader::Code(format) => (format.parse)(source),
            FormatReader::Data(format) => data::parse(format, source),
        }
    }
}

/// Every format, sorted by name.
pub(crate) static FORMATS: LazyLock<Vec<ImportFormat>> = LazyLock::new(|| {
    let code = CODE.iter().map(|format| ImportFormat {
        name: format.name,
        tool: format.tool,
        about: format.about,
        reader: FormatReader::Code(format),
    });
    let data = data::FORMATS.iter().map(|format| ImportFormat {
        name: &format.name,
        tool: &format.tool,
        about: &format.about,
        reader: FormatReader::Data(format),
    });
    let mut formats: Vec<ImportFormat> = code.chain(data).collect();
    formats.sort_by_key(|format| format.name);
    formats
});

/// A format that is read by code of its own.
pub(crate) struct CodeFormat {
    name: &'static str,
    tool: &'static str,
    about: &'static str,
    by_lines: bool,
    detect: fn(&[u8]) -> Confidence,
    parse: fn(&SourceText<'_>) -> Result<Parsed, SourceFault>,
}

/// Formats that are read by code of their own.
static CODE: &[&CodeFormat] = &[
    &bonnie::FORMAT,
    &core_to_core::FORMAT,
    &criterion::FORMAT,
    &cyclictest::FORMAT,
    &fio_text::FORMAT,
    &ioping::FORMAT,
    &ior::FORMAT,
    &iozone::FORMAT,
    &iperf::FORMAT,
    &jmh::FORMAT,
    &lmbench::FORMAT,
    &mlc::FORMAT,
    &nccl_tests::FORMAT,
    &netperf::FORMAT,
    &openssl::FORMAT,
    &perf_stat::FORMAT,
    &perftest::FORMAT,
    &phoronix::FORMAT,
    &prony::FORMAT,
    &schbench::FORMAT,
    &spec_cpu::FORMAT,
    &tidy::FORMAT,
    &wide::FORMAT,
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
