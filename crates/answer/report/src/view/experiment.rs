//! What an experiment shows: each setting, its effect on the metric, and whether it matters.

use compare::experiment::{ExplainedDifference, NOTHING, SettingEffect, SettingEffects};
use model::{Direction, Run, Verdict};

use crate::words::{duration, label, plural};
use crate::{
    Block, Cell, Column, Document, DocumentSection, EmbeddedJson, PrintedQuantity, Records, Table, TableRow, Tone,
};

/// What the document of an experiment does not hold.
#[derive(Debug, Clone, Default)]
pub struct ExperimentContext {
    /// Titles of settings that were not tried, and why.
    pub not_tried: Vec<(String, String)>,
    /// The number of the stored run.
    pub handle: Option<String>,
}

/// The report of `prony experiment`; its JSON is the [`SettingEffects`].
#[must_use]
pub fn experiment(run: &Run, found: &SettingEffects, context: &ExperimentContext) -> Document {
    let rows = found.effects.iter().filter(|effect| effect.setting != NOTHING).count();
    let blocks = found.effects.iter().map(|effect| effect.blocks).max().unwrap_or(0);
    let mut document = Document::new(format!(
        "{}, {} each, {}",
        plural(rows, "change"),
        plural(blocks, "block"),
        duration(found.seconds)
    ));
    document.summary = vec![as_found(run, found)];
    document.summary.extend(answer(found));
    let rows = found.effects.iter().map(row).collect();
    document.add("", Block::Table(Table::plain(Column::list("|from|to|#effect|verdict"), rows)));
    if !context.not_tried.is_empty() {
        document.sections.push(not_tried(&context.not_tried));
    }
    if let Some(handle) = &context.handle {
        document.next.push(format!("prony show {handle}"));
    }
    document.data = EmbeddedJson::of(found).ok();
    document.records = Some(records(found));
    document
}

/// "context switch: 1.92 µs (1.91 – 1.93) as found".
fn as_found(run: &Run, found: &SettingEffects) -> String {
    let Some(metric) = run.results.first() else { return String::new() };
    let value = found.as_found.as_ref().map_or_else(
        || "not measured".to_owned(),
        |estimate| PrintedQuantity::of(estimate, metric.metric.unit).in_metric(&metric.metric).text_with_interval(),
    );
    format!("{}: {value} as found", label(&metric.title, &metric.metric, &metric.parameters))
}

fn answer(found: &SettingEffects) -> Option<String> {
    let matters = |effect: &&SettingEffect| effect.verdict.differs() && effect.setting != NOTHING;
    let called = found.effects.iter().any(|effect| effect.setting == NOTHING && effect.verdict.differs());
    if called {
        return Some("Nothing changed, and yet the time did: this machine is too busy to trust this table.".to_owned());
    }
    match found.effects.iter().find(matters) {
        Some(first) => Some(format!("{} matters most: {}.", first.title, effect(first)?)),
        None => {
            let is_open =
                |effect: &&SettingEffect| effect.verdict == Verdict::Inconclusive && effect.setting != NOTHING;
            let open = found.effects.iter().filter(is_open).count();
            (open > 0).then(|| format!("{} inconclusive; more --blocks decide.", plural(open, "change")))
        }
    }
}

fn row(found: &SettingEffect) -> TableRow {
    let (word, tone) = match found.verdict {
        Verdict::Different(Some(Direction::Slower)) => ("matters: slower", Tone::Bad),
        Verdict::Different(_) => ("matters: faster", Tone::Good),
        Verdict::NoChange => ("does not matter", Tone::Plain),
        _ => ("inconclusive", Tone::Muted),
    };
    let word = match found.interaction {
        true if found.verdict.differs() => "together other than alone",
        true if found.verdict == Verdict::NoChange => "together as alone",
        _ => word,
    };
    let cells = [&found.title, &found.from, &found.to].map(Cell::text);
    let last = match effect(found) {
        Some(effect) => vec![Cell::text(effect), Cell::Text(word.to_owned(), tone)],
        None => {
            let reason = found.reason.clone().unwrap_or_else(|| too_few(found.blocks));
            vec![Cell::Across(reason, Tone::Muted)]
        }
    };
    TableRow::of(cells.into_iter().chain(last).collect())
}

fn too_few(blocks: usize) -> String {
    format!("inconclusive: {} of {} blocks", blocks, compare::experiment::FEWEST_BLOCKS)
}

/// "3.1x slower (3.0 – 3.2)"; without a verdict the ratio of the times.
fn effect(found: &SettingEffect) -> Option<String> {
    let ratio = found.ratio?;
    Some(if found.verdict.differs() { changed(ratio) } else { factor(ratio, "") })
}

fn changed([ratio, low, high]: [f64; 3]) -> String {
    if ratio >= 1.0 {
        factor([ratio, low, high], " slower")
    } else {
        factor([1.0 / ratio, 1.0 / high, 1.0 / low], " faster")
    }
}

fn factor([value, low, high]: [f64; 3], word: &str) -> String {
    let digits = if value < 1.995 {
        3
    } else if value < 9.95 {
        2
    } else {
        1
    };
    format!("{value:.digits$}x{word} ({low:.digits$}\u{a0}–\u{a0}{high:.digits$})")
}

fn not_tried(all: &[(String, String)]) -> DocumentSection {
    // Those that only need a permission are one line.
    let (permission, others): (Vec<_>, Vec<_>) = all.iter().partition(|(_, reason)| reason.contains("--allow system"));
    let mut items: Vec<String> = others.iter().map(|(title, reason)| format!("{title}: {reason}")).collect();
    if !permission.is_empty() {
        items.push(format!("{} of the whole machine: --allow system", plural(permission.len(), "setting")));
    }
    DocumentSection::of("not tried", Block::list(items))
}

fn records(found: &SettingEffects) -> Records {
    let row = |effect: &SettingEffect| {
        let numbers = effect.ratio.map_or_else(Default::default, |ratio| ratio.map(|number| number.to_string()));
        let [value, low, high] = numbers;
        let p = effect.adjusted_p.map(|p| p.to_string()).unwrap_or_default();
        let word: &'static str = effect.verdict.into();
        let texts = [&effect.setting, &effect.from, &effect.to].map(String::clone);
        texts.into_iter().chain([value, low, high, p, effect.blocks.to_string(), word.to_owned()]).collect()
    };
    Records {
        header: vec!["setting", "from", "to", "ratio", "low", "high", "adjusted_p", "blocks", "verdict"],
        rows: found.effects.iter().map(row).collect(),
    }
}

/// The report of `prony explain --experiment`: which part of the difference each setting takes away.
#[must_use]
pub fn explained(
    run: &Run,
    found: &SettingEffects,
    parts: &ExplainedDifference,
    context: &ExperimentContext,
) -> Document {
    let mut document = experiment(run, found, context);
    let word = if parts.ratio[0] >= 1.0 { "slower" } else { "faster" };
    let metric =
        run.results.first().map(|first| label(&first.title, &first.metric, &first.parameters)).unwrap_or_default();
    let mut items: Vec<String> = parts
        .parts
        .iter()
        .map(|part| {
            let share = part.share.map_or_else(|| "an unknown part".to_owned(), percent);
            format!("{} ({} instead of {}) explains {share} of the {word} {metric}.", part.title, part.from, part.to)
        })
        .collect();
    items.push(match parts.unexplained() {
        _ if parts.parts.is_empty() => "No setting that can be tried here differs between the two runs.".to_owned(),
        Some(share) => format!("{} is unexplained.", percent(share)),
        None => "How much is unexplained is not known.".to_owned(),
    });
    document.summary.insert(0, format!("{metric} is {} in the second run.", changed(parts.ratio)));
    document.sections.insert(0, DocumentSection::of("", Block::list(items)));
    document.data = EmbeddedJson::of(&serde_json::json!({ "parts": parts, "effects": found })).ok();
    document
}

/// "61% (55 – 67)".
fn percent([value, low, high]: [f64; 3]) -> String {
    let [value, low, high] = [value, low, high].map(|share| format!("{:.0}", 100.0 * share));
    format!("{value}% ({low}\u{a0}–\u{a0}{high})")
}
