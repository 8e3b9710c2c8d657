//! Every number that can move a value, in one place: what it is, its unit, why it is so, and where it comes from.
//!
//! A document holds the rules that it was measured with ([`Rules::values`]). `prony selftest --rules` prints this list.

use std::collections::BTreeMap;

/// One number that can move a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// `group.name`, as documents write it.
    pub name: &'static str,
    /// The number, in `unit`.
    pub value: f64,
    /// The unit: `samples`, `ns`, `1` for a plain ratio.
    pub unit: &'static str,
    /// Why the number is what it is.
    pub reason: &'static str,
    /// A publication, or the test or script that found it.
    pub source: &'static str,
}

macro_rules! rules {
    ($($(#[doc = $about:literal])+ $group:ident: $Group:ident {
        $($name:ident: $kind:ty = $value:expr, $unit:literal, $reason:literal, $source:literal;)*
    })*) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone, Copy, PartialEq)]
            pub struct $Group {
                $(#[doc = concat!($reason, " Unit: ", $unit, ". Source: ", $source, ".")] pub $name: $kind,)*
            }
        )*

        /// Every number that can move a value, by the part of Prony that uses it.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct Rules {
            $($(#[doc = $about])+ pub $group: $Group,)*
        }

        /// The rules of this version.
        pub const RULES: Rules = Rules { $($group: $Group { $($name: $value,)* },)* };

        impl Rules {
            /// All rules in the order of this file.
            pub fn list(&self) -> Vec<Rule> {
                vec![$($(Rule {
                    name: concat!(stringify!($group), ".", stringify!($name)),
                    value: f64::from(self.$group.$name),
                    unit: $unit,
                    reason: $reason,
                    source: $source,
                },)*)*]
            }
        }
    };
}

// A rule is an f64 or a u32, so that it is a plain number in documents. Add a rule to the group of the code that uses it.
rules! {
    /// What an estimate is.
    estimate: EstimateRules {
        fewest_samples: u32 = 8, "samples",
            "Fewer samples cannot give an interval at 99% from order statistics.",
            "binomial distribution: 1 - 2 / 2^8 = 99.2%";
    }
    /// How a worker times: warm-up, the length and number of its batches.
    worker: WorkerRules {
    }
    /// Which batches, samples and rounds are usable.
    quality: QualityRules {
    }
    /// When a result is done, and when it cannot converge.
    decide: DecideRules {
    }
    /// What is measured next under a time limit.
    schedule: ScheduleRules {
    }
    /// When values form modes.
    modes: ModeRules {
    }
    /// How much a value differs from session to session, and how samples of one session depend on each other.
    noise: NoiseRules {
    }
    /// When two results differ.
    compare: CompareRules {
    }
}

impl Rules {
    /// The rules as a document holds them: each name with its number.
    pub fn values(&self) -> BTreeMap<String, f64> {
        self.list().into_iter().map(|rule| (rule.name.to_owned(), rule.value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_finite_number_a_unit_a_reason_and_a_source() {
        let rules = RULES.list();
        assert_eq!(RULES.values().len(), rules.len(), "two rules of one name");
        for rule in rules {
            assert!(rule.value.is_finite(), "{rule:?}");
            assert!([rule.unit, rule.reason, rule.source].iter().all(|text| !text.is_empty()), "{rule:?}");
        }
    }
}
