//! How the definition of a result compares with that of its source.

use serde::{Deserialize, Serialize};

/// Whether a source measures the same quantity as a result of the catalogue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Definition {
    /// The same quantity, measured in the same way.
    #[default]
    Same,
    /// The same quantity with a small difference, compared with how machines differ; the text says which. Comparisons
    /// footnote it.
    Near(String),
    /// Another quantity; the text says why. Comparisons show it, but it is in no mean and gets no verdict.
    Other(String),
}

impl Definition {
    /// Whether nothing differs.
    #[must_use]
    pub const fn is_same(&self) -> bool {
        matches!(self, Self::Same)
    }

    /// The difference; `None` if there is none.
    #[must_use]
    pub fn differs(&self) -> Option<&str> {
        match self {
            Self::Same => None,
            Self::Near(text) | Self::Other(text) => Some(text),
        }
    }

    /// How two results compare, given how each compares with the catalogue. Two that differ from it in the same way are
    /// the same.
    #[must_use]
    pub fn between(&self, other: &Self) -> Self {
        if self == other {
            return Self::Same;
        }
        let texts: Vec<&str> = [self, other].into_iter().filter_map(Self::differs).collect();
        let text = texts.join("; ");
        let unlike = [self, other].into_iter().any(|one| matches!(one, Self::Other(_)));
        if unlike { Self::Other(text) } else { Self::Near(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farther_of_two_definitions_decides() {
        let (near, other) = (Definition::Near("a".to_owned()), Definition::Other("b".to_owned()));
        assert!(Definition::Same.between(&Definition::Same).is_same());
        assert!(near.between(&near).is_same() && other.between(&other).is_same(), "two machines of one source");
        assert_eq!(Definition::Same.between(&near), near);
        assert_eq!(other.between(&Definition::Same), other);
        assert_eq!(near.between(&other), Definition::Other("a; b".to_owned()));
        assert_eq!(near.between(&Definition::Near("c".to_owned())), Definition::Near("a; c".to_owned()));
    }

    #[test]
    fn it_is_written_in_one_word_where_one_is_enough() {
        let text = |one: &Definition| serde_json::to_string(one).unwrap();
        assert_eq!(text(&Definition::Same), "\"same\"");
        assert_eq!(text(&Definition::Near("x".to_owned())), r#"{"near":"x"}"#);
    }
}
