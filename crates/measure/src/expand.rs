//! From what was asked for to the figures to measure.

use model::{PlanEntry, Point};
use probes::{ProbeSelection, find, suite};

use crate::Error;

/// The figures of a suite, or of probes named one by one as `family.name`, `family.*` or `family.name:axis=value,axis=value`, in
/// the order of the catalogue for a glob and in the given order otherwise. A point given in part is completed with
/// representative values.
///
/// # Errors
/// When a name or a point is unknown, with the nearest names, or nothing is selected.
pub fn select(suite_name: Option<&str>, named: &[String], target: f64) -> Result<Vec<PlanEntry>, Error> {
    let mut selections = Vec::new();
    if let Some(name) = suite_name {
        let suite = suite(name).ok_or_else(|| unknown("suite", name, probes::SUITES.iter().map(|suite| suite.name)))?;
        selections.extend(suite.selections());
    }
    for text in named {
        selections.extend(by_name(text)?);
    }
    let mut entries: Vec<PlanEntry> = Vec::new();
    for ProbeSelection { probe, point } in selections {
        if entries.iter().all(|entry| entry.probe != probe.id || entry.point != point) {
            let shares = probe.sharing(&point);
            entries.push(PlanEntry { probe: probe.id.to_owned(), point, target, shares });
        }
    }
    if entries.is_empty() { Err(Error::Empty) } else { Ok(entries) }
}

fn by_name(text: &str) -> Result<Vec<ProbeSelection>, Error> {
    let (id, point) = text.split_once(':').unwrap_or((text, ""));
    let point: Point = point.parse().map_err(|error: model::Error| Error::Point(error.to_string()))?;
    if id.contains(['*', '?']) {
        let probes: Vec<_> = probes::all().filter(|probe| glob(id, probe.id)).collect();
        if probes.is_empty() {
            return Err(unknown("probe", id, probes::all().map(|probe| probe.id)));
        }
        // A glob takes from each probe what fits the point; an axis that none has is an error.
        let found: Vec<_> = probes
            .iter()
            .flat_map(|probe| {
                probe.complete(&point).unwrap_or_default().into_iter().map(|point| ProbeSelection { probe, point })
            })
            .collect();
        return if found.is_empty() {
            Err(Error::Point(format!("no probe of {id} can be measured at {point}")))
        } else {
            Ok(found)
        };
    }
    let probe = find(id).ok_or_else(|| unknown("probe", id, probes::all().map(|probe| probe.id)))?;
    let points = probe.complete(&point).map_err(Error::Point)?;
    Ok(points.into_iter().map(|point| ProbeSelection { probe, point }).collect())
}

fn unknown<'a>(kind: &'static str, name: &str, names: impl Iterator<Item = &'a str>) -> Error {
    let near = nearest(name, names);
    let all = if kind == "suite" { "prony probes --suites" } else { "prony probes" };
    let near = if near.is_empty() {
        format!(" ({all} lists all)")
    } else {
        format!("; near it: {} ({all} lists all)", near.join(", "))
    };
    Error::Unknown { kind, name: name.to_owned(), near }
}

/// Up to three names that a reader may have meant.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let far = (name.chars().count() / 4).max(2);
    let mut near: Vec<_> = names
        .map(|known| {
            let whole = distance(name, known);
            // People often leave out the family.
            let bare = known.split('.').nth(1).map_or(usize::MAX, |bare| distance(name, bare));
            (whole.min(bare), known)
        })
        .filter(|(distance, _)| *distance <= far)
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, known)| known.to_owned()).collect()
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = substituted.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Whether a text matches a pattern with `*` and `?`.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let mut reach = vec![false; text.len() + 1];
    reach[0] = true;
    for sign in pattern {
        if sign == '*' {
            let first = reach.iter().position(|reached| *reached).unwrap_or(reach.len());
            reach[first..].fill(true);
        } else {
            for at in (0..text.len()).rev() {
                reach[at + 1] = reach[at] && (sign == '?' || sign == text[at]);
            }
            reach[0] = false;
        }
    }
    reach[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match() {
        assert!(glob("memory.*", "memory.copy") && glob("*.c?py", "memory.copy") && glob("*", ""));
        assert!(!glob("memory.*", "os.fork") && !glob("memory.?", "memory.copy") && !glob("", "a"));
    }

    #[test]
    fn near_names_are_offered() {
        let names = ["memory.copy", "memory.scale", "os.fork_exit"];
        assert_eq!(nearest("memory.copi", names.into_iter()), ["memory.copy"]);
        assert_eq!(nearest("fork_exi", names.into_iter()), ["os.fork_exit"]);
        assert!(nearest("zzzzzz", names.into_iter()).is_empty());
    }

    #[test]
    fn unknown_names_are_refused_in_one_line() {
        let error = select(Some("quik"), &[], 0.02).unwrap_err().to_string();
        assert_eq!(error, "no suite is named quik; near it: quick (prony probes --suites lists all)");
        assert!(select(None, &[], 0.02).is_err());
    }
}
