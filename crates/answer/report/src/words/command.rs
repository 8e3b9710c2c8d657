//! Suggested command lines.

use model::Run;
use model::words::quoted;

/// The command that resumes an interrupted run, which `handle` identifies on the command line; `None` if its kind of
/// measurement cannot be resumed.
#[must_use]
pub fn resume_command(run: &Run, handle: &str) -> Option<String> {
    if run.session.complete || run.origin.is_some() {
        return None;
    }
    match run.plan.suite.as_str() {
        "farm" | "experiment" => None,
        suite if matches!(suite, "app" | "sessions" | "time") || suite.starts_with("net ") => {
            let words = continued(&run.session.command);
            let begun = if words.is_empty() { format!("prony {suite}") } else { words };
            let resume = format!("--resume {}", quoted(handle));
            // What follows `--` is the user's own command.
            Some(match begun.split_once(" -- ") {
                Some((options, program)) => format!("{options} {resume} -- {program}"),
                None => format!("{begun} {resume}"),
            })
        }
        _ => Some(format!("prony run --resume {}", quoted(handle))),
    }
}

/// A command line without the path of the program and without options about an earlier resume or the storage of its
/// run.
fn continued(words: &[String]) -> String {
    /// Options with a value that apply to one session only.
    const OWN: [&str; 4] = ["--resume", "--time-limit", "--label", "--note"];
    if words.len() < 2 {
        return String::new();
    }
    let mut kept = vec!["prony".to_owned()];
    let mut skip = false;
    for word in &words[1..] {
        if std::mem::take(&mut skip) {
            continue;
        }
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if OWN.contains(&name) {
            skip = name == word;
            continue;
        }
        kept.push(quoted(word));
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> String {
        continued(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn sessions_are_resumed_by_their_own_command_line() {
        let words = ["prony", "app", "sessions", "-n", "1", "a", "--", "wc", "-c"];
        let mut run = Run {
            id: "a".to_owned(),
            session: model::Session { command: words.map(str::to_owned).to_vec(), ..Default::default() },
            plan: model::Plan { suite: "sessions".to_owned(), ..Default::default() },
            ..Run::default()
        };
        let said = resume_command(&run, "3");
        assert_eq!(said.as_deref(), Some("prony app sessions -n 1 a --resume 3 -- wc -c"));
        run.session.complete = true;
        assert_eq!(resume_command(&run, "3"), None);
    }

    #[test]
    fn a_command_is_continued_without_what_was_its_own() {
        assert_eq!(line(&["/usr/bin/prony", "net", "rr", "--kind", "tcp"]), "prony net rr --kind tcp");
        assert_eq!(line(&["prony", "app", "run", "a b.toml", "--resume", "3", "-q"]), "prony app run 'a b.toml' -q");
        assert_eq!(line(&["prony", "app", "run", "m", "--time-limit=9s", "--label", "x y"]), "prony app run m");
        assert_eq!(line(&["prony"]), "");
    }
}
