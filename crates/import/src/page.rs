//! Saved web pages: an output that a page shows stands in a `<pre>` element, with its signs of HTML in other words.
//!
//! Only what the HTML standard calls preformatted text is read; the rest of a page is prose. Lines keep their numbers,
//! so that a message names the line of the file.

/// Elements whose content is no HTML: a page's programs may have tags in their texts.
const RAW: [&str; 3] = ["script", "style", "title"];

/// Names of characters that pages with outputs use, and what they stand for.
const NAMED: [(&str, &str); 22] = [
    ("lt", "<"),
    ("gt", ">"),
    ("amp", "&"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ensp", " "),
    ("emsp", " "),
    ("thinsp", " "),
    ("micro", "\u{b5}"),
    ("mu", "\u{3bc}"),
    ("plusmn", "\u{b1}"),
    ("times", "\u{d7}"),
    ("middot", "\u{b7}"),
    ("deg", "\u{b0}"),
    ("ndash", "\u{2013}"),
    ("mdash", "\u{2014}"),
    ("minus", "\u{2212}"),
    ("hellip", "\u{2026}"),
    ("sigma", "\u{3c3}"),
    ("copy", "\u{a9}"),
    ("reg", "\u{ae}"),
];

/// What the `<pre>` elements of a page hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PageText {
    /// Their text, from the line of the first one on; lines between them are empty.
    pub(crate) text: String,
    /// Lines of the page before it.
    pub(crate) before: usize,
}

/// Whether a text plainly is a web page: it begins as one.
pub(crate) fn is_page(text: &str) -> bool {
    let mut rest = text.trim_start();
    // A saved page may begin with a comment that says where it was saved.
    while let Some(comment) = rest.strip_prefix("<!--") {
        let Some(end) = comment.find("-->") else { return false };
        rest = comment[end + 3..].trim_start();
    }
    let head = rest.as_bytes();
    let begins = |word: &str| head.len() >= word.len() && head[..word.len()].eq_ignore_ascii_case(word.as_bytes());
    begins("<!doctype html") || begins("<html")
}

/// The text of the `<pre>` elements; none if there are none with any text. The page is read once, from begin to end.
pub(crate) fn preformatted(page: &str) -> Option<PageText> {
    let (mut rest, mut depth) = (page, 0_usize);
    let mut text = String::new();
    while let Some(at) = rest.find('<') {
        keep(&mut text, &rest[..at], depth > 0);
        let Some(tag) = Tag::at(&rest[at..]) else {
            keep(&mut text, "<", depth > 0);
            rest = &rest[at + 1..];
            continue;
        };
        let mut length = tag.length;
        if tag.is("pre") {
            depth = if tag.closes { depth.saturating_sub(1) } else { depth + 1 };
            // Elements that follow each other on one line are not one line of output.
            text.push_str(if tag.closes { "\n" } else { "" });
        } else if tag.is("br") && depth > 0 {
            text.push('\n');
        } else if let Some(name) = RAW.iter().find(|name| tag.is(name)).filter(|_| !tag.closes) {
            length += end_of(&rest[at + length..], name);
        }
        // A tag may go over several lines.
        keep(&mut text, &rest[at..at + length], false);
        rest = &rest[at + length..];
    }
    keep(&mut text, rest, depth > 0);
    let first = text.find(|c: char| !c.is_whitespace())?;
    let start = text[..first].rfind('\n').map_or(0, |end| end + 1);
    Some(PageText { before: text[..start].matches('\n').count(), text: text[start..].to_owned() })
}

/// Keeps a piece of the page: decoded inside of `<pre>`, of the rest only its line ends.
fn keep(text: &mut String, piece: &str, inside: bool) {
    if inside {
        decode(text, piece);
    } else {
        text.extend(std::iter::repeat_n('\n', memchr::memchr_iter(b'\n', piece.as_bytes()).count()));
    }
}

/// A tag or a comment.
struct Tag<'a> {
    name: &'a str,
    closes: bool,
    /// Bytes up to its end.
    length: usize,
}

impl<'a> Tag<'a> {
    /// The tag that begins here with `<`; none where the sign stands for itself.
    fn at(text: &'a str) -> Option<Self> {
        if let Some(comment) = text.strip_prefix("<!--") {
            let length = comment.find("-->").map_or(text.len(), |end| 4 + end + 3);
            return Some(Self { name: "", closes: false, length });
        }
        let closes = text[1..].starts_with('/');
        let name = &text[if closes { 2 } else { 1 }..];
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || !closes && (c == '!' || c == '?')) {
            return None;
        }
        let name = &name[..name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len())];
        // A value in quotes may hold the sign that ends a tag.
        let mut quote = None;
        let end = text.bytes().position(|byte| {
            match (quote, byte) {
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), close) if open == close => quote = None,
                _ => {}
            }
            quote.is_none() && byte == b'>'
        });
        Some(Self { name, closes, length: end.map_or(text.len(), |end| end + 1) })
    }

    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// Bytes before the end tag of an element whose content is no HTML.
fn end_of(text: &str, name: &str) -> usize {
    let ends = |at: &usize| {
        let rest = &text.as_bytes()[at + 2..];
        rest.len() >= name.len() && rest[..name.len()].eq_ignore_ascii_case(name.as_bytes())
    };
    memchr::memmem::find_iter(text.as_bytes(), "</").find(ends).unwrap_or(text.len())
}

/// Longest reference to a character, bytes.
const LONGEST: usize = 12;

/// Appends a text in which `&lt;` stands for `<`.
fn decode(text: &mut String, piece: &str) {
    let mut rest = piece;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.bytes().take(LONGEST).position(|byte| byte == b';');
        match end.and_then(|end| Some((end, character(&rest[..end])?))) {
            Some((end, character)) => {
                text.push_str(&character);
                rest = &rest[end + 1..];
            }
            None => text.push('&'),
        }
    }
    text.push_str(rest);
}

/// What a reference stands for. A control character stands for nothing in HTML, and would move a terminal's cursor.
fn character(reference: &str) -> Option<String> {
    let Some(number) = reference.strip_prefix('#') else {
        return NAMED.iter().find(|(name, _)| *name == reference).map(|(_, text)| (*text).to_owned());
    };
    let number = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    let character = number.ok().and_then(char::from_u32)?;
    Some(if character.is_control() || character == '\u{a0}' { ' ' } else { character }.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(page: &str) -> String {
        preformatted(page).map(|page| page.text).unwrap_or_default()
    }

    #[test]
    fn pages_are_told_by_their_beginning() {
        for page in ["<!DOCTYPE html>\n<html>", " \n<HTML lang=en>", "<!-- saved from url=(1)x -->\n<html>"] {
            assert!(is_page(page), "{page}");
        }
        for other in
            ["", "<", "<pre>1</pre>", "a <html>", "<?xml version='1.0'?><results/>", "<!-- <html>", "<!doctype"]
        {
            assert!(!is_page(other), "{other}");
        }
    }

    #[test]
    fn preformatted_text_keeps_its_lines() {
        let page = "<html>\n<p class=\"a>b\">2 < 3\n</p><script>'<pre>no</pre>'</script>\n<pre><b>Copy</b>:  1&lt;2\n  b</pre>\n\
                    <!-- <pre>\nno</pre> -->\n<PRE id='x'>c &amp;&#35;&#x22; 5 < 7</PRE> d";
        let found = preformatted(page).unwrap();
        assert_eq!((found.text.as_str(), found.before), ("Copy:  1<2\n  b\n\n\n\nc &#\" 5 < 7\n", 3));
        assert_eq!(text("<html><pre>a<br>b<br/>c</pre><pre>d</pre>"), "a\nb\nc\nd\n");
        assert_eq!(preformatted("<html><body>no <pre> \n</pre></body>"), None);
    }

    #[test]
    fn what_is_no_reference_stands_for_itself() {
        for (written, read) in [
            ("&amp;lt;", "&lt;"),
            ("a & b; c", "a & b; c"),
            ("&&lt;", "&<"),
            ("&nothing; &#xd800; &#99999999;", "&nothing; &#xd800; &#99999999;"),
            ("&#27;[2J&#0;", " [2J "),
            ("&micro;s &#181;s", "\u{b5}s \u{b5}s"),
        ] {
            assert_eq!(text(&format!("<html><pre>x{written}")), format!("x{read}"));
        }
    }

    #[test]
    fn what_never_ends_is_read_once() {
        for part in ["<", "<!--", "<a '", "&", "<pre>", "</pre>", "<script>", "</", "<script></"] {
            let page = format!("<html>{}", part.repeat(200_000));
            assert!(text(&page).len() <= page.len());
        }
    }

    proptest! {
        #[test]
        fn any_page_is_read_without_panic(page in "(<pre>|</pre>|<!--|-->|<script|</|&#|&lt;|[ -~]|\\PC|\n){0,60}") {
            let _ = (is_page(&page), preformatted(&page));
        }
    }
}
