//! Formats as data: one file each in `formats/`, read by one engine.

mod formula;
mod items;
mod read;
mod rules;

use std::sync::LazyLock;

pub(crate) use read::parse;
pub(crate) use rules::DataFormat;

use crate::embedded;
use crate::format::Confidence;

/// The files.
static FILES: LazyLock<Vec<String>> =
    LazyLock::new(|| embedded::texts(include_bytes!(concat!(env!("OUT_DIR"), "/formats.zlib"))));

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
        for text in FILES.iter() {
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
