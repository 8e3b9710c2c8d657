//! The quality of a run's data: a badge with one reason and one thing to do, and the details.

use compare::quality::{QualityLevel, flag_counts, quality, repeated};
use model::{Flag, Run, percent};

use crate::words::{capital, plural};
use crate::{Badge, Block, Tone};

/// Results from which a flag that most results have is counted once, instead of in every row.
const COMMON: usize = 4;

/// The level, the largest reason, how good the numbers are, and what to do; none for what Prony did not measure.
pub(super) fn badge(run: &Run) -> Option<Block> {
    let quality = quality(run);
    let tone = match quality.level {
        QualityLevel::Good => Tone::Good,
        QualityLevel::Fair => Tone::Caution,
        QualityLevel::Poor => Tone::Bad,
        QualityLevel::Unknown => return None,
    };
    let reason = match quality.reasons.first() {
        Some(first) => capital(first),
        None if run.session.conditions.is_empty() => "Nothing is recorded about interference".to_owned(),
        None => "No interference was seen".to_owned(),
    };
    let margin = quality.margin.map(|margin| format!(" 9 of 10 numbers are good to {}.", percent(margin)));
    let text = format!("{reason}.{} {}", margin.unwrap_or_default(), quality.advice).trim_end().to_owned();
    Some(Block::Badge(Badge { name: "Quality".to_owned(), value: quality.level.word().to_uppercase(), tone, text }))
}

/// What the badge leaves out: further reasons, the flags of the results, and repeated samples.
pub(super) fn details(run: &Run) -> Vec<String> {
    let mut details: Vec<String> = quality(run).reasons.into_iter().skip(1).collect();
    details.extend(
        flag_counts(run)
            .iter()
            .map(|count| format!("{} of {}: {}", count.results, plural(count.of, "result"), count.flag.about())),
    );
    let reasons = repeated(run);
    let samples: usize = reasons.iter().map(|(_, count)| count).sum();
    if samples > 0 {
        let words: Vec<String> = match reasons.as_slice() {
            [(why, _)] => vec![(*why).to_owned()],
            many => many.iter().map(|(why, count)| format!("{why} {count}")).collect(),
        };
        details.push(format!("{} repeated: {}", plural(samples, "sample"), words.join(", ")));
    }
    details
}

/// Flags that rows do not repeat: those of most results, and that samples were repeated, which [`details`] counts. A
/// missed target is counted in the summary, and shows in the interval.
pub(super) fn counted(run: &Run) -> Vec<Flag> {
    let requested = || run.results.iter().filter(|result| !result.is_condition());
    let all = requested().count();
    let mut flags: Vec<Flag> =
        flag_counts(run).into_iter().filter(|count| common(count.results, all)).map(|count| count.flag).collect();
    if common(requested().filter(|result| result.has(Flag::CannotConverge)).count(), all) {
        flags.push(Flag::CannotConverge);
    }
    flags.push(Flag::Repeated);
    flags
}

const fn common(results: usize, of: usize) -> bool {
    results >= COMMON && 2 * results > of
}
