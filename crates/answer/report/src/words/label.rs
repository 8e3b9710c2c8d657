//! The label of a result: its title, the bytes that it counts, and its parameters in words.

use model::{BenchmarkResult, Metric, Parameters, Unit, parse_size};

use crate::PrintedQuantity;

/// Title of a family of results.
#[must_use]
pub fn family_title(family: &str) -> String {
    match family {
        "cpu" => "processor",
        "os" => "operating system",
        "ipc" => "IPC",
        "file" => "files",
        "shell" => "shell and build",
        "net" => "network",
        other => return other.replace('_', " "),
    }
    .to_owned()
}

/// The label of a result: `copy (read + written), 256 MiB, 1 thread, streaming stores`.
#[must_use]
pub fn result_label(result: &BenchmarkResult) -> String {
    label(&result.title, &result.metric, &result.parameters)
}

/// Like [`result_label`], from the parts.
#[must_use]
pub fn label(title: &str, metric: &Metric, parameters: &Parameters) -> String {
    let mut words = title.to_owned();
    if let Some(counted) = bytes_counted(title, metric) {
        words.push_str(&format!(" ({counted})"));
    }
    let parameters = parameters_words(parameters);
    if !parameters.is_empty() {
        words.push_str(", ");
        words.push_str(&parameters);
    }
    words
}

/// The bytes that a data rate counts, unless the title contains them.
fn bytes_counted<'a>(title: &str, metric: &'a Metric) -> Option<&'a str> {
    if metric.unit != Unit::BytesPerSecond {
        return None;
    }
    let counted = metric.per.trim();
    let counted = counted.strip_prefix("bytes").map_or(counted, str::trim);
    // "write" includes "written": words are compared by their first four letters.
    let stem = |word: &str| word.chars().take(4).collect::<String>().to_lowercase();
    let said = title.split(|c: char| !c.is_alphanumeric()).any(|word| stem(word) == stem(counted))
        && !counted.contains(char::is_whitespace);
    (!counted.is_empty() && !said).then_some(counted)
}

/// A set of parameters in words: `256 MiB, 1 thread, streaming stores`.
#[must_use]
pub fn parameters_words(parameters: &Parameters) -> String {
    parameters.iter().map(|(parameter, value)| parameter_value(parameter, value)).collect::<Vec<_>>().join(", ")
}

/// One coordinate in words.
#[must_use]
pub fn parameter_value(parameter: &str, value: &str) -> String {
    match (parameter, value) {
        ("placement", "same_cpu") => "same core".to_owned(),
        ("placement" | "relation", "cross_cpu") => "different cores".to_owned(),
        ("placement" | "relation", "sibling") => "two threads of one core".to_owned(),
        ("placement" | "relation", "same_cache") => "two cores of one cache".to_owned(),
        ("placement" | "relation", "same_node") => "two caches of one node".to_owned(),
        ("placement" | "relation", "other_node") => "two nodes of one package".to_owned(),
        ("placement" | "relation", "other_package") => "two packages".to_owned(),
        ("threads", count) if count.ends_with("_scatter") => {
            format!("{} threads far apart", count.trim_end_matches("_scatter"))
        }
        ("threads", "cores") => "all cores".to_owned(),
        ("placement", "free") => "unpinned".to_owned(),
        ("place", "target") => "in the test directory".to_owned(),
        ("place", place) => match model::target_number(place) {
            Some(number) => format!("in test directory {number}"),
            None => format!("on {place}"),
        },
        ("pages", "base") => "4\u{a0}KiB pages".to_owned(),
        ("load", state @ ("idle" | "busy")) => format!("{state} CPUs"),
        ("linking" | "program", kind) => format!("{kind} {parameter}"),
        ("threads" | "streams" | "processes" | "copies" | "sessions" | "clients" | "chains", count) => {
            format!("{count} {}", if count == "1" { singular(parameter) } else { parameter })
        }
        ("stores" | "pages", kind) => format!("{} {parameter}", spaced(kind)),
        ("size", size) if parse_size(size).is_ok_and(|bytes| bytes < 1 << 16) => exact_words(size),
        ("working_set", model::BEYOND_CACHES) => "beyond the caches".to_owned(),
        ("working_set" | "size" | "data", size) => size_words(size),
        ("file_size", size) => format!("file of {}", size_words(size)),
        ("block" | "buffer", size) => format!("{} {parameter}s", size_words(size)),
        ("resident", size) => format!("{} resident", size_words(size)),
        ("link" | "linkage" | "type" | "kind", word) => spaced(word),
        ("width", width) if width.chars().all(|c| c.is_ascii_digit()) => format!("{width}-bit"),
        ("width", width) => spaced(width),
        ("durability", "none") => "not synced".to_owned(),
        ("durability", "fsync") => "synced (fsync)".to_owned(),
        // Networks count bytes: 1472 B is not written as 1.4375 KiB.
        ("record" | "event" | "fragment" | "window", size) if size.ends_with('B') => {
            format!("{} {}", spaced(parameter), exact_words(size))
        }
        _ => format!("{} {}", spaced(parameter), size_words(&spaced(value))),
    }
}

/// A size unchanged, with a space before its unit.
pub(crate) fn exact_words(text: &str) -> String {
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    format!("{}\u{a0}{}", &text[..unit], &text[unit..])
}

fn singular(parameter: &str) -> &str {
    match parameter {
        "processes" => "process",
        "copies" => "copy",
        _ => parameter.strip_suffix('s').unwrap_or(parameter),
    }
}

fn spaced(word: &str) -> String {
    word.replace('_', " ")
}

/// A size with a space before its unit and a suitable prefix; any other text unchanged.
fn size_words(text: &str) -> String {
    match parse_size(text) {
        #[expect(clippy::cast_precision_loss, reason = "shown with five digits")]
        Ok(bytes) if text.ends_with('B') => PrintedQuantity::bare(bytes as f64, Unit::Bytes).text(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(text: &str) -> String {
        parameters_words(&text.parse().unwrap()).replace('\u{a0}', " ")
    }

    #[test]
    fn points_read_as_words() {
        assert_eq!(parameters("working_set=256MiB,threads=1,stores=streaming"), "256 MiB, 1 thread, streaming stores");
        assert_eq!(parameters("threads=all,pages=huge"), "all threads, huge pages");
        assert_eq!(parameters("processes=2,placement=cross_cpu"), "2 processes, different cores");
        assert_eq!(parameters("placement=free"), "unpinned");
        assert_eq!(parameters("linking=dynamic,program=hello"), "dynamic linking, hello program");
        assert_eq!(parameters("load=idle"), "idle CPUs");
        assert_eq!(parameters("place=target"), "in the test directory");
        assert_eq!(parameters("place=target2"), "in test directory 2");
        assert_eq!(parameters("place=tmpfs"), "on tmpfs");
        assert_eq!(parameters("block=64KiB"), "64 KiB blocks");
        assert_eq!(parameters("stride=8B,queue_depth=4"), "stride 8 B, queue depth 4");
        assert_eq!(parameters("working_set=76096B"), "74.312 KiB");
        assert_eq!(parameters("size=1472B"), "1472 B");
        assert_eq!(parameters("size=16KiB"), "16 KiB");
        assert_eq!(parameters("event=32000B"), "event 32000 B");
        assert_eq!(parameters(""), "");
    }

    #[test]
    fn data_rates_name_the_counted_bytes() {
        let parameters: Parameters = "threads=1".parse().unwrap();
        let copy = Metric::higher(Unit::BytesPerSecond, "bytes read + written");
        assert_eq!(label("copy", &copy, &parameters), "copy (read + written), 1 thread");
        let read = Metric::higher(Unit::BytesPerSecond, "bytes read");
        assert_eq!(label("Read", &read, &parameters), "Read, 1 thread");
        let write = Metric::higher(Unit::BytesPerSecond, "bytes written");
        assert_eq!(label("write", &write, &Parameters::none()), "write");
        let once = Metric::higher(Unit::BytesPerSecond, "bytes copied once");
        assert_eq!(label("memcpy", &once, &Parameters::none()), "memcpy (copied once)");
        let call = Metric::lower(Unit::Seconds, "call");
        assert_eq!(label("getppid", &call, &Parameters::none()), "getppid");
    }
}
