//! Dates as other tools write them, converted to RFC 3339 in UTC. A date without a zone is taken as UTC.

use time::format_description::well_known::{Rfc2822, Rfc3339};
use time::{Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time};

/// Seconds since 1970. Empty when out of range.
pub(crate) fn unix(seconds: f64) -> String {
    let moment = OffsetDateTime::from_unix_timestamp(seconds as i64).ok();
    moment.and_then(|moment| moment.format(&Rfc3339).ok()).unwrap_or_default()
}

/// `Tue Aug  4 10:36:13 2020`, with or without a zone or brackets. Empty when the text is not a date.
pub(crate) fn ctime(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let found = (0..words.len().saturating_sub(3)).find_map(|at| {
        let month = month(words[at])?;
        let day = words[at + 1].parse().ok()?;
        let clock = half_day(clock(words[at + 2])?, words[at + 3])?;
        let year = words[at + 3..].iter().take(3).find_map(|word| {
            word.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok().filter(|year| (1970..2200).contains(year))
        })?;
        rfc3339(year, month, day, clock)
    });
    found.unwrap_or_default()
}

/// `2016-08-02 17:44:46`, with a zone as `+0200` or `+02:00` or without, `2026:11:21`. Empty when the text is no date.
pub(crate) fn iso(text: &str) -> String {
    let text = text.trim();
    if let Ok(moment) = OffsetDateTime::parse(text, &Rfc3339) {
        return moment.to_offset(time::UtcOffset::UTC).format(&Rfc3339).unwrap_or_default();
    }
    let found = || {
        let (date, rest) = text.split_at_checked(10)?;
        let mut parts = date.split(['-', ':']);
        let year = parts.next()?.parse().ok()?;
        let month = Month::try_from(parts.next()?.parse::<u8>().ok()?).ok()?;
        let day = parts.next()?.parse().ok()?;
        let Some(time) = rest.get(1..9).and_then(clock) else { return rfc3339(year, month, day, Time::MIDNIGHT) };
        let local = PrimitiveDateTime::new(Date::from_calendar_date(year, month, day).ok()?, time).assume_utc();
        let east = rest.get(9..).and_then(offset).unwrap_or(Duration::ZERO);
        local.checked_sub(east)?.format(&Rfc3339).ok()
    };
    found().unwrap_or_default()
}

/// How far east of UTC a clock's zone is: `+0530`, `.250 -07:00`.
fn offset(text: &str) -> Option<Duration> {
    let text = text.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit()).trim_start();
    let east = text.strip_prefix('+');
    let digits = east.or_else(|| text.strip_prefix('-'))?.replacen(':', "", 1);
    if digits.len() != 4 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let minutes = digits[..2].parse::<i64>().ok()? * 60 + digits[2..].parse::<i64>().ok()?;
    Some(Duration::minutes(if east.is_some() { minutes } else { -minutes }))
}

/// `Wed, 25 Nov 2026 16:36:19 +0100`, as mails have it. Empty when the text is no such date.
pub(crate) fn mail(text: &str) -> String {
    let moment = OffsetDateTime::parse(text.trim(), &Rfc2822).ok();
    moment.and_then(|moment| moment.to_offset(time::UtcOffset::UTC).format(&Rfc3339).ok()).unwrap_or_default()
}

/// `Mar-2021`, as the first of that month. Empty when the text is not a month.
pub(crate) fn month_year(text: &str) -> String {
    let found = || {
        let (name, year) = text.trim().split_once('-')?;
        rfc3339(year.parse().ok().filter(|year| (1970..2200).contains(year))?, month(name)?, 1, Time::MIDNIGHT)
    };
    found().unwrap_or_default()
}

/// `05/31/2024 10:06:25`: the month first. Empty when the text is not a date.
pub(crate) fn month_day_year(text: &str) -> String {
    let found = || {
        let mut words = text.split_whitespace();
        let mut parts = words.next()?.splitn(3, '/');
        let month = Month::try_from(parts.next()?.parse::<u8>().ok()?).ok()?;
        let day = parts.next()?.parse().ok()?;
        let year = parts.next()?.parse().ok().filter(|year| (1970..2200).contains(year))?;
        rfc3339(year, month, day, words.next().and_then(clock)?)
    };
    found().unwrap_or_default()
}

/// A date in any of these forms. Empty when the text is none.
pub(crate) fn any(text: &str) -> String {
    let forms = [iso, ctime, month_day_year, mail];
    forms.iter().map(|read| read(text)).find(|found| !found.is_empty()).unwrap_or_default()
}

fn rfc3339(year: i32, month: Month, day: u8, clock: Time) -> Option<String> {
    let date = Date::from_calendar_date(year, month, day).ok()?;
    PrimitiveDateTime::new(date, clock).assume_utc().format(&Rfc3339).ok()
}

fn month(word: &str) -> Option<Month> {
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let at = names.iter().position(|name| *name == word)?;
    Month::try_from(u8::try_from(at + 1).ok()?).ok()
}

/// The time of a day of which twelve hours are counted: the word behind it says which half.
fn half_day(clock: Time, word: &str) -> Option<Time> {
    match word {
        "AM" => clock.replace_hour(clock.hour() % 12).ok(),
        "PM" => clock.replace_hour(clock.hour() % 12 + 12).ok(),
        _ => Some(clock),
    }
}

fn clock(word: &str) -> Option<Time> {
    let mut parts = word.split(':').map(|part| part.parse::<u8>().ok());
    Time::from_hms(parts.next()??, parts.next()??, parts.next()??).ok()
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
