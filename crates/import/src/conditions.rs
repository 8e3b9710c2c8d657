//! Outputs of one tool under different conditions in one file: a page that shows a result before and after a change.
//! They are no launches of one figure.

use crate::text::{SourceFault, lines, one_line};
use crate::unread::LineLedger;

/// Words that begin the headings of two conditions.
const PAIRS: [[&str; 2]; 7] = [
    ["before", "after"],
    ["without", "with"],
    ["old", "new"],
    ["unpatched", "patched"],
    ["baseline", "patched"],
    ["vanilla", "patched"],
    ["disabled", "enabled"],
];

/// Words that begin the heading of what was, and of what was made of it: of lines that have the form of a heading,
/// since other lines begin so too.
const ORIGINAL: [&str; 12] = [
    "base",
    "baseline",
    "current",
    "default",
    "main",
    "mainline",
    "master",
    "original",
    "stock",
    "unmodified",
    "upstream",
    "vanilla",
];
const CHANGED: [&str; 13] = [
    "branch",
    "head",
    "improved",
    "modified",
    "new",
    "optimised",
    "optimized",
    "patch",
    "patched",
    "pr",
    "proposed",
    "this",
    "tuned",
];

/// Words of a line that is a heading, at most: a sentence says something of one output.
const LONGEST: usize = 10;

/// A fault that names two headings of opposite conditions, if lines that no rule took are such headings.
pub(crate) fn conditions(text: &str, ledger: &LineLedger) -> Option<SourceFault> {
    let mut first: [[Option<usize>; 2]; PAIRS.len()] = Default::default();
    let mut change = [None; 2];
    for (at, line) in lines(text).filter(|(at, _)| !ledger.has(*at)) {
        let Some(word) = heading(line) else { continue };
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        for (pair, found) in PAIRS.iter().zip(&mut first) {
            for (_, place) in pair.iter().zip(found).filter(|(known, _)| is(known)) {
                place.get_or_insert(at);
            }
        }
        let sides = [&ORIGINAL[..], &CHANGED[..]].into_iter().zip(&mut change).filter(|_| is_formed(line));
        for (_, place) in sides.filter(|(words, _)| words.iter().any(|known| is(known))) {
            place.get_or_insert(at);
        }
    }
    let [Some(one), Some(other)] = first.into_iter().chain([change]).find(|found| found.iter().all(Option::is_some))?
    else {
        return None;
    };
    let (earlier, later) = (one.min(other), one.max(other));
    let shown = |at: usize| text.lines().nth(at - 1).map(|line| one_line(line.trim(), 40)).unwrap_or_default();
    Some(SourceFault::new(
        format!(
            "it shows outputs of two conditions, '{}' and '{}', which are no launches of one figure: save each to a file \
             of its own; the second begins",
            shown(earlier),
            shown(later)
        ),
        later,
    ))
}

/// A fault that names two lines that introduce outputs, where each of so many processes has a line of its own above it:
/// `Results with huge pages:`, or a heading in Markdown. Those of repetitions say the same, or count.
pub(crate) fn introductions(text: &str, ledger: &LineLedger, processes: usize) -> Option<SourceFault> {
    let mut last: Option<(usize, &str)> = None;
    let mut above: Vec<(usize, &str)> = Vec::new();
    let mut stated: Vec<usize> = Vec::new();
    for (at, line) in lines(text) {
        if ledger.has(at) {
            // What an output states has numbers; what its settings do, need not.
            let states = line.bytes().any(|byte| byte.is_ascii_digit());
            if states && last.is_none() {
                // An output without any words above it.
                return None;
            }
            if states && above.last().map(|(at, _)| at) != last.as_ref().map(|(at, _)| at) {
                above.extend(last);
                stated.push(0);
            }
            if let Some(lines) = stated.last_mut().filter(|_| states) {
                *lines += 1;
            }
        } else if is_introduction(line) {
            last = Some((at, line));
        }
    }
    // One output each, or long ones: of a heading with a line or two below it, that may be no output.
    let whole = above.len() == processes || (above.len() < processes && stated.iter().all(|lines| *lines >= LONG));
    let (&[(_, first), (at, second), ..], true) = (&above[..], whole) else { return None };
    let mut said: Vec<String> = above.iter().map(|(_, line)| distinct(line)).collect();
    said.sort_unstable();
    said.dedup();
    let apart = said.len() == above.len() && said.iter().all(|words| !words.is_empty());
    let shown = |line: &str| one_line(line.trim(), 40);
    apart.then(|| {
        let (first, second) = (shown(first), shown(second));
        let reason = format!(
            "it shows outputs under different words, '{first}' and '{second}', which are no launches of one figure: save \
             each to a file of its own; the second begins"
        );
        SourceFault::new(reason, at)
    })
}

/// Lines with numbers of an output that is no accident.
const LONG: usize = 3;

/// A fault that names two machines in whose prompts the commands stand above outputs: their values are no launches.
pub(crate) fn prompts(text: &str, ledger: &LineLedger) -> Option<SourceFault> {
    let (mut current, mut first): (Option<(usize, &str)>, Option<&str>) = (None, None);
    for (at, line) in lines(text) {
        // A prompt that a rule took is one whose host the format knows.
        if let Some(host) = prompt(line).filter(|_| !ledger.has(at)) {
            current = Some((at, host));
        } else if let Some((began, host)) = current.filter(|_| ledger.has(at)) {
            let first = *first.get_or_insert(host);
            if first != host {
                let (first, host) = (one_line(first, 40), one_line(host, 40));
                let reason = format!(
                    "its outputs are of two machines, '{first}' and '{host}', and no launches of one figure: save those \
                     of each to a file of its own; the second begins"
                );
                return Some(SourceFault::new(reason, began));
            }
        }
    }
    None
}

/// The host of a prompt with a command: `[root@box ~]# run`, `user@box:~$ run`, `box:~/src # run`.
fn prompt(line: &str) -> Option<&str> {
    let bare = line.trim_start().trim_start_matches('[');
    let (place, command) = ["$ ", "# "].iter().filter_map(|sign| bare.split_once(sign)).min_by_key(|(p, _)| p.len())?;
    let host = match place.split_once('@') {
        Some((user, rest)) if !user.contains(char::is_whitespace) => rest,
        Some(_) => return None,
        None => place.split_once(":~").or_else(|| place.split_once(":/")).map(|(host, _)| host)?,
    };
    let host = host.split([':', ' ', ']']).next()?;
    let named = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    (named && place.len() < 100 && !command.trim().is_empty()).then_some(host)
}

/// Whether a line says what follows it: a heading in Markdown or between signs of emphasis, or words before a colon.
fn is_introduction(line: &str) -> bool {
    let bare = line.trim().trim_start_matches(['>', ' ']);
    let words = bare.chars().any(char::is_alphabetic);
    words && (bare.starts_with("##") || is_formed(bare) || setting(bare).is_some())
}

/// Names of settings that stand with their values above an output.
const SETTINGS: [&str; 20] = [
    "block size",
    "blocksize",
    "bs",
    "clients",
    "compiler",
    "config",
    "connections",
    "data size",
    "datasize",
    "iodepth",
    "kernel",
    "mode",
    "nodes",
    "payload",
    "pipeline",
    "procs",
    "processes",
    "qd",
    "size",
    "threads",
];

/// A line that is a setting with its value, `datasize: 128` or `**Compiler**: gcc`, in lower case.
fn setting(line: &str) -> Option<String> {
    let line = line.trim().trim_matches(['*', '`', '-', ' ']).to_lowercase();
    let (name, value) = line.split_once([':', '='])?;
    let named = SETTINGS.contains(&name.trim().trim_matches('*')) && !value.trim().is_empty();
    (named && value.split_whitespace().count() < 3).then_some(line)
}

/// Words that headings of repetitions have.
const REPEATED: [&str; 34] = [
    "a",
    "again",
    "and",
    "another",
    "attempt",
    "fifth",
    "first",
    "fourth",
    "get",
    "got",
    "here",
    "i",
    "is",
    "it",
    "iteration",
    "last",
    "more",
    "next",
    "of",
    "on",
    "once",
    "output",
    "outputs",
    "repeat",
    "repetition",
    "result",
    "results",
    "round",
    "run",
    "second",
    "test",
    "the",
    "third",
    "trial",
];

/// What a heading says beyond that and numbers.
fn distinct(line: &str) -> String {
    if let Some(setting) = setting(line.trim_start_matches(['>', ' '])) {
        return setting;
    }
    let lower = line.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.filter(|word| !REPEATED.contains(word)).collect::<Vec<_>>().join(" ")
}

/// The word by which a short line begins, signs of a heading and a comment aside; none if the line is longer.
fn heading(line: &str) -> Option<&str> {
    let mut words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next()?;
    // A number after it is a value: `new 12.5`.
    let values = line.split_whitespace().skip(1).any(|word| word.parse::<f64>().is_ok());
    (words.count() < LONGEST && !values).then_some(first)
}

/// Whether a line has the form of a heading: it ends in a colon, or stands between signs of emphasis.
fn is_formed(line: &str) -> bool {
    let line = line.trim();
    line.ends_with(':') || (line.len() > 4 && line.starts_with("**") && line.ends_with("**"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, taken: &[usize]) -> Option<(String, usize)> {
        let ledger = LineLedger::default();
        taken.iter().for_each(|line| ledger.took(*line));
        conditions(text, &ledger).map(|fault| (fault.reason, fault.place.line))
    }

    #[test]
    fn machines_of_prompts_are_told() {
        let said = |text: &str| {
            let ledger = LineLedger::default();
            lines(text).filter(|(_, line)| line.starts_with("x ")).for_each(|(at, _)| ledger.took(at));
            prompts(text, &ledger).map(|fault| (fault.reason, fault.place.line))
        };
        let (reason, line) = said("[root@box ~]# run\nx 1\ntube:~/src # run\nx 2\n").unwrap();
        assert!(reason.contains("'box' and 'tube'") && line == 3, "{reason}");
        for text in [
            "[root@box ~]# run\nx 1\nroot@box:/tmp$ run\nx 2\n",
            "a@box:~$ run\nx 1\na@tube:~$ exit\n",
            "$ run\nx 1\n# run\nx 2\n",
            "mail a@b.c # x\nx 1\nmail a@d.e # x\nx 2\n",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
    }

    #[test]
    fn words_above_each_output_are_told() {
        let said = |text: &str, taken: &[usize], processes| {
            let ledger = LineLedger::default();
            taken.iter().for_each(|line| ledger.took(*line));
            introductions(text, &ledger, processes).map(|fault| (fault.reason, fault.place.line))
        };
        let (reason, line) = said("Page:\n\n## ram pages\nx 1\ny 2\n> huge pages:\nx 3\n", &[4, 5, 7], 2).unwrap();
        assert!(reason.contains("'## ram pages' and '> huge pages:'") && line == 6, "{reason}");
        let (_, line) = said("datasize: 64\nx 1\ndatasize: 128\nx 2\n", &[2, 4], 2).unwrap();
        assert_eq!(line, 3, "values of a setting tell outputs apart");
        for (text, taken, processes) in [
            ("threads: 4\nx 1\nthreads: 4\nx 2\n", &[2, 4][..], 2),
            ("pid: 4\nx 1\npid: 5\nx 2\n", &[2, 4], 2),
            ("First run:\nx 1\nSecond run:\nx 2\n", &[2, 4], 2),
            ("## Run 1\nx 1\n## Run 2\nx 2\n", &[2, 4], 2),
            ("Copy:\nx 1\nTimes:\ny 2\n", &[2, 4], 1),
            ("Copy:\nx 1\nTimes:\ny 2\nCopy:\nx 1\nTimes:\ny 2\n", &[2, 4, 6, 8], 4),
            ("x 1\nhuge pages:\nx 2\n", &[1, 3], 2),
            ("ram pages:\nx 1\nx 2\n", &[2, 3], 2),
        ] {
            assert_eq!(said(text, taken, processes), None, "{text}");
        }
    }

    #[test]
    fn headings_of_two_conditions_are_told() {
        let (reason, line) = said("Results\n## Before the patch:\nx 1\n\n**After**\nx 2\n", &[]).unwrap();
        assert!(reason.contains("'## Before the patch:' and '**After**'") && line == 5, "{reason}");
        assert!(said("with mitigations\n1\nWithout mitigations\n2", &[]).is_some());
        let (reason, line) = said("Baseline (master):\nx 1\n\n**This patch**\nx 2\n", &[]).unwrap();
        assert!(reason.contains("'Baseline (master):' and '**This patch**'") && line == 4, "{reason}");
        for (text, taken) in [
            ("Default block size\nx\nNew file:\nx\n", &[][..]),
            ("Current time:\nx\nDefault time:\n", &[]),
            ("Before\nx\nAfter\n", &[3]),
            ("Before\nx\nbefore it ran again\n", &[]),
            ("Before we began we had to wait for the other one to come here\nAfter", &[]),
            ("old 1.5\nnew 2.5\n", &[]),
            ("a before\nb after\n", &[]),
        ] {
            assert_eq!(said(text, taken), None, "{text}");
        }
    }
}
