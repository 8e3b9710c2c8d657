//! bonnie++: its line of comma-separated values, alone or below the table for people.

use std::collections::BTreeMap;

use model::Metric;

use super::{CodeFormat, Confidence, Parsed, SourceText};
use crate::differing::{Settings, differing};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{
    MOST_NAMES, SourceFault, duration, lines, name_value, need, number, parameter_value, shown, split_unit,
};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "bonnie",
    tool: "bonnie++",
    about: "rates of block, character and file tests with their longest single operation, from the CSV line; no CPU \
            use, no spread",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let text = String::from_utf8_lossy(head);
    let found = lines(&text).any(|(at, line)| matches!(cells(line.trim(), at), Ok(Some(_)) | Err(_)));
    let named = ["Writing intelligently...", "bonnie++"].iter().any(|words| text.contains(words));
    match (found, named) {
        (true, true) => Confidence::Sure,
        (true, false) => Confidence::Likely,
        (false, _) => Confidence::No,
    }
}

/// Bytes of its K.
const KILOBYTE: f64 = 1024.0;

/// Names of the cells, which it does not print. A blank stands for the CPU use of the test before.
const OLD: &str = "name file_size putc _ put_block _ rewrite _ getc _ get_block _ seeks _ num_files seq_create _ \
                   seq_stat _ seq_del _ ran_create _ ran_stat _ ran_del _";
const NEW: [&str; 3] = [
    "format version name concurrency seed file_size io_chunk",
    "seek_count seek_processes",
    "putc _ put_block _ rewrite _ getc _ get_block _ seeks _ num_files max_size min_size num_dirs file_chunk \
     seq_create _ seq_stat _ seq_del _ ran_create _ ran_stat _ ran_del _ putc_latency put_block_latency \
     rewrite_latency getc_latency get_block_latency seeks_latency seq_create_latency seq_stat_latency \
     seq_del_latency ran_create_latency ran_stat_latency ran_del_latency",
];

/// Cells of a row by their names; none if the line is no row.
fn cells(line: &str, at: usize) -> Result<Option<BTreeMap<&'static str, &str>>, SourceFault> {
    let mut cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let first = cells.first().copied().unwrap_or_default();
    let names: Vec<&'static str> = match first {
        "1.96" | "1.97" if cells.len() > 20 => [NEW[0], NEW[2]].iter().flat_map(|part| part.split(' ')).collect(),
        "1.98" if cells.len() > 20 => NEW.iter().flat_map(|part| part.split(' ')).collect(),
        _ if is_unknown(&cells) => {
            return Err(SourceFault::new(format!("version '{}' of its rows is not known", shown(first)), at));
        }
        _ if is_old(&cells) => OLD.split_whitespace().collect(),
        _ => return Ok(None),
    };
    // Without the test of one file, 1.96 leaves out one of its empty cells.
    if cells.len() + 1 == names.len() && first == "1.96" && cells[5..18].iter().all(|cell| cell.is_empty()) {
        cells.insert(5, "");
    }
    if cells.len() != names.len() {
        let (has, names) = (cells.len(), names.len());
        return Err(SourceFault::new(format!("the row has {has} values, and of its version {names}"), at));
    }
    Ok(Some(names.into_iter().zip(cells).filter(|(name, _)| *name != "_").collect()))
}

/// A row of a version between begins with that of its layout, the program's and a name.
fn is_unknown(cells: &[&str]) -> bool {
    let version = |cell: &str| number(cell.trim_end_matches(char::is_alphabetic)).is_some_and(|version| version < 3.0);
    let [first, program, name, ..] = cells else { return false };
    cells.len() > 40 && first.starts_with("1.9") && version(first) && version(program) && number(name).is_none()
}

/// A row of 1.03 begins with the machine and the size of the file, and is of numbers and plus signs.
fn is_old(cells: &[&str]) -> bool {
    let plain = |cell: &&str| cell.chars().all(|c| c.is_ascii_digit() || ".+:/".contains(c));
    let size = cells.get(1).is_some_and(|cell| cell.split(':').all(|size| bytes(size).is_some()));
    let pluses = cells.iter().any(|cell| *cell == "+++++" || *cell == "+++");
    size && cells.len() > 12 && cells[2..].iter().all(plain) && (pluses || cells.len() == 27)
}

/// `8G`, `3000M`, in bytes; a bare number counts MiB.
fn bytes(size: &str) -> Option<u64> {
    let (value, unit) = split_unit(size)?;
    let scale = match unit {
        "" | "M" => 1_048_576.0,
        "k" | "K" => 1024.0,
        "G" => 1_073_741_824.0,
        "T" => 1_099_511_627_776.0,
        _ => return None,
    };
    let bytes = value * scale;
    (1.0..9e15).contains(&bytes).then_some(bytes as u64)
}

/// A row's place among the readings of its machine.
struct BonnieRun {
    line: usize,
    first: usize,
    settings: Settings,
    /// Tests that were too quick to be measured.
    quick: Vec<&'static str>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheets: Vec<(SourceSheet, Vec<BonnieRun>)> = Vec::new();
    // Lines of a table for people, whose numbers the row below it repeats.
    let mut table: Option<Vec<usize>> = None;
    for (at, line) in lines(source.text) {
        let line = line.trim();
        let named = line.starts_with("Version") && line.contains("------Sequential");
        if let Some(cells) = cells(line, at)? {
            for line in table.take().unwrap_or_default() {
                source.took(line);
            }
            record(&mut sheets, &cells, at)?;
            source.took(at);
        } else if named || table.is_some() {
            table.get_or_insert_default().push(at);
        } else if line.starts_with("format_version,") || line.starts_with("Using uid:") {
            source.took(at);
        }
    }
    let settled = sheets.into_iter().map(|(mut sheet, runs)| {
        settle(&mut sheet, &runs);
        sheet
    });
    Ok(Parsed::Sheets(settled.collect()))
}

/// A test's name, and the metric and scale of its rate.
const TESTS: [(&str, Option<f64>); 12] = [
    ("putc", Some(KILOBYTE)),
    ("put_block", Some(KILOBYTE)),
    ("rewrite", Some(KILOBYTE)),
    ("getc", Some(KILOBYTE)),
    ("get_block", Some(KILOBYTE)),
    ("seeks", None),
    ("seq_create", None),
    ("seq_stat", None),
    ("seq_del", None),
    ("ran_create", None),
    ("ran_stat", None),
    ("ran_del", None),
];

fn record(
    sheets: &mut Vec<(SourceSheet, Vec<BonnieRun>)>,
    cells: &BTreeMap<&str, &str>,
    at: usize,
) -> Result<(), SourceFault> {
    let cell = |name: &str| cells.get(name).copied().filter(|cell| !cell.is_empty());
    let machine = name_value(cell("name").unwrap_or_default());
    let known = sheets.iter().position(|(sheet, _)| sheet.machine == machine);
    if known.is_none() && sheets.len() >= MOST_NAMES {
        return Err(SourceFault::new(format!("it has more than {MOST_NAMES} machines"), at));
    }
    let place = known.unwrap_or_else(|| {
        sheets.push((SourceSheet { machine, ..SourceSheet::default() }, Vec::new()));
        sheets.len() - 1
    });
    let (sheet, runs) = &mut sheets[place];
    let version = cell("version").map_or_else(|| "1.03".to_owned(), name_value);
    sheet.version.get_or_insert_with(|| version.clone());
    sheet.begin_process();
    let first = sheet.readings.len();
    let (one_file, many_files) = (file_parameters(&cell, at)?, files_parameters(&cell, at)?);
    let mut quick: Vec<&'static str> = Vec::new();
    for (test, scale) in TESTS {
        let files = test.starts_with("seq_") || test.starts_with("ran_");
        let id = format!("bonnie.{test}");
        let metric = |of| if scale.is_some() { bytes_per_second("bytes") } else { rate(of) };
        let of = if files { "files" } else { "seeks" };
        let mut found: Vec<SourceReading> = Vec::new();
        match cell(test) {
            Some(word) if word.starts_with('+') => quick.push(test),
            Some(word) if need(word, at)? != 0.0 => {
                found.push(reading(&id, word, scale.unwrap_or(1.0), metric(of), at)?);
            }
            _ => {}
        }
        if let Some(word) = cell(&format!("{test}_latency")) {
            let time = duration(word);
            let time = time.ok_or_else(|| SourceFault::new(format!("'{}' is no time", shown(word)), at))?;
            let title = format!("longest {}", test.replace('_', " "));
            let longest = SourceReading::new(format!("{id}_longest"), title, time, seconds("operation"));
            let digits = word.trim_end_matches(char::is_alphabetic);
            found.extend(Some(longest.printed(digits)).filter(|longest| longest.value != 0.0));
        }
        let parameters = if files { &many_files } else { &one_file };
        let placed = |reading| {
            parameters
                .iter()
                .fold(reading, |reading: SourceReading, (parameter, value)| reading.at(parameter, value.clone()))
        };
        sheet.readings.extend(found.into_iter().map(placed));
    }
    let mut settings = Settings::from([("version".to_owned(), version)]);
    for name in ["seek_count", "seek_processes"] {
        settings.extend(cell(name).map(|value| (name.to_owned(), parameter_value(value))));
    }
    runs.push(BonnieRun { line: at, first, settings, quick });
    Ok(())
}

fn reading(id: &str, word: &str, scale: f64, metric: Metric, at: usize) -> Result<SourceReading, SourceFault> {
    let title = id.trim_start_matches("bonnie.").replace('_', " ");
    Ok(SourceReading::new(id, title, need(word, at)? * scale, metric).printed(word))
}

/// Parameters of the tests of one file. In 1.03 the size of a chunk stands behind that of the file.
fn file_parameters<'a>(
    cell: &impl Fn(&str) -> Option<&'a str>,
    at: usize,
) -> Result<Vec<(&'static str, String)>, SourceFault> {
    let (file, chunk) = match cell("file_size").map(|size| size.split_once(':').unwrap_or((size, ""))) {
        Some((file, chunk)) => (Some(file), Some(chunk).filter(|chunk| !chunk.is_empty()).or_else(|| cell("io_chunk"))),
        None => (None, None),
    };
    let mut parameters = Vec::new();
    if let Some(file) = file {
        let size = bytes(file).ok_or_else(|| SourceFault::new(format!("'{}' is no size", shown(file)), at))?;
        parameters.push(("file", model::format_size(size)));
    }
    parameters.extend(chunk.map(|chunk| ("chunk", parameter_value(chunk))));
    parameters
        .extend(cell("concurrency").filter(|count| *count != "1").map(|count| ("concurrency", parameter_value(count))));
    Ok(parameters)
}

/// Parameters of the tests of many files, which it counts in 1024: `16`, or in 1.03 `16:1000:100/10`.
fn files_parameters<'a>(
    cell: &impl Fn(&str) -> Option<&'a str>,
    at: usize,
) -> Result<Vec<(&'static str, String)>, SourceFault> {
    let Some(stated) = cell("num_files") else { return Ok(Vec::new()) };
    let (sizes, folders) = stated.split_once('/').unwrap_or((stated, ""));
    let mut sizes = sizes.split(':');
    let count = sizes.next().and_then(|count| count.parse::<u64>().ok()).and_then(|count| count.checked_mul(1024));
    let count = count.ok_or_else(|| SourceFault::new(format!("'{}' is no number of files", shown(stated)), at))?;
    let mut parameters = vec![("files", count.to_string())];
    for (parameter, name, old) in [
        ("largest", "max_size", sizes.next()),
        ("smallest", "min_size", sizes.next()),
        ("folders", "num_dirs", Some(folders).filter(|folders| !folders.is_empty())),
        ("chunk", "file_chunk", None),
    ] {
        parameters.extend(old.or_else(|| cell(name)).map(|value| (parameter, parameter_value(value))));
    }
    parameters
        .extend(cell("concurrency").filter(|count| *count != "1").map(|count| ("concurrency", parameter_value(count))));
    Ok(parameters)
}

/// Makes parameters of the version and of the seeks where rows of one machine differ in them.
fn settle(sheet: &mut SourceSheet, runs: &[BonnieRun]) {
    let mut quick = runs.iter().filter(|run| !run.quick.is_empty());
    if let Some(first) = quick.next() {
        let tests = first.quick.join(", ");
        let others = match quick.count() {
            0 => String::new(),
            1 => "; a further row has such tests too".to_owned(),
            count => format!("; {count} further rows have such tests too"),
        };
        sheet.notes.push(format!("too quick to be measured at line {}: {tests}{others}", first.line));
    }
    let found = differing(runs.iter().map(|run| (String::new(), &run.settings)));
    let Some(names) = found.values().next() else { return };
    for (place, run) in runs.iter().enumerate() {
        let end = runs.get(place + 1).map_or(sheet.readings.len(), |next| next.first);
        for reading in &mut sheet.readings[run.first..end] {
            let seeks = reading.id.starts_with("bonnie.seeks");
            for (name, value) in
                run.settings.iter().filter(|(name, _)| names.contains(*name) && (seeks || *name == "version"))
            {
                reading.parameters = std::mem::take(&mut reading.parameters).with(name, value);
            }
        }
    }
}
