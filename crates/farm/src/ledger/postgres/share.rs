//! Sharing a run: which coordinators are alive by the server's clock, and which blocks each of them has.

use std::time::{Duration, Instant};

use postgres::Transaction;

use super::{Answer, PostgresLedger, TIMEOUT};
use crate::Result;
use crate::ledger::{Begin, CoordinatorReport, CoordinatorShare, Elsewhere, Grant, LedgerSharing};

/// Lease numbers of one coordinator: more than it gives in a year, so that ranges do not overlap.
const GENERATION: u64 = 1 << 40;

/// Registers a coordinator. Returns its number.
pub(super) fn register(all: &mut Transaction<'_>, farm: &str, address: &str, expiry: f64) -> Answer<i64> {
    // The lock gives two coordinators that register at one moment different numbers.
    all.execute("SELECT FROM prony_farm.farms WHERE id = $1 FOR UPDATE", &[&farm])?;
    let text = "INSERT INTO prony_farm.coordinators (farm, number, address, expiry, began, beat)
        SELECT $1, coalesce(max(number), 0) + 1, $2, $3, extract(epoch FROM clock_timestamp()),
               extract(epoch FROM clock_timestamp())
        FROM prony_farm.coordinators WHERE farm = $1 RETURNING number";
    Ok(all.query_one(text, &[&farm, &address, &expiry])?.get(0))
}

const fn first_lease(coordinator: i64) -> u64 {
    coordinator.unsigned_abs() * GENERATION
}

/// Closes coordinators whose last exchange is older than their expiry: no more writes under their numbers, their blocks
/// become free, their pilots are marked as gone. One that holds its row's lock is writing and counts as alive.
fn expire_coordinators(all: &mut Transaction<'_>, farm: &str, own: i64) -> Answer<()> {
    let text = "WITH silent AS (
            SELECT number FROM prony_farm.coordinators
            WHERE farm = $1 AND number <> $2 AND ended IS NULL AND beat + expiry < extract(epoch FROM clock_timestamp())
            FOR UPDATE SKIP LOCKED
        ) UPDATE prony_farm.coordinators c SET ended = c.beat, lost = true FROM silent s
          WHERE c.farm = $1 AND c.number = s.number RETURNING c.number, c.address, c.beat, c.expiry";
    for row in all.query(text, &[&farm, &own])? {
        let (number, address, beat, expiry): (i64, String, f64, f64) = (row.get(0), row.get(1), row.get(2), row.get(3));
        all.execute(
            "UPDATE prony_farm.blocks SET owner = NULL WHERE farm = $1 AND owner = $2 AND NOT done",
            &[&farm, &number],
        )?;
        all.execute(
            "INSERT INTO prony_farm.incidents (farm, coordinator, at, what, node, detail)
             SELECT $1, $2, $3, 'left', j.node, j.detail || ': its coordinator was lost'
             FROM prony_farm.incidents j WHERE j.farm = $1 AND j.coordinator = $2 AND j.what = 'joined'
             GROUP BY j.node, j.detail
             HAVING count(*) > (
                 SELECT count(*) FROM prony_farm.incidents l
                 WHERE l.farm = $1 AND l.coordinator = $2 AND l.what = 'left' AND starts_with(l.detail, j.detail || ': '))",
            &[&farm, &number, &beat],
        )?;
        let detail = format!("coordinator {number} at {address}: no exchange for {expiry} s; its chunks are free");
        all.execute(
            "INSERT INTO prony_farm.incidents (farm, coordinator, at, what, node, detail)
             VALUES ($1, $2, extract(epoch FROM clock_timestamp()), 'lost', '', $3)",
            &[&farm, &own, &detail],
        )?;
    }
    Ok(())
}

/// Claims blocks for `want` more chunks. Returns all unfinished blocks of this coordinator.
fn claim(all: &mut Transaction<'_>, farm: &str, own: i64, want: u64, size: u64) -> Answer<Vec<i64>> {
    if want > 0 {
        let blocks = i64::try_from(want.div_ceil(size)).unwrap_or(i64::MAX);
        all.execute(
            "UPDATE prony_farm.blocks SET owner = $2 WHERE farm = $1 AND block IN (
                 SELECT block FROM prony_farm.blocks WHERE farm = $1 AND NOT done AND owner IS NULL
                 ORDER BY block LIMIT $3 FOR UPDATE SKIP LOCKED)",
            &[&farm, &own, &blocks],
        )?;
    }
    let text = "SELECT block FROM prony_farm.blocks WHERE farm = $1 AND owner = $2 AND NOT done ORDER BY block";
    Ok(all.query(text, &[&farm, &own])?.iter().map(|row| row.get(0)).collect())
}

/// Totals of the other coordinators, and the addresses of those that are alive.
fn others(all: &mut Transaction<'_>, farm: &str, own: &[i64]) -> Answer<(Elsewhere, Vec<String>)> {
    let text = "SELECT address, ended IS NULL, chunks, events, cpu, wall, refused, wasted
        FROM prony_farm.coordinators WHERE farm = $1 AND number <> ALL ($2) ORDER BY number";
    let (mut sums, mut addresses) = (Elsewhere::default(), Vec::new());
    for row in all.query(text, &[&farm, &own])? {
        let count = |at| row.get::<_, i64>(at).unsigned_abs();
        if row.get(1) {
            addresses.push(row.get(0));
        }
        sums = Elsewhere {
            chunks: sums.chunks + count(2),
            events: sums.events + count(3),
            cpu: sums.cpu + row.get::<_, f64>(4),
            wall: sums.wall + row.get::<_, f64>(5),
            refused: sums.refused + count(6),
            wasted: sums.wasted + row.get::<_, f64>(7),
        };
    }
    Ok((sums, addresses))
}

impl LedgerSharing for PostgresLedger {
    fn share(&mut self, asked: &CoordinatorReport) -> Result<CoordinatorShare> {
        let (id, size, chunks, own) = (self.id.clone(), self.block, self.chunks, self.own.clone());
        let done: Vec<i64> = asked.done.iter().map(|block| block.cast_signed()).collect();
        let (mut share, own, blocks) = self.writing("write into", |all| {
            let mut own = own.clone();
            own.lock_or_renew(all, &id)?;
            all.execute(
                "UPDATE prony_farm.coordinators SET beat = extract(epoch FROM clock_timestamp())
                 WHERE farm = $1 AND number = $2",
                &[&id, &own.number],
            )?;
            expire_coordinators(all, &id, own.number)?;
            // Blocks that were taken away meanwhile are included: a finished block is finished.
            all.execute(
                "UPDATE prony_farm.blocks SET done = true WHERE farm = $1 AND block = ANY ($2)",
                &[&id, &done],
            )?;
            let blocks = claim(all, &id, own.number, asked.want, size)?;
            let counted = all.query(
                "SELECT c.chunk FROM prony_farm.blocks b JOIN prony_farm.commits c
                     ON c.farm = b.farm AND c.chunk >= b.block * $3 AND c.chunk < (b.block + 1) * $3
                 WHERE b.farm = $1 AND b.owner = $2 AND NOT b.done AND c.coordinator <> $2",
                &[&id, &own.number, &size.cast_signed()],
            )?;
            let left: i64 =
                all.query_one("SELECT count(*) FROM prony_farm.blocks WHERE farm = $1 AND NOT done", &[&id])?.get(0);
            let numbers: Vec<i64> = own.earlier.iter().copied().chain([own.number]).collect();
            let (elsewhere, addresses) = others(all, &id, &numbers)?;
            let share = CoordinatorShare {
                counted: counted.iter().map(|row| row.get::<_, i64>(0).unsigned_abs()).collect(),
                left: left.unsigned_abs(),
                others: addresses,
                elsewhere,
                ..CoordinatorShare::default()
            };
            Ok((share, own, blocks))
        })?;
        self.own = own;
        // Blocks of an earlier claim whose reply was lost are included.
        let new = blocks.iter().filter(|block| !self.own.blocks.contains(block)).map(|block| block.unsigned_abs());
        let grant = |block: u64| Grant { block, chunks: block * size..((block + 1) * size).min(chunks) };
        share.granted = new.map(grant).collect();
        self.own.blocks = blocks.into_iter().collect();
        if std::mem::take(&mut self.own.fenced) {
            share.fenced = Some((self.own.number.unsigned_abs(), first_lease(self.own.number)));
        }
        Ok(share)
    }

    fn leave(&mut self) -> Result<()> {
        let (id, number) = (self.id.clone(), self.own.number);
        self.writing("write into", |all| {
            all.execute(
                "UPDATE prony_farm.coordinators SET ended = extract(epoch FROM clock_timestamp())
                 WHERE farm = $1 AND number = $2 AND ended IS NULL",
                &[&id, &number],
            )?;
            all.execute(
                "UPDATE prony_farm.blocks SET owner = NULL WHERE farm = $1 AND owner = $2 AND NOT done",
                &[&id, &number],
            )
        })?;
        Ok(())
    }
}

impl PostgresLedger {
    pub(super) fn register(&mut self, address: &str, expiry: f64) -> Result<Begin> {
        let id = self.id.clone();
        let (number, alone) = self.writing("write into", |all| {
            let number = register(all, &id, address, expiry)?;
            let text = "SELECT NOT EXISTS (SELECT FROM prony_farm.coordinators
                WHERE farm = $1 AND number <> $2 AND ended IS NULL
                  AND beat + expiry >= extract(epoch FROM clock_timestamp()))";
            Ok((number, all.query_one(text, &[&id, &number])?.get::<_, bool>(0)))
        })?;
        (self.own.number, self.own.address, self.own.expiry) = (number, address.to_owned(), expiry);
        self.own.blocks.clear();
        Ok(Begin { coordinator: number.unsigned_abs(), lease: first_lease(number), resumed: alone && number > 1 })
    }

    /// Address of the last coordinator if it was lost: its pilots reconnect there. Waits until it is known whether that
    /// coordinator is dead or alive.
    pub(super) fn orphan(&self) -> Result<String> {
        let text = "SELECT address, beat, beat + expiry < extract(epoch FROM clock_timestamp()) OR lost
            FROM prony_farm.coordinators WHERE farm = $1 AND (ended IS NULL OR lost) ORDER BY number DESC LIMIT 1";
        let mut first = None;
        let began = Instant::now();
        loop {
            let found = self.reading(|client| client.query_opt(text, &[&self.id]))?;
            let Some(row) = found else { return Ok(String::new()) };
            let (address, beat): (String, f64) = (row.get(0), row.get(1));
            if row.get(2) {
                return Ok(address);
            }
            // An expiry longer than any sensible one is not waited for.
            if *first.get_or_insert(beat) < beat || began.elapsed() > 6 * TIMEOUT {
                return Ok(String::new());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}
