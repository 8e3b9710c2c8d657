//! Rows of whole numbers, kept in few characters.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whole numbers with small differences: a document contains the first one, then differences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SmallSteps(pub Vec<u32>);

impl SmallSteps {
    /// Whether it is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for SmallSteps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut last = 0;
        serializer.collect_seq(self.0.iter().map(|one| {
            let step = i64::from(*one) - last;
            last = i64::from(*one);
            step
        }))
    }
}

impl<'de> Deserialize<'de> for SmallSteps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut last = 0_i64;
        let mut next = |step: i64| {
            last = last.checked_add(step)?;
            u32::try_from(last).ok()
        };
        let steps = Vec::<i64>::deserialize(deserializer)?;
        let all: Option<Vec<u32>> = steps.into_iter().map(&mut next).collect();
        all.map(Self).ok_or_else(|| serde::de::Error::custom("the differences lead outside 0 to 2^32"))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for SmallSteps {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SmallSteps".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "array",
            "items": { "type": "integer", "format": "int64" },
            "description": "The first of a row of whole numbers, then the difference of each to the one before it.",
        })
    }
}
