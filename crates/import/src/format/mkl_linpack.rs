//! The shared-memory Linpack of Intel's MKL: trials of each size in one process, then their average and greatest.

use model::Primitive;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::ctime;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, number as fact, rate};
use crate::text::{SourceFault, axis_value, first_number, lines, need, number, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "mkl-linpack",
    tool: "MKL Linpack",
    about: "the average rate of each size and the least and greatest of its trials in one process; a trial whose residual \
            check failed is left out",
    by_lines: true,
    detect: |head| {
        sure(head, &["Timing linear equation system solver"])
            .max(sure(head, &["Performance Summary (GFlops)", "LDA", "Align."]))
    },
    parse,
};

/// One size with its arrays' leading dimension and alignment.
#[derive(Default)]
struct LinpackSize {
    size: String,
    leading: String,
    alignment: String,
    /// Rates of its trials, as printed.
    trials: Vec<f64>,
    failed: usize,
    /// Its average in the summary, and the digits of that.
    average: Option<(f64, String)>,
}

/// The process whose output is read.
#[derive(Default)]
struct LinpackProcess {
    sizes: Vec<LinpackSize>,
    threads: Option<String>,
    /// Names of the open table's columns.
    columns: Vec<String>,
}

impl LinpackProcess {
    fn of(&mut self, words: [&str; 3]) -> &mut LinpackSize {
        let [size, leading, alignment] = words.map(axis_value);
        let same =
            |known: &LinpackSize| (&known.size, &known.leading, &known.alignment) == (&size, &leading, &alignment);
        let place = self.sizes.iter().position(same).unwrap_or_else(|| {
            self.sizes.push(LinpackSize { size, leading, alignment, ..LinpackSize::default() });
            self.sizes.len() - 1
        });
        &mut self.sizes[place]
    }
}

/// Beginnings of lines that say what it is about to do, or how it went.
const NOTHING: [&str; 13] = [
    "Intel(R) Optimized LINPACK Benchmark data",
    "Sample data file",
    "Number of tests",
    "Number of equations",
    "Leading dimension",
    "Number of trials",
    "Data alignment value",
    "Maximum memory requested",
    "Parameters are set",
    "Performance Summary",
    "Residual checks",
    "End of tests",
    "Done:",
];

/// Lines of the machine: name, fact.
const FACTS: [(&str, &str); 2] = [("Number of CPUs", "cpu.sockets"), ("Number of cores", "cpu.cores")];

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut process = LinpackProcess::default();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name == "Current date/time" || name == "CPU frequency" || line.contains("Timing linear equation") {
            // Any of them begins the output of a process that has a table above.
            if !process.sizes.is_empty() {
                finish(&mut sheet, std::mem::take(&mut process));
            }
            describe(&mut sheet, name, value);
        } else if let Some((_, known)) = FACTS.iter().find(|(begin, _)| *begin == name) {
            machine(&mut sheet, known, value, at)?;
        } else if name == "Number of threads" {
            if !process.sizes.is_empty() {
                finish(&mut sheet, std::mem::take(&mut process));
            }
            process.threads = Some(axis_value(value));
        } else if words.starts_with(&["Size", "LDA", "Align."]) {
            process.columns = columns(&words, at)?;
        } else if is_row(&words) && !process.columns.is_empty() {
            row(&mut process, &words, at)?;
        } else if !NOTHING.iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        source.took(at);
    }
    finish(&mut sheet, process);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// When it began, and the clock that it found.
fn describe(sheet: &mut SourceSheet, name: &str, value: &str) {
    if name == "Current date/time" && sheet.started.is_empty() {
        // The year stands last: a word behind it takes the place of the zone.
        sheet.started = ctime(&format!("{value} -"));
    } else if name == "CPU frequency" {
        let clock = value.trim().strip_suffix("GHz").and_then(number);
        sheet.fact(clock.map(|clock| fact("cpu.clock", clock * 1e9, "Hz", "output", &[Primitive::CoreClock])));
    }
}

/// A count of the machine's parts. Processes that count other ones are of other machines.
fn machine(sheet: &mut SourceSheet, name: &str, value: &str, at: usize) -> Result<(), SourceFault> {
    let Some(count) = first_number(value) else { return Ok(()) };
    let stated = fact(name, count, "1", "output", &[]);
    if sheet.facts.iter().any(|known| known.name == name && known.value != stated.value) {
        return Err(SourceFault::new("its processes ran on different machines: import the output of each", at));
    }
    sheet.fact(Some(stated));
    Ok(())
}

fn columns(words: &[&str], at: usize) -> Result<Vec<String>, SourceFault> {
    const KNOWN: [&str; 10] =
        ["Size", "LDA", "Align.", "Time(s)", "GFlops", "Residual", "Residual(norm)", "Check", "Average", "Maximal"];
    if let Some(other) = words.iter().find(|word| !KNOWN.contains(word)) {
        return Err(SourceFault::new(format!("its column '{}' is not known", shown(other)), at));
    }
    Ok(words.iter().map(|word| (*word).to_owned()).collect())
}

/// Sizes, leading dimensions and alignments are whole numbers.
fn is_row(words: &[&str]) -> bool {
    words.len() > 3 && words[..3].iter().all(|word| word.parse::<u64>().is_ok())
}

fn row(process: &mut LinpackProcess, words: &[&str], at: usize) -> Result<(), SourceFault> {
    let names = std::mem::take(&mut process.columns);
    if words.len() != names.len() {
        let (has, names) = (words.len(), names.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |name: &str| names.iter().position(|known| known == name).map(|place| words[place]);
    let size = process.of([words[0], words[1], words[2]]);
    if let Some(average) = cell("Average") {
        size.average = Some((need(average, at)?, average.to_owned()));
    } else {
        let value = need(cell("GFlops").unwrap_or_default(), at)?;
        match cell("Check") {
            None | Some("pass") => size.trials.push(value),
            Some(_) => size.failed += 1,
        }
    }
    process.columns = names;
    Ok(())
}

/// The process ends: its sizes are figures.
fn finish(sheet: &mut SourceSheet, process: LinpackProcess) {
    sheet.begin_process();
    for size in process.sizes {
        let trials = &size.trials;
        let mean = trials.iter().sum::<f64>() / trials.len() as f64;
        // The summary averages trials that failed too.
        let stated = size.average.filter(|_| size.failed == 0);
        let Some(value) = stated.as_ref().map(|(average, _)| *average).or(Some(mean).filter(|mean| mean.is_finite()))
        else {
            sheet.notes.push(format!("size {}: every trial failed its residual check", size.size));
            continue;
        };
        let metric = rate("floating-point operations");
        let mut reading = SourceReading::new("mkl_linpack.flops", "Linpack", value * 1e9, metric);
        reading = reading.at("size", size.size).at("leading", size.leading).at("alignment", size.alignment + "KiB");
        if let Some(threads) = &process.threads {
            reading = reading.at("threads", threads.clone());
        }
        match &stated {
            Some((_, digits)) => reading = reading.printed_in(digits, 1e9),
            None => reading = reading.note("the average over its trials, which it did not print"),
        }
        if size.failed > 0 {
            reading = reading.note(format!("{} trials failed their residual check and are left out", size.failed));
        }
        if trials.len() > 1 {
            let least = trials.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = trials.iter().copied().fold(0.0, f64::max);
            reading = reading.spread(SourceSpread::Range(least * 1e9, greatest * 1e9));
        }
        sheet.readings.push(reading.counts(1, u32::try_from(trials.len()).unwrap_or(u32::MAX)));
    }
}
