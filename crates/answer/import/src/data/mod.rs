//! Formats as data: one file each in `formats/`, read by one engine.

mod formula;
mod items;
mod read;
mod rules;

use std::sync::LazyLock;

pub(crate) use read::parse;
pub(crate) use rules::DataFormat;

use crate::format::Confidence;

/// The files.
const FILES: &[&str] = &[
    include_str!("../../formats/babelstream.toml"),
    include_str!("../../formats/coremark-pro.toml"),
    include_str!("../../formats/cryptsetup.toml"),
    include_str!("../../formats/elbencho.toml"),
    include_str!("../../formats/fio.toml"),
    include_str!("../../formats/geekbench.toml"),
    include_str!("../../formats/go-bench.toml"),
    include_str!("../../formats/google-benchmark.toml"),
    include_str!("../../formats/google-benchmark-text.toml"),
    include_str!("../../formats/graph500.toml"),
    include_str!("../../formats/hackbench.toml"),
    include_str!("../../formats/hep-benchmark-suite.toml"),
    include_str!("../../formats/hpcc.toml"),
    include_str!("../../formats/hpcg.toml"),
    include_str!("../../formats/hpl.toml"),
    include_str!("../../formats/hyperfine.toml"),
    include_str!("../../formats/imb.toml"),
    include_str!("../../formats/iperf3.toml"),
    include_str!("../../formats/likwid-bench.toml"),
    include_str!("../../formats/mdtest.toml"),
    include_str!("../../formats/memtier.toml"),
    include_str!("../../formats/mkl-linpack.toml"),
    include_str!("../../formats/ntttcp.toml"),
    include_str!("../../formats/nuttcp.toml"),
    include_str!("../../formats/nvbandwidth.toml"),
    include_str!("../../formats/osu.toml"),
    include_str!("../../formats/perf-bench.toml"),
    include_str!("../../formats/pgbench.toml"),
    include_str!("../../formats/ping.toml"),
    include_str!("../../formats/pytest-benchmark.toml"),
    include_str!("../../formats/qperf.toml"),
    include_str!("../../formats/ramspeed.toml"),
    include_str!("../../formats/random-access.toml"),
    include_str!("../../formats/redis-benchmark.toml"),
    include_str!("../../formats/sockperf.toml"),
    include_str!("../../formats/stream.toml"),
    include_str!("../../formats/sysbench.toml"),
    include_str!("../../formats/tinymembench.toml"),
    include_str!("../../formats/wrk.toml"),
];

/// Every format whose file can be read, which a test makes sure of.
pub(crate) static FORMATS: LazyLock<Vec<DataFormat>> =
    LazyLock::new(|| FILES.iter().filter_map(|text| toml::from_str(text).ok()).collect());

/// How certain a format is that a source is its own.
pub(crate) fn detect(format: &DataFormat, head: &[u8]) -> Confidence {
    let holds = |word: &String| match word.strip_prefix('^') {
        Some(begin) => head.starts_with(begin.as_bytes()),
        None => memchr::memmem::find(head, word.as_bytes()).is_some(),
    };
    let has = |sets: &[Vec<String>]| sets.iter().any(|words| words.iter().all(holds));
    match () {
        () if has(&format.certain) => Confidence::Certain,
        () if has(&format.sure) => Confidence::Sure,
        () if has(&format.likely) => Confidence::Likely,
        () => Confidence::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_format() {
        for text in FILES {
            let format: DataFormat = toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let rules = format.line.iter().map(|rule| &rule.pattern);
            let tables = format.table.iter().flat_map(|rule| [&rule.heading, &rule.row]);
            let quantiles = format.table.iter().filter_map(|rule| Some(&rule.quantile.as_ref()?.pattern));
            for pattern in rules.chain(tables).chain(quantiles).chain(&format.ignore) {
                pattern.regex().unwrap_or_else(|error| panic!("{}: {error}", format.name));
            }
            assert!(format.sure.iter().chain(&format.likely).all(|words| !words.is_empty()), "{}", format.name);
        }
    }
}
