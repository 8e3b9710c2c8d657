//! Output whose lines say which stream they are of: `mpirun --tag-output` puts job, rank and stream before each, as in
//! `[1,0]<stdout>:`, and Avocado's log a time and `DEBUG| [stdout] `.

use std::borrow::Cow;

/// Ends of a tag.
const STREAMS: [&str; 2] = ["]<stdout>:", "]<stderr>:"];

/// The text without the tags of its lines, which keep their numbers.
pub(crate) fn untagged(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| line_of(line).len() < line.len()) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        plain.push_str(line_of(line));
    }
    Cow::Owned(plain)
}

/// Bytes of a tag, at most.
const LONGEST: usize = 100;

/// A line without its tag.
fn line_of(line: &str) -> &str {
    if let Some(rest) = log_of(line) {
        return rest;
    }
    let Some(rest) = line.trim_start().strip_prefix('[') else { return line };
    let Some((tag, rest)) = STREAMS.iter().find_map(|end| rest.split_once(end)) else { return line };
    let is_tag = tag.contains(',') && tag.bytes().all(|byte| byte.is_ascii_graphic());
    if is_tag { rest } else { line }
}

/// What Avocado's log states of a program: `10:00:00 DEBUG| [stdout] `, with the date, the process and more before it.
fn log_of(line: &str) -> Option<&str> {
    let (tag, rest) = ["| [stdout]", "| [stderr]"].iter().find_map(|end| line.split_once(end))?;
    let is_tag = tag.len() < LONGEST && tag.starts_with(|c: char| c.is_ascii_digit()) && tag.contains(':');
    is_tag.then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tags_are_removed() {
        assert_eq!(untagged("[1,0]<stdout>:# a\nb\n[1,12]<stderr>: c\r\n[1,0]<stdout>:"), "# a\nb\n c\r\n");
        assert_eq!(untagged("  [1,0]<stdout>:# a\n"), "# a\n");
        let log =
            "10:00:00 INFO | Running\n10:00:01 DEBUG| [stdout]   a 1\n2024-06-03 10:00:01,5 p L1 DEBUG| [stdout]\n";
        assert_eq!(untagged(log), "10:00:00 INFO | Running\n  a 1\n\n");
        for other in ["", "a [1,0]<stdout>:b\n", "[1, 0]<stdout>:b", "[10]<stdout>:b", "[1,0] b\n"] {
            assert!(matches!(untagged(other), Cow::Borrowed(same) if same == other), "{other}");
        }
    }
}
