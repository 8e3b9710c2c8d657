//! Jobs as `squeue --json` lists them, or `scontrol -o show job` where JSON is not available.

use serde_json::Value;

use super::SubmittedId;
use super::tool::ask;
use crate::{Error, Result};

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
    /// Nodes in Slurm's notation, such as `n[1-4]`.
    pub nodes: String,
    /// How often it was restarted.
    pub restarts: u32,
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

/// Parses the output of `squeue --json`. Versions of Slurm differ: a state is one word or a list, and a number may be
/// wrapped in `{"set": true, "number": 1}`.
///
/// # Errors
/// When the text is malformed, for instance truncated.
pub fn parse_queue(text: &str) -> Result<Vec<SlurmJob>> {
    let wrong = |what: String| Error::Protocol(format!("squeue --json: {what}"));
    let all: Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let jobs = all.get("jobs").and_then(Value::as_array).ok_or_else(|| wrong("it has no jobs".to_owned()))?;
    Ok(jobs.iter().filter_map(one).collect())
}

fn one(job: &Value) -> Option<SlurmJob> {
    Some(SlurmJob {
        id: number(job.get("job_id")?)?,
        name: word(job.get("name")),
        state: word(job.get("job_state")),
        reason: given(&word(job.get("state_reason"))),
        nodes: word(job.get("nodes")),
        restarts: job.get("restart_cnt").and_then(number).and_then(|count| count.try_into().ok()).unwrap_or(0),
        final_end: job.get("requeue").is_some_and(|value| value.as_bool() == Some(false) || number(value) == Some(0)),
    })
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.get("number")?.as_u64())
}

fn word(value: Option<&Value>) -> String {
    let text = match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("+"),
        _ => String::new(),
    };
    text.chars().filter(|c| !c.is_control()).take(1000).collect()
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
            nodes: field("NodeList").unwrap_or_default(),
            restarts: field("Restarts").and_then(|count| count.parse().ok()).unwrap_or(0),
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
    let asking = |words: &[&'static str]| -> Vec<&str> { words.iter().copied().chain(cluster.as_deref()).collect() };
    let listed = ask("squeue", &asking(&["--json"]), "").and_then(|text| parse_queue(&text));
    let mut jobs = match listed {
        Ok(jobs) => jobs,
        // Slurm may be built without JSON, or be too old for it.
        Err(Error::Usage(missing)) => return Err(Error::Usage(missing)),
        Err(_) => match ask("scontrol", &[&asking(&["--oneliner"])[..], &["show", "job"]].concat(), "") {
            Ok(text) => parse_one_line(&text),
            Err(error) => return Err(error),
        },
    };
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
    fn old_and_new_formats_are_read() {
        let old = r#"{"jobs":[{"job_id":1,"name":"prony","job_state":"RUNNING","state_reason":"None","nodes":"n1",
            "restart_cnt":1},{"name":"without a number"}]}"#;
        let new = r#"{"jobs":[{"job_id":{"set":true,"infinite":false,"number":1},"name":"prony","job_state":["RUNNING"],
            "state_reason":"None","nodes":"n1","restart_cnt":1}]}"#;
        let job = SlurmJob {
            id: 1,
            name: "prony".into(),
            state: "RUNNING".into(),
            nodes: "n1".into(),
            restarts: 1,
            ..SlurmJob::default()
        };
        assert_eq!(parse_queue(old).unwrap(), std::slice::from_ref(&job));
        assert_eq!(parse_queue(new).unwrap(), [job]);
        let [line] = &parse_one_line(LINE)[..] else { panic!() };
        assert_eq!((line.id, line.name.as_str(), line.state.as_str()), (7, "a JobState=FUN", "PENDING"));
        assert_eq!((line.reason.as_str(), line.nodes.as_str(), line.restarts), ("BeginTime", "", 2));
    }

    #[test]
    fn a_job_is_over_when_it_will_not_be_restarted() {
        let queue = r#"{"jobs":[{"job_id":1,"job_state":"NODE_FAIL","requeue":true},{"job_id":2,"job_state":"NODE_FAIL",
            "requeue":false},{"job_id":3,"job_state":["CANCELLED"]},{"job_id":4,"job_state":["NODE_FAIL","REQUEUED"]},
            {"job_id":5,"job_state":"RUNNING","requeue":{"set":true,"number":0}}]}"#;
        let over = |job: &SlurmJob| (job.is_over(), job.is_lost());
        let all: Vec<(bool, bool)> = parse_queue(queue).unwrap().iter().map(over).collect();
        assert_eq!(all, [(false, true), (true, true), (true, false), (false, true), (false, false)]);
        let line = |requeue| LINE.replace("JobState=PENDING", "JobState=NODE_FAIL").replace("Requeue=1", requeue);
        let over = |requeue| parse_one_line(&line(requeue))[0].is_over();
        assert!(over("Requeue=0") && !over("Requeue=1"));
    }

    #[test]
    fn truncated_texts_are_refused() {
        let whole = r#"{"jobs":[{"job_id":1}]}"#;
        for end in 0..whole.len() {
            assert!(parse_queue(&whole[..end]).is_err());
        }
        for end in 0..LINE.len() {
            assert!(parse_one_line(&LINE[..end]).len() <= 1);
        }
        assert!(parse_queue("{}").is_err() && parse_queue("[1]").is_err());
        assert!(parse_one_line("No jobs in the system").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in "\\PC{0,200}") {
            let _ = (parse_queue(&text), parse_one_line(&text), super::super::parse_nodes(&text), super::super::reason_of(&text));
            let _ = parse_one_line(&format!("JobId=1 JobName={text} UserId=x JobState={text}"));
        }
    }
}
