//! One flag means one thing: what the options of all commands must have in common.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, ArgAction, Command};

use super::{HelpForm, command, command_with_help};

/// Commands and what stands under them, the hidden ones left out.
fn visible(command: &Command, above: &str, found: &mut Vec<(String, Command)>) {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help") {
        let name = format!("{above} {}", below.get_name());
        visible(below, &name, found);
        found.push((name, below.clone()));
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
fn a_flag_means_the_same_in_every_command() {
    assert!(alike("A name for the run", "A name for the runs, to which each node's name is added"));
    assert!(!alike("Runs to learn from", "Fit only values from this year on"));
    let mut commands = Vec::new();
    visible(&command(), "prony", &mut commands);
    let mut flags: BTreeMap<String, Vec<(String, String, String)>> = BTreeMap::new();
    for (name, definition) in &commands {
        for option in definition.get_arguments().filter(|option| !option.is_hide_set()) {
            let Some(long) = option.get_long().filter(|long| !["help", "version"].contains(long)) else { continue };
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "{name} --{long} has no help");
            flags.entry(long.to_owned()).or_default().push((name.clone(), takes(option), help));
        }
    }
    assert!(flags.len() > 100, "{} flags were found", flags.len());
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (flag, uses) in &flags {
        let (name, takes, help) = &uses[0];
        for (other, takes_there, help_there) in &uses[1..] {
            if takes != takes_there {
                let both = format!("'{takes}' in {name} and '{takes_there}' in {other}");
                wrong.entry(flag).or_default().push(format!("takes {both}"));
            }
            if !alike(help, help_there) {
                wrong.entry(flag).or_default().push(format!("'{help}' in {name} and '{help_there}' in {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_file_to_write_has_the_same_short_flag_everywhere_and_values_have_names() {
    let mut commands = Vec::new();
    visible(&command(), "prony", &mut commands);
    let mut found = 0;
    for (name, option) in
        commands.iter().flat_map(|(name, definition)| definition.get_arguments().map(move |o| (name, o)))
    {
        let is_output = option.get_long() == Some("output");
        assert_eq!(option.get_short() == Some('o'), is_output, "{name}: -o is --output, and --output has it");
        found += usize::from(is_output);
        let names = option.get_value_names().filter(|_| matches!(option.get_action(), ArgAction::Set));
        let odd = names.unwrap_or_default().iter().find(|name| name.is_empty() || name.contains('_'));
        assert_eq!(odd, None, "{name} --{}", option.get_id());
    }
    assert!(found > 10, "{found} commands write a file");
}

/// Words with which the help of an option begins: what Prony then does.
const VERBS: &str = "\
    Add Allow Build Carry Check Choose Colour Compare Copy Count Detect Discard Drop End Exit Extrapolate Fail \
    Find Fit Give Group Keep Learn Limit List Listen Measure Name Open Overwrite Pass Place Predict Print \
    Process Put Read Refuse Repeat Replace Restore Resume Run Say Send Set Share Show Simulate Slow Sort Start Stop Take \
    Treat Try Use Vary Wait Write";

#[test]
fn the_help_of_every_option_begins_with_a_verb() {
    let mut commands = vec![("prony".to_owned(), command())];
    visible(&command(), "prony", &mut commands);
    for (name, definition) in &commands {
        for option in definition.get_arguments().filter(|option| option.get_long().is_some() && !option.is_hide_set()) {
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            let first = help.split(' ').next().unwrap_or_default();
            assert!(VERBS.split(' ').any(|verb| verb == first), "{name} --{}: {help}", option.get_id());
        }
    }
}

/// What fits on the smallest usual terminal: 24 lines of 80 columns.
#[test]
fn the_short_help_of_every_command_fits_on_one_screen() {
    let mut commands = Vec::new();
    visible(&command_with_help(HelpForm::Short), "prony", &mut commands);
    assert!(commands.len() > 35, "{} commands were found", commands.len());
    for (name, definition) in &commands {
        let help = definition.clone().term_width(80).render_help().to_string();
        assert!(help.lines().count() <= 24, "{name} -h:\n{help}");
        assert!(help.contains("Usage: prony ") && help.contains("Global options: --store"), "{name} -h:\n{help}");
        let options =
            definition.get_arguments().filter(|option| option.get_long().is_some() && !option.is_hide_set()).count();
        assert!(options <= 5, "{name} -h has {options} options:\n{help}");
    }
}

#[test]
fn the_whole_help_has_every_option_and_the_short_one_says_where() {
    let mut whole = Vec::new();
    visible(&command_with_help(HelpForm::Whole), "prony", &mut whole);
    let mut short = Vec::new();
    visible(&command_with_help(HelpForm::Short), "prony", &mut short);
    let mut plain = Vec::new();
    visible(&command(), "prony", &mut plain);
    for (((name, whole), (_, short)), (_, plain)) in whole.iter().zip(&short).zip(&plain) {
        let (whole, short) = (whole.clone().render_help().to_string(), short.clone().render_help().to_string());
        let has = |help: &str, long: &str| help.contains(&format!("--{long}"));
        for option in plain.get_arguments().filter(|option| !option.is_hide_set()) {
            let Some(long) = option.get_long().filter(|_| !option.is_global_set()) else { continue };
            assert!(
                ["help", "version"].contains(&long) || has(&whole, long),
                "{name} --help has no --{long}:\n{whole}"
            );
            let told = has(&short, long) || short.contains("--help shows all options");
            assert!(told, "{name} -h does not say where --{long} is:\n{short}");
        }
    }
}
