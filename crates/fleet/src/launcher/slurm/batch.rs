//! Batch jobs: pilots and scripts, which run without a connection to their input.

use std::fmt::Write;
use std::time::Duration;

use super::super::ssh::quoted;
use super::{JOB_NAME, minutes, tool};
use crate::{Error, Result};

/// One job that runs a command on nodes of its own.
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

/// The line that ends the job's input; it occurs in no JSON text.
const END: &str = "END_OF_INPUT_OF_PRONY";

impl Batch {
    /// The script for `sbatch(1)` that runs the command once on each node. The task of each node continues when others
    /// fail.
    #[must_use]
    pub fn script(&self) -> String {
        let before: &[&str] = if self.nodes == 1 { &[] } else { &["srun", "--no-kill", "--kill-on-bad-exit=0"] };
        let words = before.iter().map(|word| (*word).to_owned()).chain(self.command.iter().cloned());
        Self { command: words.collect(), ..self.clone() }.script_of_command()
    }

    /// The script that runs the command as it is, once.
    #[must_use]
    pub fn script_of_command(&self) -> String {
        let mut options = vec![
            format!("--job-name={}", self.name),
            format!("--nodes={}", self.nodes),
            "--ntasks-per-node=1".to_owned(),
            "--exclusive".to_owned(),
            "--no-kill".to_owned(),
            if self.requeue { "--requeue" } else { "--no-requeue" }.to_owned(),
            format!("--time={}", minutes(self.time_limit)),
            format!("--output={}", self.output.as_deref().unwrap_or("/dev/null")),
        ];
        options.extend(self.partition.iter().map(|partition| format!("--partition={partition}")));
        options.extend((!self.named.is_empty()).then(|| format!("--nodelist={}", self.named.join(","))));
        options.extend(self.options.iter().cloned());
        let mut text = String::from("#!/bin/sh\n");
        for option in options {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "#SBATCH {option}");
        }
        let words: Vec<String> = self.command.iter().map(|word| quoted(word)).collect();
        let _ = match &self.input {
            Some(input) => writeln!(text, "exec {} <<'{END}'\n{}\n{END}", words.join(" "), input.trim_end()),
            None => writeln!(text, "exec {}", words.join(" ")),
        };
        text
    }
}

/// Job number from the output of `sbatch --parsable`: `number` or `number;cluster`.
fn parse_submitted(text: &str) -> Option<u64> {
    text.lines().last()?.trim().split(';').next()?.parse().ok()
}

/// Submits a job and returns its number. Secrets are passed in the environment, since arguments appear in process
/// lists.
///
/// # Errors
/// When Slurm is missing or refuses, with its message.
pub fn submit(batch: &Batch, environment: &[(String, String)]) -> Result<u64> {
    let said = tool::ask_with("sbatch", &["--parsable", "--export=ALL"], &batch.script(), environment)?;
    parse_submitted(&said).ok_or_else(|| Error::Protocol(format!("sbatch printed no job number: {}", said.trim())))
}

/// Cancels jobs, running or waiting; a job that has ended is no error.
///
/// # Errors
/// When Slurm is missing or does not answer.
pub fn cancel(jobs: &[u64]) -> Result<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let numbers: Vec<String> = jobs.iter().map(u64::to_string).collect();
    let arguments: Vec<&str> = ["--quiet"].into_iter().chain(numbers.iter().map(String::as_str)).collect();
    tool::ask("scancel", &arguments, "").map(|_| ())
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
        let script = batch.script();
        for line in ["--nodes=4", "--exclusive", "--requeue", "--time=2", "--partition=all", "--account=x"] {
            assert!(script.contains(&format!("#SBATCH {line}\n")), "{script}");
        }
        assert!(script.ends_with("exec srun --no-kill --kill-on-bad-exit=0 '/opt/my tools/prony' run\n"), "{script}");
        let told = Batch { nodes: 1, input: Some("{\"a\": \"$HOME `x`\"}\n".to_owned()), ..batch };
        let end =
            "exec '/opt/my tools/prony' run <<'END_OF_INPUT_OF_PRONY'\n{\"a\": \"$HOME `x`\"}\nEND_OF_INPUT_OF_PRONY\n";
        assert!(told.script().ends_with(end), "{}", told.script());
        assert_eq!(parse_submitted("12;main\n"), Some(12));
        assert_eq!(parse_submitted("sbatch: warning\n7\n"), Some(7));
        assert_eq!(parse_submitted(""), None);
    }
}
