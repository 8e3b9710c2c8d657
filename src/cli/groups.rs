//! The groups of the verbs. clap lists subcommands in one heap, so the help is made from a table here.

use std::ffi::OsString;
use std::fmt::Write;

use clap::{Command, CommandFactory, FromArgMatches};

use super::Cli;

/// Every verb that the help shows, under the title of its group.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Measure", &["run", "time", "app", "net"]),
    ("Answer", &["compare", "explain", "report", "predict", "choose", "trend"]),
    ("Runs", &["runs", "show", "import", "export"]),
    ("Many machines", &["fleet", "farm"]),
    ("The tool", &["benchmarks", "doctor", "selftest", "completions"]),
];

/// Most columns of the help.
const MOST: usize = 100;

/// The command line's definition, with its verbs in groups.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let template = template(&command);
    taking_numbers_below_zero(command.help_template(template))
}

/// Values such as -1 are values of their options, which say what is wrong with them, and no unknown options.
fn taking_numbers_below_zero(command: Command) -> Command {
    command
        .mut_args(|argument| match argument.get_action().takes_values() {
            true => argument.allow_negative_numbers(true),
            false => argument,
        })
        .mut_subcommands(taking_numbers_below_zero)
}

/// What this process was asked for.
///
/// # Errors
/// When the command line is none of this program, or help or the version was asked for.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    // Any user of this host can read the arguments of a process.
    if let Some(word) = model::command_line().into_iter().find(|word| model::holds_password(word)) {
        let text = format!(
            "could not use {}: its password is on the command line, where other users read it; write it to ~/.pgpass, or \
             into the environment variable PGPASSWORD\n",
            model::without_password(&word)
        );
        return Err(clap::Error::raw(clap::error::ErrorKind::ValueValidation, text));
    }
    let empty = |name: &&&str| std::env::var_os(name).is_some_and(|value| value.is_empty());
    if let Some(name) = ["PRONY_STORE", "PRONY_SPACING"].iter().find(empty) {
        let text =
            format!("could not use the environment variable {name}: it is empty; unset it, or give it a value\n");
        return Err(clap::Error::raw(clap::error::ErrorKind::ValueValidation, text));
    }
    parse_from(std::env::args_os())
}

/// What a command line asks for; its first word is the program's name.
///
/// # Errors
/// When it is none of this program, or help or the version was asked for.
pub(crate) fn parse_from<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> Result<Cli, clap::Error> {
    let mut command = command();
    let mut matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// The help of the program itself: every verb with its line, group by group.
fn template(command: &Command) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let width = GROUPS.iter().flat_map(|(_, verbs)| *verbs).map(|verb| verb.len()).max().unwrap_or_default();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, verbs) in GROUPS {
        let _ = writeln!(text, "\n{header}{title}:{header:#}");
        for verb in *verbs {
            let about = command.find_subcommand(verb).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let about = hanging(&about, width + 4, crate::columns::width().unwrap_or(MOST).min(MOST));
            let _ = writeln!(text, "  {literal}{verb:width$}{literal:#}  {about}");
        }
    }
    let _ = write!(text, "\n{header}Options of every verb:{header:#}\n{{options}}{{after-help}}");
    text
}

/// A text in lines of at most `most` columns, the first of which begins at column `indent`, as the others then do.
pub(crate) fn hanging(text: &str, indent: usize, most: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if indent + line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join(&format!("\n{:indent$}", ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_of_the_help_hang_below_their_first_word() {
        let text = "Build events of many senders' fragments";
        assert_eq!(hanging(text, 10, 80), text);
        assert_eq!(hanging(text, 10, 30), "Build events of many\n          senders' fragments");
        let wrapped = hanging(text, 4, 16);
        assert!(wrapped.lines().skip(1).all(|line| line.chars().count() <= 16), "{wrapped}");
        assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>().join(" "), text);
    }

    #[test]
    fn every_visible_verb_stands_in_one_group() {
        let command = command();
        for verb in command.get_subcommands() {
            let groups = GROUPS.iter().filter(|(_, verbs)| verbs.contains(&verb.get_name())).count();
            let wanted = usize::from(!verb.is_hide_set());
            assert_eq!(groups, wanted, "{} stands in {groups} groups of the help", verb.get_name());
        }
        for verb in GROUPS.iter().flat_map(|(_, verbs)| *verbs) {
            assert!(command.find_subcommand(verb).is_some(), "the help names {verb}, which is no verb");
        }
    }

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }
}
