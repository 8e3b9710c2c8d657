//! Stores a run: its document, and the columns derived from it.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::index::Index;
use crate::key::canonical;
use crate::packed::Packed;
use crate::store::label_after;

/// Inserts a run, or replaces the run with the same id. Returns its number.
pub(super) fn put(transaction: &Transaction<'_>, packed: &Packed<'_>) -> rusqlite::Result<i64> {
    let run = packed.run;
    let held: Option<(i64, Option<String>, Option<String>)> = transaction
        .prepare_cached("SELECT number, label, written_label FROM runs WHERE id = ?1")?
        .query_row([&run.id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let label = match &held {
        Some((_, label, written)) => label_after(written.as_deref(), label.as_deref(), run.label.as_deref()),
        None => run.label.clone(),
    };
    let index = Index::of(0, run);
    let number = put_summary(transaction, held.map(|(number, ..)| number), label.as_deref(), &index)?;
    transaction
        .prepare_cached(
            "INSERT INTO documents (number, whole, sample_values) VALUES (?1, ?2, ?3)
             ON CONFLICT (number) DO UPDATE SET whole = excluded.whole, sample_values = excluded.sample_values",
        )?
        .execute(params![number, packed.whole, packed.values])?;
    put_results(transaction, number, &index)?;
    super::site::put_environment(transaction, number, run)?;
    Ok(number)
}

fn put_summary(
    transaction: &Transaction<'_>,
    number: Option<i64>,
    label: Option<&str>,
    index: &Index,
) -> rusqlite::Result<i64> {
    let s = &index.summary;
    transaction
        .prepare_cached(
            "INSERT INTO runs (number, id, label, written_label, started, moment, seconds, rounds, complete, machine,
                               fingerprint, suite, tool, version, results, measured, interrupted)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
             ON CONFLICT (number) DO UPDATE SET
                 label = excluded.label, written_label = excluded.written_label, started = excluded.started,
                 moment = excluded.moment, seconds = excluded.seconds, rounds = excluded.rounds,
                 complete = excluded.complete, machine = excluded.machine, fingerprint = excluded.fingerprint,
                 suite = excluded.suite, tool = excluded.tool, version = excluded.version, results = excluded.results,
                 measured = excluded.measured, interrupted = excluded.interrupted",
        )?
        .execute(params![
            number,
            s.id,
            label,
            s.label,
            s.started,
            index.moment,
            s.seconds,
            s.rounds,
            s.complete,
            s.machine,
            s.fingerprint,
            s.suite,
            s.tool,
            s.version,
            s.results,
            s.measured,
            s.interrupted
        ])?;
    Ok(number.unwrap_or_else(|| transaction.last_insert_rowid()))
}

fn put_results(transaction: &Transaction<'_>, number: i64, index: &Index) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM results WHERE number = ?1")?.execute([number])?;
    let Some(fingerprint) = &index.history else { return Ok(()) };
    let machine = machine(transaction, fingerprint)?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO results (number, position, key, value, low, high, samples, machine, moment)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for (position, row) in (0_i64..).zip(&index.results) {
        let key = key(transaction, &row.key.benchmark, &canonical(&row.key.parameters))?;
        insert.execute(params![
            number,
            position,
            key,
            row.value,
            row.low,
            row.high,
            row.samples,
            machine,
            index.moment
        ])?;
    }
    Ok(())
}

fn machine(transaction: &Transaction<'_>, fingerprint: &str) -> rusqlite::Result<i64> {
    transaction
        .prepare_cached("INSERT INTO machines (fingerprint) VALUES (?1) ON CONFLICT (fingerprint) DO NOTHING")?
        .execute([fingerprint])?;
    transaction
        .prepare_cached("SELECT machine FROM machines WHERE fingerprint = ?1")?
        .query_row([fingerprint], |row| row.get(0))
}

fn key(transaction: &Transaction<'_>, benchmark: &str, parameters: &str) -> rusqlite::Result<i64> {
    let known = transaction
        .prepare_cached("SELECT key FROM keys WHERE benchmark = ?1 AND parameters = ?2")?
        .query_row([benchmark, parameters], |row| row.get(0))
        .optional()?;
    if let Some(key) = known {
        return Ok(key);
    }
    transaction
        .prepare_cached("INSERT INTO keys (benchmark, parameters) VALUES (?1, ?2)")?
        .execute([benchmark, parameters])?;
    Ok(transaction.last_insert_rowid())
}
