//! The key figures: the few by which machines are usually told apart, in the order in which they are read.

use std::collections::HashSet;

use model::{Figure, Outcome, Run};

use crate::words::figure_label;

/// A figure that may stand for a line of the answer.
struct KeyFigure {
    /// The line; candidates for one line follow each other, the best first.
    line: u8,
    /// Its title.
    title: &'static str,
    probe: &'static str,
    /// Coordinates that its point must have; others may have any value.
    at: &'static [(&'static str, &'static str)],
}

const fn key(
    line: u8,
    title: &'static str,
    probe: &'static str,
    at: &'static [(&'static str, &'static str)],
) -> KeyFigure {
    KeyFigure { line, title, probe, at }
}

/// The lines. A title never claims more than the figure is: 64 MiB may lie in a cache, so its latency keeps its label.
const KEY: &[KeyFigure] = &[
    key(0, "memory bandwidth, all CPUs", "memory.triad", &[("threads", "all")]),
    key(0, "memory bandwidth, all CPUs", "memory.copy", &[("threads", "all")]),
    key(0, "memory bandwidth, one CPU", "memory.triad", &[("threads", "1"), ("stores", "best")]),
    key(0, "memory bandwidth, one CPU", "memory.copy", &[("threads", "1"), ("stores", "best")]),
    key(1, "memory latency", "memory.hierarchy_latency", &[("level", "memory")]),
    key(1, "", "memory.load_latency", &[("working_set", "64MiB")]),
    key(2, "one core, integers", "cpu.arithmetic", &[("type", "int")]),
    key(2, "one core, Dhrystone", "cpu.dhrystone", &[]),
    key(3, "one core, floating point", "cpu.arithmetic", &[("type", "double")]),
    key(3, "one core, Whetstone", "cpu.whetstone", &[]),
    key(4, "system call", "os.syscall_write", &[]),
    key(4, "system call", "os.syscall_getppid", &[]),
    key(5, "start a program", "os.fork_exec", &[("linking", "dynamic"), ("program", "hello")]),
    key(5, "start a static program", "os.fork_exec", &[("linking", "static")]),
    key(5, "start a program by a shell", "os.fork_shell", &[]),
    key(6, "hand over to another process", "os.context_switch", &[("processes", "2"), ("placement", "same_cpu")]),
    key(6, "pipe round trip, one CPU", "ipc.pipe_latency", &[("placement", "same_cpu")]),
    key(7, "TCP round trip, one CPU", "ipc.tcp_latency", &[("placement", "same_cpu")]),
    key(8, "durable write", "file.fsync", &[]),
];

/// Fewest lines that stand for a run; of one with fewer, the first figures of each probe are shown.
const LEAST: usize = 4;

/// Most lines.
const MOST: usize = 10;

const fn valued(figure: &Figure) -> bool {
    matches!(figure.outcome, Outcome::Measured(_) | Outcome::Below { .. } | Outcome::Modes(_))
}

fn meets(figure: &Figure, key: &KeyFigure) -> bool {
    figure.probe == key.probe && key.at.iter().all(|(axis, value)| figure.point.get(axis) == Some(value))
}

/// The key figures of a run with their titles: the first candidate of each line that has a value, else the first that
/// was requested, which says why it has none.
pub(super) fn key_figures(run: &Run) -> Vec<(String, &Figure)> {
    let requested: Vec<&Figure> = run.figures.iter().filter(|figure| !figure.is_condition()).collect();
    let mut found: Vec<(u8, String, &Figure)> = Vec::new();
    for has_value in [true, false] {
        for key in KEY {
            if found.iter().any(|(line, ..)| *line == key.line) {
                continue;
            }
            let fits = |figure: &&&Figure| meets(figure, key) && (valued(figure) || !has_value);
            if let Some(figure) = requested.iter().find(fits) {
                let title = if key.title.is_empty() { figure_label(figure) } else { key.title.to_owned() };
                found.push((key.line, title, figure));
            }
        }
    }
    found.sort_by_key(|(line, ..)| *line);
    if found.len() >= LEAST {
        return found.into_iter().map(|(_, title, figure)| (title, figure)).collect();
    }
    let mut seen: HashSet<String> = HashSet::new();
    let first = requested.into_iter().filter(|figure| seen.insert(figure.probe.clone()));
    first.take(MOST).map(|figure| (figure_label(figure), figure)).collect()
}
