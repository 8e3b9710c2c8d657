//! The `Ledger` interface: all queries, and the small writes.

use postgres::Row;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::ToSql;

use super::{PostgresLedger, causes};
use crate::job::ChunkResult;
use crate::ledger::{
    Begin, ChunkVerdict, Commit, Farm, Incident, Ledger, LedgerSharing, NodeTotals, OfferedResult, Refusal, Totals,
};
use crate::{ChunkSet, Result};

const SUMS: &str = "count(*), count(DISTINCT chunk), coalesce(sum(events), 0)::bigint, coalesce(sum(cpu), 0),
    coalesce(sum(wall), 0), coalesce(max(number), 0)";
const OFFER: &str = "chunk, number, node, pilot, events, digest, cpu, wall, at";

fn number(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column).cast_unsigned()
}

fn sums(row: &Row, first: usize) -> Totals {
    Totals {
        commits: number(row, first),
        distinct: number(row, first + 1),
        events: number(row, first + 2),
        cpu: row.get(first + 3),
        wall: row.get(first + 4),
        number: number(row, first + 5),
        ..Totals::default()
    }
}

fn offer(row: &Row) -> (OfferedResult, f64) {
    let done = ChunkResult { events: number(row, 4), digest: number(row, 5), cpu: row.get(6), wall: row.get(7) };
    let offer =
        OfferedResult { chunk: number(row, 0), number: number(row, 1), node: row.get(2), pilot: row.get(3), done };
    (offer, row.get(8))
}

impl PostgresLedger {
    /// Passes rows on one by one, so that memory stays bounded. If the connection is lost midway the call fails, since
    /// the first rows have been passed on already.
    fn each(&self, text: &str, work: &mut dyn FnMut(&Row)) -> Result<()> {
        let failure = |error: postgres::Error| self.failure("read")(causes(&error));
        // Reconnects if the connection was lost earlier.
        self.reading(|client| client.batch_execute(""))?;
        let mut held = self.client.borrow_mut();
        let client = held.as_mut().ok_or_else(|| self.failure("read")("the connection was lost".to_owned()))?;
        let with: [&(dyn ToSql + Sync); 1] = [&self.id];
        let mut rows = client.query_raw(text, with).map_err(failure)?;
        while let Some(row) = rows.next().map_err(failure)? {
            work(&row);
        }
        Ok(())
    }

    fn all(&self, text: &str) -> Result<Vec<Row>> {
        self.reading(|client| client.query(text, &[&self.id]))
    }
}

impl Ledger for PostgresLedger {
    fn farm(&self) -> Result<Farm> {
        let text = "SELECT id, job::text, token, key, created, settings::text FROM prony_farm.farms WHERE id = $1";
        let row = self.reading(|client| client.query_one(text, &[&self.id]))?;
        let damaged = |error: serde_json::Error| self.failure("read")(error.to_string());
        Ok(Farm {
            id: row.get(0),
            job: serde_json::from_str(row.get(1)).map_err(damaged)?,
            token: row.get(2),
            key: row.get(3),
            address: self.orphaned.clone(),
            created: row.get(4),
            settings: serde_json::from_str(row.get(5)).map_err(damaged)?,
        })
    }

    fn begin(&mut self, address: &str, expiry: f64) -> Result<Begin> {
        self.register(address, expiry)
    }

    fn sharing(&mut self) -> Option<&mut dyn LedgerSharing> {
        Some(self)
    }

    fn record(&mut self, offers: &[OfferedResult], at: f64) -> Result<Vec<ChunkVerdict>> {
        self.record_all(offers, at)
    }

    fn note(&mut self, incidents: &[Incident]) -> Result<()> {
        let column = |of: fn(&Incident) -> &str| incidents.iter().map(of).collect::<Vec<_>>();
        let at: Vec<f64> = incidents.iter().map(|one| one.at).collect();
        let chunks: Vec<Option<i64>> = incidents.iter().map(|one| one.chunk.map(u64::cast_signed)).collect();
        // PostgreSQL text cannot hold a zero byte.
        let details: Vec<String> = incidents.iter().map(|one| one.detail.replace('\0', " ")).collect();
        let (whats, nodes) = (column(|one| &one.what), column(|one| &one.node));
        self.writing("write into", |all| {
            all.execute(
                "INSERT INTO prony_farm.incidents (farm, coordinator, at, what, node, chunk, detail)
                 SELECT $1, $2, at, what, node, chunk, detail
                 FROM unnest($3::float8[], $4::text[], $5::text[], $6::bigint[], $7::text[]) WITH ORDINALITY
                      AS i (at, what, node, chunk, detail, place) ORDER BY place",
                &[&self.id, &self.own.number, &at, &whats, &nodes, &chunks, &details],
            )
        })?;
        Ok(())
    }

    fn describe(&mut self, node: &str, about: &serde_json::Value) -> Result<()> {
        let about = about.to_string().replace("\\u0000", " ");
        self.writing("write into", |all| {
            all.execute(
                "INSERT INTO prony_farm.nodes VALUES ($1, $2, $3::text::jsonb)
                 ON CONFLICT (farm, node) DO UPDATE SET about = excluded.about",
                &[&self.id, &node, &about],
            )
        })?;
        Ok(())
    }

    fn counted(&self) -> Result<ChunkSet> {
        let mut set = ChunkSet::new(self.chunks);
        self.each("SELECT chunk FROM prony_farm.commits WHERE farm = $1", &mut |row| {
            set.insert(number(row, 0));
        })?;
        Ok(set)
    }

    fn totals(&self) -> Result<Totals> {
        let text =
            format!("SELECT {SUMS}, coalesce(sum(digest::numeric), 0)::text FROM prony_farm.commits WHERE farm = $1");
        let refused =
            "SELECT count(*), coalesce(sum(cpu), 0), count(*) FILTER (WHERE differs), coalesce(max(number), 0)
            FROM prony_farm.refusals WHERE farm = $1";
        let (row, late) = self
            .reading(|client| Ok((client.query_one(&text, &[&self.id])?, client.query_one(refused, &[&self.id])?)))?;
        let mut totals = sums(&row, 0);
        let digest: i128 = row.get::<_, &str>(6).parse().map_err(|error: std::num::ParseIntError| {
            self.failure("read")(format!("its sum of digests is not a number: {error}"))
        })?;
        // Digests are added modulo 2^64.
        totals.digest = digest as u64;
        (totals.refused, totals.wasted, totals.differing) = (number(&late, 0), late.get(1), number(&late, 2));
        totals.number = totals.number.max(number(&late, 3));
        Ok(totals)
    }

    fn nodes(&self) -> Result<Vec<NodeTotals>> {
        let text = format!(
            "SELECT node, min(at), max(at), {SUMS} FROM prony_farm.commits WHERE farm = $1
             GROUP BY node ORDER BY node COLLATE \"C\""
        );
        let one = |row: &Row| NodeTotals { node: row.get(0), span: (row.get(1), row.get(2)), totals: sums(row, 3) };
        let mut nodes: Vec<NodeTotals> = self.all(&text)?.iter().map(one).collect();
        let refused = "SELECT node, count(*), sum(cpu) FROM prony_farm.refusals WHERE farm = $1 GROUP BY node";
        for row in self.all(refused)? {
            let name: &str = row.get(0);
            if let Some(node) = nodes.iter_mut().find(|node| node.node == name) {
                (node.totals.refused, node.totals.wasted) = (number(&row, 1), row.get(2));
            }
        }
        Ok(nodes)
    }

    fn commits(&self, each: &mut dyn FnMut(Commit)) -> Result<()> {
        let text = format!("SELECT {OFFER} FROM prony_farm.commits WHERE farm = $1 ORDER BY at, chunk");
        self.each(&text, &mut |row| {
            let (offer, at) = offer(row);
            each(Commit { offer, at });
        })
    }

    fn refusals(&self, each: &mut dyn FnMut(Refusal)) -> Result<()> {
        let text = format!("SELECT {OFFER}, differs FROM prony_farm.refusals WHERE farm = $1 ORDER BY at, place");
        self.each(&text, &mut |row| {
            let (offer, at) = offer(row);
            each(Refusal { offer, at, differs: row.get(9) });
        })
    }

    fn incidents(&self) -> Result<Vec<Incident>> {
        let text = "SELECT at, what, node, chunk, detail FROM prony_farm.incidents WHERE farm = $1 ORDER BY at, place";
        let one = |row: &Row| Incident {
            at: row.get(0),
            what: row.get(1),
            node: row.get(2),
            chunk: row.get::<_, Option<i64>>(3).map(i64::cast_unsigned),
            detail: row.get(4),
        };
        Ok(self.all(text)?.iter().map(one).collect())
    }

    fn descriptions(&self) -> Result<Vec<(String, serde_json::Value)>> {
        let text = "SELECT node, about::text FROM prony_farm.nodes WHERE farm = $1 ORDER BY node COLLATE \"C\"";
        let parse = |row: &Row| match serde_json::from_str(row.get(1)) {
            Ok(value) => Ok((row.get(0), value)),
            Err(error) => Err(self.failure("read")(error.to_string())),
        };
        self.all(text)?.iter().map(parse).collect()
    }
}
