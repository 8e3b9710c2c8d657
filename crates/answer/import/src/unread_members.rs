//! Which members of JSON hold numbers, among those that no type asked for.

use std::collections::BTreeSet;

use serde_json::Value;

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
    if !ignored.is_empty()
        && let Ok(value) = serde_json::from_str(text)
    {
        numbers(&value, &mut String::new(), false, &|path, inside| inside || ignored.contains(path), &mut found);
    }
    found
}

/// Collects the paths of numbers that count. `counts` says whether what is at a path does; it is told whether that
/// around it does.
pub(crate) fn numbers(
    value: &Value,
    path: &mut String,
    around: bool,
    counts: &dyn Fn(&str, bool) -> bool,
    found: &mut BTreeSet<String>,
) {
    let here = counts(path, around);
    let mut below = |name: &str, value: &Value| {
        let end = path.len();
        if end > 0 {
            path.push('.');
        }
        path.push_str(&common_path(name));
        numbers(value, path, here, counts, found);
        path.truncate(end);
    };
    match value {
        Value::Array(items) => items.iter().for_each(|value| below("0", value)),
        Value::Object(members) => members.iter().for_each(|(name, value)| below(name, value)),
        Value::Number(_) if here && found.len() < MOST_ITEMS => drop(found.insert(path.clone())),
        _ => {}
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
