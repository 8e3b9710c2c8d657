//! Dates as other tools write them, converted to RFC 3339 in UTC. A date without a zone is taken as UTC.

use time::format_description::well_known::{Rfc2822, Rfc3339};
use time::macros::format_description;
use time::parsing::Parsable;
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

/// Seconds since 1970. Empty when out of range.
pub(crate) fn unix(seconds: f64) -> String {
    OffsetDateTime::from_unix_timestamp(seconds as i64).map_or_else(|_| String::new(), written)
}

/// `Tue Aug  4 10:36:13 2020`, with or without a zone or brackets. Empty when the text is not a date.
pub(crate) fn ctime(text: &str) -> String {
    let whole =
        format_description!("[month repr:short] [day padding:none] [hour padding:none]:[minute]:[second] [year]");
    let half = format_description!(
        "[month repr:short] [day padding:none] [hour repr:12 padding:none]:[minute]:[second] [period] [year]"
    );
    let words: Vec<&str> = text.split_whitespace().collect();
    let found = (0..words.len()).find_map(|at| {
        let [month, day, clock, rest @ ..] = &words[at..] else { return None };
        let period = rest.first().filter(|word| ["AM", "PM"].contains(*word));
        // The zone comes before the year, or after it.
        rest.iter().take(3).find_map(|word| {
            let year = word.trim_end_matches(|c: char| !c.is_ascii_digit());
            match period {
                Some(period) => local(&format!("{month} {day} {clock} {period} {year}"), half),
                None => local(&format!("{month} {day} {clock} {year}"), whole),
            }
        })
    });
    found.unwrap_or_default()
}

/// `2016-08-02 17:44:46`, with a zone as `+0200` or `+02:00` or without, `2026:11:21`. Empty when the text is no date.
pub(crate) fn iso(text: &str) -> String {
    let zoned = format_description!(
        version = 2,
        "[year]-[month]-[day] [hour]:[minute]:[second][optional [.[subsecond]]][optional [ ]][offset_hour sign:mandatory][optional [:]][offset_minute]"
    );
    let text = text.trim();
    if let Ok(moment) = OffsetDateTime::parse(text, &Rfc3339) {
        return written(moment);
    }
    let Some((date, rest)) = text.split_at_checked(10) else { return String::new() };
    let date = date.replace(':', "-");
    if let Ok(moment) = OffsetDateTime::parse(&format!("{date} {}", rest.get(1..).unwrap_or_default()), zoned) {
        return written(moment.replace_nanosecond(0).unwrap_or(moment));
    }
    let clock = format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");
    let timed = rest.get(1..9).and_then(|time| local(&format!("{date} {time}"), clock));
    timed.or_else(|| day(&date, format_description!("[year]-[month]-[day]"))).unwrap_or_default()
}

/// `Wed, 25 Nov 2026 16:36:19 +0100`, as mails have it. Empty when the text is no such date.
pub(crate) fn mail(text: &str) -> String {
    OffsetDateTime::parse(text.trim(), &Rfc2822).map_or_else(|_| String::new(), written)
}

/// `Mar-2021`, as the first of that month. Empty when the text is not a month.
pub(crate) fn month_year(text: &str) -> String {
    let form = format_description!("[day padding:none]-[month repr:short]-[year]");
    day(&format!("1-{}", text.trim()), form).unwrap_or_default()
}

/// `05/31/2024 10:06:25`: the month first. Empty when the text is not a date.
pub(crate) fn month_day_year(text: &str) -> String {
    let form = format_description!("[month padding:none]/[day padding:none]/[year] [hour]:[minute]:[second]");
    let mut words = text.split_whitespace();
    let moment = words.next().zip(words.next()).and_then(|(date, clock)| local(&format!("{date} {clock}"), form));
    moment.unwrap_or_default()
}

/// A date in any of these forms. Empty when the text is none.
pub(crate) fn any(text: &str) -> String {
    let forms = [iso, ctime, month_day_year, mail];
    forms.iter().map(|read| read(text)).find(|found| !found.is_empty()).unwrap_or_default()
}

fn local(text: &str, form: &(impl Parsable + ?Sized)) -> Option<String> {
    PrimitiveDateTime::parse(text, form).ok().map(|moment| written(moment.assume_utc()))
}

fn day(text: &str, form: &(impl Parsable + ?Sized)) -> Option<String> {
    Date::parse(text, form).ok().map(|date| written(date.with_time(Time::MIDNIGHT).assume_utc()))
}

fn written(moment: OffsetDateTime) -> String {
    moment.to_offset(UtcOffset::UTC).format(&Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_or_left_out() {
        assert_eq!(unix(1_795_227_469.0), "2026-11-21T02:17:49Z");
        assert_eq!(unix(f64::MAX), "");
        assert_eq!(ctime("[Thu Jul 19 20:14:29 UTC 2018]"), "2018-07-19T20:14:29Z");
        assert_eq!(ctime("Tue Aug  4 10:36:13 2020"), "2020-08-04T10:36:13Z");
        assert_eq!(ctime("[Wed Jul 30 06:17:19 PM JST 2025]"), "2025-07-30T18:17:19Z");
        assert_eq!(ctime("Wed Jul 30 12:00:00 AM UTC 2025"), "2025-07-30T00:00:00Z");
        assert_eq!(iso("2016-08-02 17:44:46"), "2016-08-02T17:44:46Z");
        assert_eq!(iso("2016-08-02T17:44:46+02:00"), "2016-08-02T15:44:46Z");
        assert_eq!(iso("2020-10-23 12:49:12-0700"), "2020-10-23T19:49:12Z");
        assert_eq!(iso("2020-10-23 12:49:12.25 +05:30"), "2020-10-23T07:19:12Z");
        assert_eq!((month_year("Mar-2021"), month_year("March")), ("2021-03-01T00:00:00Z".to_owned(), String::new()));
        assert_eq!(mail("Wed, 25 Nov 2026 16:36:19 +0100"), "2026-11-25T15:36:19Z");
        assert_eq!(iso("2026:11:21"), "2026-11-21T00:00:00Z");
        assert_eq!(month_day_year("05/31/2024 10:06:25 --"), "2024-05-31T10:06:25Z");
        assert_eq!(month_day_year("31/05/2024 10:06:25"), "");
        for text in ["", "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", "2016-13-45", "Aug 4", "Aug 40 99:99:99 2020"] {
            assert_eq!((iso(text), ctime(text)), (String::new(), String::new()), "{text}");
        }
    }
}
