//! `cryptsetup benchmark`: rates of ciphers and of deriving keys, in memory.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::differing::{Settings, differing};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate};
use crate::text::{SourceFault, axis_value, called, lines, need, shown};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "cryptsetup",
    tool: "cryptsetup benchmark",
    about: "rates of encryption and decryption by cipher and key, iterations of PBKDF2 by hash; what argon2 chooses is \
            no figure, and no spread is stated",
    by_lines: true,
    detect: |head| {
        sure(head, &["Algorithm |", "Encryption |", "Decryption"])
            .max(sure(head, &["PBKDF2-", "iterations per second"]))
    },
    parse,
};

/// Bytes of its unit.
const MIB: f64 = 1_048_576.0;

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    // The hosts whose prompts called it, and where their figures begin.
    let mut runs: Vec<(usize, Settings)> = vec![(0, Settings::new())];
    let (mut columns, mut silent, mut chosen): (Vec<String>, Vec<String>, bool) = (Vec::new(), Vec::new(), false);
    for (at, line) in lines(source.text) {
        let line = line.trim();
        let call = called(line, "cryptsetup").filter(|(_, words)| words.first() == Some(&"benchmark"));
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some((host, _)) = call {
            begin(&mut sheet, &mut runs);
            if let Some((_, settings)) = runs.last_mut() {
                settings.extend(host.map(|host| ("host".to_owned(), host)));
            }
        } else if line.starts_with("# Tests are approximate") {
            begin(&mut sheet, &mut runs);
        } else if let Some(hash) = words.first().and_then(|word| word.strip_prefix("PBKDF2-")) {
            match derived(hash, &words[1..], at)? {
                Some(reading) => sheet.readings.push(reading),
                None => silent.push(format!("PBKDF2 with {}", axis_value(hash))),
            }
        } else if line.starts_with("argon2") && line.contains(" iterations, ") {
            chosen = true;
        } else if line.starts_with('#') && line.contains("Algorithm |") {
            columns = heading(line, at)?;
        } else if let Some(cipher) =
            line.strip_prefix("Cipher ").and_then(|rest| rest.strip_suffix(" is not available."))
        {
            silent.push(axis_value(cipher));
        } else if !columns.is_empty() && words.len() > 2 && is_key(words[1]) {
            let readings = row(&columns, &words, at)?;
            if readings.is_empty() {
                silent.push(format!("{} with keys of {}", axis_value(words[0]), axis_value(words[1])));
            }
            sheet.readings.extend(readings);
        } else {
            if line.is_empty() {
                columns = Vec::new();
            }
            continue;
        }
        source.took(at);
    }
    if let Some(first) = silent.first() {
        let others = if silent.len() == 1 { String::new() } else { format!(", and {} more", silent.len() - 1) };
        sheet.notes.push(format!("not available: {first}{others}"));
    }
    if chosen {
        sheet.notes.push("the costs that it chose for argon2 are no figures".to_owned());
    }
    settle(&mut sheet, &runs);
    Ok(Parsed::Sheets(vec![sheet]))
}

/// A process begins, if the one before has stated figures.
fn begin(sheet: &mut SourceSheet, runs: &mut Vec<(usize, Settings)>) {
    if runs.last().is_none_or(|(first, _)| *first < sheet.readings.len()) {
        sheet.begin_process();
        runs.push((sheet.readings.len(), Settings::new()));
    }
}

/// Makes an axis of the host where the prompts have several.
fn settle(sheet: &mut SourceSheet, runs: &[(usize, Settings)]) {
    let stated: Vec<_> = runs
        .iter()
        .enumerate()
        .map(|(place, (first, settings))| {
            (*first, runs.get(place + 1).map_or(sheet.readings.len(), |(next, _)| *next), settings)
        })
        .filter(|(first, end, _)| first < end)
        .collect();
    if differing(stated.iter().map(|(_, _, settings)| (String::new(), *settings))).is_empty() {
        return;
    }
    for (first, end, settings) in stated {
        let Some(host) = settings.get("host") else { continue };
        for reading in &mut sheet.readings[first..end] {
            reading.point = std::mem::take(&mut reading.point).with("host", host);
        }
    }
}

/// `163840 iterations per second for 256-bit key`, or `N/A`.
fn derived(hash: &str, words: &[&str], at: usize) -> Result<Option<SourceReading>, SourceFault> {
    let [count, "iterations", "per", "second", rest @ ..] = words else {
        return match words {
            ["N/A", ..] => Ok(None),
            _ => Err(SourceFault::new("the line has no iterations per second", at)),
        };
    };
    let value = need(count, at)?;
    let reading =
        SourceReading::new("cryptsetup.pbkdf2", "PBKDF2", value, rate("iterations")).at("hash", axis_value(hash));
    let key = rest.iter().find_map(|word| word.strip_suffix("-bit"));
    Ok(Some(key.map_or_else(|| reading.clone(), |key| reading.clone().at("key", bits(key)))).filter(|_| value > 0.0))
}

fn bits(count: &str) -> String {
    format!("{}bit", axis_value(count))
}

/// `#     Algorithm |       Key |      Encryption |      Decryption`
fn heading(line: &str, at: usize) -> Result<Vec<String>, SourceFault> {
    let names = line.trim_start_matches('#').split('|').map(str::trim);
    let known = names.map(|name| match name {
        "Algorithm" | "Key" | "Encryption" | "Decryption" => Ok(name.to_owned()),
        other => Err(SourceFault::new(format!("its column '{}' is not known", shown(other)), at)),
    });
    let columns = known.collect::<Result<Vec<_>, _>>()?;
    if columns.len() < 3 || columns[..2] != ["Algorithm", "Key"] {
        return Err(SourceFault::new("its heading does not begin with the algorithm and the key", at));
    }
    Ok(columns)
}

fn is_key(word: &str) -> bool {
    word.strip_suffix('b').is_some_and(|bits| bits.parse::<u32>().is_ok())
}

/// `aes-xts        256b      1197.2 MiB/s      3788.1 MiB/s`, or `N/A`
fn row(columns: &[String], words: &[&str], at: usize) -> Result<Vec<SourceReading>, SourceFault> {
    let mut rest = words[2..].iter();
    let mut readings = Vec::new();
    for column in &columns[2..] {
        let value = rest.next().ok_or_else(|| SourceFault::new("the line ends early", at))?;
        if *value == "N/A" {
            continue;
        }
        let unit = rest.next().copied().unwrap_or_default();
        if unit != "MiB/s" {
            return Err(SourceFault::new(format!("the unit '{}' is not known", shown(unit)), at));
        }
        let id = format!("cryptsetup.{}", column.to_ascii_lowercase());
        let rate = SourceReading::new(id, column.clone(), need(value, at)? * MIB, bytes_per_second("bytes"));
        let rate = rate.printed_in(value, MIB).at("cipher", axis_value(words[0]));
        readings.extend(Some(rate.at("key", bits(words[1].trim_end_matches('b')))).filter(|rate| rate.value > 0.0));
    }
    match rest.next() {
        Some(word) => Err(SourceFault::new(format!("'{}' is behind its last column", shown(word)), at)),
        None => Ok(readings),
    }
}
