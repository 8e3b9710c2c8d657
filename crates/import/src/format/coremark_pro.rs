//! CoreMark-PRO, and FPMark of the same makers: the tables of workloads and of the marks.

use super::{CodeFormat, Parsed, SourceText, coremark_log, sure};
use crate::sheet::{SourceReading, SourceSheet, rate};
use crate::text::{SourceFault, after, axis_value, lines, name_value, need, number, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "coremark-pro",
    tool: "CoreMark-PRO",
    about: "iterations a second of each workload and the mark, with one context and with many, of CoreMark-PRO and of \
            FPMark, for which no spread is stated; in its log, each execution of each workload",
    by_lines: true,
    detect: |head| {
        let table = sure(head, &["WORKLOAD RESULTS TABLE"]).max(sure(head, &["MARK RESULTS TABLE", "CoreMark-PRO"]));
        table.max(sure(head, &[coremark_log::HEADING, "Iter/s"]))
    },
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut columns, mut mark): (Vec<&str>, bool) = (Vec::new(), false);
    // Workloads of the two have the same names, and other sizes.
    let suite = if source.text.contains("FPMark") { "fpmark" } else { "coremark_pro" };
    // Where a log has both, the tables are of its medians.
    if source.text.contains(coremark_log::HEADING) && !source.text.contains("RESULTS TABLE") {
        return Ok(Parsed::Sheets(vec![coremark_log::read(source, suite)?]));
    }
    for (at, line) in lines(source.text) {
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.contains("RESULTS TABLE") {
            mark = line.starts_with("MARK");
            if !mark {
                sheet.begin_process();
            }
            columns = Vec::new();
        } else if words.contains(&"MultiCore") || words.contains(&"SingleCore") {
            columns = words.iter().copied().filter(|word| ["MultiCore", "SingleCore"].contains(word)).collect();
        } else if words.starts_with(&["Workload", "Name"]) {
            let units = &words[2..];
            if units.iter().any(|unit| !["(iter/s)", "Scaling"].contains(unit)) {
                return Err(SourceFault::new(format!("the heading '{}' is not known", shown(line)), at));
            }
        } else if let Some(what) = after(line, "Could not compute score for") {
            let what = what.trim_matches('\'');
            sheet.notes.push(format!("the mark '{}' was not computed: a workload of it failed", name_value(what)));
        } else if !columns.is_empty() && !line.is_empty() && !line.starts_with('-') && !line.contains("ERROR:") {
            let Some((name, cells)) = row(&words, columns.len(), at)? else {
                columns = Vec::new();
                continue;
            };
            for (column, cell) in columns.iter().zip(cells) {
                let id = if mark { "mark".to_owned() } else { snake(&name) };
                let of = if mark { "marks" } else { "iterations" };
                let reading = SourceReading::new(format!("{suite}.{id}"), name.clone(), need(cell, at)?, rate(of));
                let reading = if mark && suite == "fpmark" { reading.at("mark", axis_value(&name)) } else { reading };
                let contexts = if *column == "MultiCore" { "many" } else { "one" };
                sheet.readings.push(reading.printed_in(cell, 1.0).at("contexts", contexts));
            }
        } else {
            continue;
        }
        source.took(at);
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// The name of a row and its rates, one for each column, before their ratio. A line without numbers ends the table.
fn row<'a, 'b>(
    words: &'b [&'a str],
    columns: usize,
    at: usize,
) -> Result<Option<(String, &'b [&'a str])>, SourceFault> {
    let numbers = words.iter().rev().take_while(|word| number(word).is_some()).count();
    if numbers == 0 {
        return Ok(None);
    }
    if numbers != columns + 1 || numbers == words.len() {
        let (has, names) = (words.len(), columns + 2);
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let (name, cells) = words.split_at(words.len() - numbers);
    Ok(Some((name.join(" "), &cells[..columns])))
}
