//! Reads JSON with bounded memory: members that are not asked for are skipped, lists and maps have a limit.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;

use memchr::memmem;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};

use crate::error::SourcePosition;
use crate::text::{MOST_ITEMS, SourceFault, usable};
use crate::unread::LineLedger;
use crate::unread_members::{common_path, members_with_numbers};

/// Items of all lists and maps of one source together, at most: each takes more memory than its text.
const MOST_TOGETHER: usize = 1_000_000;

/// Refuses a text with too many items, each of which but the first has a comma before it.
fn check_items(text: &str) -> Result<(), SourceFault> {
    if memchr::memchr_iter(b',', text.as_bytes()).nth(MOST_TOGETHER).is_none() {
        return Ok(());
    }
    Err(SourceFault::new(format!("it has more than {MOST_TOGETHER} items in all its lists"), 0))
}

/// Reads the JSON of a source, as [`read`] does, and notes the members with numbers that were not asked for.
pub(crate) fn read_noting<T: DeserializeOwned>(text: &str, ledger: &LineLedger) -> Result<T, SourceFault> {
    let (start, skipped) = beginning(text);
    check_items(text)?;
    let mut ignored = BTreeSet::new();
    let body = body(&text[start..]);
    let mut deserializer = serde_json::Deserializer::from_str(&body);
    let mut note = |path: serde_ignored::Path<'_>| {
        if ignored.len() < MOST_ITEMS {
            ignored.insert(common_path(&path.to_string()));
        }
    };
    let found = serde_ignored::deserialize(&mut deserializer, &mut note);
    let found = found.and_then(|found| deserializer.end().map(|()| found)).map_err(|error| fault(&error, skipped))?;
    let members = members_with_numbers(&body, &ignored);
    ledger.skipped(members.len(), members.into_iter().next());
    Ok(found)
}

/// Reads the JSON of a text. Lines before the first that begins with a bracket are messages of the tool and are
/// skipped.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, SourceFault> {
    let (start, skipped) = beginning(text);
    check_items(text)?;
    serde_json::from_str(&body(&text[start..])).map_err(|error| fault(&error, skipped))
}

/// The documents of a source that holds several, each with the number of lines before it. A tool that appends to one
/// file writes one after the other, each with its outermost brackets at the beginning of a line. Without such a
/// bracket, the whole text is one.
pub(crate) fn documents(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut open, mut at, mut closed) = (Vec::new(), None, 0, false);
    for (line, content) in text.split_inclusive('\n').enumerate() {
        let end = at + content.len();
        // Of one whose last bracket is indented, the next one tells the end.
        if let Some((first, start)) = open.filter(|_| closed && content.starts_with('{')) {
            found.push((first, &text[start..at]));
            open = None;
        }
        closed = if content.trim().is_empty() { closed } else { content.trim_end().ends_with('}') };
        let whole = content.starts_with('{') && content.trim_end().ends_with('}');
        match open {
            None if whole => found.push((line, &text[at..end])),
            None if content.starts_with('{') => open = Some((line, at)),
            Some((first, start)) if content.starts_with('}') => {
                found.push((first, &text[start..end]));
                open = None;
            }
            _ => {}
        }
        at = end;
    }
    // A document that was cut off is refused where it ends.
    found.extend(open.map(|(first, start)| (first, &text[start..])));
    if found.is_empty() { vec![(0, text)] } else { found }
}

/// Reads one of the [`documents`] of a source, as [`read_noting`] does.
pub(crate) fn read_document<T: DeserializeOwned>(
    (before, text): (usize, &str),
    ledger: &LineLedger,
) -> Result<T, SourceFault> {
    read_noting(text, ledger).map_err(|mut fault: SourceFault| {
        fault.place.line += before;
        fault
    })
}

/// Where the JSON of a text begins: its byte, and the lines before it.
fn beginning(text: &str) -> (usize, usize) {
    let mut skipped = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with(['{', '[']) {
            break;
        }
        skipped += 1;
        start += line.len();
    }
    (start, skipped)
}

/// Words that tools write for values that are no numbers, which JSON does not have.
const NO_NUMBERS: [&str; 10] =
    ["-Infinity", "Infinity", "-nan(ind)", "-NaN", "NaN", "-nan", "nan", "-inf", "inf", "nan(ind)"];

/// The JSON of a text: without the fence of a page behind it, and with `null` for values that are no numbers.
fn body(text: &str) -> Cow<'_, str> {
    let text = text.trim_end();
    let text = text.strip_suffix("\n```").unwrap_or(text);
    if !NO_NUMBERS.iter().any(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some()) {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut from, mut at) = (String::with_capacity(text.len()), 0, 0);
    let (mut quoted, mut value) = (false, false);
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let word = NO_NUMBERS.iter().find(|word| value && bytes[at..].starts_with(word.as_bytes()));
        if let Some(word) = word {
            plain.push_str(&text[from..at]);
            plain.push_str("null");
            at += word.len();
            (from, value) = (at, false);
            continue;
        }
        match byte {
            b'\\' if quoted => at += 1,
            b'"' => (quoted, value) = (!quoted, false),
            _ if quoted || byte.is_ascii_whitespace() => {}
            // A value follows a colon, or is in a list.
            _ => value = b":,[".contains(&byte),
        }
        at += 1;
    }
    plain.push_str(&text[from..]);
    Cow::Owned(plain)
}

pub(crate) fn fault(error: &serde_json::Error, skipped: usize) -> SourceFault {
    let text = error.to_string();
    let reason = match text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason) {
        "trailing characters" => "text follows its JSON; save each document to its own file",
        reason => reason,
    };
    let reason = reason.to_owned();
    SourceFault { reason, place: SourcePosition { line: error.line().max(1) + skipped, column: error.column() } }
}

/// A map. An empty list is an empty map, as which PHP writes it.
#[derive(Debug)]
pub(crate) struct BoundedMap<T>(pub(crate) BTreeMap<String, T>);

impl<T> Default for BoundedMap<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for BoundedMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = BoundedMap<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<BoundedMap<T>, A::Error> {
                BTreeMap::deserialize(MapAccessDeserializer::new(entries)).map(BoundedMap)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<BoundedMap<T>, A::Error> {
                match items.next_element::<IgnoredAny>()? {
                    None => Ok(BoundedMap::default()),
                    Some(_) => Err(de::Error::invalid_type(de::Unexpected::Seq, &self)),
                }
            }
        }
        deserializer.deserialize_any(Entries(PhantomData))
    }
}

/// A value of which only numbers, texts and booleans are kept; lists and objects are skipped.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) enum Scalar {
    #[default]
    None,
    Number(f64),
    Text(String),
    Truth(bool),
}

impl Scalar {
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Text(text) => crate::text::number(text),
            _ => None,
        }
    }

    pub(crate) fn words(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Number(value) => value.to_string(),
            Self::Text(text) => text.clone(),
            Self::Truth(truth) => truth.to_string(),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyJson;
        impl<'de> Visitor<'de> for AnyJson {
            type Value = Scalar;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
                Ok(Scalar::Truth(value))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
                Ok(if usable(value) { Scalar::Number(value) } else { Scalar::None })
            }
            fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
                Ok(Scalar::Number(value as f64))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
                Ok(Scalar::Number(value as f64))
            }
            fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(value.to_owned()))
            }
            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::None)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Scalar, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::None)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Scalar, A::Error> {
                while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::None)
            }
        }
        deserializer.deserialize_any(AnyJson)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_skipped_and_positions_still_right() {
        let error = read::<BoundedMap<f64>>("note: x\n{\n\"a\": \"b\"}").unwrap_err();
        assert_eq!(error.place.line, 3);
        assert_eq!(read::<BoundedMap<f64>>("note\n{\"a\":1}").unwrap().0["a"], 1.0);
        assert!(read::<BoundedMap<f64>>("note").is_err());
    }

    #[test]
    fn values_that_are_no_numbers_are_absent() {
        let text = "{\"a\": NaN, \"b, NaN\": [ -Infinity,inf],\n\"c\": \"\\\\\\\": nan\",\"d\":-nan, \"e\": 1}";
        let plain = "{\"a\": null, \"b, NaN\": [ null,null],\n\"c\": \"\\\\\\\": nan\",\"d\":null, \"e\": 1}";
        assert_eq!(body(text), plain);
        assert_eq!(read::<BoundedMap<Scalar>>(text).unwrap().0["a"], Scalar::None);
        assert_eq!(body("{\"a\": 1}\n```\n"), "{\"a\": 1}");
        assert!(read::<Scalar>("[1, Nan]").is_err());
        let fault = read::<Scalar>("{\"a\": 1}\n{\"a\": 1}").unwrap_err();
        assert!(fault.reason.contains("to its own file") && fault.place.line == 2, "{}", fault.reason);
    }

    #[test]
    fn documents_of_one_file_are_told_apart() {
        let text = "note\n{\n \"a\": {\n }\n}\nmore\n{\"b\": 1}\n{\n\"c\"";
        let found = documents(text);
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 6, 7]);
        assert_eq!(found[1].1, "{\"b\": 1}\n");
        let fault = read_document::<BoundedMap<f64>>(found[2], &LineLedger::default()).unwrap_err();
        assert_eq!(fault.place.line, 9);
        assert_eq!(documents("[1]"), [(0, "[1]")]);
    }

    #[test]
    fn lists_have_a_limit_and_depth_too() {
        let inner = format!("[{}0]", "0,".repeat(999));
        let nested = format!("[{}{inner}]", format!("{inner},").repeat(1100));
        let fault = read::<Vec<Vec<f64>>>(&nested).unwrap_err();
        assert!(fault.reason.contains("in all its lists"), "{}", fault.reason);
        assert!(read::<Vec<Vec<f64>>>(&format!("[{inner}]")).is_ok());
        assert!(read::<Scalar>(&"[".repeat(100_000)).is_err());
    }
}
