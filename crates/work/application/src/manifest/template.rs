//! Arguments with placeholders: `{name}` is a value, `{name...}` its words as separate arguments, `{{` and `}}` are
//! braces.

use std::collections::BTreeMap;

/// One argument, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<TemplatePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Hole(String),
    Words(String),
}

impl Template {
    /// Parses one argument.
    ///
    /// # Errors
    /// The error, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(format!("'{text}' has a }} without a {{; write }}}} for the character itself"));
            }
            let Some((name, after)) = rest.split_once('}') else {
                return Err(format!("'{text}' has a {{ without a }}; write {{{{ for the character itself"));
            };
            if !plain.is_empty() {
                parts.push(TemplatePart::Text(std::mem::take(&mut plain)));
            }
            parts.push(match name.strip_suffix("...") {
                Some(name) => TemplatePart::Words(name.to_owned()),
                None => TemplatePart::Hole(name.to_owned()),
            });
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() || parts.is_empty() {
            parts.push(TemplatePart::Text(plain));
        }
        if parts.len() > 1 && parts.iter().any(|part| matches!(part, TemplatePart::Words(_))) {
            return Err(format!("'{text}' has a {{name...}} beside other text; it must stand alone in its argument"));
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// Names of its placeholders.
    pub fn holes(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Text(_) => None,
            TemplatePart::Hole(name) | TemplatePart::Words(name) => Some(name.as_str()),
        })
    }

    /// The text as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The arguments after substitution. A placeholder without a value would be empty, but the check of the manifest
    /// excludes that.
    #[must_use]
    pub fn fill(&self, values: &BTreeMap<String, String>) -> Vec<String> {
        let value = |name: &String| values.get(name).map_or("", String::as_str);
        if let [TemplatePart::Words(name)] = self.parts.as_slice() {
            return value(name).split_whitespace().map(str::to_owned).collect();
        }
        let filled = self.parts.iter().map(|part| match part {
            TemplatePart::Text(text) => text.as_str(),
            TemplatePart::Hole(name) | TemplatePart::Words(name) => value(name),
        });
        vec![filled.collect()]
    }
}

/// The arguments of several templates after substitution.
#[must_use]
pub(crate) fn fill_all(templates: &[Template], values: &BTreeMap<String, String>) -> Vec<String> {
    templates.iter().flat_map(|template| template.fill(values)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_nothing_else_is_interpreted() {
        let values = [("level", "-O3 -march=native"), ("out", "/tmp/a b")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let fill = |text: &str| Template::parse(text).unwrap().fill(&values);
        assert_eq!(fill("CFLAGS={level}"), ["CFLAGS=-O3 -march=native"]);
        assert_eq!(fill("{level...}"), ["-O3", "-march=native"]);
        assert_eq!(fill("{out}/x;rm -rf $HOME `y`"), ["/tmp/a b/x;rm -rf $HOME `y`"]);
        assert_eq!(fill("{{out}}"), ["{out}"]);
        assert_eq!(fill(""), [""]);
        for wrong in ["{out", "out}", "a{level...}"] {
            assert!(Template::parse(wrong).is_err(), "{wrong}");
        }
    }
}
