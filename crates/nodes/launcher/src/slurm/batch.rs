//! Batch jobs: pilots and scripts, which run without a connection to their input.

use std::fmt::Write;
use std::time::Duration;

use model::words::quoted;

use super::{JOB_NAME, minutes, tool};
use crate::{Error, Result};

/// One job that runs a command on its own nodes.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Name in Slurm's lists.
    pub name: String,
    /// Number of nodes, each exclusively, with one task a node.
    pub nodes: usize,
    /// Names of the nodes; empty: Slurm chooses.
    pub named: Vec<String>,
    /// Partition; `None`: the site's default.
    pub partition: Option<String>,
    /// Time limit of the job.
    pub time_limit: Duration,
    /// Whether Slurm starts it again after its node failed.
    pub requeue: bool,
    /// File for its output, with Slurm's patterns; `None` discards it.
    pub output: Option<String>,
    /// Options of the site, such as `--account=x`.
    pub options: Vec<String>,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Standard input of the command, for a job of one node. It is part of the script, which Slurm shows to the job's
    /// owner alone. Each line ends with a line feed.
    pub input: Option<String>,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            name: JOB_NAME.to_owned(),
            nodes: 1,
            named: Vec::new(),
            partition: None,
            time_limit: Duration::from_secs(3600),
            requeue: true,
            output: None,
            options: Vec::new(),
            command: Vec::new(),
            input: None,
        }
    }
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
    /// The script for `sbatch(1)` that runs the command once on each node. The task of each node continues when others
    /// fail.
    ///
    /// # Errors
    /// When an option is more than one line.
    pub fn script(&self) -> Result<String> {
        let before: &[&str] = if self.nodes == 1 { &[] } else { &["srun", "--no-kill", "--kill-on-bad-exit=0"] };
        let words = before.iter().map(|word| (*word).to_owned()).chain(self.command.iter().cloned());
        Self { command: words.collect(), ..self.clone() }.script_of_command()
    }

    /// The script that runs the command as it is, once.
    ///
    /// # Errors
    /// When an option is more than one line.
    pub fn script_of_command(&self) -> Result<String> {
        let mut options = vec![
            format!("--job-name={}", self.name),
            format!("--nodes={}", self.nodes),
            "--ntasks-per-node=1".to_owned(),
            "--exclusive".to_owned(),
            "--no-kill".to_owned(),
            if self.requeue { "--requeue" } else { "--no-requeue" }.to_owned(),
            format!("--time={}", minutes(self.time_limit)),
            format!("--output={}", option_word(self.output.as_deref().unwrap_or("/dev/null"))),
        ];
        options.extend(self.partition.iter().map(|partition| format!("--partition={partition}")));
        options.extend((!self.named.is_empty()).then(|| format!("--nodelist={}", self.named.join(","))));
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
        let _ = match &self.input {
            Some(input) => writeln!(text, "exec {} <<'{END}'\n{}\n{END}", words.join(" "), input.trim_end()),
            None => writeln!(text, "exec {}", words.join(" ")),
        };
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

/// Submits a job and says which it is. Secrets are passed in the environment, since arguments appear in process
/// lists.
///
/// # Errors
/// When Slurm is missing or refuses, with its message.
pub fn submit(batch: &Batch, environment: &[(String, String)]) -> Result<SubmittedId> {
    let said = tool::ask_with("sbatch", &["--parsable", "--export=ALL"], &batch.script()?, environment)?;
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

    #[test]
    fn a_script_holds_all_options() {
        let batch = Batch {
            nodes: 4,
            partition: Some("all".to_owned()),
            time_limit: Duration::from_secs(61),
            options: vec!["--account=x".to_owned()],
            command: ["/opt/my tools/prony", "run"].map(str::to_owned).to_vec(),
            ..Batch::default()
        };
        let script = batch.script().unwrap();
        for line in ["--nodes=4", "--exclusive", "--requeue", "--time=2", "--partition=all", "--account=x"] {
            assert!(script.contains(&format!("#SBATCH {line}\n")), "{script}");
        }
        assert!(script.ends_with("exec srun --no-kill --kill-on-bad-exit=0 '/opt/my tools/prony' run\n"), "{script}");
        let told = Batch { nodes: 1, input: Some("{\"a\": \"$HOME `x`\"}\n".to_owned()), ..batch };
        let end =
            "exec '/opt/my tools/prony' run <<'END_OF_INPUT_OF_PRONY'\n{\"a\": \"$HOME `x`\"}\nEND_OF_INPUT_OF_PRONY\n";
        let script = told.script().unwrap();
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
    fn an_output_file_with_blanks_is_one_word() {
        let output = Some("/a dir/x\"y-%j.txt".to_owned());
        let script = Batch { output, ..Batch::default() }.script().unwrap();
        assert!(script.contains("#SBATCH --output=\"/a dir/x\\\"y-%j.txt\"\n"), "{script}");
    }

    #[test]
    fn an_option_with_blanks_is_one_word() {
        let options = ["--comment=two words # \"x\"", "--account=y"].map(str::to_owned).to_vec();
        let script = Batch { options, ..Batch::default() }.script().unwrap();
        let lines = "#SBATCH \"--comment=two words # \\\"x\\\"\"\n#SBATCH --account=y\n";
        assert!(script.contains(lines), "{script}");
    }

    #[test]
    fn no_option_is_more_than_a_line() {
        let bad = "--comment=x\ntouch here".to_owned();
        let batches = [
            Batch { options: vec![bad.clone()], ..Batch::default() },
            Batch { partition: Some(bad.clone()), ..Batch::default() },
            Batch { named: vec![bad.clone()], ..Batch::default() },
            Batch { output: Some(bad.clone()), ..Batch::default() },
            Batch { options: vec!["--comment=x\r".to_owned()], ..Batch::default() },
        ];
        for batch in batches {
            let said = batch.script().unwrap_err().to_string();
            assert!(said.ends_with("it has a control character") && !said.contains('\n'), "{said}");
        }
    }
}
