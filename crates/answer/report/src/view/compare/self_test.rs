//! The report of `prony selftest`: whether differences are claimed between equals.

use compare::{FALSE_ALARMS, FEWEST_PAIRS, FoundShare, SelfTest};
use model::{Unit, percent};

use crate::words::{factor, list, plural};
use crate::{Block, Cell, Column, Document, EmbeddedJson, PrintedQuantity, TableRow};

/// The report of a self-test; its JSON is the [`SelfTest`].
#[must_use]
pub fn self_test(test: &SelfTest) -> Document {
    let pairs = plural(test.pairs, "pair");
    let mut document = Document::new(format!("{pairs} of runs of the same machine (A/A test)"));
    let comparisons = plural(test.results, "A/A comparison");
    let limit = percent(FALSE_ALARMS);
    document.summary = match (test.results, test.different, test.broken().as_slice()) {
        (0, ..) => vec!["Nothing was compared, so nothing was tested.".to_owned()],
        (_, 0, []) => vec![format!("No false alarms in {comparisons} (limit {limit}).")],
        (_, different, broken) => {
            let (share, alarms) = (percent(test.share()), plural(different, "false alarm"));
            let within = format!(
                "{alarms} in {comparisons} ({share}, limit {limit}), in {} of {pairs}.",
                test.pairs_with_claims
            );
            let failed = broken.iter().map(|broken| format!("Failed: {broken}."));
            std::iter::once(within).chain(failed).collect()
        }
    };
    if test.results > 0 {
        document.summary.push(format!("{} no change, {} inconclusive.", test.no_change, test.inconclusive));
    }
    document.summary.extend(cycles(test));
    document.summary.extend(planted(test));
    if test.conditions_differ > 0 {
        document.summary.push(format!(
            "In {} of {pairs} the clock or the hyperthread neighbour changed between the runs. That is not a false alarm.",
            test.conditions_differ
        ));
    }
    if !test.claims.is_empty() {
        let columns = Column::list("false alarm|#pair|change");
        let rows = test
            .claims
            .iter()
            .map(|(pair, result, gain)| {
                TableRow::of(vec![
                    Cell::text(result),
                    Cell::Count(*pair as u64 + 1),
                    gain.map_or(Cell::Empty, |gain| {
                        Cell::text(factor(PrintedQuantity::bare(gain, Unit::Ratio), Unit::Seconds).text())
                    }),
                ])
            })
            .collect();
        document.add("", Block::table(columns, rows));
    }
    document.data = EmbeddedJson::of(test).ok();
    document
}

/// The results in cycles apart.
fn cycles(test: &SelfTest) -> Option<String> {
    let (found, share) = (&test.cycles, test.share_no_change()?);
    let more = format!(" The limits for pairs and for no change in cycles need {FEWEST_PAIRS} pairs.");
    Some(format!(
        "In cycles: {} of {} different, {} no change ({}), {} inconclusive.{}",
        found.different,
        found.results,
        found.no_change,
        percent(share),
        found.inconclusive,
        if test.pairs < FEWEST_PAIRS { more.as_str() } else { "" }
    ))
}

/// The power, without which a number of false alarms says nothing.
fn planted(test: &SelfTest) -> Option<String> {
    let say = |found: FoundShare, what: &str| {
        let share = found.share()?;
        Some(format!("{} of {}{what} ({})", found.found, plural(found.of, "result"), percent(share)))
    };
    let power = &test.power;
    let parts = [
        say(power.no_change, " in cycles without a change"),
        say(power.cycles, " in cycles"),
        say(power.others, " in time"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let planted = percent(power.planted);
    (!parts.is_empty()).then(|| format!("Sensitivity: a simulated {planted} slowdown is detected in {}.", list(&parts)))
}
