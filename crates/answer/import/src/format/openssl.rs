//! `openssl speed`: rates of ciphers and digests by block size, and operations a second of public keys.

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, text};
use crate::text::{SourceFault, after, between, lines, name_value, need, number, parameter_value, shown, snake};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "openssl-speed",
    tool: "openssl speed",
    about: "rates by block size, and signatures, verifications and operations a second; no spread is stated",
    by_lines: true,
    detect: |head| {
        sure(head, &["in 1000s of bytes per second processed"])
            .max(sure(head, &["Forked child 0", "Got: +"]))
            .max(sure(head, &[" sign    verify    sign/s verify/s"]))
    },
    parse,
};

/// The table whose rows follow.
enum OpensslTable {
    None,
    /// Sizes of blocks, bytes.
    Blocks(Vec<String>),
    /// Names of columns of a table of public keys.
    Keys(Vec<String>),
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let (mut table, mut thousands) = (OpensslTable::None, false);
    // Processes of -multi, whose results the parent adds up.
    let mut children = None::<OpensslChildren>;
    let mut settings = OpensslSettings::default();
    for (at, line) in lines(source.text) {
        let trimmed = line.trim();
        let words: Vec<&str> = trimmed.split_whitespace().collect();
        settings.take(trimmed);
        if trimmed.starts_with("OpenSSL ") || trimmed.starts_with("LibreSSL ") || trimmed.starts_with("version:") {
            let version = words.get(1).filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            sheet.states_version(version.map(|word| (*word).to_owned()).unwrap_or_default());
        } else if let Some(child) = trimmed.strip_prefix("Forked child ").and_then(|number| number.parse::<u32>().ok())
        {
            if child == 0 {
                sheet.begin_process();
                settings.begin(sheet.readings.len());
                (table, children) = (OpensslTable::None, None);
            }
            children.get_or_insert_with(|| OpensslChildren::of(settings.processes.take())).forked(child);
        } else if children.is_some() && trimmed.starts_with("Doing ") {
            // A process without children begins.
            (table, children) = (OpensslTable::None, None);
        } else if let Some(stated) = of_child(trimmed) {
            children.iter_mut().for_each(|children| children.heard(trimmed));
            // Since 3.0 the parent prints no sizes itself.
            if let Some(sizes) = stated.filter(|_| children.is_some()) {
                table = OpensslTable::Blocks(sizes);
            }
        } else if trimmed.contains("in 1000s of bytes per second") {
            thousands = true;
            if children.is_none() {
                sheet.begin_process();
            }
            settings.begin(sheet.readings.len());
        } else if words.first() == Some(&"type") && words.len() >= 3 {
            if !thousands {
                return Err(SourceFault::new("the unit of this table is not stated above it", at));
            }
            table = OpensslTable::Blocks(blocks(&words[1..], at)?);
        } else if !words.is_empty() && words.iter().all(|word| is_key_column(word)) {
            table = OpensslTable::Keys(words.iter().map(|word| (*word).to_owned()).collect());
        } else if let Some(compiler) = trimmed.strip_prefix("compiler:") {
            sheet.fact(text("compiler", &name_value(compiler), "output", &[]));
        } else if !is_progress(trimmed) {
            let readings = match &table {
                OpensslTable::Blocks(sizes) => of_blocks(sizes, trimmed, at)?,
                OpensslTable::Keys(columns) => of_keys(columns, trimmed, at)?,
                OpensslTable::None => Vec::new(),
            };
            if readings.is_empty() {
                continue;
            }
            sheet.readings.extend(readings.into_iter().map(|reading| together(reading, children.as_ref())));
        }
        source.took(at);
    }
    settings.tell(&mut sheet);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Children of -multi.
#[derive(Default)]
struct OpensslChildren {
    /// How many the command asked for.
    asked: Option<String>,
    /// Lines that say that one was forked.
    lines: u32,
    /// The greatest number of one, from 0.
    greatest: u32,
}

impl OpensslChildren {
    fn of(asked: Option<String>) -> Self {
        Self { asked, ..Self::default() }
    }

    fn forked(&mut self, child: u32) {
        self.lines += 1;
        self.greatest = self.greatest.max(child);
    }

    /// `Got: +F2:4:4096:145.433333:4963.200000 from 255`
    fn heard(&mut self, line: &str) {
        let child = line.rsplit_once(" from ").and_then(|(_, number)| number.parse().ok());
        self.greatest = self.greatest.max(child.unwrap_or_default());
    }
}

/// What so many children of -multi did together. An abridged output lacks the lines of some of them.
fn together(reading: SourceReading, children: Option<&OpensslChildren>) -> SourceReading {
    let Some(children) = children else { return reading };
    let all = children.lines == children.greatest.saturating_add(1);
    let counted = || if all { children.lines.to_string() } else { "unstated".to_owned() };
    reading.at("processes", children.asked.clone().unwrap_or_else(counted))
}

/// What each process divides its counts by, and what does its work.
#[derive(Default)]
struct OpensslSettings {
    elapsed: Option<bool>,
    engine: Option<String>,
    /// How many processes the command asked for.
    processes: Option<String>,
    /// Both, with the numbers of readings before each process.
    times: Vec<(usize, String)>,
    engines: Vec<(usize, String)>,
}

impl OpensslSettings {
    fn take(&mut self, line: &str) {
        if line.contains("openssl speed ") {
            self.elapsed = Some(line.contains(" -elapsed"));
            self.processes =
                after(line, "-multi ").and_then(|rest| rest.split_whitespace().next()).map(parameter_value);
            self.engine = None;
        } else if line.contains("measure elapsed time") {
            self.elapsed = Some(true);
        } else if line.starts_with("Doing ") {
            self.elapsed = self.elapsed.or(Some(false));
        } else if let Some(engine) = between(line, "ngine \"", "\" set") {
            self.engine = Some(engine.to_owned());
        }
    }

    /// The results of a process begin.
    fn begin(&mut self, before: usize) {
        let time = match self.elapsed.take() {
            Some(true) => "elapsed",
            Some(false) => "cpu",
            None => "unstated",
        };
        self.times.push((before, time.to_owned()));
        self.engines
            .push((before, self.engine.take().map_or_else(|| "none".to_owned(), |engine| parameter_value(&engine))));
    }

    /// A rate in elapsed time and one in CPU time are no samples of each other, least of all where a device does the
    /// work.
    fn tell(self, sheet: &mut SourceSheet) {
        let has = |wanted: &str| self.times.iter().any(|(_, time)| time == wanted);
        if has("cpu") && has("elapsed") {
            sheet.tell_apart("time", &self.times);
        } else if has("cpu") {
            sheet.notes.push("rates are per second of CPU time: -elapsed was not given".to_owned());
        }
        if !self.engines.is_empty() {
            sheet.tell_apart("engine", &self.engines);
        }
    }
}

/// Whether a line is of a child of -multi or of -mr, whose numbers have no units; the sizes of blocks that it states.
fn of_child(line: &str) -> Option<Option<Vec<String>>> {
    let line = line.strip_prefix("Got: ").unwrap_or(line);
    let (kind, rest) = line.strip_prefix('+')?.split_once(':')?;
    if kind != "H" {
        return Some(None);
    }
    let sizes = rest.split(" from ").next().unwrap_or_default().split(':');
    let sizes: Vec<String> = sizes.filter(|size| size.parse::<u64>().is_ok()).map(str::to_owned).collect();
    Some(Some(sizes).filter(|sizes| !sizes.is_empty()))
}

/// Lines before the tables: counts of single runs, and how the library was built.
fn is_progress(line: &str) -> bool {
    [
        "Doing ",
        "built on:",
        "options:",
        "CPUINFO:",
        "You have chosen",
        "available timing",
        "timing function",
        "To get the most",
    ]
    .iter()
    .any(|begin| line.starts_with(begin))
}

/// `16 bytes     64 bytes`
fn blocks(words: &[&str], at: usize) -> Result<Vec<String>, SourceFault> {
    let pairs: Vec<_> = words.chunks(2).collect();
    let size = |pair: &&[&str]| match pair {
        [size, "bytes"] if size.parse::<u64>().is_ok() => Ok((*size).to_owned()),
        _ => Err(SourceFault::new(format!("its column '{}' is not known", shown(&pair.join(" "))), at)),
    };
    pairs.iter().map(size).collect()
}

fn is_key_column(word: &str) -> bool {
    [
        "sign",
        "verify",
        "sign/s",
        "verify/s",
        "op",
        "op/s",
        "encrypt",
        "decrypt",
        "encrypt/s",
        "decrypt/s",
        "encr./s",
        "decr./s",
        "keygen",
        "encaps",
        "decaps",
        "keygens/s",
        "encaps/s",
        "decaps/s",
        "keygen/s",
        "signs",
        "signs/s",
    ]
    .contains(&word)
}

/// `aes-128-cbc     106865.63k   325850.30k`; below ten thousand bytes a second there is no k.
fn of_blocks(sizes: &[String], line: &str, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(name) =
        words.len().checked_sub(sizes.len()).filter(|count| *count > 0).map(|count| words[..count].join(" "))
    else {
        return Ok(Vec::new());
    };
    let cells = &words[words.len() - sizes.len()..];
    if !cells.iter().all(|cell| cell.contains('.') && number(cell.trim_end_matches('k')).is_some()) {
        return Ok(Vec::new());
    }
    let reading = |(size, cell): (&String, &&str)| {
        let digits = cell.trim_end_matches('k');
        let scale = if digits.len() < cell.len() { 1e3 } else { 1.0 };
        let value = need(digits, at)? * scale;
        let reading = SourceReading::new("openssl.throughput", "Throughput", value, bytes_per_second("bytes"));
        // Before 3.0, `aes-128 cbc` is the code without the CPU's instructions, and `aes-128-cbc` that of -evp.
        let name = parameter_value(&name).to_ascii_lowercase();
        Ok(reading.printed_in(digits, scale).at("algorithm", name).at("block", format!("{size}B")))
    };
    sizes.iter().zip(cells).map(reading).collect()
}

/// `rsa 2048 bits 0.000643s 0.000018s   1556.1  54334.8`: times, then rates, which are read.
fn of_keys(columns: &[String], line: &str, at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(first) = words.len().checked_sub(columns.len()).filter(|count| *count > 0) else { return Ok(Vec::new()) };
    let name = parameter_value(&words[..first].join(" "));
    let mut readings = Vec::new();
    for (column, cell) in columns.iter().zip(&words[first..]) {
        let Some(operation) = column.strip_suffix("/s") else { continue };
        // Rates have one decimal: without it, the file was cut off inside one.
        if number(cell).is_none() || !cell.contains('.') || cell.ends_with('.') {
            return Ok(Vec::new());
        }
        let operation = match operation {
            "op" => "operation",
            "encr." => "encrypt",
            "decr." => "decrypt",
            other => other.trim_end_matches('s'),
        };
        let id = format!("openssl.{}", snake(operation));
        let reading = SourceReading::new(id, operation, need(cell, at)?, rate("operations")).printed_in(cell, 1.0);
        readings.push(reading.at("key", name.clone()));
    }
    Ok(readings)
}
