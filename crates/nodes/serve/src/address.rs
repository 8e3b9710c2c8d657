//! Addresses of pages. They stay the same as long as the store: runs by number, machines by fingerprint.

use model::ResultKey;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stands for itself in a part of a path.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The ending of a twin.
const TWIN: &str = ".json";

/// A text as one part of a path.
pub(crate) fn part(text: &str) -> String {
    let mut part = utf8_percent_encode(text, PLAIN).to_string();
    // Only the address of a twin ends so, and browsers resolve parts of dots alone.
    if part.ends_with(TWIN) || part.bytes().all(|byte| byte == b'.') {
        part = part.replace('.', "%2E");
    }
    part
}

pub(crate) fn run(number: u64) -> String {
    format!("/runs/{number}")
}

pub(crate) fn machine(identity: &str) -> String {
    format!("/machines/{}", part(identity))
}

pub(crate) fn history(identity: &str, key: &ResultKey) -> String {
    format!("/history/{}/{}", part(identity), part(&key.to_string()))
}

pub(crate) fn fleet(suite: &str) -> String {
    format!("/fleet/{}", part(suite))
}

pub(crate) fn compare(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("/compare/{}", numbers.join(","))
}

/// A request's target, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The parts of the path.
    pub(crate) parts: Vec<String>,
    /// Whether the twin is asked for.
    pub(crate) twin: bool,
    query: Vec<(String, String)>,
    /// The path as sent, without the ending of a twin.
    pub(crate) path: String,
}

impl Target {
    /// `None` for what is no path of readable text.
    pub(crate) fn parse(target: &str) -> Option<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (path, twin) = path.strip_suffix(TWIN).map_or((path, false), |path| (path, true));
        let decoded = |text: &str| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
        let parts = path.strip_prefix('/')?.split('/').filter(|part| !part.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(&value.replace('+', " "))?))
        };
        Some(Self {
            parts: parts.map(decoded).collect::<Option<_>>()?,
            twin,
            query: query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect::<Option<_>>()?,
            path: path.to_owned(),
        })
    }

    /// The value of a name in the query.
    pub(crate) fn asked(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The page of a long list that is asked for, from 1.
    pub(crate) fn page(&self) -> usize {
        self.asked("page").and_then(|text| text.parse().ok()).unwrap_or(1).clamp(1, 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back_from_its_address() {
        for name in ["web-1", "a/b", "..", "x.json", "ü <b>&\"'", "os.mmap:size=1,b=2", "%2E", "a?b=c#d"] {
            let target = Target::parse(&machine(name)).unwrap();
            assert_eq!((target.parts[1].as_str(), target.twin), (name, false));
            let twin = Target::parse(&(machine(name) + ".json")).unwrap();
            assert_eq!((twin.parts[1].as_str(), twin.twin), (name, true));
        }
        let target = Target::parse("/search?q=a+b%26&page=3").unwrap();
        assert_eq!((target.asked("q"), target.page()), (Some("a b&"), 3));
        assert!(Target::parse("http://x/").is_none() && Target::parse("/%ff").is_none());
        assert_eq!(Target::parse("/runs?page=x").unwrap().page(), 1);
    }
}
