//! Tables on pages of every width.

use super::*;
use crate::Column;

#[test]
fn a_narrow_column_cuts_no_word() {
    let columns = [("", ColumnKind::Label), ("alone", ColumnKind::Number), ("compared in", ColumnKind::Words)];
    let columns = columns.map(|(title, kind)| Column::new(title, kind)).to_vec();
    let label = "copy (read + written), 256 MiB, 1 thread, normal stores, 4 KiB pages";
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
    let titles = ["", "place", "all results", "operating system", "shell and build", "files"];
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
    assert_eq!(place(first, "6%"), place(second, "9.5%"), "decimals are below each other: {narrow:#?}");
    assert_eq!(drawn(100).len(), 3, "where there is room headings have one line");
}

fn timings() -> Table {
    let columns = Column::list("|#value|#95% interval|#other|#change|verdict|~remarks");
    let row = |label: &str, value: f64, remark: &str| {
        let quantity = crate::PrintedQuantity::interval(value, 0.9 * value, 1.1 * value, model::Unit::Seconds);
        let cells = [Cell::Value(quantity), Cell::Interval(quantity), Cell::Value(quantity)];
        let end = [Cell::Printed("1.04x slower".to_owned()), Cell::text("inconclusive"), Cell::text(remark)];
        TableRow::of(std::iter::once(Cell::text(label)).chain(cells).chain(end).collect())
    };
    Table::plain(
        columns,
        vec![
            row("memory latency, 32 KiB, 4 KiB pages", 0.9e-9, "clean"),
            row("memory latency, 32 MiB, 4 KiB pages", 94.2e-9, "drift"),
            row("context switch, 2 processes, 0 B, same core", 1.57e-6, ""),
            row("fork and exec, dynamic linking, hello program", 533e-6, "did not reach ±2%, drift"),
        ],
    )
}

#[test]
fn a_name_has_room_or_a_line_of_its_own() {
    let table = timings();
    for page in 60..160 {
        let grid = Grid::new(&table, page, Paint(false), Drawn::new);
        let Some((rooms, stacked)) = grid.found_rooms() else { continue };
        assert!(stacked || rooms[0] >= LEAST_LABEL, "{page}: {rooms:?}");
        let mut lines = Vec::new();
        draw(&table, page, Paint(false), &mut lines);
        let whole = |row: &TableRow| matches!(&row.cells[0], Cell::Text(text, _) if lines.iter().any(|line| line.replace('\u{a0}', " ").trim() == text));
        assert!(!stacked || table.rows().all(whole), "{page}: {lines:#?}");
    }
    let stacked = |page| Grid::new(&table, page, Paint(false), Drawn::new).found_rooms().is_some_and(|found| found.1);
    assert!(stacked(80) && !stacked(120), "80 columns are too few beside a name, 120 are not");
}

#[test]
fn numbers_are_aligned_within_a_unit() {
    let mut lines = Vec::new();
    draw(&timings(), 160, Paint(false), &mut lines);
    let point = |label: &str| {
        let line = lines.iter().find(|line| line.contains(label)).unwrap_or_else(|| panic!("{label}: {lines:#?}"));
        let start = line.find(label).unwrap_or(0) + label.len();
        line[start..].find('.').map(|at| width(&line[..start + at]))
    };
    assert_eq!(point("32 KiB, 4 KiB pages"), point("32 MiB, 4 KiB pages"), "{lines:#?}");
    let end = |unit: &str| lines.iter().find_map(|line| line.find(unit).map(|at| width(&line[..at]) + width(unit)));
    assert_eq!(end(" ns "), end(" µs "), "units end below each other: {lines:#?}");
}

#[test]
fn remarks_stand_at_one_place() {
    for page in 80..200 {
        let mut lines = Vec::new();
        draw(&timings(), page, Paint(false), &mut lines);
        let own = |text: &str| lines.iter().any(|line| line.trim() == text);
        let remarks = ["clean", "drift", "did not reach ±2%, drift"].map(own);
        assert!(remarks.iter().all(|one| *one == remarks[0]), "{page}: {lines:#?}");
    }
}
