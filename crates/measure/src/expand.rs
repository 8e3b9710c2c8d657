//! From the request to the figures to measure.

use model::{PlanEntry, Point, glob, nearest};
use probes::{ProbeSelection, find, suite};

use crate::Error;

/// The figures of a suite, or of probes named one by one as `family.name`, `family.*` or
/// `family.name:axis=value,axis=value`, in the order of the catalogue for a glob and in the given order otherwise. A
/// partial point is completed with the default values.
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
        // A glob selects from each probe the part of the point that it has; an axis that no probe has is an error.
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
        format!("; similar: {} ({all} lists all)", near.join(", "))
    };
    Error::Unknown { kind, name: name.to_owned(), near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_refused_in_one_line() {
        let error = select(Some("quik"), &[], 0.02).unwrap_err().to_string();
        assert_eq!(error, "no suite is named quik; similar: quick (prony probes --suites lists all)");
        assert!(select(None, &[], 0.02).is_err());
    }
}
