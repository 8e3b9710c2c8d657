//! Commands in README and docs name commands and options that exist.

use std::path::Path;

use clap::Command;

use super::{command, parse_from};

#[path = "../../tests/docs/pages.rs"]
mod pages;

/// Whether a shell would end a command at this word.
fn ends(word: &str) -> bool {
    ["|", "||", "&&", ";", "&", "do", "done"].contains(&word)
}

/// The commands of a script as words, without comments, redirections and assignments before a command.
fn commands(script: &str) -> Vec<Vec<String>> {
    let (mut all, mut words, mut word, mut quote) = (Vec::new(), Vec::new(), None::<String>, None);
    let text = script.replace("\\\n", " ") + "\n";
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => while letters.next_if(|c| *c != '\n').is_some() {},
            (c, None) if c.is_whitespace() || c == ';' => {
                words.extend(word.take());
                if c == '\n' || c == ';' {
                    all.push(std::mem::take(&mut words));
                }
            }
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    let mut found = Vec::new();
    for line in all {
        for part in line.split(|word| ends(word)) {
            let begins = part.iter().position(|word| word == "prony");
            let until =
                part.iter().position(|word| word.contains('>') && !word.starts_with("--")).unwrap_or(part.len());
            found.extend(begins.filter(|at| *at < until).map(|at| part[at..until].to_vec()));
        }
    }
    found
}

/// The error of a command that may contain placeholders: a command or an option that does not exist.
fn unknown(words: &[String], definition: &Command) -> Option<String> {
    let mut command = definition;
    for word in &words[1..] {
        let name = word.split('=').next().unwrap_or(word);
        if let Some(long) = name.strip_prefix("--").filter(|long| !long.is_empty()) {
            let has = |one: &Command| one.get_arguments().any(|option| option.get_long() == Some(long));
            if !(has(command) || has(definition) || ["help", "version"].contains(&long)) {
                return Some(format!("{} has no option --{long}", command.get_name()));
            }
        } else if let Some(below) = command.find_subcommand(word).filter(|below| below.get_name() == word) {
            command = below;
        } else if command.get_name() == definition.get_name() && word.chars().all(|c| c.is_ascii_lowercase()) {
            return Some(format!("there is no command {word}"));
        }
    }
    None
}

/// Commands that do something, with their names.
fn leaves(command: &Command, above: &str) -> Vec<(String, Command)> {
    let visible = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    let below: Vec<_> = visible.flat_map(|below| leaves(below, &format!("{above} {}", below.get_name()))).collect();
    if below.is_empty() { vec![(above.to_owned(), command.clone())] } else { below }
}

#[test]
fn every_command_has_examples_that_can_be_typed() {
    let definition = command();
    for (name, command) in leaves(&definition, "prony") {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines: Vec<&str> = help.lines().skip_while(|line| *line != "Examples:").collect();
        let typed = lines.iter().filter_map(|line| line.trim().split("  ").next());
        let found: Vec<Vec<String>> = typed.flat_map(commands).collect();
        assert!(!found.is_empty(), "{name} has no example");
        for words in found {
            assert!(
                words.join(" ").starts_with(&name) || words.join(" ").starts_with("prony net stream"),
                "{words:?} is below {name}"
            );
            let parsed = parse_from(&words).err().filter(clap::Error::use_stderr);
            assert!(parsed.is_none(), "{words:?}: {parsed:?}");
        }
        for option in command.get_arguments().filter(|option| !option.is_hide_set()) {
            let lines = option.get_help().map(|help| help.to_string().chars().count()).unwrap_or_default();
            assert!(lines <= 100, "{name}: the help of {} is longer than a line", option.get_id());
        }
    }
}

#[test]
fn commands_of_the_pages_are_known() {
    assert_eq!(commands("A=1 prony a \\\n  b 'c d' | less # prony x\nprony e > f; ls\n").len(), 2);
    let definition = command();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in pages::pages(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        for block in page.blocks.iter().filter(|block| block.info.starts_with("sh")) {
            for words in commands(&block.text) {
                seen += 1;
                let parsed = parse_from(&words).err().filter(clap::Error::use_stderr);
                let problem = parsed.map(|error| error.to_string()).or_else(|| unknown(&words, &definition));
                wrong.extend(problem.map(|problem| format!("{}:{}: {words:?}: {problem}", page.name, block.line)));
            }
        }
        for (line, span) in page.spans().into_iter().filter(|(_, span)| span.starts_with("prony ")) {
            seen += 1;
            let problem = commands(&span).iter().find_map(|words| unknown(words, &definition));
            wrong.extend(problem.map(|problem| format!("{}:{line}: {span}: {problem}", page.name)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen > 40, "{seen} commands were found");
}
