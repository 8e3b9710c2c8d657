//! Stores a run: its document, and the columns derived from it.

use postgres::{Error, Transaction};

use crate::index::Index;
use crate::key::canonical;
use crate::packed::Packed;
use crate::store::label_after;

/// Inserts a run, or replaces the run with the same id. Returns its number. The caller holds the store's lock.
pub(super) fn put(transaction: &mut Transaction<'_>, packed: &Packed<'_>) -> Result<i64, Error> {
    let run = packed.run;
    let held =
        transaction.query_opt("SELECT number, label, written_label FROM prony.runs WHERE id = $1", &[&run.id])?;
    let (number, label) = match held {
        Some(row) => {
            let (held, written): (Option<String>, Option<String>) = (row.get(1), row.get(2));
            (row.get(0), label_after(written.as_deref(), held.as_deref(), run.label.as_deref()))
        }
        None => {
            let next = transaction.query_one("UPDATE prony.store SET next = next + 1 RETURNING next - 1", &[])?;
            (next.get(0), run.label.clone())
        }
    };
    let index = Index::of(0, run);
    put_summary(transaction, number, label.as_deref(), &index)?;
    transaction.execute(
        "INSERT INTO prony.documents VALUES ($1, $2, $3)
         ON CONFLICT (number) DO UPDATE SET whole = excluded.whole, sample_values = excluded.sample_values",
        &[&number, &packed.whole, &packed.values],
    )?;
    put_results(transaction, number, &index)?;
    super::site::put_environment(transaction, number, run)?;
    Ok(number)
}

fn put_summary(
    transaction: &mut Transaction<'_>,
    number: i64,
    label: Option<&str>,
    index: &Index,
) -> Result<(), Error> {
    let s = &index.summary;
    transaction.execute(
        "INSERT INTO prony.runs (number, id, label, written_label, started, moment, seconds, rounds, complete, machine,
                                 fingerprint, suite, tool, version, results, measured, interrupted)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
         ON CONFLICT (number) DO UPDATE SET
             label = excluded.label, written_label = excluded.written_label, started = excluded.started,
             moment = excluded.moment, seconds = excluded.seconds, rounds = excluded.rounds,
             complete = excluded.complete, machine = excluded.machine, fingerprint = excluded.fingerprint,
             suite = excluded.suite, tool = excluded.tool, version = excluded.version, results = excluded.results,
             measured = excluded.measured, interrupted = excluded.interrupted",
        &[
            &number,
            &s.id,
            &label,
            &s.label,
            &s.started,
            &index.moment,
            &s.seconds,
            &i64::from(s.rounds),
            &s.complete,
            &s.machine,
            &s.fingerprint,
            &s.suite,
            &s.tool,
            &s.version,
            &i64::from(s.results),
            &i64::from(s.measured),
            &s.interrupted,
        ],
    )?;
    Ok(())
}

/// Writes all results in two statements, since each costs a round trip to the server.
fn put_results(transaction: &mut Transaction<'_>, number: i64, index: &Index) -> Result<(), Error> {
    transaction.execute("DELETE FROM prony.results WHERE number = $1", &[&number])?;
    let Some(fingerprint) = &index.history else { return Ok(()) };
    let insert = "INSERT INTO prony.machines (fingerprint) VALUES ($1) ON CONFLICT DO NOTHING";
    transaction.execute(insert, &[fingerprint])?;
    let rows = &index.results;
    let benchmarks: Vec<&str> = rows.iter().map(|row| row.key.benchmark.as_str()).collect();
    let points: Vec<String> = rows.iter().map(|row| canonical(&row.key.parameters)).collect();
    transaction.execute(
        "INSERT INTO prony.keys (benchmark, parameters) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING",
        &[&benchmarks, &points],
    )?;
    let (values, lows, highs): (Vec<_>, Vec<_>, Vec<_>) =
        (column(rows, |row| row.value), column(rows, |row| row.low), column(rows, |row| row.high));
    let samples = column(rows, |row| i64::from(row.samples));
    transaction.execute(
        "INSERT INTO prony.results
         SELECT $1, f.position, k.key, f.value, f.low, f.high, f.samples,
                (SELECT machine FROM prony.machines WHERE fingerprint = $2), $3
         FROM unnest($4::text[], $5::text[], $6::float8[], $7::float8[], $8::float8[], $9::bigint[])
              WITH ORDINALITY AS f (benchmark, parameters, value, low, high, samples, position)
         JOIN prony.keys k USING (benchmark, parameters)",
        &[&number, fingerprint, &index.moment, &benchmarks, &points, &values, &lows, &highs, &samples],
    )?;
    Ok(())
}

fn column<R, T>(rows: &[R], of: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}
