//! Settings in which the processes of one source differ: those must not be taken for samples of one result.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What one process states of how it runs.
pub(crate) type Settings = BTreeMap<String, String>;

/// Names of the settings in which processes of each group differ. A setting that only some of them state differs.
pub(crate) fn differing<'a>(
    processes: impl Iterator<Item = (String, &'a Settings)>,
) -> HashMap<String, BTreeSet<String>> {
    let mut first: HashMap<String, &Settings> = HashMap::new();
    let mut found: HashMap<String, BTreeSet<String>> = HashMap::new();
    for (group, settings) in processes {
        let known = *first.entry(group.clone()).or_insert(settings);
        let names = known.keys().chain(settings.keys()).filter(|name| known.get(*name) != settings.get(*name));
        let names: BTreeSet<String> = names.cloned().collect();
        if !names.is_empty() {
            found.entry(group).or_default().extend(names);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_differ_inside_a_group_only() {
        let settings = |pairs: &[(&str, &str)]| -> Settings {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let all = [
            ("a", settings(&[("flags", "-O2"), ("device", "x")])),
            ("a", settings(&[("flags", "-O3"), ("device", "x")])),
            ("a", settings(&[("flags", "-O2"), ("device", "x"), ("host", "n1")])),
            ("b", settings(&[("flags", "-O1")])),
        ];
        let found = differing(all.iter().map(|(group, settings)| ((*group).to_owned(), settings)));
        assert_eq!(found.len(), 1);
        assert_eq!(found["a"].iter().collect::<Vec<_>>(), ["flags", "host"]);
    }
}
