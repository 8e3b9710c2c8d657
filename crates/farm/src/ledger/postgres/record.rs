//! Records offers: counts or refuses all that wait, in one transaction.

use std::collections::{BTreeMap, BTreeSet};

use postgres::Transaction;

use super::{Answer, OwnCoordinator, PostgresLedger};
use crate::Result;
use crate::ledger::{ChunkVerdict, OfferedResult};

const OFFERS: &str = "unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
    $9::float8[], $10::float8[]) WITH ORDINALITY AS o (chunk, number, node, pilot, events, digest, cpu, wall, place)";

/// Offers by column, as `unnest` takes them: each statement costs a round trip to the server.
struct Columns<'a> {
    chunks: Vec<i64>,
    numbers: Vec<i64>,
    nodes: Vec<&'a str>,
    pilots: Vec<&'a str>,
    events: Vec<i64>,
    digests: Vec<i64>,
    cpus: Vec<f64>,
    walls: Vec<f64>,
}

impl<'a> Columns<'a> {
    fn of(offers: &[&'a OfferedResult]) -> Self {
        let column = |of: fn(&OfferedResult) -> u64| offers.iter().map(|offer| of(offer).cast_signed()).collect();
        Self {
            chunks: column(|offer| offer.chunk),
            numbers: column(|offer| offer.number),
            nodes: offers.iter().map(|offer| offer.node.as_str()).collect(),
            pilots: offers.iter().map(|offer| offer.pilot.as_str()).collect(),
            events: column(|offer| offer.done.events),
            digests: column(|offer| offer.done.digest),
            cpus: offers.iter().map(|offer| offer.done.cpu).collect(),
            walls: offers.iter().map(|offer| offer.done.wall).collect(),
        }
    }
}

/// The counted result of a chunk.
struct CountedResult {
    number: i64,
    pilot: String,
    result: (i64, i64),
}

impl PostgresLedger {
    pub(super) fn record_all(&mut self, offers: &[OfferedResult], at: f64) -> Result<Vec<ChunkVerdict>> {
        let (id, own) = (self.id.clone(), self.own.clone());
        let (verdicts, own) = self.writing("write into", |all| {
            // A coordinator that was taken for dead must not write under its old number: it gets a new one.
            let mut own = own.clone();
            own.lock_or_renew(all, &id)?;
            let verdicts = record(all, &id, own.number, offers, at)?;
            Ok((verdicts, own))
        })?;
        self.own = own;
        let none = || self.failure("write into")("a chunk is neither counted nor free".to_owned());
        verdicts.into_iter().collect::<Option<Vec<_>>>().ok_or_else(none)
    }
}

impl OwnCoordinator {
    /// Locks this coordinator's row until the transaction ends, so that no other one can close it meanwhile. If it was
    /// closed already, registers under a new number. Returns whether that happened.
    pub(super) fn lock_or_renew(&mut self, all: &mut Transaction<'_>, farm: &str) -> Answer<bool> {
        let alive = "SELECT FROM prony_farm.coordinators WHERE farm = $1 AND number = $2 AND ended IS NULL FOR UPDATE";
        if all.query_opt(alive, &[&farm, &self.number])?.is_some() {
            return Ok(false);
        }
        let number = super::share::register(all, farm, &self.address, self.expiry)?;
        self.earlier.push(std::mem::replace(&mut self.number, number));
        self.blocks.clear();
        self.fenced = true;
        Ok(true)
    }
}

/// Inserts the offers that are the first of their chunk. Returns those.
fn insert(
    all: &mut Transaction<'_>,
    farm: &str,
    coordinator: i64,
    offers: &[OfferedResult],
    at: f64,
) -> Answer<BTreeSet<(i64, i64, String)>> {
    let c = Columns::of(&offers.iter().collect::<Vec<_>>());
    // Ordered by chunk, so that two coordinators that write the same chunks cannot deadlock.
    let text = format!(
        "INSERT INTO prony_farm.commits (farm, coordinator, at, chunk, number, node, pilot, events, digest, cpu, wall)
         SELECT $1, $2, $11, chunk, number, node, pilot, events, digest, cpu, wall FROM {OFFERS} ORDER BY chunk, place
         ON CONFLICT (farm, chunk) DO NOTHING RETURNING chunk, number, pilot"
    );
    let Columns { chunks, numbers, nodes, pilots, events, digests, cpus, walls } = &c;
    let rows =
        all.query(&text, &[&farm, &coordinator, chunks, numbers, nodes, pilots, events, digests, cpus, walls, &at])?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect())
}

fn record(
    all: &mut Transaction<'_>,
    farm: &str,
    coordinator: i64,
    offers: &[OfferedResult],
    at: f64,
) -> Answer<Vec<Option<ChunkVerdict>>> {
    // Of several equal offers only the first is inserted, and only that one enters the sums.
    let mut new = insert(all, farm, coordinator, offers, at)?;
    let key = |offer: &OfferedResult| (offer.chunk.cast_signed(), offer.number.cast_signed(), offer.pilot.clone());
    let mut verdicts = vec![Some(ChunkVerdict::Counted); offers.len()];
    let mut sums = (0_i64, 0_i64, 0.0, 0.0);
    let mut late = Vec::new();
    for (place, offer) in offers.iter().enumerate() {
        if new.remove(&key(offer)) {
            let done = &offer.done;
            sums = (sums.0 + 1, sums.1 + done.events.cast_signed(), sums.2 + done.cpu, sums.3 + done.wall);
        } else {
            late.push(place);
        }
    }
    let mut refused = Vec::new();
    if !late.is_empty() {
        let all_counted = counted_results(
            all,
            farm,
            &late.iter().map(|place| offers[*place].chunk.cast_signed()).collect::<Vec<_>>(),
        )?;
        for place in late {
            let offer = &offers[place];
            let Some(counted) = all_counted.get(&offer.chunk.cast_signed()) else {
                verdicts[place] = None;
                continue;
            };
            let same = counted.result == (offer.done.events.cast_signed(), offer.done.digest.cast_signed());
            // The reply to the first offer was lost: this is the same offer again, and it counts already.
            if same && counted.number == offer.number.cast_signed() && counted.pilot == offer.pilot {
                continue;
            }
            verdicts[place] = Some(if same { ChunkVerdict::Duplicate } else { ChunkVerdict::Differs });
            refused.push((offer, !same));
        }
    }
    let (count, wasted) = refuse(all, farm, &refused, at)?;
    all.execute(
        "UPDATE prony_farm.coordinators SET beat = extract(epoch FROM clock_timestamp()), chunks = chunks + $3,
             events = events + $4, cpu = cpu + $5, wall = wall + $6, refused = refused + $7, wasted = wasted + $8
         WHERE farm = $1 AND number = $2",
        &[&farm, &coordinator, &sums.0, &sums.1, &sums.2, &sums.3, &count, &wasted],
    )?;
    Ok(verdicts)
}

fn counted_results(all: &mut Transaction<'_>, farm: &str, chunks: &[i64]) -> Answer<BTreeMap<i64, CountedResult>> {
    let text =
        "SELECT chunk, number, pilot, events, digest FROM prony_farm.commits WHERE farm = $1 AND chunk = ANY ($2)";
    let rows = all.query(text, &[&farm, &chunks])?;
    let one = |row: &postgres::Row| {
        (row.get(0), CountedResult { number: row.get(1), pilot: row.get(2), result: (row.get(3), row.get(4)) })
    };
    Ok(rows.iter().map(one).collect())
}

/// Stores refusals. Returns how many were new, and the CPU time spent on those, seconds.
fn refuse(all: &mut Transaction<'_>, farm: &str, refused: &[(&OfferedResult, bool)], at: f64) -> Answer<(i64, f64)> {
    if refused.is_empty() {
        return Ok((0, 0.0));
    }
    let offers: Vec<&OfferedResult> = refused.iter().map(|(offer, _)| *offer).collect();
    let differs: Vec<bool> = refused.iter().map(|(_, differs)| *differs).collect();
    let c = Columns::of(&offers);
    let text = format!(
        "WITH new AS (
             INSERT INTO prony_farm.refusals (farm, at, chunk, number, node, pilot, events, digest, cpu, wall, differs)
             SELECT $1, $2, chunk, number, node, pilot, events, digest, cpu, wall, ($11::boolean[])[place]
             FROM {OFFERS} ORDER BY chunk, place
             ON CONFLICT (farm, chunk, number, pilot) DO NOTHING RETURNING cpu
         ) SELECT count(*), coalesce(sum(cpu), 0) FROM new"
    );
    let row = all.query_one(
        &text,
        &[&farm, &at, &c.chunks, &c.numbers, &c.nodes, &c.pilots, &c.events, &c.digests, &c.cpus, &c.walls, &differs],
    )?;
    Ok((row.get(0), row.get(1)))
}
