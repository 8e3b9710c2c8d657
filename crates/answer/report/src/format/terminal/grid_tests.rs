//! Tables on pages of every width.

use super::*;
use crate::Column;

#[test]
fn a_narrow_column_cuts_no_word() {
    let columns = [("", ColumnKind::Label), ("alone", ColumnKind::Number), ("compared in", ColumnKind::Words)];
    let columns = columns.map(|(title, kind)| Column::new(title, kind)).to_vec();
    let label = "copy (read + written), 256 MiB, 1 thread, normal stores, base pages";
    let cells = vec![Cell::text(label), Cell::Count(12345), Cell::text("clean")];
    let table = Table::plain(columns, vec![TableRow::of(cells)]);
    for page in 20..120 {
        let mut lines = Vec::new();
        draw(&table, page, Paint(false), &mut lines);
        assert!(lines.iter().any(|line| line.contains("clean")), "{page}: {lines:#?}");
        assert!(lines.iter().all(|line| width(line) <= page), "{page}: {lines:#?}");
    }
}

#[test]
fn a_name_to_be_typed_stays_whole_beside_a_text_that_wraps() {
    let columns = [("name", ColumnKind::Label), ("machine", ColumnKind::Words)];
    let name = "published:ams02-2002/compaq-alpha-ev68-dual-cpu-866-mhz-linux-cxx";
    let cells = vec![Cell::text(name), Cell::text("Compaq alpha-ev68 dual-CPU 866 MHz (Linux cxx)")];
    let columns = columns.map(|(title, kind)| Column::new(title, kind)).to_vec();
    let table = Table::plain(columns, vec![TableRow::of(cells)]);
    for page in 80..120 {
        let mut lines = Vec::new();
        draw(&table, page, Paint(false), &mut lines);
        assert!(lines.iter().any(|line| line.contains(name)), "{page}: {lines:#?}");
        assert!(lines.iter().all(|line| width(line) <= page), "{page}: {lines:#?}");
    }
}

#[test]
fn a_map_has_a_line_for_each_machine_where_its_words_do_not_fit() {
    let titles = ["", "place", "all results", "operating system", "communication on this machine", "files"];
    let kind = |index: usize| if index == 0 { ColumnKind::Label } else { ColumnKind::Words };
    let columns = titles.iter().enumerate().map(|(index, title)| Column::new(*title, kind(index))).collect();
    let row = |machine: usize| {
        let heat = |gain: f64| Cell::Heat { text: format!("{gain:.2}x faster"), gain };
        let cells = vec![Cell::text(format!("node-{machine:02}")), Cell::text("1–13")];
        TableRow::of(cells.into_iter().chain([1.76, 12.34, 123.4, 0.87].map(heat)).collect())
    };
    let table = Table::plain(columns, (0..20).map(row).collect());
    let drawn = |page| {
        let mut lines = Vec::new();
        draw(&table, page, Paint(false), &mut lines);
        assert!(lines.iter().all(|line| width(line) <= page), "{page}: {lines:#?}");
        lines
    };
    let narrow = drawn(70);
    let rows: Vec<&String> = narrow.iter().filter(|line| line.contains("node-")).collect();
    assert!(rows.len() == 20 && narrow.len() <= 20 + 4, "{narrow:#?}");
    assert!(["1.76", "12.3", "123", "0.87"].iter().all(|gain| rows[0].contains(gain)), "{}", rows[0]);
    assert!(narrow.last().unwrap().contains("above 1 is better"), "{narrow:#?}");
    let wide = drawn(120);
    assert!(wide.iter().any(|line| line.contains("1.76x faster")) && !wide.join("").contains("above 1"), "{wide:#?}");
    assert!(drawn(30).len() > 40, "below that there is a line for each cell");
}

/// Eight short numbers under long headings are a table of 80 columns, not a list of them.
#[test]
fn headings_of_numbers_wrap_before_a_table_becomes_lines() {
    let titles = ["machines", "median error", "worst tenth", "best single method", "chosen in hindsight", "held"];
    let kind = |index: usize| if index == 0 { ColumnKind::Label } else { ColumnKind::Number };
    let columns = titles.iter().enumerate().map(|(index, title)| Column::new(*title, kind(index))).collect();
    let row = |cells: [&str; 5]| {
        TableRow::of(std::iter::once(Cell::Count(12)).chain(cells.map(|text| Cell::Printed(text.to_owned()))).collect())
    };
    let rows = vec![row(["3.2%", "6%", "2.7%", "2.7%", "96%"]), row(["21%", "49.5%", "3.2%", "3.2%", "100%"])];
    let table = Table::plain(columns, rows);
    let drawn = |page| {
        let mut lines = Vec::new();
        draw(&table, page, Paint(false), &mut lines);
        assert!(lines.iter().all(|line| width(line) <= page), "{page}: {lines:#?}");
        lines
    };
    let narrow = drawn(62);
    assert!(narrow.len() <= 2 + 3 && narrow.iter().any(|line| line.contains("hindsight")), "{narrow:#?}");
    let [first, second] = narrow.last_chunk().unwrap();
    let place = |line: &str, text: &str| line.find(text).unwrap_or_else(|| panic!("{text}: {narrow:#?}"));
    assert_eq!(place(first, "6%"), place(second, "9.5%"), "sets of parameters are below each other: {narrow:#?}");
    assert_eq!(drawn(100).len(), 3, "where there is room headings have one line");
}
