//! What no explanation may say, whatever it found: sentences that contradict each other or the numbers behind them, ids
//! in the place of titles, and more than a screen.

use super::result::{DifferenceKind, Explanation, RunDifference};

/// Lines of a screen without its title, its empty lines and the suggested commands.
const LINES: usize = 19;
/// Columns of a line, without what indents it.
const COLUMNS: usize = 94;

/// The number before an `x` that these words surround.
fn factor(said: &str, before: &str, after: &str) -> Option<f64> {
    let end = said.find(after)?;
    let begin = said[..end].rfind(before)? + before.len();
    said[begin..end].parse().ok()
}

/// Fails where the sentences contradict each other.
pub(crate) fn check(found: &Explanation) {
    let said = found.sentences();
    let text = said.join("\n");
    let has = |words: &str| text.contains(words);
    assert!(!has(" 0 of ") && !has("\n0 of ") && !has("in each"), "nothing is explained by all of it: {text}");
    if found.difference {
        assert!(!has("No result differs") && !has("No difference is certain"), "{text}");
    } else {
        assert!(found.findings().is_empty() || !found.lines.is_empty(), "{text}");
        assert!(!has("slower") && !has("faster") && !has("explain"), "nothing differs: {text}");
        assert!(found.next_experiment.is_none(), "{text}");
    }
    assert!(!(has("Same machine") && has("CPUs differ")), "{text}");
    if let Some((whole, part)) =
        factor(&text, " ", "x slower overall; ").zip(factor(&text, "accounts for ", "x of that"))
    {
        assert!(1.0 < part && part < whole, "a part is less than the whole: {text}");
    }
    for finding in found.findings() {
        let whys = ["No recorded difference", "Cause: ", "Possible causes: ", "Measured at "];
        let many = whys.iter().filter(|why| finding.contains(**why)).count();
        assert!(many <= 1, "one reason for one finding: {finding}");
    }
    let some = found.causes.iter().any(|cause| cause.known_as.is_some());
    assert!(!(some && has("No cause")), "{text}");
    let interference = has("Interference may explain") || has("Interference alone may explain");
    assert!(!interference || !found.interference.is_empty(), "no interference was recorded: {text}");
    for out in found.ruled_out.iter().filter(|out| out.of.is_empty()) {
        let is_cause = found.causes.iter().any(|cause| cause.primitives.iter().any(|p| out.primitives.contains(p)));
        assert!(!is_cause, "{} is a cause and ruled out: {text}", out.title);
    }
    let ids = found.names.keys().filter(|id| id.contains(':')).cloned();
    let is_id = |fact: &&RunDifference| fact.kind == DifferenceKind::Fact && fact.name.contains('.');
    let facts = found.facts.iter().filter(is_id).map(|fact| fact.name.clone());
    for id in ids.chain(facts) {
        assert!(!has(&id), "{id} is for the details: {text}");
    }
    let lines: usize = said.iter().map(|one| one.chars().count().div_ceil(COLUMNS)).sum();
    assert!(lines <= LINES, "{lines} lines: {text}");
}
