//! How far a run may be trusted, one line a reason.

use compare::trust::{Doubt, Trust, TrustLevel, doubts, repeated, trust};
use model::{Flag, Run};

use crate::words::plural;

/// Results from which a flag that most results have is told once, instead of in every row.
const COMMON: usize = 4;

/// Names and sentences: the level and what disturbed the run, then each doubt with the number of its results. The
/// doubts after the first `most` are counted in one line.
pub(crate) fn trusted(run: &Run, most: usize) -> Vec<(String, String)> {
    let trust = trust(run);
    let mut facts = Vec::new();
    if trust.level != TrustLevel::Unknown {
        facts.push(("trust".to_owned(), format!("{}: {}", trust.level.word(), why(&trust, run))));
    }
    let doubts = doubts(run);
    let shown = if doubts.len() > most { most.saturating_sub(1) } else { doubts.len() };
    let name = |doubt: &Doubt| format!("{} of {}", doubt.results, plural(doubt.of, "result"));
    facts.extend(doubts.iter().take(shown).map(|doubt| (name(doubt), doubt.flag.about().to_owned())));
    if let rest @ [_, ..] = &doubts[shown..] {
        let words: Vec<String> = rest.iter().map(|doubt| format!("{} {}", doubt.results, doubt.flag.about())).collect();
        facts.push(("fewer results".to_owned(), words.join(", ")));
    }
    let reasons = repeated(run);
    let samples: usize = reasons.iter().map(|(_, count)| count).sum();
    if samples > 0 {
        let words: Vec<String> = match reasons.as_slice() {
            [(why, _)] => vec![(*why).to_owned()],
            many => many.iter().map(|(why, count)| format!("{why} ({count})")).collect(),
        };
        let many = if samples == 1 { "1 sample" } else { &format!("{samples} samples") };
        facts.push((many.to_owned(), format!("made again: {}", words.join("; "))));
    }
    facts
}

/// Why a run is trusted as far as it is: targets that were not reached, and what disturbed it.
fn why(trust: &Trust, run: &Run) -> String {
    let mut reasons = Vec::new();
    if trust.is_short_of_targets() {
        reasons.push(match trust.valued {
            1 => "its result did not reach its target".to_owned(),
            many => format!("{} of {many} results with a value reached their targets", trust.within),
        });
    }
    if !trust.disturbances.is_empty() {
        let says: Vec<&str> = trust.disturbances.iter().map(|one| one.says.as_str()).collect();
        reasons.push(format!("it {}", says.join("; ")));
    }
    match (reasons.is_empty(), run.session.conditions.is_empty()) {
        (false, _) => reasons.join("; "),
        (true, true) => "nothing is recorded of what disturbed the run".to_owned(),
        (true, false) => "nothing is known to have disturbed the run".to_owned(),
    }
}

/// Flags that rows do not repeat: those of most results, and that samples were repeated, which [`trusted`] counts. A
/// missed target is counted in the summary, and shows in the interval.
pub(crate) fn told(run: &Run) -> Vec<Flag> {
    let requested = || run.results.iter().filter(|result| !result.is_condition());
    let all = requested().count();
    let mut flags: Vec<Flag> =
        doubts(run).into_iter().filter(|doubt| common(doubt.results, all)).map(|doubt| doubt.flag).collect();
    if common(requested().filter(|result| result.has(Flag::CannotConverge)).count(), all) {
        flags.push(Flag::CannotConverge);
    }
    flags.push(Flag::Repeated);
    flags
}

const fn common(results: usize, of: usize) -> bool {
    results >= COMMON && 2 * results > of
}
