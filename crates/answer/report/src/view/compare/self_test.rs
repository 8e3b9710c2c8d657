//! The report of `prony selftest`: whether differences are claimed between equals.

use compare::{FEWEST_PAIRS, FoundShare, SelfTest};
use model::{Unit, percent};

use crate::words::{factor, list, plural};
use crate::{Block, Cell, Column, Document, EmbeddedJson, PrintedQuantity, TableRow};

/// The report of a self-test; its JSON is the [`SelfTest`].
#[must_use]
pub fn self_test(test: &SelfTest) -> Document {
    let pairs = plural(test.pairs, "pair");
    let mut document = Document::new(format!("{pairs} of runs of the same machine against itself"));
    let share = test.share();
    let kept = match (test.results, test.broken().as_slice()) {
        (0, _) => "Nothing was compared, so the promise was not tested.".to_owned(),
        (_, []) => "The promise holds: at most 5% may.".to_owned(),
        (_, broken) => format!("The promise is broken: {}.", broken.join("; ")),
    };
    document.summary = vec![
        format!(
            "Of {} of equal things {} came out DIFFERENT ({}), in {} of {pairs}. {kept}",
            plural(test.results, "comparison"),
            test.different,
            percent(share),
            test.pairs_with_claims
        ),
        format!("{} came out SAME, {} UNDECIDED.", test.same, test.undecided),
    ];
    document.summary.extend(cycles(test));
    document.summary.extend(planted(test));
    if test.conditions_differ > 0 {
        document.summary.push(format!(
            "In {} of {pairs} the two sessions showed surely different clocks or shares of a shared core, which is no false alarm.",
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
    let (found, same) = (&test.cycles, test.share_same()?);
    let enough = if test.pairs < FEWEST_PAIRS {
        format!(
            " Whether at least half come out SAME, and at most 5% of the pairs hold any DIFFERENT, takes {FEWEST_PAIRS} pairs."
        )
    } else {
        String::new()
    };
    Some(format!(
        "Of them {} in cycles: {} DIFFERENT, {} SAME ({}), {} UNDECIDED.{enough}",
        found.results,
        found.different,
        found.same,
        percent(same),
        found.undecided
    ))
}

/// The power, without which a number of false alarms says nothing.
fn planted(test: &SelfTest) -> Option<String> {
    let say = |found: FoundShare, what: &str| {
        let share = found.share()?;
        Some(format!("in {} of {} {what} ({})", found.found, found.of, percent(share)))
    };
    let power = &test.power;
    let said =
        [say(power.same, "that came out SAME in cycles"), say(power.cycles, "in cycles"), say(power.others, "others")];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| {
        format!(
            "Power: {} more time for every sample of one result of the second run, simulated on the samples measured, is found {}.",
            percent(power.planted),
            list(&said)
        )
    })
}
