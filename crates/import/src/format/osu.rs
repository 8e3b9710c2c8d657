//! OSU micro-benchmarks: a table of message sizes for each test, or one row without sizes.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, axis_value, between, lines, need, shown, snake};
use model::{Metric, Unit};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "osu",
    tool: "OSU micro-benchmarks",
    about: "latency, bandwidth or message rate by size; least and greatest over ranks, where printed, are the range",
    by_lines: true,
    detect: |head| sure(head, &["# OSU MPI"]).max(sure(head, &["# OSU ", "Size"])).max(sure(head, &["# OSU ", "(us)"])),
    parse,
};

/// Content of a column.
#[derive(Clone, Copy, PartialEq)]
enum OsuColumn {
    Size,
    Latency,
    Least,
    Greatest,
    Bandwidth,
    Messages,
    /// Part of a non-blocking operation's time: end of the id.
    Part(&'static str),
    Overlap,
    /// A quantile of the repetitions.
    Tail(f64),
    Iterations,
    /// `Pass`, of a run that validates its data.
    Validation,
}

const COLUMNS: &[(&str, OsuColumn)] = &[
    ("Size", OsuColumn::Size),
    ("Latency (us)", OsuColumn::Latency),
    ("Latency(us)", OsuColumn::Latency),
    ("Avg Latency(us)", OsuColumn::Latency),
    ("Avg Lat(us)", OsuColumn::Latency),
    ("Min Latency(us)", OsuColumn::Least),
    ("Min Lat(us)", OsuColumn::Least),
    ("Max Latency(us)", OsuColumn::Greatest),
    ("Max Lat(us)", OsuColumn::Greatest),
    ("Bandwidth (MB/s)", OsuColumn::Bandwidth),
    ("MB/s", OsuColumn::Bandwidth),
    ("Messages/s", OsuColumn::Messages),
    ("Overall(us)", OsuColumn::Latency),
    ("Compute(us)", OsuColumn::Part("compute")),
    ("Coll. Init(us)", OsuColumn::Part("initiation")),
    ("MPI_Test(us)", OsuColumn::Part("test")),
    ("MPI_Wait(us)", OsuColumn::Part("wait")),
    ("Pure Comm.(us)", OsuColumn::Part("pure_communication")),
    ("Overlap(%)", OsuColumn::Overlap),
    ("P50 Tail Lat(us)", OsuColumn::Tail(0.5)),
    ("P90 Tail Lat(us)", OsuColumn::Tail(0.9)),
    ("P95 Tail Lat(us)", OsuColumn::Tail(0.95)),
    ("P99 Tail Lat(us)", OsuColumn::Tail(0.99)),
    ("Iterations", OsuColumn::Iterations),
    ("Validation", OsuColumn::Validation),
];

/// The test whose table is read.
#[derive(Default)]
struct OsuTest {
    name: String,
    columns: Vec<OsuColumn>,
    /// Axes that the lines above the table state.
    axes: Vec<(&'static str, String)>,
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut test = OsuTest::default();
    let mut ranks = None;
    for (at, line) in lines(source.text) {
        // A mail quotes what it answers.
        let line = line.trim_start_matches(['\u{feff}', '>', ' ', '\t']).trim_end();
        if let Some(words) = between(line, "# OSU", "Test") {
            let name = snake(words.trim_start_matches("MPI").trim_start_matches('_'));
            sheet.version = line.rsplit(" v").next().filter(|rest| rest.len() < line.len()).map(str::to_owned);
            // Tests between two ranks are alike in every process; of others the number of ranks must be stated.
            if ranks.is_some() || ["latency", "bandwidth", "bi_directional_bandwidth"].contains(&name.as_str()) {
                sheet.begin_process();
            }
            test = OsuTest { name, ..OsuTest::default() };
            test.axes.extend(ranks.clone().map(|ranks| ("ranks", ranks)));
        } else if let Some(count) = launched(line) {
            ranks = Some(count);
        } else if let Some(pairs) = between(line, "[ pairs:", "]") {
            test.axes.push(("pairs", axis_value(pairs)));
            test.axes.extend(between(line, "[ window size:", "]").map(|window| ("window", axis_value(window))));
        } else if let Some(setting) = setting(line) {
            test.axes.retain(|(axis, _)| setting.as_ref().is_none_or(|(new, _)| axis != new));
            test.axes.extend(setting);
        } else if !test.name.is_empty() && is_heading(line) {
            test.columns = columns(line.trim_start_matches('#'), at)?;
        } else if !test.columns.is_empty() && line.starts_with(|c: char| c.is_ascii_digit()) {
            row(&mut sheet, &test, line, at)?;
        } else {
            continue;
        }
        source.took(at);
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// Settings that a line above the table states: where the buffers are, what is sent, how a window is made and
/// completed.
fn setting(line: &str) -> Option<Option<(&'static str, String)>> {
    let line = line.strip_prefix('#')?.trim();
    if let (Some(send), Some(receive)) = (between(line, "Send Buffer on", "("), between(line, "Receive Buffer on", "("))
    {
        return Some(Some(("buffers", axis_value(&format!("{send}-{receive}").to_ascii_lowercase()))));
    }
    let (name, value) = line.split_once(':')?;
    let value = axis_value(value.trim().trim_end_matches('.'));
    match name.trim() {
        // What it sends unless told otherwise.
        "Datatype" if value == "MPI_CHAR" => Some(None),
        "Datatype" => Some(Some(("datatype", value))),
        "Window creation" => Some(Some(("window_creation", value))),
        "Synchronization" => Some(Some(("synchronization", value))),
        _ => None,
    }
}

/// Number of ranks of a command that starts a test: `mpirun -np 4 ... osu_allreduce`.
fn launched(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let starts = words.iter().any(|word| ["mpirun", "mpiexec", "srun"].iter().any(|name| word.ends_with(name)));
    let option =
        words.iter().position(|word| ["-np", "-n"].contains(word)).filter(|_| starts && line.contains("osu_"))?;
    words.get(option + 1).filter(|count| count.parse::<u32>().is_ok()).map(|count| (*count).to_owned())
}

fn is_heading(line: &str) -> bool {
    let names = line.trim_start_matches('#').trim_start();
    // Versions before 3 put tabs between them.
    let first = names.split("  ").flat_map(|part| part.split('\t')).next().unwrap_or_default().trim();
    COLUMNS.iter().any(|(known, _)| *known == first)
}

/// The columns, whose names stand at least two blanks apart.
fn columns(heading: &str, at: usize) -> Result<Vec<OsuColumn>, SourceFault> {
    let names = heading.split("  ").flat_map(|part| part.split('\t')).map(str::trim).filter(|name| !name.is_empty());
    let known = |name: &str| {
        let found = COLUMNS.iter().find(|(known, _)| *known == name).map(|(_, column)| *column);
        found.ok_or_else(|| SourceFault::new(format!("its column '{}' is not known", shown(name)), at))
    };
    names.map(known).collect()
}

fn row(sheet: &mut SourceSheet, test: &OsuTest, line: &str, at: usize) -> Result<(), SourceFault> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() != test.columns.len() {
        let (has, names) = (words.len(), test.columns.len());
        return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
    }
    let cell = |wanted: OsuColumn| test.columns.iter().position(|column| *column == wanted).map(|at| words[at]);
    let time = |wanted: OsuColumn| cell(wanted).map(|word| Ok(need(word, at)? * 1e-6)).transpose();
    let size = match cell(OsuColumn::Size) {
        Some(word) => Some(word.parse::<u64>().map_err(|_| SourceFault::new("the size is not a whole number", at))?),
        None => None,
    };
    let named =
        |end: &str| if end.is_empty() { format!("osu.{}", test.name) } else { format!("osu.{}_{end}", test.name) };
    let mut tails = Vec::new();
    let mut readings: Vec<SourceReading> = Vec::new();
    for (column, word) in test.columns.iter().zip(&words) {
        readings.push(match column {
            OsuColumn::Latency => {
                let spread = match (time(OsuColumn::Least)?, time(OsuColumn::Greatest)?) {
                    (Some(least), Some(greatest)) => SourceSpread::Range(least, greatest),
                    _ => SourceSpread::None,
                };
                let ranks = spread != SourceSpread::None;
                let reading = SourceReading::new(named(""), &test.name, need(word, at)? * 1e-6, seconds("message"));
                let reading = reading.printed_in(word, 1e-6).spread(spread);
                if ranks { reading.note("the range is over ranks, not over repetitions") } else { reading }
            }
            OsuColumn::Bandwidth => {
                let value = need(word, at)? * 1e6;
                SourceReading::new(named(""), &test.name, value, bytes_per_second("bytes")).printed_in(word, 1e6)
            }
            OsuColumn::Messages => {
                SourceReading::new(named("messages"), "Message rate", need(word, at)?, rate("messages"))
            }
            OsuColumn::Part(name) => {
                let value = need(word, at)? * 1e-6;
                SourceReading::new(named(name), *name, value, seconds("message")).printed_in(word, 1e-6)
            }
            OsuColumn::Overlap => {
                let metric = Metric::higher(Unit::Ratio, "communication hidden");
                SourceReading::new(named("overlap"), "Overlap", need(word, at)? / 100.0, metric)
            }
            OsuColumn::Tail(quantile) => {
                tails.push((*quantile, need(word, at)? * 1e-6));
                continue;
            }
            _ => continue,
        });
    }
    if let Some(main) = readings.iter_mut().find(|reading| reading.id == named("")) {
        main.quantiles = tails;
    }
    sheet.readings.extend(readings.into_iter().map(|reading| placed(reading, size, test)));
    Ok(())
}

fn placed(reading: SourceReading, size: Option<u64>, test: &OsuTest) -> SourceReading {
    let reading = match size {
        Some(size) => reading.at("size", model::format_size(size)),
        None => reading,
    };
    test.axes.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()))
}
