//! The store that several machines and users share: PostgreSQL.
//!
//! Every table is in the schema `prony`. Connections that leave this host are encrypted and the server is verified,
//! unless the address says otherwise (see `address`).

mod address;
mod schema;
mod site;
mod trouble;
mod write;

use std::cell::RefCell;
use std::time::Duration;

use model::{ResultKey, Run};
use postgres::types::ToSql;
use postgres::{Client, Row};

use self::address::Address;

use crate::key::canonical;
use crate::packed::{Packed, unpacked};
use crate::select::check_label;
use crate::{
    Access, Detail, EnvironmentChange, Error, MachineSummary, RunFilter, SessionValue, Store, StoreErrorKind, Summary,
};

/// Time limit for the server, and for locks of other writers.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs in a PostgreSQL database.
pub struct PostgresStore {
    /// Interior mutability: queries need `&mut Client`, while reading does not change the store.
    client: RefCell<Option<Client>>,
    address: Address,
    access: Access,
    patience: Duration,
    place: String,
}

impl PostgresStore {
    /// Opens the store at an address such as `postgres://user@host/database`; for writing, missing tables are created.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses, or the store has another version.
    pub fn open(address: &str, access: Access) -> Result<Self, Error> {
        Self::open_patiently(address, access, PATIENCE)
    }

    /// Like [`PostgresStore::open`], with this time limit for the server and for other writers.
    ///
    /// # Errors
    /// As [`PostgresStore::open`].
    pub fn open_patiently(address: &str, access: Access, patience: Duration) -> Result<Self, Error> {
        let unnamed = |reason| Error::Place {
            action: "open the store",
            // The address may hold a password.
            place: "at the PostgreSQL address".to_owned(),
            trouble: StoreErrorKind::Other(reason),
        };
        let mut address = Address::parse(address).map_err(unnamed)?;
        address.config.connect_timeout(patience).application_name("prony");
        let place = address.place();
        let explain = |error: &postgres::Error| Error::Place {
            action: "open the store",
            place: place.clone(),
            trouble: trouble::of(error),
        };
        let mut client = connect(&address, access, patience).map_err(|error| explain(&error))?;
        match (schema::version(&mut client).map_err(|error| explain(&error))?, access) {
            (Some(schema::KNOWN), Access::Write) => schema::complete(&mut client).map_err(|error| explain(&error))?,
            (Some(schema::KNOWN), _) => {}
            (Some(found), _) => return Err(Error::StoreVersion { place, found, known: schema::KNOWN }),
            (None, Access::Read) => {
                return Err(Error::Place { action: "open the store", place, trouble: StoreErrorKind::Missing });
            }
            (None, Access::Write | Access::Remove) => schema::create(&mut client).map_err(|error| explain(&error))?,
        }
        Ok(Self { client: RefCell::new(Some(client)), address, access, patience, place })
    }

    fn refuse(&self, action: &'static str, error: &postgres::Error) -> Error {
        Error::Place { action, place: self.place.clone(), trouble: trouble::of(error) }
    }

    fn unknown(&self, id: &str) -> Error {
        Error::Unknown { text: id.to_owned(), place: self.place.clone(), nearest: Vec::new() }
    }

    /// Runs `work` over the connection, or over a new one if it was lost. After an error that may have ended the
    /// connection, it is dropped.
    fn attempt<T>(&self, work: &dyn Fn(&mut Client) -> Result<T, postgres::Error>) -> Result<T, postgres::Error> {
        let mut held = self.client.borrow_mut();
        let mut client = match held.take() {
            Some(client) => client,
            None => connect(&self.address, self.access, self.patience)?,
        };
        let result = work(&mut client);
        if !result.as_ref().is_err_and(trouble::ends_connection) {
            *held = Some(client);
        }
        result
    }

    /// Runs `work`, which can be done twice, once more if the connection was lost, so that a restart of the server
    /// loses no round.
    fn with_retry<T>(&self, work: &dyn Fn(&mut Client) -> Result<T, postgres::Error>) -> Result<T, postgres::Error> {
        let result = self.attempt(work);
        let lost = result.is_err() && self.client.borrow().is_none();
        if lost { self.attempt(work) } else { result }
    }

    fn query(&self, action: &'static str, sql: &str, with: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        self.with_retry(&|client| client.query(sql, with)).map_err(|error| self.refuse(action, &error))
    }

    fn number(&self, id: &str) -> Result<i64, Error> {
        let rows = self.query("read", "SELECT number FROM prony.runs WHERE id = $1", &[&id])?;
        rows.first().map(|row| row.get(0)).ok_or_else(|| self.unknown(id))
    }
}

fn connect(address: &Address, access: Access, patience: Duration) -> Result<Client, postgres::Error> {
    let mut client = address.connect()?;
    client.batch_execute(&format!("SET lock_timeout = '{}ms'", patience.as_millis()))?;
    if access == Access::Read {
        client.batch_execute("SET default_transaction_read_only = on")?;
    }
    Ok(client)
}

/// Runs `work` in one transaction under the writers' lock.
fn in_transaction<T>(
    client: &mut Client,
    work: impl FnOnce(&mut postgres::Transaction<'_>) -> Result<T, postgres::Error>,
) -> Result<T, postgres::Error> {
    let mut transaction = client.transaction()?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&schema::LOCK])?;
    let result = work(&mut transaction)?;
    transaction.commit()?;
    Ok(result)
}

impl Store for PostgresStore {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn put_all(&mut self, runs: &[Run]) -> Result<Vec<u64>, Error> {
        let packed = runs.iter().map(|run| Packed::of(run, &self.place)).collect::<Result<Vec<_>, _>>()?;
        let put = |client: &mut Client| {
            in_transaction(client, |transaction| {
                packed.iter().map(|packed| write::put(transaction, packed)).collect::<Result<Vec<_>, _>>()
            })
        };
        let numbers = self.with_retry(&put).map_err(|error| self.refuse("save the run in", &error))?;
        Ok(numbers.into_iter().map(i64::unsigned_abs).collect())
    }

    fn get(&self, id: &str, detail: Detail) -> Result<Run, Error> {
        let sql = match detail {
            Detail::Whole => "SELECT label, whole FROM prony.runs JOIN prony.documents USING (number) WHERE id = $1",
            Detail::Values => {
                "SELECT label, sample_values FROM prony.runs JOIN prony.documents USING (number) WHERE id = $1"
            }
        };
        let rows = self.query("read", sql, &[&id])?;
        let row = rows.first().ok_or_else(|| self.unknown(id))?;
        unpacked(row.get(1), row.get(0), &format!("{}, run {id}", self.place))
    }

    fn summaries(&self) -> Result<Vec<Summary>, Error> {
        let rows = self.query(
            "list the runs of",
            "SELECT number, id, label, started, seconds, rounds, complete, machine, fingerprint, suite, tool, version,
                    results, measured, interrupted
             FROM prony.runs ORDER BY number",
            &[],
        )?;
        Ok(rows.iter().map(summary).collect())
    }

    fn histories(&self, keys: &[ResultKey], fingerprint: &str, limit: usize) -> Result<Vec<Vec<SessionValue>>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let session = |row: &Row| SessionValue {
            number: unsigned(row, 0),
            id: row.get(1),
            started: row.get(2),
            value: row.get(3),
            low: row.get(4),
            high: row.get(5),
            samples: small(row, 6),
        };
        let history = |key: &ResultKey| {
            let rows = self.query(
                "read the history in",
                "SELECT f.number, r.id, r.started, f.value, f.low, f.high, f.samples
                 FROM prony.results f JOIN prony.runs r USING (number)
                 WHERE f.machine = (SELECT machine FROM prony.machines WHERE fingerprint = $1)
                   AND f.key = (SELECT key FROM prony.keys WHERE benchmark = $2 AND parameters = $3)
                 ORDER BY f.moment DESC, f.number DESC LIMIT $4",
                &[&fingerprint, &key.benchmark, &canonical(&key.parameters), &limit],
            )?;
            Ok(rows.iter().rev().map(session).collect())
        };
        keys.iter().map(history).collect()
    }

    fn page(&self, filter: &RunFilter<'_>, limit: usize, offset: usize) -> Result<Vec<Summary>, Error> {
        self.page_of(filter, limit, offset)
    }

    fn machines(&self, suite: Option<&str>, limit: usize, offset: usize) -> Result<Vec<MachineSummary>, Error> {
        self.machines_of(suite, limit, offset)
    }

    fn suites(&self) -> Result<Vec<(String, u64)>, Error> {
        let rows = self.query("list the suites of", &crate::site::suites(site::PREFIX), &[])?;
        Ok(rows.iter().map(|row| (row.get(0), unsigned(row, 1))).collect())
    }

    fn keys(&self, fingerprint: &str) -> Result<Vec<ResultKey>, Error> {
        let rows = self.query("read the history in", &crate::site::keys(site::PREFIX), &[&fingerprint])?;
        let key = |row: &Row| Some(ResultKey::new(row.get::<_, String>(0), row.get::<_, String>(1).parse().ok()?));
        Ok(rows.iter().filter_map(key).collect())
    }

    fn environments(&self, fingerprint: &str) -> Result<Vec<EnvironmentChange>, Error> {
        self.environments_of(fingerprint)
    }

    fn enqueue(&mut self, site: &str, ids: &[&str]) -> Result<(), Error> {
        let sql = crate::site::enqueue(site::PREFIX);
        let put = |client: &mut Client| {
            in_transaction(client, |transaction| {
                ids.iter().try_for_each(|id| transaction.execute(&sql, &[&site, id]).map(drop))
            })
        };
        self.with_retry(&put).map_err(|error| self.refuse("queue the run in", &error))
    }

    fn queued(&self, site: &str) -> Result<Vec<Summary>, Error> {
        Ok(self.query("read the queue in", &crate::site::queued(site::PREFIX), &[&site])?.iter().map(summary).collect())
    }

    fn dequeue(&mut self, site: &str, id: &str) -> Result<(), Error> {
        self.query("change the queue in", &crate::site::dequeue(site::PREFIX), &[&site, &id]).map(drop)
    }

    /// The server's own vacuum frees the space.
    fn remove(&mut self, ids: &[&str]) -> Result<(), Error> {
        let numbers = ids.iter().map(|id| self.number(id)).collect::<Result<Vec<_>, _>>()?;
        let sql = "DELETE FROM prony.runs WHERE number = ANY ($1)";
        self.attempt(&|client| in_transaction(client, |transaction| transaction.execute(sql, &[&numbers])))
            .map_err(|error| self.refuse("remove runs from", &error))?;
        Ok(())
    }

    fn set_label(&mut self, id: &str, label: Option<&str>) -> Result<(), Error> {
        label.map_or(Ok(()), check_label)?;
        let sql = "UPDATE prony.runs SET label = $2 WHERE id = $1";
        let changed = self
            .with_retry(&|client| in_transaction(client, |transaction| transaction.execute(sql, &[&id, &label])))
            .map_err(|error| self.refuse("label the run in", &error))?;
        if changed == 0 { Err(self.unknown(id)) } else { Ok(()) }
    }
}

fn summary(row: &Row) -> Summary {
    Summary {
        number: unsigned(row, 0),
        id: row.get(1),
        label: row.get(2),
        started: row.get(3),
        seconds: row.get(4),
        rounds: small(row, 5),
        complete: row.get(6),
        machine: row.get(7),
        fingerprint: row.get(8),
        suite: row.get(9),
        tool: row.get(10),
        version: row.get(11),
        results: small(row, 12),
        measured: small(row, 13),
        interrupted: row.get(14),
    }
}

fn unsigned(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column).unsigned_abs()
}

fn small(row: &Row, column: usize) -> u32 {
    row.get::<_, i64>(column).try_into().unwrap_or(u32::MAX)
}
