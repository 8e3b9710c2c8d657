//! Names of runs on one page: one for each run, all different.

use model::Run;

/// Length of a machine's name from which a shorter name is looked for, characters.
const LONG: usize = 24;

/// A name for every run: its label; else the name of its machine, if that is short and unique; else the shorter of the
/// user's name for it and its id. `handles` are the user's names, in the order of the runs; without them a run is
/// called by its label or id. A run that occurs twice gets a number.
#[must_use]
pub fn names(runs: &[&Run], handles: &[String]) -> Vec<String> {
    let candidates: Vec<Vec<String>> =
        runs.iter().enumerate().map(|(index, run)| candidates(run, handles.get(index))).collect();
    let mut names: Vec<String> = Vec::with_capacity(runs.len());
    for (index, run) in runs.iter().enumerate() {
        let others = || (0..runs.len()).filter(|other| runs[*other].id != run.id);
        let own = |text: &&String| others().all(|other| !candidates[other].contains(text));
        let base = candidates[index].iter().find(own).or(candidates[index].last()).cloned();
        let base = base.unwrap_or_else(|| "run".to_owned());
        let mut name = base.clone();
        let mut number = 2;
        while names.contains(&name) {
            name = format!("{base} #{number}");
            number += 1;
        }
        names.push(name);
    }
    names
}

/// Possible names of a run, best first, none of them empty.
fn candidates(run: &Run, handle: Option<&String>) -> Vec<String> {
    let label = run.label.clone();
    let Some(handle) = handle else {
        let both = label.as_ref().map(|label| format!("{label} ({})", run.id));
        return usable([label, both, Some(run.id.clone())]);
    };
    let machine = Some(run.machine.name.clone()).filter(|name| name.chars().count() <= LONG);
    let path = Some(handle.clone()).filter(|handle| handle.contains(['/', '\\']));
    let mut typed = usable([Some(called(handle)), path, Some(run.id.clone())]);
    typed.sort_by_key(|text| text.chars().count());
    let mut all = usable([label, machine]);
    all.extend(typed);
    all
}

fn usable<const N: usize>(texts: [Option<String>; N]) -> Vec<String> {
    texts.into_iter().flatten().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

/// A number as `run 3`, a path or a published name by its last part.
fn called(handle: &str) -> String {
    if !handle.is_empty() && handle.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("run {handle}");
    }
    if handle == "-" {
        return "standard input".to_owned();
    }
    handle.rsplit(['/', '\\']).next().unwrap_or(handle).to_owned()
}

/// Distinct headings of at most `most` characters: a common beginning is left out before anything is truncated, and
/// headings that become equal are numbered.
#[must_use]
pub fn headings(names: &[String], most: usize) -> Vec<String> {
    let long = |name: &String| name.chars().count() > most;
    let skip = if names.len() > 1 && names.iter().any(long) { common_words(names) } else { 0 };
    let cut = |name: &String| {
        let rest: String = name.chars().skip(skip).collect();
        if rest.chars().count() <= most {
            return rest;
        }
        rest.chars().take(most.saturating_sub(1)).chain(['…']).collect()
    };
    let heads: Vec<String> = names.iter().map(cut).collect();
    let numbered = |(index, head): (usize, &String)| {
        if heads.iter().filter(|other| *other == head).count() < 2 {
            return head.clone();
        }
        let number = format!("{} ", index + 1);
        let rest: String = head.chars().take(most.saturating_sub(number.len())).collect();
        number + &rest
    };
    heads.iter().enumerate().map(numbered).collect()
}

/// Length of the whole words that all names begin with, and that no name consists of entirely.
fn common_words(names: &[String]) -> usize {
    let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let Some(first) = letters.first() else { return 0 };
    let same = (0..first.len()).take_while(|at| letters.iter().all(|name| name.get(*at) == first.get(*at))).count();
    let end = |at: &usize| !first[*at - 1].is_alphanumeric();
    let fits = |at: &usize| letters.iter().all(|name| name.len() > *at);
    (1..=same.min(first.len())).rev().filter(end).find(fits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use model::Machine;
    use proptest::prelude::*;

    use super::*;

    fn run(id: &str, label: Option<&str>, machine: &str) -> Run {
        Run {
            id: id.to_owned(),
            label: label.map(str::to_owned),
            machine: Machine { name: machine.to_owned(), ..Machine::default() },
            ..Run::default()
        }
    }

    fn named(runs: &[Run], handles: &[&str]) -> Vec<String> {
        let handles: Vec<String> = handles.iter().map(|handle| (*handle).to_owned()).collect();
        names(&runs.iter().collect::<Vec<_>>(), &handles)
    }

    #[test]
    fn the_shortest_text_that_tells_them_apart() {
        let two = [run("x1", None, "web-3"), run("x2", None, "web-1")];
        assert_eq!(named(&two, &["12", "9"]), ["web-3", "web-1"]);
        assert_eq!(named(&two, &[]), ["x1", "x2"]);
        let alike = [run("2026-x1", None, "vm"), run("2026-x2", None, "vm")];
        assert_eq!(named(&alike, &["1", "2"]), ["run 1", "run 2"]);
        assert_eq!(named(&alike, &["out/before.json", "out/after.json"]), ["2026-x1", "2026-x2"]);
        let labelled = [run("x1", Some("before"), "vm"), run("x2", Some("after"), "vm")];
        assert_eq!(named(&labelled, &["1", "2"]), ["before", "after"]);
        let one_label = [run("2026-x1", Some("a"), "vm"), run("2026-x2", Some("a"), "vm")];
        assert_eq!(named(&one_label, &["1", "2"]), ["run 1", "run 2"]);
        assert_eq!(named(&one_label, &[]), ["a (2026-x1)", "a (2026-x2)"]);
        let published = [run("published:e/a", Some("K6"), "K6"), run("published:f/a", Some("K6"), "K6")];
        assert_eq!(named(&published, &["published:e/a", "published:f/a"]), ["published:e/a", "published:f/a"]);
        let twice = [run("2026-x1", None, "vm"), run("2026-x1", None, "vm")];
        assert_eq!(named(&twice, &["1", "1"]), ["vm", "vm #2"]);
    }

    #[test]
    fn headings_keep_what_differs() {
        let of = |names: &[&str]| headings(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), 16);
        assert_eq!(of(&["run 1", "run 2"]), ["run 1", "run 2"]);
        assert_eq!(of(&["AMD Athlon dual 1800MP 1.53 GHz", "AMD Athlon dual 1.2 GHz"]), ["1800MP 1.53 GHz", "1.2 GHz"]);
        assert_eq!(of(&["abcdefghijklmnopqrs", "abcdefghijklmnopqrt"]), ["1 abcdefghijklmn", "2 abcdefghijklmn"]);
    }

    proptest! {
        #[test]
        fn no_two_names_or_headings_are_alike(
            texts in prop::collection::vec(("[ab]{1,2}", prop::option::of("[abc]{0,2}"), "[ab ]{0,30}", "[0-9]{1,2}"), 1..7),
            with_handles in any::<bool>(),
        ) {
            let runs: Vec<Run> =
                texts.iter().map(|(id, label, machine, _)| run(id, label.as_deref(), machine)).collect();
            let handles: Vec<&str> =
                if with_handles { texts.iter().map(|text| text.3.as_str()).collect() } else { Vec::new() };
            let mut found = named(&runs, &handles);
            let mut heads = headings(&found, 12);
            prop_assert!(found.iter().chain(&heads).all(|name| !name.trim().is_empty()), "{found:?} {heads:?}");
            for names in [&mut found, &mut heads] {
                names.sort();
                let count = names.len();
                names.dedup();
                prop_assert_eq!(names.len(), count);
            }
        }
    }
}
