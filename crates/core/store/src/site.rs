//! What a site shows of a store, in pieces of bounded size: pages of runs and machines, the environments of a machine,
//! and the runs that wait to be sent to a site. Both databases use the same SQL.

use std::collections::BTreeMap;

use model::{FactValue, Run};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::Summary;

/// Which runs a page lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFilter<'a> {
    /// Every run.
    All,
    /// The runs of one machine, by [`Summary::identity`].
    Machine(&'a str),
    /// The run of this number.
    Number(u64),
    /// The run of this id.
    Id(&'a str),
    /// Runs whose label, machine, suite, tool or id contains this text, in any case.
    Text(&'a str),
}

/// A machine and its runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineSummary {
    /// Number of its runs.
    pub runs: u64,
    /// The newest of them.
    pub newest: Summary,
}

/// A change of a machine's environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvironmentChange {
    /// Number of the first run after it.
    pub number: u64,
    /// Start of that run, RFC 3339 in UTC.
    pub started: String,
    /// The facts that changed: name, value before, value after.
    pub facts: Vec<(String, String, String)>,
}

/// Identity of a run's machine: its fingerprint, else its name.
const IDENTITY: &str = "coalesce(nullif(fingerprint, ''), machine)";

/// Columns of a [`Summary`], in the order in which both stores read them.
const SUMMARY: &str =
    "number, id, label, started, seconds, rounds, complete, machine, fingerprint, suite, tool, version,
    results, measured, interrupted";

/// What a site needs beyond the first tables; each is made in a store that lacks it. `^`: what a search reads.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS %environments (digest TEXT PRIMARY KEY, facts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS %run_environments (
    number BIGINT PRIMARY KEY REFERENCES %runs (number) ON DELETE CASCADE,
    digest TEXT NOT NULL REFERENCES %environments (digest)
);
CREATE TABLE IF NOT EXISTS %outbox (
    site TEXT NOT NULL,
    number BIGINT NOT NULL REFERENCES %runs (number) ON DELETE CASCADE,
    PRIMARY KEY (site, number)
);
CREATE INDEX IF NOT EXISTS runs_by_time ON %runs (moment, number^);
CREATE INDEX IF NOT EXISTS runs_by_identity ON %runs (~, moment, number);
CREATE INDEX IF NOT EXISTS runs_by_suite ON %runs (suite, ~, moment, number);
";

/// The tables, with `prefix` before their names.
pub(crate) fn tables(prefix: &str) -> String {
    // An entry of an index of PostgreSQL has a limit, which a long name would pass.
    let searched = if prefix.is_empty() { ", machine, label, suite, tool, id" } else { "" };
    fill(&TABLES.replace('^', searched), prefix)
}

/// A page of runs, the newest first. Parameters: limit, offset, and what the filter names.
pub(crate) fn runs(filter: &RunFilter<'_>, prefix: &str) -> String {
    let which = match filter {
        RunFilter::All => "true",
        RunFilter::Machine(_) => "~ = $3",
        RunFilter::Number(_) => "number = $3",
        RunFilter::Id(_) => "id = $3",
        RunFilter::Text(_) => return search(prefix),
    };
    let sql = "SELECT @ FROM %runs WHERE & ORDER BY moment DESC, number DESC LIMIT $1 OFFSET $2";
    fill(&sql.replace('&', which), prefix)
}

/// Runs that contain a text. An index holds all that is searched, and is read from its newest end.
fn search(prefix: &str) -> String {
    let like = if prefix.is_empty() { "LIKE" } else { "ILIKE" };
    let any = ["label", "machine", "suite", "tool", "id"].map(|column| format!("{column} {like} $3 ESCAPE '!'"));
    let sql = "SELECT @ FROM %runs WHERE number IN
        (SELECT number FROM %runs WHERE & ORDER BY moment DESC, number DESC LIMIT $1 OFFSET $2)
        ORDER BY moment DESC, number DESC";
    fill(&sql.replace('&', &any.join(" OR ")), prefix)
}

/// The pattern of a text for LIKE.
pub(crate) fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern + "%"
}

/// Machines with the number of their runs, by the time of their newest one. Parameters: limit, offset, and the suite
/// whose runs alone count, if one is asked for. An index leads from one machine to the next, and to the newest run of
/// each: only the runs of the machines of this page are counted.
pub(crate) fn machines(of_suite: bool, prefix: &str) -> String {
    let sql = "WITH RECURSIVE
        every(identity) AS (SELECT min(~) FROM %runs WHERE & UNION ALL
            SELECT (SELECT min(~) FROM %runs WHERE & AND ~ > identity) FROM every WHERE identity IS NOT NULL),
        newest AS (SELECT identity, (SELECT number FROM %runs WHERE & AND ~ = identity
            ORDER BY moment DESC, number DESC LIMIT 1) AS run FROM every WHERE identity IS NOT NULL),
        shown AS (SELECT @, moment, identity FROM newest JOIN %runs ON number = run
            ORDER BY moment DESC, identity LIMIT $1 OFFSET $2)
        SELECT @, (SELECT count(*) FROM %runs WHERE & AND ~ = identity) AS counted
        FROM shown ORDER BY moment DESC, identity";
    fill(&sql.replace('&', if of_suite { "suite = $3" } else { "true" }), prefix)
}

/// Suites, with the number of their runs, the most frequent first.
pub(crate) fn suites(prefix: &str) -> String {
    fill("SELECT suite, count(*) AS counted FROM %runs GROUP BY suite ORDER BY counted DESC, suite LIMIT 100", prefix)
}

/// The results that a machine has a history of. Parameter: its fingerprint.
pub(crate) fn keys(prefix: &str) -> String {
    let sql = "SELECT benchmark, parameters FROM %keys k WHERE EXISTS (
            SELECT 1 FROM %results f WHERE f.key = k.key
            AND f.machine = (SELECT machine FROM %machines WHERE fingerprint = $1))
        ORDER BY benchmark, parameters";
    fill(sql, prefix)
}

/// Runs of a machine in the order of time, each with the digest of its environment. Parameter: its fingerprint.
pub(crate) fn environments(prefix: &str) -> String {
    let sql = "SELECT number, started, digest FROM %runs JOIN %run_environments USING (number)
        WHERE ~ = $1 ORDER BY moment, number";
    fill(sql, prefix)
}

/// The facts of an environment. Parameter: its digest.
pub(crate) fn facts(prefix: &str) -> String {
    fill("SELECT facts FROM %environments WHERE digest = $1", prefix)
}

/// Two statements that save an environment: its facts (digest, facts), and that of a run (number, digest).
pub(crate) fn save_environment(prefix: &str) -> [String; 2] {
    [
        "INSERT INTO %environments (digest, facts) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING",
        "INSERT INTO %run_environments (number, digest) VALUES ($1, $2)
         ON CONFLICT (number) DO UPDATE SET digest = excluded.digest",
    ]
    .map(|sql| fill(sql, prefix))
}

/// Queues a run for a site. Parameters: site, id.
pub(crate) fn enqueue(prefix: &str) -> String {
    fill("INSERT INTO %outbox (site, number) SELECT $1, number FROM %runs WHERE id = $2 ON CONFLICT DO NOTHING", prefix)
}

/// Runs that wait for a site. Parameter: the site.
pub(crate) fn queued(prefix: &str) -> String {
    fill("SELECT @ FROM %runs JOIN %outbox USING (number) WHERE site = $1 ORDER BY number", prefix)
}

/// Takes a run from the queue. Parameters: site, id.
pub(crate) fn dequeue(prefix: &str) -> String {
    fill("DELETE FROM %outbox WHERE site = $1 AND number = (SELECT number FROM %runs WHERE id = $2)", prefix)
}

fn fill(sql: &str, prefix: &str) -> String {
    // A pattern's own per cent signs are parameters, never text.
    sql.replace('%', prefix).replace('@', SUMMARY).replace('~', IDENTITY)
}

/// Facts that characterise the environment of a run, beside the version of Prony and its rules. Readings of a moment,
/// such as free memory, are none.
const ENVIRONMENT: &[&str] = &[
    "cpu.model",
    "cpu.microcode",
    "cpu.governor",
    "cpu.frequency_driver",
    "cpu.energy_preference",
    "cpu.boost",
    "cpu.smt",
    "cpu.cores",
    "cpu.isolated",
    "memory.modules",
    "memory.speed",
    "memory.transparent_huge_pages",
    "kernel.release",
    "kernel.version",
    "kernel.command_line",
    "mitigation.*",
    "virtual.hypervisor",
    "virtual.product",
    "firmware.*",
    "software.libc",
    "software.distribution",
    "software.compiler",
    "filesystem.target.type",
    "disk.*.model",
    "disk.*.driver",
    "disk.*.scheduler",
    "network.*.driver",
    "gpu.*",
];

/// The environment of a run as text, and its digest.
pub(crate) fn environment(run: &Run) -> (String, String) {
    let known = |value: &FactValue| !matches!(value, FactValue::Unknown(_));
    let is_of = |name: &str| ENVIRONMENT.iter().any(|pattern| model::glob(pattern, name));
    let facts = run.machine.facts.iter().filter(|fact| known(&fact.value) && is_of(&fact.name));
    let mut all: BTreeMap<String, String> = facts.map(|fact| (fact.name.clone(), fact.value.text())).collect();
    all.extend(run.rules.iter().map(|(name, value)| (format!("rule.{name}"), value.to_string())));
    all.insert("prony.version".to_owned(), run.session.version.clone());
    // A map of texts is always JSON.
    let text = serde_json::to_string(&all).unwrap_or_default();
    let digest = Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    (digest, text)
}

/// The changes between the environments of runs in the order of time; `facts` reads the facts of a digest.
pub(crate) fn changes<E>(
    runs: Vec<(u64, String, String)>,
    mut facts: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Vec<EnvironmentChange>, E> {
    let mut known: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut found = Vec::new();
    let mut before: Option<String> = None;
    for (number, started, digest) in runs {
        if before.as_ref() == Some(&digest) {
            continue;
        }
        if !known.contains_key(&digest) {
            let text = facts(&digest)?.unwrap_or_default();
            known.insert(digest.clone(), serde_json::from_str(&text).unwrap_or_default());
        }
        if let Some(old) = before.as_ref().and_then(|before| known.get(before)) {
            // What one of the two runs did not record is no change.
            let new = &known[&digest];
            let changed = |(name, value): (&String, &String)| {
                let other = new.get(name).filter(|other| *other != value)?;
                Some((name.clone(), value.clone(), other.clone()))
            };
            let facts: Vec<_> = old.iter().filter_map(changed).collect();
            if !facts.is_empty() {
                found.push(EnvironmentChange { number, started, facts });
            }
        }
        before = Some(digest);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_found_where_it_began_and_what_is_not_known_is_none() {
        let texts = [
            ("a", r#"{"kernel.release":"6.1","cpu.model":"x"}"#),
            ("b", r#"{"kernel.release":"6.2","cpu.model":"x"}"#),
            ("c", r#"{"cpu.model":"x"}"#),
        ];
        let runs = ["a", "a", "b", "b", "c", "b", "a"];
        let runs = runs.iter().zip(1..).map(|(digest, number)| (number, format!("day {number}"), (*digest).to_owned()));
        let mut read = 0;
        let found = changes(runs.collect(), |digest| {
            read += 1;
            let text = texts.iter().find(|(name, _)| *name == digest).map(|(_, text)| (*text).to_owned());
            Ok::<_, ()>(text)
        });
        let found = found.unwrap();
        assert_eq!(read, 3, "the facts of an environment are read once");
        let kernel =
            |before: &str, after: &str| vec![("kernel.release".to_owned(), before.to_owned(), after.to_owned())];
        let told: Vec<_> = found.into_iter().map(|change| (change.number, change.facts)).collect();
        assert_eq!(told, [(3, kernel("6.1", "6.2")), (7, kernel("6.2", "6.1"))]);
    }

    #[test]
    fn a_searched_text_is_no_pattern() {
        assert_eq!(pattern("50%_A!"), "%50!%!_A!!%");
    }
}
