//! Additional sections in reports of applications.

use application::{Against, Best, GroupFit};
use model::{BenchmarkResult, Outcome, Run, Unit};
use report::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Division, Document, DocumentSection, EmbeddedJson,
    PrintedQuantity, Records, ScatterPlot, Table, TableRow, Tone,
};

/// Lowest build against best build, where there is more than one.
pub(super) fn builds(found: &[Best]) -> Option<DocumentSection> {
    let columns = Column::list("|copies|lowest build|best build|#gain|#interval");
    let row = |best: &Best| {
        let (value, low, high) = best.gain;
        let gain = PrintedQuantity::ratio(value, low, high);
        let name = best.application.trim_start_matches("application.");
        let words = [name, &best.copies, &best.lowest, &best.best].map(Cell::text);
        TableRow::of(words.into_iter().chain([Cell::Value(gain), Cell::Interval(gain)]).collect())
    };
    let rows: Vec<TableRow> = found.iter().filter(|best| best.lowest != best.best).map(row).collect();
    (!rows.is_empty()).then(|| {
        let about =
            "The best build is the last in the manifest whose interval lies wholly above that of the best before it.";
        DocumentSection {
            title: "Best build".to_owned(),
            blocks: vec![Block::table(columns, rows), Block::Text(about.to_owned())],
        }
    })
}

/// Output of failed programs: of the results for which `counts` holds, as every program has several.
pub(in crate::cmd) fn failures(run: &Run, counts: impl Fn(&BenchmarkResult) -> bool) -> Option<DocumentSection> {
    let output = |result: &BenchmarkResult| {
        let Outcome::Failed(reason) = &result.outcome else { return None };
        let mut lines: Vec<String> = result
            .notes
            .iter()
            .filter_map(|note| note.strip_prefix(model::RECORD))
            .filter(|note| note.starts_with("standard "))
            .map(last_lines)
            .collect();
        lines.insert(0, format!("{}: {reason}", result.key()));
        counts(result).then_some(lines)
    };
    let items: Vec<String> = run.results.iter().filter_map(output).flatten().collect();
    (!items.is_empty()).then(|| DocumentSection::of("Failures, with their last output", Block::list(items)))
}

/// The last lines of a note; the document contains more.
fn last_lines(note: &str) -> String {
    const LINES: usize = 4;
    let (name, text) = note.split_once(": ").unwrap_or(("", note));
    let lines: Vec<&str> = text.lines().collect();
    format!("{name}: {}", lines[lines.len().saturating_sub(LINES)..].join(" / "))
}

/// The report of `prony app fit`; its JSON is the fit.
pub(super) fn fit(against: &Against) -> Document {
    let mut document = Document::new(format!(
        "{} predicted by {}, {} machines",
        against.application,
        against.rating,
        against.pairs.len()
    ));
    let level = 100.0 * against.level;
    document.notes.push(format!("Times are converted to speeds. Intervals are {level:.0}% confidence intervals."));
    let items = against.sentences();
    document.add("", Block::list(items));
    document.add("Fitted lines", Block::Table(lines(against)));
    document.add("Residuals: measured over fitted, minus 1", Block::Table(residuals(against)));
    document.add("", Block::Chart(chart(against)));
    document.data = EmbeddedJson::of(against).ok();
    document.records = Some(records(against));
    document
}

fn name(fit: &GroupFit) -> String {
    fit.family.clone().unwrap_or_else(|| "all machines".to_owned())
}

fn lines(against: &Against) -> Table {
    let columns =
        Column::list("|#machines|#through the origin|#interval|#with intercept: slope|#interval|#intercept|#interval");
    let row = |fit: &GroupFit| {
        let mut cells = vec![Cell::text(name(fit)), Cell::Count(fit.machines as u64)];
        let mut add = |value: f64, low: f64, high: f64| {
            let quantity = PrintedQuantity::interval(value, low, high, Unit::Count);
            cells.extend([Cell::Value(quantity), Cell::Interval(quantity)]);
        };
        let slope = fit.through_origin;
        add(slope.value, slope.low, slope.high);
        if let Some((slope, intercept)) = fit.free {
            add(slope.value, slope.low, slope.high);
            add(intercept.value, intercept.low, intercept.high);
        }
        TableRow::of(cells)
    };
    Table::plain(columns, against.fits.iter().map(row).collect())
}

fn residuals(against: &Against) -> Table {
    let columns = Column::list("|family|one line for all|line of its family");
    let of = |fit: Option<&GroupFit>, machine: &str| {
        let found = fit.and_then(|fit| fit.residuals.iter().find(|residual| residual.machine == machine));
        found.map_or(Cell::Empty, |residual| {
            let percent = 100.0 * residual.relative;
            let tone = if percent.abs() > 20.0 { Tone::Caution } else { Tone::Plain };
            Cell::Text(format!("{percent:+.1}%"), tone)
        })
    };
    let row = |pair: &application::Pair| {
        let own = against.fits.iter().find(|fit| fit.family.as_deref() == Some(pair.family.as_str()));
        let cells = vec![
            Cell::text(pair.machine.clone()),
            Cell::text(pair.family.clone()),
            of(against.fits.first(), &pair.machine),
            of(own, &pair.machine),
        ];
        TableRow::of(cells)
    };
    Table::plain(columns, against.pairs.iter().map(row).collect())
}

fn chart(against: &Against) -> Chart {
    let parameter = |title: &str| ChartAxis::new(title, Unit::Count, Division::Linear);
    let parameters = |pair: &application::Pair| {
        let (x, y) =
            (PrintedQuantity::of(&pair.rating, Unit::Count), PrintedQuantity::of(&pair.application, Unit::Count));
        (pair.machine.clone(), x, y)
    };
    Chart {
        title: format!("{} against {}", against.application, against.rating),
        about: "The line goes through the origin and is fitted to all machines.".to_owned(),
        plot: ChartPlot::Scatter(ScatterPlot {
            x: parameter(&against.rating),
            y: parameter(&against.application),
            points: against.pairs.iter().map(parameters).collect(),
            slope: against.fits.first().map(|fit| fit.through_origin.value),
            marked: None,
        }),
    }
}

fn records(against: &Against) -> Records {
    let row = |pair: &application::Pair| {
        let residual = against.fits.first().and_then(|fit| fit.residuals.iter().find(|r| r.machine == pair.machine));
        let numbers = [pair.rating.value, pair.rating.low, pair.rating.high];
        let more = [pair.application.value, pair.application.low, pair.application.high];
        let mut row = vec![pair.machine.clone(), pair.family.clone()];
        row.extend(numbers.iter().chain(&more).map(ToString::to_string));
        row.push(residual.map(|residual| residual.relative.to_string()).unwrap_or_default());
        row
    };
    let header = "machine family rating rating_low rating_high application application_low application_high residual"
        .split(' ')
        .collect();
    Records { header, rows: against.pairs.iter().map(row).collect() }
}
