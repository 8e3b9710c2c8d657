//! Tidy CSV of this program: one row for each result, as `export` writes it.

use model::{
    BenchmarkResult, Definition, Estimate, EstimateMethod, Footprint, Machine, Metric, Origin, Outcome, Plan, Run,
    Sample, Session,
};
use serde::de::DeserializeOwned;

use super::{CodeFormat, Confidence, Parsed, SourceText};
use crate::rows::RowLines;
use crate::text::{SourceFault, check_columns, need, shown};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "tidy-csv",
    tool: "Prony",
    about: "one row a result, as Prony exports it: everything but the single batches and footprints of samples",
    by_lines: false,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let columns = super::sure(head, &["benchmark", "parameters", "outcome", "method"]) == Confidence::Sure;
    if head.starts_with(b"run,") && columns { Confidence::Certain } else { Confidence::No }
}

/// Rows, at most: a thousand runs of five hundred results.
const MOST_ROWS: usize = 500_000;

/// A row, its line number, and the names of its columns.
struct TidyRow<'a> {
    names: &'a csv::StringRecord,
    cells: csv::StringRecord,
    line: usize,
}

impl TidyRow<'_> {
    fn get(&self, name: &str) -> Result<&str, SourceFault> {
        let at = self.names.iter().position(|known| known == name);
        at.and_then(|at| self.cells.get(at))
            .ok_or_else(|| SourceFault::new(format!("there is no column '{name}'"), self.line))
    }

    /// An optional column, which only adds to a result.
    fn maybe(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    fn some(&self, name: &str) -> Option<String> {
        Some(self.maybe(name).to_owned()).filter(|text| !text.is_empty())
    }

    fn number(&self, name: &str) -> Result<f64, SourceFault> {
        need(self.get(name)?, self.line)
    }

    fn count(&self, name: &str) -> Result<u32, SourceFault> {
        let text = self.get(name)?;
        text.parse().map_err(|_| SourceFault::new(format!("'{}' is not a count", shown(text)), self.line))
    }

    /// A value in the spelling of the run document.
    fn word<T: DeserializeOwned>(&self, name: &str, word: &str) -> Result<T, SourceFault> {
        serde_json::from_value(serde_json::Value::String(word.to_owned()))
            .map_err(|_| SourceFault::new(format!("'{}' is not a valid {name}", shown(word)), self.line))
    }

    fn words<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, SourceFault> {
        self.maybe(name).split_whitespace().map(|word| self.word(name, word)).collect()
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, SourceFault> {
        serde_json::from_str(self.get(name)?)
            .map_err(|_| SourceFault::new(format!("its {name} is malformed"), self.line))
    }
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    check_columns(source.text)?;
    let mut reader = csv::Reader::from_reader(source.text.as_bytes());
    let mut lines = RowLines::new(source.text);
    let fault = |line| SourceFault::new("the row and the heading differ in length", line);
    let names = reader.headers().map_err(|_| fault(1))?.clone();
    let mut runs: Vec<Run> = Vec::new();
    let mut places = std::collections::HashMap::new();
    let mut seen = std::collections::HashSet::new();
    for record in reader.records() {
        let cells = record.map_err(|error| fault(lines.at(error.position())))?;
        let line = lines.at(cells.position());
        let row = TidyRow { names: &names, cells, line };
        let id = row.get("run")?.to_owned();
        if id.is_empty() {
            return Err(SourceFault::new("the run has no name", line));
        }
        let at = match places.get(&id) {
            Some(at) => *at,
            None => {
                runs.push(run(&row, id.clone()));
                places.insert(id.clone(), runs.len() - 1);
                runs.len() - 1
            }
        };
        let result = result(&row)?;
        if seen.len() == MOST_ROWS {
            return Err(SourceFault::new(format!("it has more than {MOST_ROWS} rows"), line));
        }
        if !seen.insert((at, result.key())) {
            return Err(SourceFault::new(format!("{} of run {} occurs twice", result.key(), shown(&id)), line));
        }
        runs[at].results.push(result);
    }
    if runs.is_empty() {
        return Err(SourceFault::new("it ends before any result", 1));
    }
    Ok(Parsed::Runs(runs))
}

fn run(row: &TidyRow<'_>, id: String) -> Run {
    let origin = row.some("tool").map(|tool| Origin {
        tool,
        version: row.some("version"),
        document: row.some("document"),
        sha256: row.some("sha256"),
        attribution: row.some("attribution"),
    });
    Run {
        id,
        label: row.some("label"),
        origin,
        machine: Machine { name: row.maybe("machine").to_owned(), ..Machine::default() },
        session: Session { started: row.maybe("started").to_owned(), complete: true, ..Session::default() },
        plan: Plan { suite: "import:tidy-csv".to_owned(), ..Plan::default() },
        ..Run::default()
    }
}

fn definition(row: &TidyRow<'_>) -> Result<Definition, SourceFault> {
    match row.maybe("definition").split_once(": ") {
        None if row.maybe("definition").is_empty() => Ok(Definition::Same),
        Some(("near", differs)) => Ok(Definition::Near(differs.to_owned())),
        Some(("other", differs)) => Ok(Definition::Other(differs.to_owned())),
        _ => Err(SourceFault::new("a definition is neither 'near: ...' nor 'other: ...'", row.line)),
    }
}

fn result(row: &TidyRow<'_>) -> Result<BenchmarkResult, SourceFault> {
    let samples = |(round, word): (u32, &str)| Ok(Sample { round, value: need(word, row.line)?, ..Sample::default() });
    let samples = (0..).zip(row.maybe("values").split_whitespace()).map(samples).collect::<Result<_, SourceFault>>()?;
    let parameters = row.get("parameters")?.parse();
    let notes = row.maybe("notes").split(" | ").filter(|note| !note.is_empty());
    let benchmark = row.get("benchmark")?.to_owned();
    if benchmark.is_empty() {
        return Err(SourceFault::new("the result has no benchmark", row.line));
    }
    let result = BenchmarkResult {
        benchmark,
        parameters: parameters.map_err(|error: model::Error| {
            SourceFault::new(error.to_string().replace("could not", "cannot"), row.line)
        })?,
        stands_for: None,
        definition: definition(row)?,
        title: row.get("title")?.to_owned(),
        metric: Metric {
            unit: row.word("unit", row.get("unit")?)?,
            per: row.maybe("per").to_owned().into(),
            better: row.word("direction", row.get("better")?)?,
        },
        class: row.word("class", row.get("class")?)?,
        stresses: row.words("stresses")?,
        outcome: outcome(row)?,
        flags: row.words("flags")?,
        ops: 0,
        amount: 1.0,
        variant: row.some("variant"),
        resolution: row.some("resolution").map(|text| need(&text, row.line)).transpose()?,
        rounding: row.some("rounding").map(|text| need(&text, row.line)).transpose()?,
        quantiles: if row.maybe("quantiles").is_empty() { Vec::new() } else { row.json("quantiles")? },
        notes: notes.map(str::to_owned).collect(),
        footprint: Footprint::default(),
        sensors: None,
        samples,
    };
    result.fault().map_or(Ok(result), |fault| Err(SourceFault::new(fault, row.line)))
}

fn outcome(row: &TidyRow<'_>) -> Result<Outcome, SourceFault> {
    Ok(match row.get("outcome")? {
        "measured" => {
            let estimate = Estimate {
                value: row.number("value")?,
                low: row.number("low")?,
                high: row.number("high")?,
                level: row.number("level")?,
                samples: row.count("samples")?,
                batches: row.count("batches")?,
                method: row.word::<EstimateMethod>("method", row.get("method")?)?,
            };
            Outcome::Measured(estimate)
        }
        "below" => Outcome::Below { bound: row.number("high")? },
        "modes" => Outcome::Modes(row.json("detail")?),
        "not_measured" => Outcome::NotMeasured(row.get("detail")?.to_owned()),
        "failed" => Outcome::Failed(row.get("detail")?.to_owned()),
        other => return Err(SourceFault::new(format!("'{}' is not an outcome", shown(other)), row.line)),
    })
}
