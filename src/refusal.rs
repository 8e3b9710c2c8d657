//! What is wrong with a command line, in one line: what, where, and what to do about it.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::ExitStatus;
use crate::cli::command;

/// Prints help to standard output, and what is wrong with a command line to standard error in one line.
pub(crate) fn refuse(mut error: clap::Error) -> ExitCode {
    // A verb alone is answered with its help, on standard error since nothing was done.
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if error.kind() == ErrorKind::MissingSubcommand && words.is_empty() {
        // An option that the environment gives counts as an argument.
        crate::output::guidance(&command().render_help().to_string());
        return ExitStatus::Failed.into();
    }
    if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        without_environment(&mut error, &words);
        crate::output::remark(&in_one_line(&error, &words));
        return ExitStatus::Failed.into();
    }
    match error.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            crate::output::remark(&format!("could not write to standard output: {error}"));
            ExitStatus::Failed.into()
        }
        _ if error.use_stderr() => ExitStatus::Failed.into(),
        _ => ExitStatus::Fine.into(),
    }
}

/// The word that is not UTF-8, where that is what is wrong with a command line.
pub(crate) fn strange_word(error: &clap::Error) -> Option<anyhow::Error> {
    if error.kind() != ErrorKind::InvalidUtf8 {
        return None;
    }
    let word = std::env::args_os().find(|word| word.to_str().is_none()).unwrap_or_default();
    let word = word.to_string_lossy();
    Some(anyhow::anyhow!("could not use '{word}': it is not UTF-8; if it is a file, rename it, or name a link to it"))
}

/// What an error says and its tips, joined; then the usage where something is missing or superfluous, and the help of
/// the verb that `words` name.
fn in_one_line(error: &clap::Error, words: &[OsString]) -> String {
    let (verb, verbs) = verb_of(words);
    if error.kind() == ErrorKind::MissingSubcommand {
        return format!("{verb} must be followed by one of {}; see {verb} --help", verbs.join(", "));
    }
    let mut parts = Vec::new();
    let text = error.render().to_string();
    // A text of this program's own is complete.
    let own = error.kind() == ErrorKind::ValueValidation && error.context().next().is_none();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let begins = parts.is_empty() || ["tip: ", "Usage: "].iter().any(|word| line.starts_with(word));
        let line = ["error: ", "tip: "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
        match (line.strip_prefix("Usage: "), parts.last_mut()) {
            _ if line.starts_with("For more information, try ") => {}
            (Some(_), _) if error.kind() == ErrorKind::InvalidSubcommand => {}
            (Some(usage), _) => parts.push(format!("usage: {usage}")),
            (None, Some(last)) if !begins => *last = format!("{last} {line}"),
            (None, _) => parts.push(line.to_owned()),
        }
    }
    parts.extend((!own).then(|| format!("see {verb} --help")));
    parts.join("; ")
}

/// `prony runs remove` for words that begin with this verb, and what may stand after it.
fn verb_of(words: &[OsString]) -> (String, Vec<String>) {
    let mut names = vec!["prony".to_owned()];
    let mut at = command();
    for word in words.iter().filter_map(|word| word.to_str()) {
        let Some(found) = at.find_subcommand(word) else {
            if word.starts_with('-') || names.len() == 1 {
                continue;
            } else {
                break;
            };
        };
        names.push(found.get_name().to_owned());
        at = found.clone();
    }
    let below = at.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help");
    (names.join(" "), below.map(|verb| verb.get_name().to_owned()).collect())
}

/// Takes options that came from the environment out of the usage line, which would tell to give them.
fn without_environment(error: &mut clap::Error, words: &[OsString]) {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return };
    let mut text = usage.to_string();
    for (option, shown) in [("--store", " --store <PATH>"), ("--spacing", " --spacing <TIME>")] {
        if !words.iter().any(|word| word.to_string_lossy().starts_with(option)) {
            text = text.replace(shown, "");
        }
    }
    error.insert(ContextKind::Usage, ContextValue::StyledStr(text.into()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse_from;

    fn said(line: &str) -> String {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let mut error = parse_from(std::iter::once("prony".into()).chain(words.clone())).unwrap_err();
        without_environment(&mut error, &words);
        in_one_line(&error, &words)
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line_with_the_tip_and_the_help_of_the_verb() {
        assert_eq!(
            said("shw 1"),
            "unrecognized subcommand 'shw'; a similar subcommand exists: 'show'; see prony --help"
        );
        assert_eq!(
            said("show --jsn 1"),
            "unexpected argument '--jsn' found; a similar argument exists: '--json'; usage: prony show --json <RUN>...; \
             see prony show --help"
        );
        assert_eq!(
            said("--color never runs remove"),
            "the following required arguments were not provided: <RUN>...; usage: prony runs remove <RUN>...; see prony \
             runs remove --help"
        );
        assert_eq!(
            said("show 1 --format hml"),
            "invalid value 'hml' for '--format <FORMAT>' [possible values: terminal, json, csv, html, markdown]; a \
             similar value exists: 'html'; see prony show --help"
        );
    }

    #[test]
    fn a_verb_without_its_word_is_told_what_may_follow() {
        assert_eq!(
            said("net lab --color never"),
            "prony net lab must be followed by one of up, run, down, list; see prony net lab --help"
        );
        let all = said("--color never");
        assert!(all.starts_with("prony must be followed by one of run, time, app, net,"), "{all}");
        assert!(!all.contains("worker") && !all.contains("sessions"), "hidden verbs stay hidden: {all}");
    }
}
