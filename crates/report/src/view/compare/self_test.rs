//! The report of `prony selftest`: whether differences are claimed between equals.

use analyse::compare::SelfTest;
use model::Unit;

use crate::words::{factor, percent, plural};
use crate::{
    Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, PrintedQuantity, Table, TableRow,
};

/// Share of equal figures that may be DIFFERENT.
const PROMISE: f64 = 0.05;

/// The report of a self-test; its JSON is the [`SelfTest`].
#[must_use]
pub fn self_test(test: &SelfTest) -> Document {
    let pairs = plural(test.pairs, "pair");
    let mut document = Document::new(format!("{pairs} of runs of the same machine against itself"));
    let share = test.share();
    let kept = if test.figures == 0 {
        "Nothing was compared, so the promise was not tested."
    } else if share <= PROMISE {
        "The promise holds: at most 5% may."
    } else {
        "The promise is broken: at most 5% may."
    };
    document.summary = vec![
        format!(
            "Of {} of equal things {} came out DIFFERENT ({}), in {} of {pairs}. {kept}",
            plural(test.figures, "comparison"),
            test.different,
            percent(share),
            test.pairs_with_claims
        ),
        format!("{} came out SAME, {} UNDECIDED.", test.same, test.undecided),
    ];
    if !test.claims.is_empty() {
        let columns = vec![
            Column::new("false alarm", ColumnKind::Label),
            Column::new("pair", ColumnKind::Number),
            Column::new("change", ColumnKind::Words),
        ];
        let rows = test
            .claims
            .iter()
            .map(|(pair, figure, gain)| TableRow {
                cells: vec![
                    Cell::text(figure),
                    Cell::Count(*pair as u64 + 1),
                    gain.map_or(Cell::Empty, |gain| {
                        Cell::text(factor(PrintedQuantity::bare(gain, Unit::Ratio), Unit::Seconds).text())
                    }),
                ],
            })
            .collect();
        document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
    }
    document.data = EmbeddedJson::of(test).ok();
    document
}
