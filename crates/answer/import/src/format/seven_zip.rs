//! `7z b`: the averages over dictionaries and passes of one process.

use model::{Fact, Metric, Unit};

use super::{CodeFormat, Parsed, SourceText, likely, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, text};
use crate::text::{SourceFault, between, column, first_number, lines, parameter_value};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "7zip",
    tool: "7-Zip",
    about: "the averages of `7z b`: speed and rating of compressing and decompressing; no spread is stated",
    by_lines: true,
    detect: |head| {
        let table = likely(head, &["Dict ", "Speed Usage    R/U Rating", "Decompressing"]);
        sure(head, &["7-Zip", "Dict", "Compressing"]).max(table)
    },
    parse,
};

/// Reads outputs of one machine, or of several: those state another processor or another memory.
#[derive(Default)]
struct SevenZipReader {
    sheets: Vec<SourceSheet>,
    sheet: SourceSheet,
    /// The processor that the present process states.
    processor: Option<Fact>,
    /// Memory of the machine whose outputs are read, as printed.
    memory: Option<String>,
    threads: Option<f64>,
    /// Dictionaries that are averaged, as exponents of 2.
    dictionaries: Vec<u32>,
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut reader = SevenZipReader::default();
    let mut last = 0;
    for (at, line) in lines(source.text) {
        last = at;
        if reader.line(line.trim(), at)? {
            source.took(at);
        }
    }
    let rated = |sheet: &SourceSheet| sheet.readings.iter().any(|reading| reading.id == "seven_zip.rating");
    reader.end_sheet();
    if reader.sheets.is_empty() || !reader.sheets.iter().all(rated) {
        return Err(SourceFault::new("it has no line of totals", last));
    }
    Ok(Parsed::Sheets(reader.sheets))
}

impl SevenZipReader {
    /// Whether the line was understood.
    fn line(&mut self, line: &str, at: usize) -> Result<bool, SourceFault> {
        if line.contains("7-Zip") && line.contains("Igor Pavlov") {
            self.sheet.begin_process();
            (self.threads, self.dictionaries, self.processor) = (None, Vec::new(), None);
            self.sheet.version = line.split_whitespace().find(|word| word.contains('.')).map(str::to_owned);
        } else if let Some(rest) = line.find("Benchmark threads:").map(|from| &line[from..]) {
            self.threads = first_number(rest);
        } else if let Some(words) = between(line, "RAM size:", "MB") {
            if self.memory.as_ref().is_some_and(|known| known != words) {
                self.end_sheet();
            }
            self.memory = Some(words.to_owned());
        } else if ["CPU @", "Gen Intel(R)"].iter().any(|name| line.contains(name))
            || ["Intel", "AMD"].iter().any(|name| line.starts_with(name))
        {
            self.state_processor(line);
        } else if line.starts_with("Avr:") {
            averages(&mut self.sheet, line, at)?;
        } else if line.starts_with("Tot:") {
            self.totals(line, at)?;
        } else if version_of(line).is_some() {
            // The version of a processor whose name fills the line before.
        } else if !is_row(line) {
            return Ok(false);
        } else if let Some(exponent) = line.split(':').next().and_then(|head| head.trim().parse().ok()) {
            self.dictionaries.push(exponent);
        }
        Ok(true)
    }

    /// The processor: behind its name stands its version, `(860F01)`.
    fn state_processor(&mut self, line: &str) {
        let name = line.rsplit_once(' ').filter(|(_, code)| version_of(code).is_some()).map_or(line, |(name, _)| name);
        let stated = text("cpu.model", name, "output", &[]);
        let known = self.sheet.facts.iter().find(|fact| fact.name == "cpu.model");
        let other = known.zip(stated.as_ref()).is_some_and(|(known, stated)| known.value != stated.value);
        self.processor = stated;
        if other {
            self.end_sheet();
        }
        self.sheet.fact(self.processor.clone());
    }

    /// The totals end the output of a process.
    fn totals(&mut self, line: &str, at: usize) -> Result<(), SourceFault> {
        let usage = column(line, 1, at)? / 100.0;
        let metric = Metric::higher(Unit::Ratio, "CPUs used");
        self.sheet.readings.push(SourceReading::new("seven_zip.usage", "CPU usage", usage, metric));
        let total = column(line, 3, at)? * 1e6;
        let metric = rate("7-Zip instructions");
        self.sheet.readings.push(SourceReading::new("seven_zip.rating", "Total rating", total, metric));
        // An average over other dictionaries than the usual ones is another result.
        if let Some(range) = range(&self.dictionaries).filter(|range| range != USUAL) {
            self.sheet.process_at("dictionaries", &range);
        }
        // An excerpt of the table alone may be of one thread or of all.
        let threads = self.threads.map_or_else(|| "unstated".to_owned(), |threads| threads.to_string());
        self.sheet.process_at("threads", &parameter_value(&threads));
        Ok(())
    }

    /// Ends the outputs of one machine: what a process has said so far is of the next one.
    fn end_sheet(&mut self) {
        if self.sheet.readings.is_empty() {
            return;
        }
        let version = self.sheet.version.clone();
        let mut sheet = std::mem::replace(&mut self.sheet, SourceSheet { version, ..SourceSheet::default() });
        if let Some(memory) = self.memory.take() {
            sheet.notes.push(format!("memory as 7-Zip sees it: {memory} MB"));
        }
        self.sheet.begin_process();
        self.sheet.fact(self.processor.clone());
        self.sheets.push(sheet);
    }
}

/// The version of a processor, `(860F01)`.
fn version_of(word: &str) -> Option<&str> {
    let code = word.strip_prefix('(')?.strip_suffix(')')?;
    (code.len() > 3 && code.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(code)
}

/// Dictionaries of 4 to 32 MiB, which it averages unless told otherwise.
const USUAL: &str = "22-25";

/// `18-20`, or `18` alone.
fn range(dictionaries: &[u32]) -> Option<String> {
    let (least, greatest) = (dictionaries.iter().min()?, dictionaries.iter().max()?);
    Some(if least == greatest { least.to_string() } else { format!("{least}-{greatest}") })
}

/// The rows of single dictionaries, of which the averages follow, and the frequencies of single threads.
fn is_row(line: &str) -> bool {
    let rows = line.split_once(':').is_some_and(|(head, rest)| {
        head.bytes().all(|byte| byte.is_ascii_digit()) && !head.is_empty() && rest.contains('|')
    });
    rows || line.contains("Freq (MHz)") || line.contains("CPU Freq")
}

/// The line of averages: speed (newer versions), usage, rating per usage and rating, of either direction.
fn averages(sheet: &mut SourceSheet, line: &str, at: usize) -> Result<(), SourceFault> {
    let (left, right) = line.split_once('|').ok_or_else(|| SourceFault::new("the line ends early", at))?;
    let left = left.strip_prefix("Avr:").unwrap_or(left);
    for (title, half) in [("compress", left), ("decompress", right)] {
        let words = half.split_whitespace().count();
        if words >= 4 {
            let speed = column(half, 0, at)? * 1024.0;
            sheet.readings.push(SourceReading::new(
                format!("seven_zip.{title}"),
                title,
                speed,
                bytes_per_second("bytes"),
            ));
        }
        let rating = column(half, words.max(3) - 1, at)? * 1e6;
        let id = format!("seven_zip.{title}_rating");
        sheet.readings.push(SourceReading::new(id, format!("{title} rating"), rating, rate("7-Zip instructions")));
    }
    Ok(())
}
