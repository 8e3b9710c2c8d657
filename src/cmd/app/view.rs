//! What reports of applications say besides their figures.

use application::{Against, Best, Fitted};
use model::{Outcome, Run, Unit};
use report::{
    Axis, Block, Cell, Chart, Column, Data, Division, Document, Kind, Plot, Quantity, Records, Row, Scatter, Section,
    Spread, Table, Tone,
};

/// Lowest build against best build, where there is more than one.
pub(super) fn builds(found: &[Best]) -> Option<Section> {
    let columns = vec![
        Column::new("", Kind::Label),
        Column::new("copies", Kind::Words),
        Column::new("lowest build", Kind::Words),
        Column::new("best build", Kind::Words),
        Column::new("gain", Kind::Number),
        Column::new("interval", Kind::Number),
    ];
    let row = |best: &Best| {
        let (value, low, high) = best.gain;
        let gain = Quantity::ratio(value, low, high);
        let name = best.application.trim_start_matches("application.");
        let words = [name, &best.copies, &best.lowest, &best.best].map(Cell::text);
        Row { cells: words.into_iter().chain([Cell::Value(gain), Cell::Interval(gain)]).collect() }
    };
    let rows: Vec<Row> = found.iter().filter(|best| best.lowest != best.best).map(row).collect();
    (!rows.is_empty()).then(|| {
        let about = "The best build is the last in the order of the manifest whose whole interval lies above that of the best before it.";
        Section {
            title: "lowest build against best build".to_owned(),
            blocks: vec![Block::Table(Table::plain(columns, rows)), Block::Text(about.to_owned())],
        }
    })
}

/// What failed programs said.
pub(super) fn failures(run: &Run) -> Option<Section> {
    let said = |figure: &model::Figure| {
        let Outcome::Failed(reason) = &figure.outcome else { return None };
        let mut lines: Vec<String> = figure
            .notes
            .iter()
            .filter_map(|note| note.strip_prefix(model::RECORD))
            .filter(|note| note.starts_with("standard "))
            .map(last_lines)
            .collect();
        lines.insert(0, format!("{}: {reason}", figure.key()));
        (figure.metric.unit == Unit::PerSecond).then_some(lines)
    };
    let items: Vec<String> = run.figures.iter().filter_map(said).flatten().collect();
    (!items.is_empty())
        .then(|| Section::of("what failed, and the last that it said", Block::List { numbered: false, items }))
}

/// The last lines of a note; the document keeps more.
fn last_lines(note: &str) -> String {
    const LINES: usize = 4;
    let (name, text) = note.split_once(": ").unwrap_or(("", note));
    let lines: Vec<&str> = text.lines().collect();
    format!("{name}: {}", lines[lines.len().saturating_sub(LINES)..].join(" / "))
}

/// The report of `prony app fit`; its JSON is the fit.
pub(super) fn fit(against: &Against) -> Document {
    let mut document =
        Document::new(format!("{} against {}: {} machines", against.application, against.rating, against.pairs.len()));
    let level = 100.0 * against.level;
    document.notes.push(format!("Speeds: a time counts as its inverse. Intervals hold with {level:.0}%."));
    let items = against.sentences();
    document.sections.push(Section::of("", Block::List { numbered: false, items }));
    document.sections.push(Section::of("lines", Block::Table(lines(against))));
    document.sections.push(Section::of("residuals from the line through the origin", Block::Table(residuals(against))));
    document.sections.push(Section::of("", Block::Chart(chart(against))));
    document.data = Data::of(against).ok();
    document.records = Some(records(against));
    document
}

fn name(fit: &Fitted) -> String {
    fit.family.clone().unwrap_or_else(|| "all machines".to_owned())
}

fn lines(against: &Against) -> Table {
    let columns = vec![
        Column::new("", Kind::Label),
        Column::new("machines", Kind::Number),
        Column::new("through the origin", Kind::Number),
        Column::new("interval", Kind::Number),
        Column::new("with intercept: slope", Kind::Number),
        Column::new("interval", Kind::Number),
        Column::new("intercept", Kind::Number),
        Column::new("interval", Kind::Number),
    ];
    let row = |fit: &Fitted| {
        let mut cells = vec![Cell::text(name(fit)), Cell::Count(fit.machines as u64)];
        let mut add = |value: f64, low: f64, high: f64| {
            let quantity = Quantity { value, low, high, unit: Unit::Count, spread: Spread::Interval };
            cells.extend([Cell::Value(quantity), Cell::Interval(quantity)]);
        };
        let slope = fit.through_origin;
        add(slope.value, slope.low, slope.high);
        if let Some((slope, intercept)) = fit.free {
            add(slope.value, slope.low, slope.high);
            add(intercept.value, intercept.low, intercept.high);
        }
        Row { cells }
    };
    Table::plain(columns, against.fits.iter().map(row).collect())
}

fn residuals(against: &Against) -> Table {
    let columns = vec![
        Column::new("", Kind::Label),
        Column::new("family", Kind::Words),
        Column::new("of all machines", Kind::Words),
        Column::new("of its family", Kind::Words),
    ];
    let of = |fit: Option<&Fitted>, machine: &str| {
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
        Row { cells }
    };
    Table::plain(columns, against.pairs.iter().map(row).collect())
}

fn chart(against: &Against) -> Chart {
    let axis = |title: &str| Axis { title: title.to_owned(), unit: Unit::Count, division: Division::Linear };
    let point = |pair: &application::Pair| {
        let (x, y) = (Quantity::of(&pair.rating, Unit::Count), Quantity::of(&pair.application, Unit::Count));
        (pair.machine.clone(), x, y)
    };
    Chart {
        title: format!("{} against {}", against.application, against.rating),
        about: "The line goes through the origin and is fitted to all machines.".to_owned(),
        plot: Plot::Scatter(Scatter {
            x: axis(&against.rating),
            y: axis(&against.application),
            points: against.pairs.iter().map(point).collect(),
            slope: against.fits.first().map(|fit| fit.through_origin.value),
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
    let header = vec![
        "machine",
        "family",
        "rating",
        "rating_low",
        "rating_high",
        "application",
        "application_low",
        "application_high",
        "residual",
    ];
    Records { header, rows: against.pairs.iter().map(row).collect() }
}
