//! Batch jobs: pilots, which run without a connection to their input.

use std::fmt::Write;
use std::time::Duration;

use model::words::quoted;

use super::{minutes, tool};
use crate::{Error, Result};

/// One job that runs a command on a node of its own. Its output is discarded, and Slurm starts it again after its node
/// failed.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Name in Slurm's lists.
    pub name: String,
    /// Time limit of the job.
    pub time_limit: Duration,
    /// Options of the site, such as `--account=x`.
    pub options: Vec<String>,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Standard input of the command. It is part of the script, which Slurm shows to the job's owner alone. Each line
    /// ends with a line feed.
    pub input: String,
}

/// A value in a line of options, where blanks end a word and `#` begins a comment unless quoted.
fn option_word(word: &str) -> String {
    if word.chars().any(|c| c.is_whitespace() || "#\"'\\".contains(c)) {
        format!("\"{}\"", word.replace('\\', r"\\").replace('"', "\\\""))
    } else {
        word.to_owned()
    }
}

/// The line that ends the job's input; it occurs in no JSON text.
const END: &str = "END_OF_INPUT_OF_PRONY";

impl Batch {
    /// The script for `sbatch(1)`.
    ///
    /// # Errors
    /// When an option is more than one line.
    pub fn script(&self) -> Result<String> {
        let own = ["--nodes=1", "--ntasks-per-node=1", "--exclusive", "--no-kill", "--requeue", "--output=/dev/null"];
        let mut options = own.map(str::to_owned).to_vec();
        options.extend([format!("--job-name={}", self.name), format!("--time={}", minutes(self.time_limit))]);
        // One option is one word, as it is one argument of srun and salloc.
        options.extend(self.options.iter().map(|option| option_word(option)));
        let mut text = String::from("#!/bin/sh\n");
        for option in options {
            // Text after a line feed would be a command of the script.
            if option.chars().any(char::is_control) {
                return Err(Error::Usage(format!("{option:?} is no option of Slurm: it has a control character")));
            }
            // Writing to a String cannot fail.
            let _ = writeln!(text, "#SBATCH {option}");
        }
        let words: Vec<String> = self.command.iter().map(|word| quoted(word)).collect();
        let _ = writeln!(text, "exec {} <<'{END}'\n{}\n{END}", words.join(" "), self.input.trim_end());
        Ok(text)
    }
}

/// A submitted job. Each cluster of a site numbers its jobs separately, so a number without its cluster may be another
/// job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedId {
    /// Its number.
    pub number: u64,
    /// The cluster that took it; `None`: the default of Slurm's commands.
    pub cluster: Option<String>,
}

impl SubmittedId {
    /// Parses `number` or `number;cluster`, as `sbatch --parsable` prints it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (number, cluster) = text.split_once(';').map_or((text, None), |(number, cluster)| (number, Some(cluster)));
        let sound = |name: &str| !name.is_empty() && !name.chars().any(|c| c.is_whitespace() || c.is_control());
        let cluster =
            cluster.map(|name| Some(name.to_owned()).filter(|name| sound(name)).ok_or(())).transpose().ok()?;
        Some(Self { number: number.parse().ok()?, cluster })
    }

    /// Arguments of Slurm's commands that name its cluster.
    pub(super) fn of_cluster(cluster: Option<&str>) -> Option<String> {
        cluster.map(|name| format!("--clusters={name}"))
    }
}

impl std::fmt::Display for SubmittedId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.cluster {
            Some(cluster) => write!(f, "{};{cluster}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

/// The job in the output of `sbatch --parsable`. A site's wrapper may print lines before and after it.
fn parse_submitted(text: &str) -> Option<SubmittedId> {
    text.lines().rev().find_map(|line| SubmittedId::parse(line.trim()))
}

/// The commands that cancel jobs, one for each cluster.
#[must_use]
pub fn cancelling(jobs: &[SubmittedId]) -> Vec<Vec<String>> {
    let mut clusters: Vec<Option<&str>> = jobs.iter().map(|job| job.cluster.as_deref()).collect();
    clusters.sort_unstable();
    clusters.dedup();
    let command = |cluster: Option<&str>| {
        let numbers = jobs.iter().filter(|job| job.cluster.as_deref() == cluster).map(|job| job.number.to_string());
        std::iter::once("scancel".to_owned()).chain(SubmittedId::of_cluster(cluster)).chain(numbers).collect()
    };
    clusters.into_iter().map(command).collect()
}

/// Submits a job and says which it is.
///
/// # Errors
/// When Slurm is missing or refuses, with its message.
pub fn submit(batch: &Batch) -> Result<SubmittedId> {
    let said = tool::ask("sbatch", &["--parsable", "--export=ALL"], &batch.script()?)?;
    parse_submitted(&said).ok_or_else(|| Error::Protocol(format!("sbatch printed no job number: {}", said.trim())))
}

/// Cancels jobs, running or waiting; a job that has ended is no error.
///
/// # Errors
/// When Slurm is missing or does not answer.
pub fn cancel(jobs: &[SubmittedId]) -> Result<()> {
    // Jobs of one cluster are cancelled although another one does not answer.
    let ask = |words: Vec<String>| {
        let arguments: Vec<&str> = ["--quiet"].into_iter().chain(words[1..].iter().map(String::as_str)).collect();
        tool::ask(&words[0], &arguments, "").map(|_| ())
    };
    cancelling(jobs).into_iter().map(ask).fold(Ok(()), Result::and)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(options: &[&str]) -> Batch {
        Batch {
            name: "prony".to_owned(),
            time_limit: Duration::from_secs(61),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            command: ["/opt/my tools/prony", "run"].map(str::to_owned).to_vec(),
            input: "{\"a\": \"$HOME `x`\"}\n".to_owned(),
        }
    }

    #[test]
    fn a_script_holds_all_options_and_the_input() {
        let script = batch(&["--account=x", "--comment=two words # \"x\""]).script().unwrap();
        let lines = ["--exclusive", "--requeue", "--time=2", "--account=x", "\"--comment=two words # \\\"x\\\"\""];
        for line in lines {
            assert!(script.contains(&format!("#SBATCH {line}\n")), "{script}");
        }
        let end =
            "exec '/opt/my tools/prony' run <<'END_OF_INPUT_OF_PRONY'\n{\"a\": \"$HOME `x`\"}\nEND_OF_INPUT_OF_PRONY\n";
        assert!(script.ends_with(end), "{script}");
    }

    #[test]
    fn a_submitted_job_is_found_among_what_a_wrapper_prints_and_is_that_of_its_cluster() {
        let job = |number, cluster: Option<&str>| SubmittedId { number, cluster: cluster.map(str::to_owned) };
        assert_eq!(parse_submitted("12;main\n"), Some(job(12, Some("main"))));
        assert_eq!(parse_submitted("sbatch: warning\n7\n"), Some(job(7, None)));
        assert_eq!(parse_submitted("You have 3 hours left\n7;b\nBye 8\n"), Some(job(7, Some("b"))));
        for text in ["", "7;", "7; a", "7;a b", "x;a", "-1"] {
            assert_eq!(parse_submitted(text), None, "{text:?}");
        }
        for one in [job(12, Some("main")), job(7, None)] {
            assert_eq!(SubmittedId::parse(&one.to_string()), Some(one));
        }
        let all = [job(7, Some("b")), job(8, None), job(9, Some("b"))];
        assert_eq!(cancelling(&all), [vec!["scancel", "8"], vec!["scancel", "--clusters=b", "7", "9"]]);
        assert!(cancelling(&[]).is_empty());
    }

    #[test]
    fn no_option_is_more_than_a_line() {
        for option in ["--comment=x\ntouch here", "--comment=x\r"] {
            let said = batch(&[option]).script().unwrap_err().to_string();
            assert!(said.ends_with("it has a control character") && !said.contains('\n'), "{said}");
        }
    }
}
