//! The help: commands in groups, a short form (`-h`) and the whole (`--help`). clap lists subcommands in one heap, so
//! the help of the program is made from a table here.

use std::ffi::OsString;
use std::fmt::Write;

use clap::{Arg, Command, CommandFactory, FromArgMatches};

use super::Cli;

/// Every command that the help shows, under the title of its group; what is needed first and most often comes first.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Commands", &["run", "time", "compare", "show", "report", "explain", "check", "doctor"]),
    (
        "Runs and tools",
        &[
            "runs",
            "import",
            "export",
            "serve",
            "push",
            "benchmarks",
            "experiment",
            "history",
            "trend",
            "selftest",
            "completions",
        ],
    ),
    ("More", &["farm", "fleet", "net", "app", "predict", "choose"]),
];

/// What `prony` prints without a command.
pub(crate) const WELCOME: &str = "\
Prony benchmarks machines with confidence intervals, compares them, and explains the differences.

Start with:
  prony doctor               check this machine for interference
  prony run --suite quick    measure it in 20 seconds
  prony report --open        look at the results in your browser

Help:
  prony -h                   the most useful commands
  prony --help               all commands, options and exit codes
";

/// The line of every command's help that stands for the global options.
pub(crate) const GLOBAL: &str = "Global options: --store, --format, --color (prony --help)";

/// Most columns of the help.
const MOST: usize = 100;

/// Most examples in the short help of a command.
const EXAMPLES: usize = 2;

/// How much a help text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HelpForm {
    /// What matters most: no options that stand in a group of their own.
    Short,
    /// Everything.
    Whole,
}

impl HelpForm {
    /// The form that a command line asks for.
    fn asked(words: &[OsString]) -> Option<Self> {
        let own = || words.iter().skip(1).take_while(|word| *word != "--");
        if own().any(|word| word == "--help") || own().next().is_some_and(|word| word == "help") {
            return Some(Self::Whole);
        }
        own().any(|word| word == "-h").then_some(Self::Short)
    }
}

/// The command line's definition.
pub(crate) fn command() -> Command {
    taking_numbers_below_zero(Cli::command().mut_subcommands(|below| below.disable_help_subcommand(true)))
}

/// The command line's definition with the texts of its help, which take longer to make than most commands need.
pub(crate) fn command_with_help(form: HelpForm) -> Command {
    let mut command = command();
    // Building hands the global options down to the subcommands, which mention them in one line.
    command.build();
    let template = template(&command, form);
    command
        .mut_arg("help", |help| help.help("Print the short help (-h) or all of it (--help)"))
        .mut_arg("version", |version| version.help("Print the version"))
        .mut_subcommands(move |below| shortened(below, form))
        .help_template(template)
}

/// A command whose help has its own options alone, and in the short form only those without a group.
fn shortened(command: Command, form: HelpForm) -> Command {
    let is_grouped = |option: &Arg| option.get_help_heading().is_some();
    let is_left_out = move |option: &Arg| {
        let everywhere = option.is_global_set() || option.get_id() == "help";
        everywhere || option.is_hide_set() || (form == HelpForm::Short && is_grouped(option))
    };
    let more = match form {
        HelpForm::Short if command.get_arguments().any(|option| is_grouped(option) && !option.is_global_set()) => {
            let name = command.get_bin_name().unwrap_or_default();
            format!("\n{name} --help shows all options")
        }
        _ => String::new(),
    };
    let own = command.get_after_help().map(|text| examples(&text.to_string(), form) + "\n\n").unwrap_or_default();
    command
        .mut_args(|option| {
            let left_out = is_left_out(&option);
            option.hide(left_out)
        })
        .mut_subcommands(move |below| shortened(below, form))
        .after_help(format!("{own}{GLOBAL}{more}"))
}

/// The text below the options, in the short form without all but the first examples.
fn examples(text: &str, form: HelpForm) -> String {
    let most = if form == HelpForm::Short { EXAMPLES + 1 } else { usize::MAX };
    text.lines().take(most).collect::<Vec<_>>().join("\n")
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

/// The command line of this process.
///
/// # Errors
/// When the command line is none of this program, or help or the version was asked for.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    // Any user of this host can read the arguments of a process.
    if let Some(word) = model::command_line().into_iter().find(|word| model::holds_password(word)) {
        let text = format!(
            "could not use {}: other users can read a password on the command line; put it into ~/.pgpass or \
             PGPASSWORD\n",
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
    parse_from(std::env::args_os()).map_err(with_usage)
}

/// An error about a missing argument, with the usage that the help prints. The one of clap lists what was given, and
/// counts what the environment gives.
fn with_usage(mut error: clap::Error) -> clap::Error {
    if error.kind() == clap::error::ErrorKind::MissingRequiredArgument {
        let mut command = command();
        command.build();
        let mut asked = &mut command;
        for word in std::env::args().skip(1) {
            if asked.find_subcommand(&word).is_some() {
                asked = asked.find_subcommand_mut(&word).unwrap_or_else(|| unreachable!("it was just found"));
            }
        }
        let usage = clap::error::ContextValue::StyledStr(asked.render_usage());
        error.insert(clap::error::ContextKind::Usage, usage);
    }
    error
}

/// What a command line asks for; its first word is the program's name.
///
/// # Errors
/// When it is none of this program, or help or the version was asked for.
pub(crate) fn parse_from<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> Result<Cli, clap::Error> {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let mut command = HelpForm::asked(&words).map_or_else(command, command_with_help);
    let mut matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// The help of the program itself: the commands with their lines, group by group; in the short form those of the first
/// group, and the names of the others.
fn template(command: &Command, form: HelpForm) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    let most = crate::columns::width().unwrap_or(MOST).min(MOST);
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let shown = if form == HelpForm::Short { 1 } else { GROUPS.len() };
    for (title, names) in &GROUPS[..shown] {
        let _ = writeln!(text, "\n{header}{title}:{header:#}");
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let about = hanging(&about, width + 4, most);
            let _ = writeln!(text, "  {literal}{name:width$}{literal:#}  {about}");
        }
    }
    if form == HelpForm::Whole {
        let _ = write!(text, "\n{header}Global options:{header:#}\n{{options}}{{after-help}}");
        return text;
    }
    let others: Vec<&str> = GROUPS[shown..].iter().flat_map(|(_, names)| *names).copied().collect();
    let others = hanging(&others.join(", "), 2, most);
    let _ = writeln!(text, "\n{header}More commands:{header:#}\n  {others}\n\n{GLOBAL}");
    text.push_str("prony COMMAND -h shows the help of one command, prony --help shows everything\n");
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
    fn every_visible_command_stands_in_one_group() {
        let command = command();
        for below in command.get_subcommands() {
            let groups = GROUPS.iter().filter(|(_, names)| names.contains(&below.get_name())).count();
            let wanted = usize::from(!below.is_hide_set());
            assert_eq!(groups, wanted, "{} stands in {groups} groups of the help", below.get_name());
        }
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            assert!(command.find_subcommand(name).is_some(), "the help names {name}, which is no command");
        }
    }

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }
}
