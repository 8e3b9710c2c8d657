//! Reads words and numbers of texts that were written for people.

use crate::digest::sha256;
use crate::error::{Error, SourcePosition};

/// Largest source, bytes; parsing uses a few times as much memory.
pub const LONGEST: usize = 64 << 20;

/// Lines of a source that is read line by line, at most. Outputs of tools have thousands at most.
const MOST_LINES: usize = 200_000;

/// Bytes of one line of a source that is read line by line, at most.
const LONGEST_LINE: usize = 4 << 20;

/// Columns of a table, at most.
pub(crate) const MOST_COLUMNS: usize = 4_096;

/// Items of one list in a source, at most.
pub(crate) const MOST_ITEMS: usize = 200_000;

/// Machines, benchmarks or parts with distinct names in one source, at most.
pub(crate) const MOST_NAMES: usize = 1_000;

/// An error in a source, and its position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourceFault {
    pub(crate) reason: String,
    pub(crate) place: SourcePosition,
}

impl SourceFault {
    pub(crate) fn new(reason: impl Into<String>, line: usize) -> Self {
        Self { reason: reason.into(), place: SourcePosition::line(line) }
    }
}

/// The text of a source.
pub(crate) fn decode<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, Error> {
    let source_name = || name.to_owned();
    if bytes.len() > LONGEST {
        return Err(Error::TooLong { source_name: source_name(), limit: LONGEST });
    }
    let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let wide = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
    let hint = if wide { "; it looks like UTF-16: convert it to UTF-8 first" } else { "" };
    let valid = std::str::from_utf8(body).map_err(|error| {
        let before = &body[..error.valid_up_to()];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let place = SourcePosition { line, column: before.len() - line_start + 1 };
        Error::Encoding { source_name: source_name(), place, hint }
    })?;
    Ok(valid)
}

/// Limits of sources that are read line by line.
pub(crate) fn check_lines(text: &str) -> Result<(), SourceFault> {
    let (mut count, mut start) = (0, 0);
    for end in memchr::memchr_iter(b'\n', text.as_bytes()).chain(std::iter::once(text.len())) {
        count += 1;
        if end - start > LONGEST_LINE {
            return Err(SourceFault::new(format!("the line has more than {LONGEST_LINE} bytes"), count));
        }
        if count > MOST_LINES && start < text.len() {
            return Err(SourceFault::new(format!("it has more than {MOST_LINES} lines"), count));
        }
        start = end + 1;
    }
    Ok(())
}

/// Lines with their numbers from 1, without line ends.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    (1..).zip(text.lines())
}

/// A number that a result may have: finite, and small enough to be averaged and squared.
pub(crate) fn number(text: &str) -> Option<f64> {
    // Words that Rust parses as numbers (inf, nan) are not numbers here.
    text.trim().parse().ok().filter(|value: &f64| is_number(text) && usable(*value))
}

/// Whether a text is written as a number, however large.
pub(crate) fn is_number(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) && text.parse::<f64>().is_ok()
}

pub(crate) fn usable(value: f64) -> bool {
    value.is_finite() && value.abs() < 1e100
}

/// A number, or a fault that says why it is none.
pub(crate) fn need(text: &str, line: usize) -> Result<f64, SourceFault> {
    number(text).ok_or_else(|| SourceFault::new(format!("'{}' is not a usable number", shown(text)), line))
}

/// The text after a word in a line, trimmed.
pub(crate) fn after<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    line.find(word).map(|at| line[at + word.len()..].trim())
}

/// The text between two words of a line, trimmed.
pub(crate) fn between<'a>(line: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let rest = after(line, from)?;
    rest.find(to).map(|at| rest[..at].trim())
}

/// Refuses a comma-separated table with more than [`MOST_COLUMNS`] columns, before anything of it is kept: every
/// column of every row costs memory. Quotes open only at the beginning of a cell (RFC 4180).
pub(crate) fn check_columns(text: &str) -> Result<(), SourceFault> {
    let (mut columns, mut line, mut quoted, mut fresh) = (1_usize, 1_usize, false, true);
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\n' {
            line += 1;
        }
        match byte {
            b'"' if quoted && bytes.peek() == Some(&b'"') => {
                bytes.next();
            }
            b'"' if quoted || fresh => (quoted, fresh) = (!quoted, false),
            _ if quoted => {}
            b',' => {
                columns += 1;
                fresh = true;
            }
            b'\n' => (columns, fresh) = (1, true),
            _ => fresh = false,
        }
        if columns > MOST_COLUMNS {
            return Err(SourceFault::new(format!("a row has more than {MOST_COLUMNS} columns"), line));
        }
    }
    Ok(())
}

/// Begin and end of each word of a line, bytes.
pub(crate) fn spans(line: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(start) = line[from..].find(|c: char| !c.is_whitespace()) {
        let start = from + start;
        let end = line[start..].find(char::is_whitespace).map_or(line.len(), |end| start + end);
        spans.push((start, end));
        from = end;
    }
    spans
}

/// The digits of a number whose thousands are grouped by commas. `None` for commas at other places, as where the comma
/// is the decimal sign.
pub(crate) fn grouped(word: &str) -> Option<String> {
    let (whole, _) = word.split_once('.').unwrap_or((word, ""));
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let grouped = groups.clone().next().is_some();
    let valid = groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()));
    let short = !grouped || ((1..=3).contains(&first.len()) && first != "0");
    (valid && short).then(|| word.replace(',', ""))
}

/// A time with its unit directly behind it, `1.72ms`, in seconds.
pub(crate) fn duration(word: &str) -> Option<f64> {
    let (value, unit) = split_unit(word)?;
    let scale = match unit {
        "ns" => 1e-9,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(value * scale)
}

/// A number and the unit directly behind it.
pub(crate) fn split_unit(word: &str) -> Option<(f64, &str)> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    Some((number(&word[..end])?, &word[end..]))
}

/// Half a unit in the last digit of a printed number, an exponent aside.
pub(crate) fn half_digit(text: &str) -> f64 {
    let (mantissa, _) = text.split_once(['e', 'E']).unwrap_or((text, ""));
    let decimals = mantissa.trim().split_once('.').map_or(0, |(_, decimals)| decimals.len());
    0.5 * 10.0_f64.powi(-i32::try_from(decimals).unwrap_or(0))
}

/// The first number in a text.
pub(crate) fn first_number(text: &str) -> Option<f64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let signed = text[..start].ends_with('-');
    let rest = &text[start..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    number(rest[..end].trim_end_matches('.')).map(|value| if signed { -value } else { value })
}

/// Part of an id: letters and digits of any script in lower case, every run of other characters becomes one
/// underscore. A name without any leaves a part of its digest, so that two such names stay different.
pub(crate) fn snake(text: &str) -> String {
    let mut snake = String::new();
    for c in text.chars().take(200) {
        if c.is_alphanumeric() {
            snake.extend(c.to_lowercase());
        } else if !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
    }
    let trimmed = snake.trim_end_matches('_');
    match trimmed {
        "" if text.trim().is_empty() => "unnamed".to_owned(),
        "" => format!("unnamed_{}", &sha256(text.trim().as_bytes())[..8]),
        named => named.to_owned(),
    }
}

/// Characters of a value on a parameter, at most.
const LONGEST_VALUE: usize = 200;

/// A value on a parameter: no commas, which separate parameters, no control characters, of bounded length. Different
/// texts stay different. A comma becomes a semicolon, so a semicolon is written as in an address (`%3B`), and a
/// shortened text keeps a part of its digest.
pub(crate) fn parameter_value(text: &str) -> String {
    bounded(text, |c, value| match c {
        ',' => value.push(';'),
        ';' => value.push_str("%3B"),
        c => value.push(c),
    })
}

/// A name that is no value of a parameter, such as that of a machine: as printed, without control characters and of
/// bounded length, so that different names stay different.
pub(crate) fn name_value(text: &str) -> String {
    bounded(text, |c, value| value.push(c))
}

fn bounded(text: &str, spell: impl Fn(char, &mut String)) -> String {
    let text = text.trim();
    let cut = text.char_indices().nth(LONGEST_VALUE).map_or(text, |(end, _)| &text[..end]);
    let mut value = String::with_capacity(cut.len());
    cut.chars().for_each(|c| spell(if c.is_control() { ' ' } else { c }, &mut value));
    if cut.len() < text.len() {
        value.push_str("... #");
        value.push_str(&sha256(text.as_bytes())[..8]);
    }
    if value.is_empty() { "-".to_owned() } else { value }
}

/// Text of a source for a message: one line, not too long.
pub(crate) fn shown(text: &str) -> String {
    one_line(text, 60)
}

/// At most `most` characters, without control characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let mut line: String = text.chars().take(most).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        line.push_str("...");
    }
    line
}

/// The text without terminal colours and titles (ECMA-48 control sequences and strings).
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b") {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        rest = match tail.chars().next() {
            Some('[') => {
                let tail = tail[1..].trim_start_matches(|c| (' '..='?').contains(&c));
                tail.strip_prefix(|c| ('@'..='~').contains(&c)).unwrap_or(tail)
            }
            // A title ends with a bell or with another sequence, on its line.
            Some(']') => tail[tail.find(['\x07', '\x1b', '\n']).unwrap_or(tail.len())..].trim_start_matches('\x07'),
            // Choice of a character set.
            Some('(' | ')') => {
                tail[1..].trim_start_matches(|c| (' '..='/').contains(&c)).trim_start_matches(['0', 'A', 'B'])
            }
            _ => tail,
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_finite_and_usable() {
        assert_eq!(number(" 1.5e3 "), Some(1500.0));
        for text in ["nan", "inf", "-inf", "1e999", "1e200", "", "x", "1,5", "infinity", "0x10"] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(first_number("Total ticks : 28457;"), Some(28457.0));
        assert_eq!(first_number("+-2.500% @"), Some(-2.5));
        assert_eq!(first_number("no"), None);
        assert_eq!((half_digit("12"), half_digit("1.20"), half_digit("5.548e+00")), (0.5, 0.005, 0.000_5));
    }

    #[test]
    fn non_utf8_input_is_refused_with_the_position() {
        let error = decode("x", b"one\ntwo\xff").unwrap_err().to_string();
        assert_eq!(error, "could not import x: it is not UTF-8 text at line 2, column 4");
        assert!(decode("x", b"\xff\xfea\0").unwrap_err().to_string().contains("UTF-16"));
        assert_eq!(decode("x", b"\xef\xbb\xbfa").unwrap(), "a");
    }

    #[test]
    fn thousands_are_grouped_by_commas_only_where_they_can_be() {
        assert_eq!(grouped("1,234,567.5").as_deref(), Some("1234567.5"));
        assert_eq!(grouped("42").as_deref(), Some("42"));
        for word in ["3,4814", "0,125", "1,23", "1234,567"] {
            assert_eq!(grouped(word), None, "{word}");
        }
    }

    #[test]
    fn wide_tables_are_refused_before_they_are_kept() {
        let wide = "0,".repeat(MOST_COLUMNS);
        assert!(check_columns(&wide).unwrap_err().reason.contains("columns"));
        assert!(check_columns(&"\"\n\",".repeat(MOST_COLUMNS)).is_err(), "a quoted line end does not begin a row");
        assert!(check_columns(&"a,\"b,c\"\n".repeat(MOST_COLUMNS)).is_ok());
    }

    #[test]
    fn names_become_ids_and_parameter_values() {
        assert_eq!(snake("bogo ops/s (real time)"), "bogo_ops_s_real_time");
        assert_eq!(snake("\u{c9}t\u{e9} 1!"), "\u{e9}t\u{e9}_1");
        assert_ne!(snake("\u{5185}\u{5b58}"), snake("\u{7f16}\u{8bd1}"), "other scripts have names too");
        assert_ne!(snake("\u{2192}"), snake("\u{2190}"));
        assert_eq!(snake(" "), "unnamed");
        assert_eq!(parameter_value(" a,b\n"), "a;b");
        assert_ne!(parameter_value("a,b"), parameter_value("a;b"), "a comma and a semicolon are two commands");
        assert_eq!((name_value(" a,b;\n"), name_value("")), ("a,b;".to_owned(), "-".to_owned()));
        assert!(name_value(&"x".repeat(300)).len() < 220);
        let (one, other) = (format!("{}a", "x".repeat(300)), format!("{}b", "x".repeat(300)));
        assert_ne!(parameter_value(&one), parameter_value(&other), "what is cut off still tells them apart");
        assert!(parameter_value(&one).len() < 220 && parameter_value(&one).starts_with(&"x".repeat(200)));
        assert_eq!(plain("a\x1b[2;35mb\x1b[0m"), "ab");
        assert_eq!(plain("a\x1b["), "a");
        assert_eq!(plain("\x1b]0;root@box\x07a\x1b(B\x1b[?2004hb\x1b]0;x\nc"), "ab\nc");
    }
}
