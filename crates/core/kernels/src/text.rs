//! Reading the small text files of Linux (`/proc`, `/sys`).

use std::fs;
use std::path::Path;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The whole file without surrounding white space.
pub fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    let text = fs::read(path).map_err(|e| Error::os(format!("read {}", path.display()), e))?;
    Ok(String::from_utf8_lossy(&text).trim().to_owned())
}

/// The whole file as one number.
pub fn number<T: FromStr>(path: impl AsRef<Path>) -> Result<T> {
    let path = path.as_ref();
    let text = read(path)?;
    text.parse().map_err(|_| Error::refused(format!("read {}", path.display()), format!("{text:?} is not a number")))
}

/// The value after `key` and a colon, for files of `key: value` lines.
pub fn field<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// The same as a number, ignoring a unit after it.
pub fn field_number<T: FromStr>(text: &str, key: &str) -> Option<T> {
    field(text, key)?.split_whitespace().next()?.parse().ok()
}

/// The number after `key` and white space, for files of `key value` lines.
pub fn keyed_number<T: FromStr>(text: &str, key: &str) -> Option<T> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == key).then(|| words.next()?.parse().ok())?
    })
}

/// The word in brackets of a file that lists all choices, such as `always [madvise] never`.
pub fn chosen(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word)
}

/// The CPUs or nodes of a kernel list such as `0-3,8,10-11` (cpulist format of
/// `Documentation/admin-guide/cputopology.rst`). `None` if the text is not such a list.
pub fn list(text: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in text.trim().split(',').filter(|p| !p.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last - first > 1 << 16 {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// A size such as `32K`, `1024K`, `16M` in bytes.
pub fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let shift = match text[digits.len()..].chars().next() {
        None => 0,
        Some('k' | 'K') => 10,
        Some('m' | 'M') => 20,
        Some('g' | 'G') => 30,
        Some(_) => return None,
    };
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_sizes() {
        assert_eq!(list("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(list(""), Some(vec![]));
        assert_eq!(list("3-1"), None);
        assert_eq!(list("x"), None);
        assert_eq!(list("0-99999999999"), None);
        assert_eq!(size("32K"), Some(32 << 10));
        assert_eq!(size("16M"), Some(16 << 20));
        assert_eq!(size("7"), Some(7));
        assert_eq!(size("7Q"), None);
        assert_eq!(size("18446744073709551615G"), None);
        assert_eq!(size(""), None);
    }

    #[test]
    fn fields() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("none"), None);
        assert_eq!(field_number::<u64>("VmRSS:\t  12 kB\nThreads:\t3", "VmRSS"), Some(12));
        assert_eq!(keyed_number::<u64>("nr_periods 5\nnr_throttled 2", "nr_throttled"), Some(2));
        assert_eq!(keyed_number::<u64>("nr_periods", "nr_periods"), None);
    }
}
