//! BabelStream and its predecessor GPU-STREAM: STREAM's kernels in other programming models, repeated in one process.

use super::{CodeFormat, Confidence, Parsed, SourceText, likely, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, text};
use crate::text::{SourceFault, after, axis_value, column, first_number, lines, need, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "babelstream",
    tool: "BabelStream",
    about: "its table; the value is the average over the repetitions of one process, their least and greatest the range",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let csv = head.starts_with(b"function,num_times,n_elements,sizeof,");
    let csv = if csv { Confidence::Sure } else { Confidence::No };
    let table = likely(head, &["MBytes/sec", "Triad"]).max(likely(head, &["MiBytes/sec", "Triad"]));
    sure(head, &["BabelStream"]).max(sure(head, &["GPU-STREAM"])).max(table).max(csv)
}

const KERNELS: [&str; 6] = ["Copy", "Mul", "Add", "Triad", "Dot", "Nstream"];

/// Settings that a process prints: the begin of the line, the axis, and the value that is usual.
const SETTINGS: [(&str, &str, &str); 3] =
    [("Implementation:", "model", ""), ("Precision:", "precision", ""), ("Memory:", "memory", "DEFAULT")];

/// Beginnings of lines that state nothing to keep.
const NOTHING: [&str; 3] = ["Total size:", "Driver:", "Reduction kernel config:"];

/// Where a reader of BabelStream's lines is.
struct BabelReader<'a> {
    sheet: SourceSheet,
    axes: Vec<(&'static str, String)>,
    repetitions: f64,
    in_table: bool,
    megabyte: f64,
    /// Names of the columns of --csv.
    heading: Vec<&'a str>,
    /// Of each process that names a device, the number of readings before it and the device.
    devices: Vec<(usize, String)>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut reader = BabelReader {
        sheet: SourceSheet::default(),
        axes: Vec::new(),
        repetitions: 1.0,
        in_table: false,
        megabyte: 1e6,
        heading: Vec::new(),
        devices: Vec::new(),
    };
    for (at, line) in lines(source.text) {
        if reader.line(line.trim(), at)? {
            source.took(at);
        }
    }
    let BabelReader { mut sheet, devices, .. } = reader;
    if !sheet.tell_apart("device", &devices)
        && let Some((_, device)) = devices.first().filter(|(_, device)| device != "-")
    {
        sheet.fact(text("device.model", device, "output", &[]));
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

impl<'a> BabelReader<'a> {
    /// Whether the line was understood.
    fn line(&mut self, line: &'a str, at: usize) -> Result<bool, SourceFault> {
        let name = line.split_whitespace().next().unwrap_or_default();
        if let Some((begin, axis, usual)) = SETTINGS.iter().find(|(begin, ..)| line.starts_with(begin)) {
            self.set(axis, line[begin.len()..].trim(), usual);
        } else if let Some(words) = line.strip_prefix("Array size:") {
            let size = words.split(" (").next().unwrap_or(words);
            self.set("array", &size.replace(' ', ""), "");
        } else if let Some(rest) = line.strip_prefix("Version:") {
            // The first line of a process that states something.
            (self.axes, self.in_table) = (Vec::new(), false);
            self.sheet.states_version(rest.trim().to_owned());
            self.devices.push((self.sheet.readings.len(), "-".to_owned()));
        } else if let Some(rest) = after(line, "Running kernels") {
            self.repetitions = first_number(rest).unwrap_or(self.repetitions);
        } else if let Some(rest) = after(line, "device").filter(|_| line.starts_with("Using ")) {
            self.devices.retain(|(start, _)| *start < self.sheet.readings.len());
            self.devices.push((self.sheet.readings.len(), axis_value(rest)));
        } else if line.starts_with("function,num_times,") {
            self.heading = line.split(',').collect();
            self.sheet.begin_process();
        } else if !self.heading.is_empty() && line.contains(',') {
            let reading = comma_separated(&self.heading, line, at)?;
            self.sheet.readings.push(self.placed(reading));
        } else if (line.starts_with("Init:") || line.starts_with("Read:")) && line.contains("Bytes/sec") {
            // Since 5.0: filling the arrays and reading them back, each once and in times that overlap.
        } else if line.contains("Bytes/sec") {
            self.open(name, line, at)?;
        } else if self.in_table && KERNELS.contains(&name) {
            let reading = self.row(name, line, at)?;
            self.sheet.readings.push(reading);
        } else if line.starts_with("Validation failed") {
            self.sheet.notes.push(format!("BabelStream reports wrong results: {}", shown(line)));
        } else {
            return Ok(NOTHING.iter().any(|begin| line.starts_with(begin)));
        }
        Ok(true)
    }

    fn set(&mut self, axis: &'static str, value: &str, usual: &str) {
        self.axes.retain(|(known, _)| *known != axis);
        if !value.is_empty() && value != usual {
            self.axes.push((axis, axis_value(value)));
        }
    }

    /// The heading of a table.
    fn open(&mut self, name: &str, line: &str, at: usize) -> Result<(), SourceFault> {
        self.megabyte = if name == "Function" && line.contains("MiBytes/sec") { 1_048_576.0 } else { 1e6 };
        let unit = if self.megabyte > 1e6 { "MiBytes/sec" } else { "MBytes/sec" };
        if line.split_whitespace().ne(["Function", unit, "Min", "(sec)", "Max", "Average"]) {
            return Err(SourceFault::new(format!("the heading '{}' is not known", shown(line)), at));
        }
        self.in_table = true;
        self.sheet.begin_process();
        Ok(())
    }

    fn row(&self, name: &str, line: &str, at: usize) -> Result<SourceReading, SourceFault> {
        let [best, least, greatest, average] =
            [column(line, 1, at)?, column(line, 2, at)?, column(line, 3, at)?, column(line, 4, at)?];
        let reading = reading(name, best * self.megabyte, [least, greatest, average], self.repetitions);
        // Its times have five decimals, of which short ones use two.
        Ok(self.placed(reading.rounded(0.5e-5 / average)))
    }

    fn placed(&self, reading: SourceReading) -> SourceReading {
        self.axes.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
    }
}

/// A kernel by its best rate, and the least, greatest and average time of its repetitions.
fn reading(name: &str, best: f64, times: [f64; 3], repetitions: f64) -> SourceReading {
    let [least, greatest, average] = times;
    let bytes = best * least;
    let id = format!("babelstream.{}", snake(name));
    if bytes <= 0.0 || average <= 0.0 {
        return SourceReading::new(format!("{id}_best"), name, best, bytes_per_second("bytes read + written"))
            .note("the best of one process: its times are too short for their digits");
    }
    SourceReading::new(id, name, bytes / average, bytes_per_second("bytes read + written"))
        .spread(SourceSpread::Range(bytes / greatest, bytes / least))
        .counts(1, repetitions as u32)
        .note(format!("average over one process; its own figure is the best, {} MB/s", best / 1e6))
}

/// A row of --csv, whose heading names the columns.
fn comma_separated(heading: &[&str], line: &str, at: usize) -> Result<SourceReading, SourceFault> {
    let cells: Vec<&str> = line.split(',').collect();
    if cells.len() != heading.len() {
        let (has, names) = (cells.len(), heading.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |name: &str| heading.iter().position(|known| *known == name).map(|at| cells[at]);
    let number = |name: &str| need(cell(name).unwrap_or_default(), at);
    let best = match cell("max_mibytes_per_sec") {
        Some(value) => need(value, at)? * 1_048_576.0,
        None => number("max_mbytes_per_sec")? * 1e6,
    };
    let times = [number("min_runtime")?, number("max_runtime")?, number("avg_runtime")?];
    let name = cell("function").unwrap_or_default();
    let reading = reading(&shown(name), best, times, number("num_times")?);
    let precision = match number("sizeof")? {
        4.0 => "float",
        8.0 => "double",
        _ => return Err(SourceFault::new("its elements have neither 4 nor 8 bytes", at)),
    };
    let elements = axis_value(cell("n_elements").unwrap_or_default());
    Ok(reading.at("precision", precision).at("elements", elements))
}
