//! Output that another program wrote down: `docker logs -t`, a journal, a CI system or a mail put something before each
//! line, which is not the tool's.

/// Lines that must have a prefix, at least: fewer may begin so by chance.
const FEWEST: usize = 3;

/// Kinds of prefixes around each other that are taken off: a time before the name of a container.
const MOST_AROUND: usize = 3;

/// Programs that write into every journal.
const SYSTEM: [&str; 5] = ["systemd", "kernel", "sudo", "CRON", "dbus-daemon"];

/// Names of months and weekdays, as `ctime` writes them.
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The prefix of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LogKind {
    /// A time: `docker logs -t`, `kubectl logs --timestamps`, GitHub's logs, `ts`, `iperf3 --timestamps`.
    Time,
    /// Time, host and program of a journal.
    Journal,
    /// Name of a container: `bench-1  | `.
    Container,
    /// Number of a test, as `ctest -V` writes it, or of a step of a build: `12: `, `#15 2.25 `.
    Step,
    /// Time since boot in the kernel's log.
    Boot,
    /// Signs of a quotation in a mail.
    Quotation,
}

/// The prefix of a line, and the rest of it.
struct LogPrefix<'a> {
    kind: LogKind,
    /// Who wrote the line, if that is said.
    who: &'a str,
    host: &'a str,
    rest: &'a str,
}

/// A text without the prefixes of its lines, which keep their numbers.
#[derive(Default)]
pub(crate) struct LoggedText {
    /// The text; none if its lines have no prefix.
    pub(crate) text: Option<String>,
    /// Whether its lines had one.
    pub(crate) is_logged: bool,
    /// The host that wrote it, if the prefixes name one.
    pub(crate) host: Option<String>,
    /// Two programs whose lines are mixed, and the line at which the second begins.
    pub(crate) mixed: Option<(String, String, usize)>,
}

/// Removes the common prefix of a text's lines.
pub(crate) fn unlogged(text: &str) -> LoggedText {
    let mut found = LoggedText::default();
    for _ in 0..MOST_AROUND {
        let current = found.text.as_deref().unwrap_or(text);
        let Some(kind) = common(current) else { break };
        let plain = match written(current, kind) {
            Ok((plain, host)) => {
                found.host = found.host.or(host);
                plain
            }
            Err(mixed) => {
                // Rows of a table may begin with numbers, each with its own.
                found.mixed = Some(mixed).filter(|_| kind != LogKind::Step);
                break;
            }
        };
        found.text = Some(plain);
    }
    found
}

/// The kind of most lines, if it is too frequent to be the tool's.
fn common(text: &str) -> Option<LogKind> {
    let (mut counts, mut all) = (Vec::<(LogKind, usize)>::new(), 0_usize);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        all += 1;
        let Some(found) = prefix(line) else { continue };
        match counts.iter_mut().find(|(kind, _)| *kind == found.kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((found.kind, 1)),
        }
    }
    let (kind, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count >= FEWEST && 5 * count >= 4 * all).then_some(kind)
}

/// The text without prefixes of a kind and the host that they name, or the two programs that wrote it.
fn written(text: &str, kind: LogKind) -> Result<(String, Option<String>), (String, String, usize)> {
    let mut plain = String::with_capacity(text.len());
    let (mut first, mut host) = (None, None);
    for (line, at) in text.split_inclusive('\n').zip(1..) {
        let content = line.trim_end_matches(['\n', '\r']);
        let Some(found) = prefix(content).filter(|found| found.kind == kind) else {
            plain.push_str(line);
            continue;
        };
        if !SYSTEM.contains(&found.who) {
            let first = *first.get_or_insert(found.who);
            if first != found.who {
                return Err((first.to_owned(), found.who.to_owned(), at));
            }
        }
        if !found.host.is_empty() {
            let first = *host.get_or_insert(found.host);
            if first != found.host {
                return Err((first.to_owned(), found.host.to_owned(), at));
            }
        }
        plain.push_str(found.rest);
        plain.push_str(&line[content.len()..]);
    }
    Ok((plain, host.map(str::to_owned)))
}

fn prefix(line: &str) -> Option<LogPrefix<'_>> {
    let of = |kind: LogKind, rest| LogPrefix { kind, who: "", host: "", rest };
    if let Some(rest) = time(line) {
        let journal = journal(rest);
        return Some(journal.unwrap_or_else(|| of(LogKind::Time, rest)));
    }
    if let Some(rest) = line.strip_prefix('>') {
        let rest = rest.trim_start_matches(['>', ' ']);
        // The indentation of what is quoted is kept: the sign is followed by one blank.
        let signs = &line[..line.len() - rest.len()];
        let end = signs.rfind('>').map_or(0, |at| at + 1);
        return Some(of(LogKind::Quotation, line[end..].strip_prefix(' ').unwrap_or(&line[end..])));
    }
    boot(line).map(|rest| of(LogKind::Boot, rest)).or_else(|| step(line)).or_else(|| container(line))
}

/// What follows a time and a blank.
fn time(line: &str) -> Option<&str> {
    let first = line.split(' ').next()?;
    if is_instant(first) {
        return Some(line[first.len()..].strip_prefix(' ').unwrap_or(""));
    }
    // `Jun  3 10:00:00 `, or `Mon Jun  3 10:00:00 2024 `.
    let begins = |names: &[&str], text: &str| text.get(..4).is_some_and(|word| names.contains(&word.trim_end()));
    let weekday = begins(&WEEKDAYS, line);
    let date = if weekday { &line[4..] } else { line };
    if !begins(&MONTHS, date) {
        return None;
    }
    let (day, rest) = (date.get(4..7)?, date.get(7..)?);
    let clock = rest.split(' ').next()?;
    if !is_clock(clock) || day.trim().is_empty() || !day.trim().bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let rest = &rest[clock.len()..];
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    if !weekday {
        return Some(rest);
    }
    let year = rest.get(..4).filter(|year| year.bytes().all(|byte| byte.is_ascii_digit()))?;
    let rest = &rest[year.len()..];
    rest.strip_prefix(' ').or(Some("").filter(|_| rest.is_empty()))
}

/// `10:00:00`, with a fraction or without.
fn is_clock(word: &str) -> bool {
    let (clock, fraction) = word.split_once(['.', ',']).unwrap_or((word, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(|part| part.len() == 2 && digits(part)) && digits(fraction)
}

/// `2024-06-03T10:00:00.123456789Z`, with its zone: other times occur in outputs of tools.
fn is_instant(word: &str) -> bool {
    let Some((date, time)) = word.split_once('T') else { return false };
    let Some(zone) = time.find(['Z', '+', '-']) else { return false };
    let dated = date.len() == 10 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let zoned = time[zone..].bytes().skip(1).all(|byte| byte.is_ascii_digit() || byte == b':');
    dated && zoned && is_clock(&time[..zone])
}

/// `box bench[123]: ` or `box kernel: `.
fn journal(rest: &str) -> Option<LogPrefix<'_>> {
    let (host, rest) = rest.split_once(' ')?;
    let (program, rest) = rest.split_once(": ").or_else(|| Some((rest.strip_suffix(':')?, "")))?;
    let who = match program.split_once('[') {
        Some((name, id)) => {
            let number = id.strip_suffix(']')?;
            (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)?
        }
        None => Some(program).filter(|name| *name == "kernel")?,
    };
    let named = !host.is_empty() && !who.is_empty() && !who.contains(' ');
    named.then_some(LogPrefix { kind: LogKind::Journal, who, host, rest })
}

/// `[  109.859859] `, with the level before it or without.
fn boot(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once('[')?;
    let level = before.is_empty() || (before.trim_end().ends_with(':') && before.len() < 20);
    let (time, rest) = rest.split_once(']')?;
    let (whole, fraction) = time.trim_start().split_once('.')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (level && digits(whole) && fraction.len() == 6 && digits(fraction)).then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

/// `12: ` or `#15 2.25 `.
fn step(line: &str) -> Option<LogPrefix<'_>> {
    let digits = |part: &str| !part.is_empty() && part.len() < 6 && part.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(rest) = line.strip_prefix('#') {
        let (number, rest) = rest.split_once(' ')?;
        let (seconds, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let (whole, fraction) = seconds.split_once('.')?;
        let is_step = digits(number) && digits(whole) && digits(fraction);
        return is_step.then_some(LogPrefix { kind: LogKind::Step, who: number, host: "", rest });
    }
    let (number, rest) = line.split_once(':')?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
    digits(number).then_some(LogPrefix { kind: LogKind::Step, who: number, host: "", rest })
}

/// `bench-1  | `
fn container(line: &str) -> Option<LogPrefix<'_>> {
    let (name, rest) = line.split_once('|')?;
    let who = name.trim_end();
    let is_name = who.starts_with(|c: char| c.is_ascii_alphabetic())
        && who.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
    is_name.then_some(LogPrefix { kind: LogKind::Container, who, host: "", rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Option<String> {
        unlogged(text).text
    }

    #[test]
    fn what_other_programs_put_before_lines_is_taken_off() {
        for before in [
            "2024-06-03T10:00:00.123456789Z ",
            "2024-06-03T10:00:00+02:00 ",
            "Jun  3 10:00:00 box bench[123]: ",
            "2024-06-03T10:00:00+0200 box bench[123]: ",
            "Jun 13 10:00:00.250 ",
            "Mon Jun  3 10:00:00 2024 ",
            "bench-1  | ",
            "bench-1  | 2024-06-03T10:00:00Z ",
            "12: ",
            "#15 2.25 ",
            "[  109.859859] ",
            "user  :notice: [  109.859859] ",
            "> > ",
            ">> ",
        ] {
            let text = format!("{before}# a\n{before}  b 1\r\n{before}\n\n{before}c 2");
            assert_eq!(plain(&text).as_deref(), Some("# a\n  b 1\r\n\n\nc 2"), "{before}");
        }
        let journal = "Jun  3 10:00:00 box bench[1]: a\n".repeat(3);
        let started = format!("Jun  3 10:00:00 box systemd[1]: Started.\n{journal}");
        assert_eq!(unlogged(&started).host.as_deref(), Some("box"));
        assert_eq!(plain(&started).as_deref(), Some("Started.\na\na\na\n"));
    }

    #[test]
    fn lines_of_tools_are_left_as_they_are() {
        for text in [
            "22:  1 2\n23:  3 4\n24:  5 6\n",
            "12.752 | 1\n12.984 | 5\n13.219 | 2\n",
            "[  5]  0.00 1\n[  5]  1.00 2\n[  5]  2.00 3\n",
            "[ 10s ] a\n[ 20s ] b\n[ 30s ] c\n",
            "2024-06-03T10:00:00+02:00\nRunning a\nb 1\nc 2\n",
            "Total operations: 1\nMax time: 2\nMay be: 3\n",
            "12: a\n12: b\n",
            "Jun  3 box\nJun  4 box\nJun  5 box\n",
        ] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn lines_of_two_programs_are_not_joined() {
        let found = unlogged("client-1  | a\nserver-1  | b\nclient-1  | c\n");
        assert!(found.text.is_none());
        assert_eq!(found.mixed, Some(("client-1".to_owned(), "server-1".to_owned(), 2)));
        let hosts = "Jun  3 10:00:00 box bench[1]: a\nJun  3 10:00:00 tube bench[1]: a\n".repeat(2);
        assert_eq!(unlogged(&hosts).mixed, Some(("box".to_owned(), "tube".to_owned(), 2)));
    }
}
