//! Dated values from text: two columns separated by white space, or a comma-separated table with a header.

use super::error::Error;
use super::result::Dated;

/// Most values that are read: the test for a break takes a second or two at this number.
const MOST: usize = 20_000;

/// Parses dated values. Lines of two columns are a date and a value; the text after `#` is a name or a comment. A line
/// that begins with `#` is a comment. With commas the first line names the columns. The date is the column `date`,
/// `year` or `time`, else the first; the value is `column` if given, else the second. A name is the column `name` or
/// `machine`. A date is a decimal year (1998.8), a year and month (1998-10), or a day (1998-10-05).
///
/// # Errors
/// At a line whose date or value cannot be read (the value must be positive), after 20 000 values, or when the column
/// is missing.
pub fn parse(text: &str, column: Option<&str>) -> Result<Vec<Dated>, Error> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    match first {
        Some(line) if line.contains(',') => table(text, column),
        _ => pairs(text),
    }
}

fn pairs(text: &str) -> Result<Vec<Dated>, Error> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let (values, remark) = line.split_once('#').unwrap_or((line, ""));
        let words: Vec<&str> = values.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            [date, value, ..] => {
                let name = if remark.trim().is_empty() { words[2..].join(" ") } else { remark.trim().to_owned() };
                keep(&mut found, dated(number + 1, date, value, name)?, number + 1)?;
            }
            [_] => return Err(at(number + 1, "a date and a value are needed")),
        }
    }
    Ok(found)
}

fn table(text: &str, column: Option<&str>) -> Result<Vec<Dated>, Error> {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map(|(number, line)| (number + 1, fields(line)));
    let Some((first, header)) = lines.next() else { return Ok(Vec::new()) };
    let bare = header.first().is_some_and(|field| year(field).is_ok());
    let place =
        |names: &[&str]| header.iter().position(|field| names.iter().any(|name| field.eq_ignore_ascii_case(name)));
    let at_date = if bare { 0 } else { place(&["date", "year", "time"]).unwrap_or(0) };
    let at_value = match column {
        Some(name) if !bare => {
            place(&[name]).ok_or_else(|| Error::Column { name: name.to_owned(), known: header.join(", ") })?
        }
        Some(name) => return Err(Error::Column { name: name.to_owned(), known: "not named".to_owned() }),
        None => usize::from(at_date == 0),
    };
    let at_name = if bare { None } else { place(&["name", "machine", "processor", "cpu"]) };
    let mut found = Vec::new();
    let bare_line = bare.then(|| (first, header.clone()));
    for (number, fields) in bare_line.into_iter().chain(lines) {
        let get = |place: usize| fields.get(place).map_or("", String::as_str);
        // An empty cell is a missing value and no error.
        if get(at_value).is_empty() {
            continue;
        }
        let name = at_name.map(get).unwrap_or_default().to_owned();
        keep(&mut found, dated(number, get(at_date), get(at_value), name)?, number)?;
    }
    Ok(found)
}

/// Adds the value of a line.
fn keep(found: &mut Vec<Dated>, value: Dated, line: usize) -> Result<(), Error> {
    if found.len() == MOST {
        return Err(Error::TooMany { line, most: MOST });
    }
    found.push(value);
    Ok(())
}

/// Fields of a comma-separated line; quotes keep a comma.
fn fields(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => found.push(String::new()),
            _ => {
                if let Some(last) = found.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    found.iter().map(|field| field.trim().to_owned()).collect()
}

/// A value with its name, which may be empty.
fn dated(line: usize, date: &str, value: &str, name: String) -> Result<Dated, Error> {
    let time = year(date).map_err(|reason| at(line, &reason))?;
    let value: f64 = value.parse().map_err(|_| at(line, &format!("'{value}' is not a number")))?;
    if !value.is_finite() || value <= 0.0 {
        return Err(at(line, "the value must be positive, for growth is fitted to its logarithm"));
    }
    Ok(Dated { time, value, name: Some(name).filter(|name| !name.is_empty()) })
}

/// A date as a decimal year.
fn year(text: &str) -> Result<f64, String> {
    let refuse = || format!("'{text}' is not a date; write 1998.8, 1998-10 or 1998-10-05");
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str| part.parse::<u32>().map_err(|_| refuse());
    let time = match parts.as_slice() {
        [year] => year.parse::<f64>().map_err(|_| refuse())?,
        [year, month] => {
            f64::from(number(year)?) + (f64::from(month_of(number(month)?).ok_or_else(refuse)?) - 0.5) / 12.0
        }
        [year, month, day] => {
            let (month, day) = (month_of(number(month)?).ok_or_else(refuse)?, number(day)?);
            if !(1..=31).contains(&day) {
                return Err(refuse());
            }
            f64::from(number(year)?) + (f64::from(month) - 1.0) / 12.0 + (f64::from(day) - 0.5) / 372.0
        }
        _ => return Err(refuse()),
    };
    if (1900.0..2200.0).contains(&time) { Ok(time) } else { Err(refuse()) }
}

fn month_of(number: u32) -> Option<u32> {
    (1..=12).contains(&number).then_some(number)
}

fn at(line: usize, reason: &str) -> Error {
    Error::Line { line, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let pairs = parse("# heading\n1998.5  12.5\n\n1999-07 20 # fast one\n", None).unwrap();
        assert_eq!(pairs.len(), 2);
        assert!((pairs[1].time - 1999.5417).abs() < 1e-3 && pairs[1].name.as_deref() == Some("fast one"));
        let table =
            parse("machine,date,price,score\n\"A, B\",2001-01-01,5,10\nC,2002-06-15,,20\nD,2003,7,\n", Some("score"));
        let table = table.unwrap();
        assert_eq!((table.len(), table[0].value, table[0].name.as_deref()), (2, 10.0, Some("A, B")));
        assert_eq!(parse("1998,1\n1999,2\n", None).unwrap().len(), 2);
    }

    #[test]
    fn values_are_bounded() {
        let text = |lines: usize| "1998 1\n".repeat(lines);
        assert_eq!(parse(&text(MOST), None).unwrap().len(), MOST);
        let said = parse(&text(MOST + 1), None).unwrap_err().to_string();
        assert!(said.contains("line 20001") && said.contains("more than 20000"), "{said}");
    }

    #[test]
    fn mistakes_are_named_by_line() {
        let text = |text: &str, column| parse(text, column).unwrap_err().to_string();
        assert!(text("1998 1\n1999 x\n", None).contains("line 2") && text("1998 1\n1999 x\n", None).contains("'x'"));
        assert!(text("1998 1\n1999 -3\n", None).contains("positive"));
        assert!(text("1998\n", None).contains("line 1"));
        assert!(text("date,score\n1998-13,4\n", None).contains("1998-13"));
        assert!(text("date,score\n1998,4\n", Some("speed")).contains("date, score"));
    }
}
