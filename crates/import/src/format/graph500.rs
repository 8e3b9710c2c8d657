//! Graph500: traversed edges a second of the searches, and the times to make the graph, of versions 2 and 3.

use super::{CodeFormat, Confidence, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, rate, seconds};
use crate::text::{SourceFault, axis_value, lines, need, number};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "graph500",
    tool: "Graph500",
    about: "the harmonic mean of traversed edges a second of each kernel by scale, edges and processes, the quartiles \
            as quantiles and the least and greatest search as a range, and the times of generation and construction",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let summary = sure(head, &["harmonic_mean_TEPS:"]);
    // The searches that it prints first may be longer than what is looked at.
    summary
        .max(sure(head, &["construction_time:", "Time for BFS "]))
        .max(sure(head, &["Time for SSSP ", "Running SSSP "]))
}

/// The summary of one run: names and values, with their lines.
type GraphSummary<'a> = Vec<(usize, &'a str, &'a str)>;

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    let mut summary: GraphSummary<'_> = Vec::new();
    for (at, line) in lines(source.text) {
        let line = line.trim();
        if let Some(scale) = line.strip_prefix("SCALE:") {
            add(&mut sheet, &std::mem::take(&mut summary))?;
            summary.push((at, "SCALE", scale.trim()));
        } else if let Some((name, value)) = line.split_once(':').filter(|_| !is_progress(line)) {
            let value = value.trim().trim_start_matches('!').trim_start();
            let name = name.trim();
            // Before its summary it prints times as it goes, which stand there again.
            if number(value.split_whitespace().next().unwrap_or_default()).is_none() || !is_member(name) {
                continue;
            }
            if !summary.is_empty() {
                summary.push((at, name, value));
            }
        } else if !is_progress(line) {
            continue;
        }
        source.took(at);
    }
    add(&mut sheet, &summary)?;
    Ok(Parsed::Sheets(vec![sheet]))
}

/// `Time for BFS 0 is 6.136887`, `TEPS for SSSP 63 is 2.27e+07`, `Validating BFS 0`, and the like.
fn is_progress(line: &str) -> bool {
    let kernel = ["BFS ", "SSSP "].iter().any(|kernel| line.contains(kernel));
    let begins = ["Running ", "Time for ", "TEPS for ", "Validating ", "Validate time for "];
    kernel && begins.iter().any(|words| line.starts_with(words))
}

/// Whether a name is one of the summary's.
fn is_member(name: &str) -> bool {
    let name = name.strip_prefix("bfs ").or_else(|| name.strip_prefix("sssp ")).unwrap_or(name).trim();
    let statistic = ["min", "firstquartile", "median", "thirdquartile", "max", "mean", "stddev", "harmonic_mean"];
    let of = name.rsplit_once('_');
    let stated = of.is_some_and(|(name, of)| {
        let known = ["time", "nedge", "TEPS", "validate"].contains(&of);
        known && (statistic.contains(&name) || name == "harmonic_stddev")
    });
    let setting = ["SCALE", "edgefactor", "NBFS", "nbfs", "nvtx", "terasize", "A", "B", "C", "D", "num_mpi_processes"];
    let built = ["graph_generation", "generation_time", "construction_time", "redistribution_time"];
    stated || setting.contains(&name) || built.contains(&name)
}

/// Adds the figures of a run.
fn add(sheet: &mut SourceSheet, summary: &GraphSummary<'_>) -> Result<(), SourceFault> {
    if summary.is_empty() {
        return Ok(());
    }
    sheet.begin_process();
    let find =
        |name: &str| summary.iter().find(|(_, known, _)| squeezed(known) == name).map(|(at, _, text)| (*at, *text));
    let numbered = |name: &str| {
        let found = find(name).filter(|(_, text)| number(text).is_some());
        found.map(|(at, text)| need(text, at).map(|value| (text, value))).transpose()
    };
    let searches = numbered("NBFS")?.or(numbered("nbfs")?).map_or(1.0, |(_, count)| count);
    let mut axes = Vec::new();
    for (axis, member) in [("scale", "SCALE"), ("edges", "edgefactor"), ("processes", "num_mpi_processes")] {
        axes.extend(find(member).map(|(_, value)| (axis, axis_value(value))));
    }
    let mut readings = Vec::new();
    for (kernel, title) in [("bfs", "Breadth-first search"), ("sssp", "Single-source shortest paths")] {
        // Version 2 has one kernel and does not name it.
        let member = |name: &str| {
            let named = numbered(&format!("{kernel} {name}"))?;
            if named.is_none() && kernel == "bfs" { numbered(name) } else { Ok(named) }
        };
        let Some((text, value)) = member("harmonic_mean_TEPS")?.filter(|(_, value)| *value > 0.0) else { continue };
        let mut reading = SourceReading::new(format!("graph500.{kernel}"), title, value, rate("traversed edges"));
        reading = significant(reading, text).counts(1, searches.clamp(1.0, 1e6) as u32);
        if let (Some((_, least)), Some((_, greatest))) = (member("min_TEPS")?, member("max_TEPS")?) {
            reading = reading.spread(SourceSpread::Range(least.min(value), greatest.max(value)));
        }
        for (quantile, name) in [(0.25, "firstquartile_TEPS"), (0.5, "median_TEPS"), (0.75, "thirdquartile_TEPS")] {
            reading.quantiles.extend(member(name)?.map(|(_, value)| (quantile, value)));
        }
        // It prints -1 for what it skipped.
        if member("mean_validate")?.is_some_and(|(_, time)| time < 0.0) {
            reading = reading.note("its searches were not validated");
        }
        readings.push(reading);
    }
    // A run that broke off has times and no result.
    if readings.is_empty() {
        return Err(SourceFault::new("the run that begins here has no harmonic mean of its searches", summary[0].0));
    }
    for (id, title, names) in [
        ("graph500.generation", "Generation of the edges", ["graph_generation", "generation_time"]),
        ("graph500.construction", "Construction of the graph", ["construction_time", "construction_time"]),
    ] {
        if let Some((text, value)) = numbered(names[0])?.or(numbered(names[1])?).filter(|(_, value)| *value > 0.0) {
            readings.push(significant(SourceReading::new(id, title, value, seconds("graph")), text));
        }
    }
    let placed =
        |reading: SourceReading| axes.iter().fold(reading, |reading, (axis, value)| reading.at(axis, value.clone()));
    sheet.readings.extend(readings.into_iter().map(placed));
    Ok(())
}

/// A name with one blank between its words: `bfs  min_TEPS`.
fn squeezed(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Keeps the precision of a number with six digits, without zeros at its end, or with its exponent.
fn significant(reading: SourceReading, text: &str) -> SourceReading {
    if text.contains(['e', 'E']) { reading.printed(text) } else { reading.rounded(5e-6) }
}
