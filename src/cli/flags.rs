//! One flag means one thing: what the options of all verbs must have in common.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, ArgAction, Command};

use super::command;

/// Flags that say another thing in some verb, and why nothing better was found.
const DIFFERENT: &[(&str, &str)] = &[("seed", "each says what is drawn from it")];

/// Verbs and what stands under them, the hidden ones left out.
fn visible(command: &Command, above: &str, found: &mut Vec<(String, Command)>) {
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help") {
        let name = format!("{above} {}", verb.get_name());
        visible(verb, &name, found);
        found.push((name, verb.clone()));
    }
}

/// What an option takes: the names of its values, or nothing.
fn takes(option: &Arg) -> String {
    if !option.get_action().takes_values() {
        return String::new();
    }
    let names = option.get_value_names().unwrap_or_default();
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The words of a help text that say what it is about, without its default and its examples.
fn words(help: &str) -> BTreeSet<String> {
    let about = help.split(['[', '(', ';', ':', ',']).next().unwrap_or_default().to_lowercase();
    let small = ["a", "an", "the", "of", "in", "to", "is", "are", "at", "which", "and", "for", "this"];
    about
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !small.contains(word))
        .map(str::to_owned)
        .collect()
}

/// Whether two texts say nearly the same: half of the words of the shorter one stand in the other.
fn alike(a: &str, b: &str) -> bool {
    let (a, b) = (words(a), words(b));
    2 * a.intersection(&b).count() >= a.len().min(b.len())
}

#[test]
fn a_flag_means_the_same_in_every_verb() {
    assert!(alike("A name for the run", "A name for the runs, to which each node's name is added"));
    assert!(!alike("Runs to learn from", "Fit only values from this year on"));
    let mut verbs = Vec::new();
    visible(&command(), "prony", &mut verbs);
    let mut flags: BTreeMap<String, Vec<(String, String, String)>> = BTreeMap::new();
    for (verb, definition) in &verbs {
        for option in definition.get_arguments().filter(|option| !option.is_hide_set()) {
            let Some(long) = option.get_long().filter(|long| !["help", "version"].contains(long)) else { continue };
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "{verb} --{long} has no help");
            flags.entry(long.to_owned()).or_default().push((verb.clone(), takes(option), help));
        }
    }
    assert!(flags.len() > 100, "{} flags were found", flags.len());
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (flag, uses) in &flags {
        let (verb, takes, help) = &uses[0];
        for (other, takes_there, help_there) in &uses[1..] {
            if takes != takes_there {
                let both = format!("'{takes}' in {verb} and '{takes_there}' in {other}");
                wrong.entry(flag).or_default().push(format!("takes {both}"));
            }
            if !alike(help, help_there) {
                wrong.entry(flag).or_default().push(format!("'{help}' in {verb} and '{help_there}' in {other}"));
            }
        }
    }
    let allowed: BTreeSet<&str> = DIFFERENT.iter().map(|(flag, _)| *flag).collect();
    let needless: Vec<_> = allowed.iter().filter(|flag| !wrong.contains_key(*flag)).collect();
    wrong.retain(|flag, _| !allowed.contains(flag));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(needless.is_empty(), "no exception is needed for {needless:?}");
}

#[test]
fn a_file_to_write_has_the_same_short_flag_everywhere_and_values_have_names() {
    let mut verbs = Vec::new();
    visible(&command(), "prony", &mut verbs);
    let mut found = 0;
    for (verb, option) in verbs.iter().flat_map(|(verb, definition)| definition.get_arguments().map(move |o| (verb, o)))
    {
        let is_output = option.get_long() == Some("output");
        assert_eq!(option.get_short() == Some('o'), is_output, "{verb}: -o is --output, and --output has it");
        found += usize::from(is_output);
        let names = option.get_value_names().filter(|_| matches!(option.get_action(), ArgAction::Set));
        let odd = names.unwrap_or_default().iter().find(|name| name.is_empty() || name.contains('_'));
        assert_eq!(odd, None, "{verb} --{}", option.get_id());
    }
    assert!(found > 10, "{found} verbs write a file");
}
