//! Patterns of result names: `*` stands for any text, `?` for one character, a comma separates alternatives.

use model::{ResultKey, glob};

/// Whether any of the comma-separated patterns matches the result's benchmark or its whole name with the parameters.
///
/// A set of parameters contains commas too, so a pattern with `=` extends to the next `family.name`.
#[must_use]
pub fn matches(patterns: &str, key: &ResultKey) -> bool {
    let name = key.to_string();
    alternatives(patterns).iter().any(|pattern| glob(pattern, &key.benchmark) || glob(pattern, &name))
}

fn alternatives(patterns: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in patterns.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match found.last_mut() {
            Some(last) if last.contains(':') && part.contains('=') && !part.contains(':') => {
                last.push(',');
                last.push_str(part);
            }
            _ => found.push(part.to_owned()),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> ResultKey {
        let (benchmark, parameters) = text.split_once(':').unwrap_or((text, ""));
        ResultKey::new(benchmark, parameters.parse().unwrap())
    }

    #[test]
    fn stars_marks_and_alternatives() {
        let copy = key("memory.copy:working_set=64MiB,threads=1");
        for pattern in [
            "memory.*",
            "memory.copy",
            "*copy*",
            "os.*,memory.c?py",
            "memory.copy:*threads=1",
            "memory.copy:working_set=64MiB,threads=1",
            "*",
        ] {
            assert!(matches(pattern, &copy), "{pattern}");
        }
        for pattern in ["memory", "memory.cop", "os.*", "memory.copy:threads=2", "", ","] {
            assert!(!matches(pattern, &copy), "{pattern}");
        }
    }
}
