//! CoreMark-PRO: the tables of workloads and of the mark.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, rate};
use crate::text::{SourceFault, lines, need, shown, snake};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "coremark-pro",
    tool: "CoreMark-PRO",
    about: "iterations a second of each workload and the mark, with one context and with many; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["WORKLOAD RESULTS TABLE"]).max(sure(head, &["MARK RESULTS TABLE", "CoreMark-PRO"])),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut columns, mut mark): (Vec<&str>, bool) = (Vec::new(), false);
    for (at, line) in lines(source.text) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.contains("RESULTS TABLE") {
            mark = line.trim_start().starts_with("MARK");
            if !mark {
                sheet.begin_process();
            }
            columns = Vec::new();
        } else if words.contains(&"MultiCore") || words.contains(&"SingleCore") {
            columns = words.iter().copied().filter(|word| ["MultiCore", "SingleCore"].contains(word)).collect();
        } else if words.starts_with(&["Workload", "Name"]) {
            let units = &words[2..];
            if units.iter().any(|unit| !["(iter/s)", "Scaling"].contains(unit)) {
                return Err(SourceFault::new(format!("the heading '{}' is not known", shown(line.trim())), at));
            }
        } else if !columns.is_empty() && !words.is_empty() && !line.trim_start().starts_with('-') {
            // Name, a rate for each column, and their ratio.
            if words.len() != columns.len() + 2 {
                let (has, names) = (words.len(), columns.len() + 2);
                return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
            }
            for (column, cell) in columns.iter().zip(&words[1..]) {
                let id =
                    if mark { "coremark_pro.mark".to_owned() } else { format!("coremark_pro.{}", snake(words[0])) };
                let of = if mark { "marks" } else { "iterations" };
                let reading = SourceReading::new(id, words[0], need(cell, at)?, rate(of)).printed_in(cell, 1.0);
                sheet.readings.push(reading.at("contexts", if *column == "MultiCore" { "many" } else { "one" }));
            }
        } else {
            continue;
        }
        source.took(at);
    }
    Ok(Parsed::Sheets(vec![sheet]))
}
