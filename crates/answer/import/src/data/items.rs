//! Reads JSON by the rules of a format's file: each item that a pointer names is what a line is in a text.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::{Map, Value};

use super::read::{Groups, Reader, unit_of};
use super::rules::{DataFormat, ItemRule, Texts};
use crate::format::SourceText;
use crate::json;
use crate::text::{SourceFault, number, usable};
use crate::unread_members::{common_path, numbers};

/// Whether a text is JSON, where a format has lines too.
pub(super) fn is_json(text: &str) -> bool {
    text.lines().any(|line| line.starts_with('{') || line.starts_with("[{") || line.trim_end() == "[")
}

/// Reads the documents of a source.
pub(super) fn parse<'a>(
    reader: &mut Reader<'a>,
    format: &'a DataFormat,
    source: &SourceText<'_>,
) -> Result<(), SourceFault> {
    let texts = if format.documents { json::documents(source.text) } else { vec![(0, source.text)] };
    let mut roots: Vec<(usize, Value)> = Vec::new();
    for (before, text) in texts {
        let root: Value = json::read(text).map_err(|mut fault: SourceFault| {
            fault.place.line += before;
            fault
        })?;
        if let (true, Some(event), Some(data)) =
            (format.events, root.get("event").and_then(Value::as_str), root.get("data"))
        {
            if roots.is_empty() {
                roots.push((before, Value::Object(Map::new())));
            }
            if let Some(Value::Object(whole)) = roots.last_mut().map(|(_, root)| root) {
                match whole.get_mut(event) {
                    Some(Value::Array(all)) => all.push(data.clone()),
                    Some(first) => *first = Value::Array(vec![first.take(), data.clone()]),
                    None => drop(whole.insert(event.to_owned(), data.clone())),
                }
            }
            continue;
        }
        if roots.last().is_some_and(|(_, last)| is_state(format, last, &root)) {
            roots.pop();
        }
        roots.push((before, root));
    }
    let mut skipped = BTreeSet::new();
    for (before, root) in &roots {
        let mut asked = BTreeSet::new();
        for rule in &format.item {
            let mut items = Vec::new();
            walk(&mut vec![(String::new(), root)], rule.each.split('/').skip(1), &mut Vec::new(), &mut items);
            for item in items {
                let quantiles = item.quantiles(rule, &mut asked)?;
                if let Some(groups) = item.groups(rule, &mut asked) {
                    let count = reader.count();
                    reader.apply(&rule.common, &rule.result, rule.error.as_deref(), groups, *before)?;
                    reader.add_quantiles(count, quantiles);
                }
            }
        }
        numbers(root, &mut String::new(), true, &|path, around| around && !asked.contains(path), &mut skipped);
    }
    source.ledger.skipped(skipped.len(), skipped.into_iter().next());
    Ok(())
}

/// Whether a document is an earlier state of the run that another states.
fn is_state(format: &DataFormat, root: &Value, next: &Value) -> bool {
    let words = |root, pointers: &Texts| {
        let item = Item { path: vec![(String::new(), root)], captures: Vec::new() };
        let word = |pointer: &str| item.words(&Texts::One(pointer.to_owned()), &mut BTreeSet::new());
        pointers.all().iter().find_map(|pointer| match pointer.split_once(" - ") {
            Some((from, less)) => Some((number(&word(from)?)? - number(&word(less)?)?).to_string()),
            None => word(pointer),
        })
    };
    let near =
        |one: &str, other: &str| number(one).zip(number(other)).is_some_and(|(one, other)| (one - other).abs() <= 1.0);
    let same = |pointers: &Texts| {
        let both = words(root, pointers).zip(words(next, pointers));
        both.is_some_and(|(one, other)| one == other || near(&one, &other))
    };
    !format.states_of.is_empty() && format.states_of.iter().all(same)
}

/// A value with its names and those that it is in, from the whole document on, and what its pointer captured.
struct Item<'v> {
    path: Vec<(String, &'v Value)>,
    captures: Vec<(String, String)>,
}

/// Finds the items that a pointer names. `*` is any member, `{name}` any whose name is kept, `{name:pattern}` one whose
/// name is like that; behind a `!` stands a member of it that must not be true.
fn walk<'v, 'p>(
    path: &mut Vec<(String, &'v Value)>,
    mut steps: impl Iterator<Item = &'p str> + Clone,
    captures: &mut Vec<(String, String)>,
    found: &mut Vec<Item<'v>>,
) {
    let Some((_, value)) = path.last() else { return };
    let Some(step) = steps.next() else {
        found.push(Item { path: path.clone(), captures: captures.clone() });
        return;
    };
    let (step, flag) = step.split_once('!').map_or((step, None), |(step, flag)| (step, Some(flag)));
    let capture = step.strip_prefix('{').and_then(|inside| inside.strip_suffix('}'));
    let (capture, allowed) = capture.map_or((None, None), |inside| match inside.split_once(':') {
        Some((name, allowed)) => (Some(name), Some(allowed)),
        None => (Some(inside), None),
    });
    let any = step == "*" || capture.is_some();
    let allowed = allowed.and_then(|pattern| Regex::new(&format!("^(?:{pattern})$")).ok());
    let named = |name: &str| if any { allowed.as_ref().is_none_or(|all| all.is_match(name)) } else { name == step };
    let mut members: Vec<(String, &'v Value)> = match value {
        Value::Object(members) if any => {
            members.iter().filter(|(name, _)| named(name)).map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Object(members) => {
            members.get(&unescaped(step)).map(|value| (unescaped(step), value)).into_iter().collect()
        }
        Value::Array(items) => {
            let numbered = items.iter().enumerate().map(|(at, value)| (at.to_string(), value));
            numbered.filter(|(name, _)| named(name)).collect()
        }
        _ => Vec::new(),
    };
    members.retain(|(_, value)| flag.is_none_or(|flag| value.get(flag) != Some(&Value::Bool(true))));
    // `run10` stands behind `run9`.
    members.sort_by_cached_key(|(name, _)| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (name, number) = name.split_at(name.len() - digits);
        (name.to_owned(), number.parse::<u64>().unwrap_or_default())
    });
    for (name, value) in members {
        captures.extend(capture.map(|capture| (capture.to_owned(), name.clone())));
        path.push((name, value));
        walk(path, steps.clone(), captures, found);
        path.pop();
        captures.truncate(captures.len() - usize::from(capture.is_some()));
    }
}

/// A name in a pointer (RFC 6901).
fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

impl<'v> Item<'v> {
    /// What a pointer names: from the whole document where it begins with a slash, so many values further out where it
    /// begins with a number, else inside the item.
    fn at(&self, pointer: &str, asked: &mut BTreeSet<String>) -> Vec<Item<'v>> {
        let captured = |text: String, (name, word): &(String, String)| {
            text.replace(&format!("{{{name}}}"), &word.replace('~', "~0").replace('/', "~1"))
        };
        let pointer = self.captures.iter().fold(pointer.to_owned(), captured);
        let (from, rest) = match pointer.strip_prefix('/') {
            Some(rest) => (1, rest),
            None => match pointer.split_once('/').and_then(|(up, rest)| Some((up.parse::<usize>().ok()?, rest))) {
                Some((up, rest)) => (self.path.len().saturating_sub(up).max(1), rest),
                None => (self.path.len(), pointer.as_str()),
            },
        };
        let mut found = Vec::new();
        let steps = rest.split('/').filter(|step| !step.is_empty());
        walk(&mut self.path[..from].to_vec(), steps, &mut Vec::new(), &mut found);
        asked.extend(found.iter().map(Item::name));
        found
    }

    /// Its path without the places of items in lists.
    fn name(&self) -> String {
        let names: Vec<&str> = self.path.iter().skip(1).map(|(name, _)| name.as_str()).collect();
        common_path(&names.join("."))
    }

    fn value(&self) -> &'v Value {
        self.path.last().map_or(&Value::Null, |(_, value)| value)
    }

    /// The words of the first pointer that names some; of several values a list.
    fn words(&self, pointers: &Texts, asked: &mut BTreeSet<String>) -> Option<String> {
        let mut first = None;
        for pointer in pointers.all() {
            let words: Vec<String> = self.at(pointer, asked).iter().filter_map(|item| words(item.value())).collect();
            first = first.or_else(|| Some(words.join(",")).filter(|words| !words.is_empty()));
        }
        first
    }

    /// The groups of the item; none where it is not what the rule is for.
    fn groups(&self, rule: &ItemRule, asked: &mut BTreeSet<String>) -> Option<Groups> {
        let mut groups = Groups::default();
        for (name, word) in &self.captures {
            groups.set(name, word.clone());
        }
        for (name, pointers) in &rule.groups.0 {
            let words = self.words(pointers, asked);
            let words =
                words.and_then(|words| match rule.patterns.get(name).and_then(|pattern| pattern.regex().ok()) {
                    Some(pattern) => pattern.captures(&words).and_then(|found| Some(found.get(1)?.as_str().to_owned())),
                    None => Some(words),
                });
            groups.put(name, words);
        }
        for pointer in rule.parameters_of.iter().flat_map(Texts::all).rev() {
            for item in self.at(pointer, asked) {
                for (name, value) in item.value().as_object().into_iter().flatten() {
                    groups.put(&name.replace('=', ":"), words(value));
                }
            }
        }
        let mut fits = |pointer: &String, allowed: &Vec<String>| {
            if allowed.is_empty() {
                return !self.at(pointer, asked).is_empty();
            }
            allowed.contains(&self.words(&Texts::One(pointer.clone()), asked).unwrap_or_default())
        };
        if !rule.when.iter().all(|(pointer, allowed)| fits(pointer, allowed)) {
            return None;
        }
        if rule.unless.iter().any(|all| all.iter().all(|(pointer, allowed)| fits(pointer, allowed))) {
            return None;
        }
        Some(groups)
    }

    /// The quantiles that the members of an object are, by their names in percent.
    fn quantiles(&self, rule: &ItemRule, asked: &mut BTreeSet<String>) -> Result<Vec<(f64, f64)>, SourceFault> {
        let (Some(pointer), Some(result)) = (&rule.quantiles_of, rule.result.last()) else { return Ok(Vec::new()) };
        let (_, scale) = unit_of(result, None, 0)?;
        let items = self.at(pointer, asked);
        let members = items.iter().filter_map(|item| item.value().as_object()).flatten();
        let quantile = |(percent, value): (&String, &Value)| {
            Some((number(percent.trim_start_matches('p'))? / 100.0, value.as_f64()? * scale))
        };
        Ok(members.filter_map(quantile).filter(|(quantile, value)| *quantile > 0.0 && usable(*value)).collect())
    }
}

/// A value as words; none of an object, of nothing, and of a number that no result may have.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => number.as_f64().filter(|value| usable(*value)).map(|value| value.to_string()),
        Value::String(words) => Some(words.clone()).filter(|words| !words.is_empty()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Array(items) => {
            let words: Vec<String> = items.iter().filter_map(words).collect();
            Some(words.join(",")).filter(|words| !words.is_empty())
        }
        Value::Null | Value::Object(_) => None,
    }
}
