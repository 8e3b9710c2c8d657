//! Reads a sample's output: whether the work was done, and how fast.

use std::collections::BTreeMap;

use model::RECORD;
use regex::Regex;

use crate::launch::{CopyOutput, CopyReport};
use crate::manifest::{Application, DigestScope, Rate};

/// Values of one sample.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SampleReading {
    /// Work a second of all copies together.
    pub(super) rate: f64,
    /// Resident memory of the largest process, bytes.
    pub(super) memory: f64,
    /// CPU time of all copies for one unit of work, with their start-up, seconds.
    pub(super) cpu_time: f64,
    /// Start-up time of the median copy, seconds, if the application prints it.
    pub(super) startup: Option<f64>,
}

/// First digest seen, by application and, if the scope is the build, by build.
#[derive(Debug, Default)]
pub(super) struct Digests(BTreeMap<(usize, Option<usize>), String>);

/// Prefix of the note with the digest that every sample must print.
const DIGEST: &str = "digest: ";

impl Digests {
    fn key(application: &Application, place: (usize, usize)) -> (usize, Option<usize>) {
        (place.0, (application.verify.scope == DigestScope::Build).then_some(place.1))
    }

    /// The first digest, as a note of the document.
    pub(super) fn note(&self, application: &Application, place: (usize, usize)) -> Option<String> {
        let digest = self.0.get(&Self::key(application, place))?;
        Some(format!("{RECORD}{DIGEST}{digest}"))
    }

    /// Copies the digest noted by an earlier session.
    pub(super) fn recall(&mut self, application: &Application, place: (usize, usize), notes: &[String]) {
        let noted = notes.iter().find_map(|note| note.strip_prefix(RECORD)?.strip_prefix(DIGEST));
        if let Some(digest) = noted {
            self.0.entry(Self::key(application, place)).or_insert_with(|| digest.to_owned());
        }
    }
}

/// Reads a sample.
///
/// # Errors
/// The cause of a failure, in one sentence.
pub(super) fn read(
    application: &Application,
    place: (usize, usize),
    report: &CopyReport,
    digests: &mut Digests,
) -> Result<SampleReading, String> {
    let of = report.copies.len();
    let mut rates = Vec::new();
    let mut startups = Vec::new();
    for (index, copy) in report.copies.iter().enumerate() {
        let who = if of == 1 { "it".to_owned() } else { format!("copy {} of {of}", index + 1) };
        if let Some(trouble) = copy.how.trouble(application.patience.as_secs_f64()) {
            return Err(format!("{who} {trouble}"));
        }
        verify(application, place, copy, digests).map_err(|what| format!("{who} {what}"))?;
        if let Rate::Printed(expression) = &application.rate {
            rates.push(number(expression, copy, "rate").map_err(|what| format!("{who} {what}"))?);
        }
        if let Some(expression) = &application.startup {
            startups.push(number(expression, copy, "start-up").map_err(|what| format!("{who} {what}"))?);
        }
    }
    let startup = stats::median(&startups);
    let rate = match application.rate {
        Rate::Printed(_) => rates.iter().sum(),
        Rate::Wall => {
            let loop_seconds = report.wall() - startup.unwrap_or(0.0);
            if loop_seconds <= 0.0 {
                return Err(format!("it reports a start-up of {:?} s in a run of {:.3} s", startup, report.wall()));
            }
            of as f64 * application.work.amount / loop_seconds
        }
    };
    // The kernel counts microseconds; no program takes none.
    let cpu = (report.user_seconds + report.system_seconds).max(1e-6);
    let cpu_time = cpu / (of as f64 * application.work.amount);
    Ok(SampleReading { rate, memory: report.peak_resident as f64, cpu_time, startup })
}

fn number(expression: &Regex, copy: &CopyOutput, what: &str) -> Result<f64, String> {
    let Some(text) = expression.captures(&copy.stdout).and_then(|found| found.get(1)) else {
        return Err(format!("printed no {what}: nothing matches '{expression}'"));
    };
    match text.as_str().trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err(format!("printed '{}' as its {what}, which is not a number above 0", text.as_str())),
    }
}

fn verify(
    application: &Application,
    place: (usize, usize),
    copy: &CopyOutput,
    digests: &mut Digests,
) -> Result<(), String> {
    let verify = &application.verify;
    if let Some(expression) = verify.stdout.as_ref().filter(|expression| !expression.is_match(&copy.stdout)) {
        return Err(format!("did different work: its output does not match '{expression}'"));
    }
    let Some(expression) = &verify.digest else { return Ok(()) };
    let Some(digest) = expression.captures(&copy.stdout).and_then(|found| found.get(1)) else {
        return Err(format!("printed no digest: nothing matches '{expression}'"));
    };
    let digest = digest.as_str();
    let wanted = match &verify.expect {
        Some(expect) => expect.clone(),
        None => digests.0.entry(Digests::key(application, place)).or_insert_with(|| digest.to_owned()).clone(),
    };
    if digest == wanted { Ok(()) } else { Err(format!("printed the digest {digest} where {wanted} was expected")) }
}
