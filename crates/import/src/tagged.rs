//! Output of message passing whose lines say which process wrote them: `mpirun --tag-output` puts job, rank and stream
//! before each, as in `[1,0]<stdout>:`.

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

/// A line without its tag.
fn line_of(line: &str) -> &str {
    let Some(rest) = line.strip_prefix('[') else { return line };
    let Some((tag, rest)) = STREAMS.iter().find_map(|end| rest.split_once(end)) else { return line };
    let is_tag = tag.contains(',') && tag.bytes().all(|byte| byte.is_ascii_graphic());
    if is_tag { rest } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tags_are_removed() {
        assert_eq!(untagged("[1,0]<stdout>:# a\nb\n[1,12]<stderr>: c\r\n[1,0]<stdout>:"), "# a\nb\n c\r\n");
        for other in ["", "a [1,0]<stdout>:b\n", "[1, 0]<stdout>:b", "[10]<stdout>:b", "[1,0] b\n"] {
            assert!(matches!(untagged(other), Cow::Borrowed(same) if same == other), "{other}");
        }
    }
}
