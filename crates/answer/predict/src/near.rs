//! Names near to an unknown one.

use super::cpu::cpu_model;
use super::family::cpu_family;

/// Names nearest to one that is not among them, at most `count`: the same family first, then the most letters in
/// common.
pub(crate) fn nearest_names<'a>(wanted: &str, names: &[(&'a str, &str)], count: usize) -> Vec<&'a str> {
    let family = cpu_family(wanted);
    let model = cpu_model(wanted);
    let mut scored: Vec<(bool, f64, &str)> = names
        .iter()
        .map(|(name, cpu)| {
            let alike = strsim::jaro_winkler(&model, &cpu_model(cpu)).max(strsim::jaro_winkler(wanted, name));
            (cpu_family(cpu) != family, -alike, *name)
        })
        .collect();
    scored.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(b.2)));
    let mut near: Vec<&str> = Vec::new();
    for (_, _, name) in scored {
        if near.len() < count && !near.contains(&name) {
            near.push(name);
        }
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_has_neighbours() {
        let names = [
            ("a", "AMD EPYC 7742 64-Core Processor"),
            ("b", "Intel(R) Xeon(R) Gold 6242R"),
            ("c", "AMD EPYC 9654"),
            ("d", "AMD EPYC 7763"),
        ];
        assert_eq!(nearest_names("AMD EPYC 7702", &names, 2), ["a", "d"]);
        assert_eq!(nearest_names("Intel Xeon Gold 6230", &names, 1), ["b"]);
    }
}
