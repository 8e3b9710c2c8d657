//! What may disturb measuring on this machine now, and what to do about it: the raw material of a check-up.

mod limits;
mod load;
mod settings;
mod tools;

pub use load::{Activity, Busy, activity};
pub use tools::{Tool, find_tool, missing_tools};

use std::time::Duration;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weight {
    /// Good to know: some figures depend on it, or some figure will be missing.
    Note,
    /// Figures will be slower or noisier than the machine can do.
    Warning,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disturbance {
    /// What it is about: `load`, `steal`, `governor`, `limits` ...
    pub topic: &'static str,
    /// How much it matters.
    pub weight: Weight,
    /// What was seen, as a sentence.
    pub seen: String,
    /// What to do about it, as a sentence, where something can be done.
    pub remedy: Option<String>,
    /// The file or call that told.
    pub source: &'static str,
}

/// Looks for everything that may disturb measuring. Watches the load for `window`, of which half a second is a good
/// value: the kernel counts CPU time in steps of about 10 ms. Runs no command and changes nothing. What cannot be
/// read is not a finding: the facts name it with its reason.
#[must_use]
pub fn look(window: Duration) -> Vec<Disturbance> {
    let mut found = Vec::new();
    load::look(&mut found, window);
    settings::look(&mut found);
    limits::look(&mut found);
    tools::look(&mut found);
    found.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    found
}

fn note(topic: &'static str, source: &'static str, seen: impl Into<String>, remedy: Option<&str>) -> Disturbance {
    Disturbance { topic, weight: Weight::Note, seen: seen.into(), remedy: remedy.map(str::to_owned), source }
}

fn warning(topic: &'static str, source: &'static str, seen: impl Into<String>, remedy: Option<&str>) -> Disturbance {
    Disturbance { weight: Weight::Warning, ..note(topic, source, seen, remedy) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn findings_are_sentences_with_sources() {
        let found = look(Duration::from_millis(50));
        for finding in &found {
            assert!(finding.seen.ends_with('.'), "{finding:?}");
            assert!(finding.remedy.as_ref().is_none_or(|remedy| remedy.ends_with('.')), "{finding:?}");
            assert!(!finding.source.is_empty() && !finding.topic.is_empty());
        }
        assert!(found.is_sorted_by_key(|finding| std::cmp::Reverse(finding.weight)));
    }
}
