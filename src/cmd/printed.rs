//! Printed cells of a published table that do not agree with the raw values beside them.

use anyhow::Result;
use compare::{Comparison, PrintedCell, Relation};
use import::published::{DerivedTable, PREFIX, PublishedEvaluation};
use model::{Parameters, ResultKey, Run, glob};

/// A sentence for every printed cell that rounding does not explain, if the comparison repeats a printed table.
pub(crate) fn disagreements(comparison: &Comparison, runs: &[&Run]) -> Result<Vec<String>> {
    let reference = comparison.machines.iter().find(|machine| machine.relation == Relation::Reference);
    let mut said = Vec::new();
    for evaluation in PublishedEvaluation::all()? {
        for derived in &evaluation.description.derived {
            let start = format!("{PREFIX}{}/", evaluation.name);
            let of_evaluation = |run: &&&Run| run.id.starts_with(&start);
            let same_reference = runs.iter().filter(of_evaluation).any(|run| {
                run.machine.name == derived.reference && reference.is_some_and(|machine| machine.run == run.id)
            });
            // A mean over other results than those of the table is another number.
            let others =
                derived.mean.is_some() && !comparison.rows.iter().all(|row| glob(&derived.over, &row.benchmark));
            if !same_reference || others {
                continue;
            }
            for cell in comparison.disagreements(&cells(derived, &evaluation, runs, comparison), derived.scale) {
                let what =
                    cell.printed.result.as_ref().map_or_else(|| "the geometric mean".to_owned(), ToString::to_string);
                said.push(format!(
                    "the printed {} says {} for {what} of {}, and the raw values give {:.3}",
                    derived.table.replace('_', " "),
                    cell.printed.text,
                    cell.printed.machine,
                    cell.recomputed
                ));
            }
        }
    }
    Ok(said)
}

fn cells(
    derived: &DerivedTable,
    evaluation: &PublishedEvaluation,
    runs: &[&Run],
    comparison: &Comparison,
) -> Vec<PrintedCell> {
    let Some(table) = evaluation.table(&derived.table) else { return Vec::new() };
    let results = derived.results.iter().map(|(column, benchmark)| (column, Some(benchmark)));
    let columns: Vec<_> = results.chain(derived.mean.iter().map(|column| (column, None))).collect();
    let mut cells = Vec::new();
    for row in 0..table.rows.len() {
        let named = |run: &&&Run| Some(run.machine.name.as_str()) == table.cell(row, "machine");
        let Some(run) = runs.iter().find(named) else { continue };
        let Some(machine) = comparison.machines.iter().find(|machine| machine.run == run.id) else { continue };
        for (column, benchmark) in &columns {
            cells.push(PrintedCell {
                machine: machine.name.clone(),
                result: benchmark.map(|benchmark| ResultKey::new(benchmark.as_str(), Parameters::none())),
                text: table.cell(row, column).unwrap_or_default().to_owned(),
            });
        }
    }
    cells
}
