//! Which members of JSON hold numbers, among those that no type asked for.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::text::MOST_ITEMS;

/// A path without the places of items in lists, so that the same member of all items is one: `a.3.b` becomes `a.*.b`.
pub(crate) fn common_path(path: &str) -> String {
    let parts = path.split('.').filter(|part| *part != "?");
    let parts: Vec<&str> =
        parts.map(|part| if part.bytes().all(|byte| byte.is_ascii_digit()) { "*" } else { part }).collect();
    parts.join(".")
}

/// The paths of numbers in a text at or below the given paths, sorted by name; empty if the text is not JSON.
pub(crate) fn members_with_numbers(text: &str, ignored: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if !ignored.is_empty() {
        let mut walk = Walk { ignored, path: Vec::new(), inside: false, found: &mut found };
        // The text was read already: an error here is one of its types.
        let _ = Visit(&mut walk).deserialize(&mut serde_json::Deserializer::from_str(text));
    }
    found
}

struct Walk<'a> {
    ignored: &'a BTreeSet<String>,
    /// Names from the outermost object to the present value.
    path: Vec<String>,
    /// Whether the present value lies below an ignored one.
    inside: bool,
    found: &'a mut BTreeSet<String>,
}

impl Walk<'_> {
    fn number(&mut self) {
        if self.inside && self.found.len() < MOST_ITEMS {
            self.found.insert(self.path.join("."));
        }
    }

    /// Whether the value at the present path is ignored, or lies below one that is.
    fn enter(&mut self, name: &str) -> bool {
        let before = self.inside;
        self.path.push(common_path(name));
        self.inside = before || self.ignored.contains(&self.path.join("."));
        before
    }

    fn leave(&mut self, before: bool) {
        self.path.pop();
        self.inside = before;
    }
}

struct Visit<'w, 'a>(&'w mut Walk<'a>);

impl<'de> DeserializeSeed<'de> for Visit<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Visit<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.0.number();
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.0.number();
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.0.number();
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let before = self.0.enter("0");
        while items.next_element_seed(Visit(&mut *self.0))?.is_some() {}
        self.0.leave(before);
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(name) = entries.next_key::<String>()? {
            let before = self.0.enter(&name);
            entries.next_value_seed(Visit(&mut *self.0))?;
            self.0.leave(before);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_what_was_skipped_are_named_once() {
        let text = r#"{"a": 1, "b": {"c": [1, 2], "d": "x"}, "list": [{"e": 1, "f": 2}, {"e": 3, "f": 4}], "n": null}"#;
        let ignored: BTreeSet<String> = ["b", "list.*.f", "n"].map(str::to_owned).into();
        let found: Vec<String> = members_with_numbers(text, &ignored).into_iter().collect();
        assert_eq!(found, ["b.c.*", "list.*.f"]);
        assert!(members_with_numbers(text, &BTreeSet::new()).is_empty());
        assert!(members_with_numbers("{", &ignored).is_empty());
        assert_eq!(common_path("?.runs.12.?.value"), "runs.*.value");
    }
}
