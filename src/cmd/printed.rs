//! Printed cells of a published table that the raw values beside it do not give.

use analyse::Comparison;
use analyse::compare::{Printed, Relation};
use anyhow::Result;
use model::{FigureKey, Point, Run};

/// A printed table that is derived from others: where it stands, what it divides by, and how it prints a ratio of 1.
struct Derived {
    evaluation: &'static str,
    table: &'static str,
    reference: &'static str,
    scale: f64,
    /// Column and probe; without a probe the column is the geometric mean over all figures of the comparison.
    columns: &'static [(&'static str, Option<&'static str>)],
}

const DERIVED: &[Derived] = &[
    Derived {
        evaluation: "published:ams02-2002",
        table: "table2_normalised",
        reference: "Intel PIII dual-CPU 933 MHz",
        scale: 1.0,
        columns: &[
            ("test1", Some("ams02.test1")),
            ("test2", Some("ams02.test2")),
            ("test3", Some("ams02.test3")),
            ("test4", Some("ams02.test4")),
        ],
    },
    Derived {
        evaluation: "published:ams02-2002",
        table: "table4_geometric_average",
        reference: "AMD Athlon 1800MP dual-CPU 1.53 GHz",
        scale: 100.0,
        columns: &[("geometric_average_percent", None)],
    },
];

/// A sentence for every printed cell that rounding does not explain, where the comparison repeats a printed table.
pub(crate) fn disagreements(comparison: &Comparison, runs: &[&Run]) -> Result<Vec<String>> {
    let reference = comparison.machines.iter().find(|machine| machine.relation == Relation::Reference);
    let mut said = Vec::new();
    for derived in DERIVED {
        let of_evaluation = |run: &&&Run| run.id.starts_with(derived.evaluation);
        let same_reference = runs
            .iter()
            .filter(of_evaluation)
            .any(|run| run.machine.name == derived.reference && reference.is_some_and(|machine| machine.run == run.id));
        // A mean over other figures than the table's is another number.
        let only_tests = comparison.rows.iter().all(|row| row.probe.starts_with("ams02.test"));
        if !same_reference || (derived.columns.iter().any(|(_, probe)| probe.is_none()) && !only_tests) {
            continue;
        }
        for cell in comparison.disagreements(&cells(derived, runs, comparison)?, derived.scale) {
            let what =
                cell.printed.figure.as_ref().map_or_else(|| "the geometric mean".to_owned(), ToString::to_string);
            said.push(format!(
                "the printed {} says {} for {what} of {}, and the raw values give {:.3}",
                derived.table.replace('_', " "),
                cell.printed.text,
                cell.printed.machine,
                cell.recomputed
            ));
        }
    }
    Ok(said)
}

fn cells(derived: &Derived, runs: &[&Run], comparison: &Comparison) -> Result<Vec<Printed>> {
    let tables = import::published::tables(derived.evaluation)?;
    let mut cells = Vec::new();
    for table in tables.iter().filter(|table| table.name == derived.table) {
        for row in 0..table.rows.len() {
            let Some(run) = runs.iter().find(|run| Some(run.machine.name.as_str()) == table.cell(row, "machine"))
            else {
                continue;
            };
            let Some(machine) = comparison.machines.iter().find(|machine| machine.run == run.id) else { continue };
            for (column, probe) in derived.columns {
                cells.push(Printed {
                    machine: machine.name.clone(),
                    figure: probe.map(|probe| FigureKey::new(probe, Point::origin())),
                    text: table.cell(row, column).unwrap_or_default().to_owned(),
                });
            }
        }
    }
    Ok(cells)
}
