//! Regular expressions over 12 MB of text.

use regex::Regex;

use crate::input::{Checksum, prose};
use crate::work::RatingWork;

const PATTERNS: [&str; 6] = [
    r"\b\d{4}-(0[1-9]|1[0-2])-\d\d\b",
    r"[a-z0-9]+@[a-z0-9.]+\.org",
    r"(?i)\b(the|and|ten|ton|tea|eat|net)\b",
    r"\b[a-z]*tion\b",
    r"([a-z]+), *\n([a-z]+)",
    r"[aeiou]{4,}",
];

pub(crate) struct Search {
    text: String,
    patterns: Vec<Regex>,
}

impl Search {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let patterns = PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect();
        Box::new(Self { text: prose(3, 12_000_000), patterns })
    }
}

impl RatingWork for Search {
    fn run(&mut self) -> Result<u64, String> {
        let mut sum = Checksum::default();
        for pattern in self.patterns.iter().chain(&self.patterns) {
            let (mut count, mut places) = (0_u64, 0_u64);
            for found in pattern.find_iter(&self.text) {
                count += 1;
                places = places.wrapping_add((found.start() * 31 + found.end()) as u64);
            }
            sum.word(count);
            sum.word(places);
        }
        Ok(sum.value())
    }
}
