//! Jobs as `scontrol -o show job` lists them, which every version of Slurm does alike.

use super::SubmittedId;
use super::tool::ask;
use crate::Result;

/// A job as Slurm describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlurmJob {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its state, such as `PENDING`, `RUNNING`, `COMPLETED`, `NODE_FAIL` or `REQUEUED`.
    pub state: String,
    /// Reason of the state; empty if Slurm gives none.
    pub reason: String,
    /// Whether Slurm may not restart it: by the job's own option, or by the site's configuration.
    pub final_end: bool,
}

impl SlurmJob {
    /// Whether it ended and will not be restarted (squeue(1), JOB STATE CODES).
    #[must_use]
    pub fn is_over(&self) -> bool {
        let for_good =
            ["BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "OUT_OF_MEMORY", "REVOKED", "TIMEOUT"];
        for_good.iter().any(|state| self.state.starts_with(state)) || self.final_end && self.is_lost()
    }

    /// Whether it lost its node or was preempted; if requeuing is allowed, it will be restarted.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        ["NODE_FAIL", "PREEMPTED"].iter().any(|state| self.state.starts_with(state))
    }
}

fn given(reason: &str) -> String {
    if ["None", "none", "(null)"].contains(&reason) { String::new() } else { reason.to_owned() }
}

/// Parses the output of `scontrol -o show job`: one job a line, `Key=value` separated by blanks. A job's name may hold
/// any text and so may resemble a key; keys are searched for after it. Other lines are skipped.
#[must_use]
pub fn parse_one_line(text: &str) -> Vec<SlurmJob> {
    let of = |line: &str| {
        let line = line.trim_start();
        let id = line.strip_prefix("JobId=")?.split_whitespace().next()?.parse().ok()?;
        let (name, rest) = line.split_once(" JobName=")?.1.split_once(" UserId=")?;
        let field = |key: &str| {
            let value = rest.split_once(&format!(" {key}="))?.1.split_whitespace().next()?;
            Some(value.to_owned()).filter(|value| value != "(null)")
        };
        Some(SlurmJob {
            id,
            name: name.to_owned(),
            state: field("JobState")?,
            reason: given(&field("Reason").unwrap_or_default()),
            final_end: field("Requeue").is_some_and(|value| value == "0"),
        })
    };
    text.lines().filter_map(of).collect()
}

/// The jobs of this name that Slurm still lists, on a cluster or the default one.
///
/// # Errors
/// When Slurm is missing or does not answer.
pub fn jobs(name: &str, cluster: Option<&str>) -> Result<Vec<SlurmJob>> {
    let cluster = SubmittedId::of_cluster(cluster);
    let words = ["--oneliner"].into_iter().chain(cluster.as_deref()).chain(["show", "job"]);
    let mut jobs = parse_one_line(&ask("scontrol", &words.collect::<Vec<_>>(), "")?);
    jobs.retain(|job| job.name == name);
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINE: &str = "JobId=7 JobName=a JobState=FUN UserId=root(0) GroupId=root(0) QOS=(null) JobState=PENDING \
                        Reason=BeginTime Dependency=(null) Requeue=1 Restarts=2 NodeList=(null) BatchHost=n1";

    #[test]
    fn a_line_is_read_behind_the_name_of_its_job() {
        let [line] = &parse_one_line(LINE)[..] else { panic!() };
        assert_eq!((line.id, line.name.as_str(), line.state.as_str()), (7, "a JobState=FUN", "PENDING"));
        assert_eq!(line.reason.as_str(), "BeginTime");
    }

    #[test]
    fn a_job_is_over_when_it_will_not_be_restarted() {
        for (state, requeue, over, lost) in [
            ("NODE_FAIL", "1", false, true),
            ("NODE_FAIL", "0", true, true),
            ("CANCELLED", "1", true, false),
            ("NODE_FAIL+REQUEUED", "1", false, true),
            ("RUNNING", "0", false, false),
        ] {
            let line = LINE.replace("JobState=PENDING", &format!("JobState={state}"));
            let [job] = &parse_one_line(&line.replace("Requeue=1", &format!("Requeue={requeue}")))[..] else {
                panic!()
            };
            assert_eq!((job.is_over(), job.is_lost()), (over, lost), "{state} {requeue}");
        }
    }

    #[test]
    fn truncated_texts_hold_no_other_job() {
        for end in 0..LINE.len() {
            assert!(parse_one_line(&LINE[..end]).len() <= 1);
        }
        assert!(parse_one_line("No jobs in the system").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in "\\PC{0,200}") {
            let _ = (parse_one_line(&text), super::super::parse_nodes(&text), super::super::reason_of(&text));
            let _ = parse_one_line(&format!("JobId=1 JobName={text} UserId=x JobState={text}"));
        }
    }
}
