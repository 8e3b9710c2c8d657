//! What choices cost on machines whose speed is known.

use decide::choose::{ChoiceRecord, ReachedAt};

use crate::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Records, Table, TableRow};
use model::percent;

/// The report of `prony choose --evaluate`; its JSON is the [`ChoiceRecord`].
#[must_use]
pub fn choice_evaluation(found: &ChoiceRecord) -> Document {
    let mut document = Document::new(format!("{} choices among machines of known speed", found.trials));
    let titles = [
        "asked for",
        "reached",
        "regret",
        "reached, perfect error bars",
        "their regret",
        "reached, uncorrected",
        "its regret",
        "reached, one measured",
        "its regret",
    ];
    let kind = |place: usize| if place == 0 { ColumnKind::Label } else { ColumnKind::Number };
    let columns = titles.iter().enumerate().map(|(place, title)| Column::new(*title, kind(place))).collect();
    let curves = [&found.rule, &found.perfect, &found.uncorrected, &found.measured];
    let row = |(place, rule): (usize, &ReachedAt)| {
        let of = |curve: &Vec<ReachedAt>| curve.get(place).map_or([f64::NAN; 2], |at| [at.reached, at.regret]);
        let shares = [rule.asked].into_iter().chain(curves.iter().flat_map(|curve| of(curve)));
        TableRow { cells: shares.map(|share| Cell::text(percent(share))).collect() }
    };
    let rows = found.rule.iter().enumerate().map(row).collect();
    document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
    let items = found.sentences();
    document.sections.push(DocumentSection::of("", Block::List { numbered: false, items }));
    document.data = EmbeddedJson::of(found).ok();
    document.records = Some(records(found));
    document
}

fn records(found: &ChoiceRecord) -> Records {
    let of = |bars: &str, curve: &[ReachedAt]| -> Vec<Vec<String>> {
        let row =
            |at: &ReachedAt| vec![bars.to_owned(), at.asked.to_string(), at.reached.to_string(), at.regret.to_string()];
        curve.iter().map(row).collect()
    };
    Records {
        header: vec!["error_bars", "asked", "reached", "regret"],
        rows: [
            of("predicted", &found.rule),
            of("perfect", &found.perfect),
            of("uncorrected", &found.uncorrected),
            of("one_measured", &found.measured),
        ]
        .concat(),
    }
}
