//! Points of documents that were written before a definition got an axis.
//!
//! An id never changes its meaning: where a definition changed, the figure got an axis, and what was measured before is
//! a value on it. Documents without the axis get that value when they are read.
//!
//! What earlier versions derived from other figures may have come out below 0, which was no value: it is the reason
//! that today's version gives.

use crate::{Definition, EstimateMethod, FactValue, Figure, FigureKey, MIB, Machine, Outcome, Point, Run};

/// An axis that a probe got after documents of it had been written.
struct LaterAxis {
    probe: &'static str,
    axis: &'static str,
    /// What this program measured before.
    ours: &'static str,
    /// What other programs measure under this id, if it is one of the values.
    theirs: Option<&'static str>,
}

const fn later(probe: &'static str, axis: &'static str, ours: &'static str, theirs: Option<&'static str>) -> LaterAxis {
    LaterAxis { probe, axis, ours, theirs }
}

const LATER: &[LaterAxis] = &[
    later("os.exec", "linking", "static", Some("dynamic")),
    later("os.fork_exec", "linking", "static", Some("dynamic")),
    later("os.fork_shell", "linking", "static", Some("dynamic")),
    later("os.thread_create", "runtime", "rust", None),
    later("os.mmap", "laid", "by_page", None),
    later("memory.memcpy", "piece", "1MiB", Some("whole")),
    later("memory.parallelism", "slices", "again", None),
    later("ipc.rpc_udp_latency", "messages", "direct", Some("library")),
    later("ipc.rpc_tcp_latency", "messages", "direct", Some("library")),
    later("file.write", "durability", "none", None),
    later("file.copy", "durability", "none", None),
    later("file.sequential_read", "length", "64MiB", None),
    later("file.sequential_write", "length", "64MiB", None),
    later("shell.compile", "program", "large", Some("small")),
    later("shell.compile", "placement", "free", Some("free")),
    later("shell.script", "placement", "free", Some("free")),
    later("ipc.tcp_bandwidth", "congestion", "system", None),
];

/// Reason of a figure that follows from others, where what follows cannot be.
pub const BELOW_NOTHING: &str = "it is too small to be told: what follows from the others is below 0";

/// Id of what criterion.rs prints on the terminal: the slope or the mean of its samples, and not their median.
pub const CRITERION_ESTIMATE: &str = "criterion.slope_or_mean";

/// Note of figures that were read from criterion's lines on the terminal.
pub const NO_LEVEL_ON_THE_LINE: &str = "the line states no level; criterion's default of 95% is assumed";

/// Whether a figure was read from criterion's terminal before that had an id of its own: then it has that of the
/// median, which is another estimator.
fn is_criterion_estimate(probe: &str, notes: &[String]) -> bool {
    probe == "criterion.time" && notes.iter().any(|note| note == NO_LEVEL_ON_THE_LINE)
}

/// What differs in rounds of AES that were measured before vectors of 256 bits were used without AVX-512.
const HALF_OF_THE_VECTORS: &str = "rounds of AES one block at a time, on a CPU with vectors of them";

/// Whether a figure is of those rounds.
fn is_half_of_the_vectors(machine: &Machine, figure: &Figure) -> bool {
    let flags = machine.fact("cpu.flags").map(|fact| &fact.value);
    figure.probe == "cpu.aes"
        && figure.variant.as_deref() == Some("aes")
        && matches!(flags, Some(FactValue::List(flags)) if flags.iter().any(|flag| flag == "vaes"))
}

/// Completes the points of a document that was written before.
pub(crate) fn complete(run: &mut Run) {
    let ours = run.origin.is_none();
    for entry in &mut run.plan.entries {
        set(&entry.probe, &mut entry.point, ours);
    }
    for figure in &mut run.figures {
        if ours && is_half_of_the_vectors(&run.machine, figure) {
            figure.definition = Definition::Other(HALF_OF_THE_VECTORS.to_owned());
        }
        if is_criterion_estimate(&figure.probe, &figure.notes) {
            (figure.probe, figure.title) = (CRITERION_ESTIMATE.to_owned(), "Time, slope or mean".to_owned());
        }
        set(&figure.probe, &mut figure.point, ours);
        if let Some(usual) = &mut figure.stands_for {
            set(&figure.probe, usual, ours);
        }
        let derived = figure.outcome.estimate().filter(|estimate| estimate.method == EstimateMethod::Propagated);
        if derived.is_some_and(|estimate| estimate.value < 0.0) {
            figure.outcome = Outcome::Unfit(BELOW_NOTHING.to_owned());
        }
    }
}

fn set(probe: &str, point: &mut Point, ours: bool) {
    for later in LATER.iter().filter(|later| later.probe == probe) {
        if point.get(later.axis).is_some() {
            continue;
        }
        let value = if ours { Some(later.ours) } else { later.theirs };
        // One call copied what was no longer than a piece.
        let whole = later.axis == "piece" && point.bytes("working_set").is_ok_and(|bytes| bytes <= 2 * MIB);
        if let Some(value) = value {
            *point = std::mem::take(point).with(later.axis, if whole { "whole" } else { value });
        }
    }
    match (probe, point.get("linking"), point.get("program"), point.get("kind")) {
        // The dynamic program was the system's own.
        ("os.fork_exec", Some(linking), None, _) => {
            let program = if ours && linking == "dynamic" { "true" } else { "hello" };
            *point = std::mem::take(point).with("program", program);
        }
        ("os.page_fault", _, _, Some("file")) if ours => {
            *point = std::mem::take(point).with("kind", "file_by_page");
        }
        _ => {}
    }
}

/// The point under which a figure was known before its probe got an axis; `None` if it was not measured then.
#[must_use]
pub fn earlier_point(key: &FigureKey) -> Option<Point> {
    let mut candidates = Vec::new();
    if key.probe == "os.fork_exec" {
        // Documents had the axis of linking before they had that of the program.
        candidates.push(key.point.clone().without("program"));
    }
    let axes: Vec<&str> = LATER.iter().filter(|later| later.probe == key.probe).map(|later| later.axis).collect();
    // A probe that got two axes lacked the last of them for a while.
    candidates.extend(axes.last().map(|last| key.point.clone().without(last)));
    candidates.push(axes.iter().fold(key.point.clone(), |point, axis| point.without(axis)));
    if key.probe == "os.page_fault" && key.point.get("kind") == Some("file_by_page") {
        candidates.push(key.point.clone().with("kind", "file"));
    }
    candidates.into_iter().find(|candidate| {
        let mut read = candidate.clone();
        set(&key.probe, &mut read, true);
        *candidate != key.point && read == key.point
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(probe: &str, point: &str, ours: bool) -> String {
        let mut point: Point = point.parse().unwrap();
        set(probe, &mut point, ours);
        point.to_string()
    }

    #[test]
    fn what_criterion_printed_is_not_its_median() {
        let is =
            |probe: &str, note: &str| is_criterion_estimate(probe, &["of one process".to_owned(), note.to_owned()]);
        assert!(is("criterion.time", NO_LEVEL_ON_THE_LINE));
        assert!(!is("criterion.time", "the message states no level; criterion's default of 95% is assumed"));
        assert!(!is("criterion.throughput", NO_LEVEL_ON_THE_LINE));
    }

    #[test]
    fn points_get_what_was_measured_then() {
        assert_eq!(read("os.exec", "", true), "linking=static");
        assert_eq!(read("os.exec", "", false), "linking=dynamic", "BYTE's was always dynamic");
        assert_eq!(read("os.fork_exec", "linking=static", true), "linking=static,program=hello");
        assert_eq!(read("os.fork_exec", "linking=dynamic", true), "linking=dynamic,program=true");
        assert_eq!(read("os.fork_exec", "", false), "linking=dynamic,program=hello");
        assert_eq!(read("os.thread_create", "", true), "runtime=rust");
        assert_eq!(read("os.thread_create", "", false), "", "what others start threads by is not known");
        assert_eq!(read("os.page_fault", "kind=file", true), "kind=file_by_page");
        assert_eq!(read("os.page_fault", "kind=cow", true), "kind=cow");
        assert_eq!(read("memory.memcpy", "working_set=256MiB", true), "working_set=256MiB,piece=1MiB");
        assert_eq!(read("memory.memcpy", "working_set=1MiB", true), "working_set=1MiB,piece=whole");
        assert_eq!(read("memory.parallelism", "working_set=64MiB", true), "working_set=64MiB,slices=again");
        assert_eq!(read("shell.script", "concurrent=8", true), "concurrent=8,placement=free");
        assert_eq!(read("shell.compile", "program=small", false), "program=small,placement=free");
        assert_eq!(read("ipc.tcp_bandwidth", "buffers=largest", true), "buffers=largest,congestion=system");
        assert_eq!(read("os.page_fault", "kind=file_at_once", true), "kind=file_at_once", "another quantity today");
        assert_eq!(read("os.mmap", "size=1MiB", false), "size=1MiB", "how others laid their file is not known");
    }

    #[test]
    fn rounds_of_aes_of_before_are_another_figure_where_the_cpu_has_vectors_of_them() {
        let half = |flags: &[&str], variant: &str| {
            let fact = crate::Fact {
                name: "cpu.flags".to_owned(),
                value: FactValue::List(flags.iter().map(|flag| (*flag).to_owned()).collect()),
                unit: None,
                source: String::new(),
                affects: Vec::new(),
            };
            let metric = crate::Metric::higher(crate::Unit::Hertz, "rounds");
            let key = FigureKey::new("cpu.aes", Point::origin());
            let figure = Figure::unmeasured(key, "AES", metric, crate::Class::Compute);
            let figure = Figure { variant: Some(variant.to_owned()), ..figure };
            is_half_of_the_vectors(&Machine { facts: vec![fact], ..Machine::default() }, &figure)
        };
        assert!(half(&["aes", "vaes"], "aes"));
        assert!(!half(&["aes", "vaes"], "vaes_avx2") && !half(&["aes"], "aes"));
    }

    #[test]
    fn what_has_the_axis_stays() {
        for (probe, point) in [
            ("os.exec", "linking=dynamic"),
            ("os.fork_exec", "linking=dynamic,program=hello"),
            ("memory.memcpy", "working_set=256MiB,piece=whole"),
            ("memory.copy", "working_set=256MiB"),
        ] {
            assert_eq!(read(probe, point, true), point);
            assert_eq!(read(probe, point, false), point);
        }
    }

    #[test]
    fn earlier_names_are_those_that_reading_completes() {
        let earlier = |key: &str, point: &str| {
            earlier_point(&FigureKey::new(key, point.parse().unwrap())).map(|point| point.to_string())
        };
        assert_eq!(earlier("os.exec", "linking=static").as_deref(), Some(""));
        assert_eq!(earlier("os.exec", "linking=dynamic"), None);
        assert_eq!(earlier("os.fork_exec", "linking=dynamic,program=true").as_deref(), Some("linking=dynamic"));
        assert_eq!(earlier("os.fork_exec", "linking=dynamic,program=hello"), None);
        assert_eq!(earlier("os.page_fault", "kind=file_by_page").as_deref(), Some("kind=file"));
        assert_eq!(earlier("memory.copy", "working_set=1MiB"), None);
        assert_eq!(earlier("shell.compile", "program=large,placement=free").as_deref(), Some("program=large"));
        assert_eq!(earlier("shell.compile", "program=small,placement=free").as_deref(), Some("program=small"));
        assert_eq!(earlier("shell.compile", "program=small,placement=same_cpu"), None);
    }
}
