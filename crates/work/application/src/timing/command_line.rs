//! How a command line becomes a process: through a shell, or without one.

use std::process::{Command, Stdio};

use crate::Error;

/// Whether a shell reads the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellChoice {
    /// Only where the command needs one, so that the time of other commands does not contain a shell's start.
    WhereNeeded,
    /// Never: the line is split into words, quotes are removed.
    None,
    /// Always this one, called with `-c`.
    Program(Vec<String>),
}

/// A command to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// As it was written.
    pub text: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Whether the program is a shell that reads the text.
    pub through_shell: bool,
}

/// The shell, if none is named.
const SHELL: &str = "/bin/sh";

/// Characters that mean something to a shell, beyond those that separate words.
const SPECIAL: &[char] =
    &['|', '&', ';', '<', '>', '(', ')', '$', '`', '\\', '"', '\'', '*', '?', '[', '#', '~', '=', '%', '{', '!', '\n'];

impl CommandLine {
    /// A command as written by the user.
    ///
    /// # Errors
    /// When it is empty, or, without a shell, its quotes do not match.
    pub fn new(text: &str, shell: &ShellChoice) -> Result<Self, Error> {
        let fault = |reason: &str| Error::CommandLine { command: text.to_owned(), reason: reason.to_owned() };
        let words = |argv: Vec<String>| Self { text: text.to_owned(), argv, through_shell: false };
        let through = |shell: &[String]| {
            let argv = shell.iter().cloned().chain(["-c".to_owned(), text.to_owned()]).collect();
            Self { text: text.to_owned(), argv, through_shell: true }
        };
        if text.trim().is_empty() {
            return Err(fault("it is empty"));
        }
        match shell {
            ShellChoice::Program(shell) => Ok(through(shell)),
            ShellChoice::None => match shlex::split(text) {
                Some(argv) if !argv.is_empty() => Ok(words(argv)),
                _ => Err(fault("its quotes do not match")),
            },
            ShellChoice::WhereNeeded => {
                let argv: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
                let plain = !text.contains(SPECIAL) && argv.first().is_some_and(|program| is_program(program));
                Ok(if plain { words(argv) } else { through(&[SHELL.to_owned()]) })
            }
        }
    }

    /// Checks that the program of the command exists, if possible: only the shell can interpret more than single words.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn check_program(&self) -> Result<(), Error> {
        let default_shell = self.argv.first().is_some_and(|program| program == SHELL);
        let word = match self.through_shell {
            false => self.argv.first().map(String::as_str),
            true if !default_shell || self.text.contains(SPECIAL) => None,
            true => self.text.split_whitespace().next(),
        };
        let reason = match word {
            None => return Ok(()),
            Some(word) if is_program(word) || self.through_shell && is_word_of_shell(word) => return Ok(()),
            Some(word) if word.contains('/') => format!("{word} is not an executable file"),
            Some(word) => format!("there is no program {word} in PATH"),
        };
        Err(Error::CommandLine { command: self.text.clone(), reason })
    }

    /// A command whose words are given, such as those after `--`.
    #[must_use]
    pub fn of_words(argv: Vec<String>) -> Self {
        let text = shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "));
        Self { text, argv, through_shell: false }
    }
}

/// Whether a word names an executable file; else it may be a word of the shell.
fn is_program(word: &str) -> bool {
    os::process::program_named(word).is_some()
}

/// Whether the shell has this word built in; assumed if that cannot be checked.
fn is_word_of_shell(word: &str) -> bool {
    if word.contains('/') {
        return false;
    }
    let asked = Command::new(SHELL)
        .args(["-c", "command -v \"$1\"", "sh", word])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.map_or(true, |status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, shell: &ShellChoice) -> CommandLine {
        CommandLine::new(text, shell).unwrap()
    }

    #[test]
    fn a_shell_is_used_only_where_the_command_needs_one() {
        let auto = ShellChoice::WhereNeeded;
        assert_eq!(line("sleep 0.3", &auto).argv, ["sleep", "0.3"]);
        for needs in [
            "sleep 0.3; true",
            "echo $HOME",
            "grep -R TODO *",
            "f() { true; }",
            "A=1 env",
            "no-such-program x",
            "echo 'a'",
        ] {
            assert!(line(needs, &auto).through_shell, "{needs}");
            assert_eq!(line(needs, &auto).argv, ["/bin/sh", "-c", needs]);
        }
    }

    #[test]
    fn without_a_shell_quotes_are_removed_and_must_match() {
        assert_eq!(line("grep 'a b' \"c\"", &ShellChoice::None).argv, ["grep", "a b", "c"]);
        assert!(CommandLine::new("grep 'a b", &ShellChoice::None).is_err());
        assert!(CommandLine::new("  ", &ShellChoice::WhereNeeded).is_err());
    }

    #[test]
    fn a_program_that_does_not_exist_is_refused_where_that_can_be_told() {
        let auto = ShellChoice::WhereNeeded;
        let named = ShellChoice::Program(vec!["/no/such/shell".to_owned()]);
        for (text, shell) in
            [("ls -l", &auto), ("exit 3", &auto), ("no-such-program | cat", &auto), ("no-such-program", &named)]
        {
            assert!(line(text, shell).check_program().is_ok(), "{text}");
        }
        let refusal = |line: CommandLine| line.check_program().unwrap_err().to_string();
        for shell in [&auto, &ShellChoice::None] {
            let said = refusal(line("no-such-program x", shell));
            assert_eq!(
                said,
                "could not use the command 'no-such-program x': there is no program no-such-program in PATH"
            );
            // It can be read, and is no program.
            let said = refusal(line("/etc/passwd", shell));
            assert!(said.contains("/etc/passwd is not an executable file"), "{said}");
        }
        assert!(refusal(CommandLine::of_words(vec!["no-such-program".to_owned()])).contains("no-such-program"));
    }

    #[test]
    fn a_named_shell_reads_the_command_and_given_words_are_kept() {
        let bash = ShellChoice::Program(vec!["bash".to_owned(), "--norc".to_owned()]);
        assert_eq!(line("true", &bash).argv, ["bash", "--norc", "-c", "true"]);
        let words = CommandLine::of_words(vec!["grep".to_owned(), "a b".to_owned()]);
        assert_eq!((words.text.as_str(), words.argv.len()), ("grep 'a b'", 2));
    }
}
