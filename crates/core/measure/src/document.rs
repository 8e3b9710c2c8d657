//! The beginning and end of every run document, for all subjects.

use std::time::{Duration, SystemTime};

use model::{Identity, Machine, Plan, RULES, Run, SCHEMA, Session};
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, PrimitiveDateTime};

use crate::seed::mix;

/// A run of a plan on this machine that begins now: with id and date, without results.
#[must_use]
pub fn begin(plan: Plan, machine: Machine, identity: Identity) -> Run {
    let began = now();
    let session = Session {
        started: stamp(began),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        began_on: identity,
        ..Session::default()
    };
    let id = id(began, plan.seed);
    let rules = RULES.values();
    Run { schema: SCHEMA, id, label: None, origin: None, machine, session, plan, rules, results: Vec::new() }
}

/// Sets when a run began, seconds since 1970: its document was created later. A value that is no date changes nothing.
pub fn began_at(run: &mut Run, seconds: f64) {
    if let Ok(moment) = OffsetDateTime::from_unix_timestamp(seconds as i64) {
        run.session.started = stamp(moment);
    }
}

/// Ends a run after `seconds` of measuring, with the present identity of the machine.
pub fn close(run: &mut Run, seconds: f64, complete: bool, identity: Identity) {
    run.session.ended = Some(stamp(now()));
    run.session.ended_on = Some(identity);
    run.session.seconds = seconds;
    run.session.complete = complete;
}

/// The present time.
fn now() -> OffsetDateTime {
    moment(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

/// The time so long after the year 1970 began. No document has a date after the year 9999: a later clock counts as its
/// end.
fn moment(since: Duration) -> OffsetDateTime {
    let nanos = i128::try_from(since.as_nanos()).ok();
    let date = nanos.and_then(|nanos| OffsetDateTime::from_unix_timestamp_nanos(nanos).ok());
    date.unwrap_or(PrimitiveDateTime::MAX.assume_utc())
}

/// A time in the form of run documents.
fn stamp(moment: OffsetDateTime) -> String {
    moment.replace_nanosecond(0).unwrap_or(moment).format(&Rfc3339).unwrap_or_default()
}

/// A unique name that sorts by time: the second of the beginning, and a part that distinguishes runs of the same
/// second.
fn id(began: OffsetDateTime, seed: u64) -> String {
    let (date, clock) = (began.date(), began.time());
    let part = mix(seed ^ u64::from(std::process::id()), u64::from(began.nanosecond()));
    format!(
        "{:04}{:02}{:02}-{:02}{:02}{:02}-{:06x}",
        date.year(),
        u8::from(date.month()),
        date.day(),
        clock.hour(),
        clock.minute(),
        clock.second(),
        part & 0xff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_beyond_the_last_date_is_at_its_end() {
        let at = |seconds| stamp(moment(Duration::from_secs(seconds)));
        assert_eq!(at(1_795_227_333), "2026-11-21T02:15:33Z");
        for beyond in [253_402_300_800, 400_000_000_000, u64::MAX] {
            assert_eq!(at(beyond), "9999-12-31T23:59:59Z");
            assert!(id(moment(Duration::from_secs(beyond)), 1).starts_with("99991231-235959-"));
        }
    }

    #[test]
    fn a_document_of_an_earlier_run_says_when_that_began() {
        let mut run = begin(Plan::default(), Machine::default(), Identity::default());
        began_at(&mut run, 883_612_800.9);
        assert_eq!(run.session.started, "1998-01-01T00:00:00Z");
        began_at(&mut run, f64::INFINITY);
        assert_eq!(run.session.started, "1998-01-01T00:00:00Z");
    }
}
