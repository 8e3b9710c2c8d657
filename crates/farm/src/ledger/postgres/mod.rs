//! A ledger in PostgreSQL, which several coordinators can share.
//!
//! This program does not encrypt connections: use a socket, a trusted network, or a tunnel. A result counts when its
//! row is the first of its chunk (`PRIMARY KEY (farm, chunk)`, `ON CONFLICT DO NOTHING`), in a transaction that the
//! server has on its disk before it answers (`synchronous_commit`).

mod read;
mod record;
mod schema;
mod share;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use postgres::config::Host;
use postgres::{Client, Config, IsolationLevel, NoTls, Transaction};

use super::Farm;
use crate::{Error, Result};

/// Time limit for the server, and for locks of other writers.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Pause between attempts to reach a server that does not answer.
const RETRY: Duration = Duration::from_millis(200);
/// A run is cut into about this many blocks.
const BLOCKS: u64 = 1024;
const MAX_BLOCK: u64 = 4096;

type Answer<T> = std::result::Result<T, postgres::Error>;

/// This coordinator in the ledger.
#[derive(Debug, Clone, Default)]
struct OwnCoordinator {
    /// Its number; 0 before it begins.
    number: i64,
    /// Numbers that it had before it was taken for dead.
    earlier: Vec<i64>,
    address: String,
    expiry: f64,
    /// Blocks that it knows to be its own.
    blocks: BTreeSet<i64>,
    /// It was taken for dead, and the caller has not been told yet.
    fenced: bool,
}

/// A run in a PostgreSQL database.
pub struct PostgresLedger {
    /// Interior mutability: queries need `&mut Client`, while reading does not change the ledger.
    client: RefCell<Option<Client>>,
    config: Config,
    write: bool,
    place: PathBuf,
    id: String,
    /// Chunks in a block, and in the run.
    block: u64,
    chunks: u64,
    /// Address of a lost coordinator that this one replaces; empty where it replaces none.
    orphaned: String,
    own: OwnCoordinator,
}

impl PostgresLedger {
    /// Creates a run in the database at an address such as `postgres://user@host/database`, or joins the last
    /// unfinished run of the same job. Returns whether it joined; [`super::Ledger::farm`] then gives that run.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses, or the ledger has another schema version.
    pub fn enter(address: &str, farm: &Farm) -> Result<(Self, bool)> {
        farm.job.check()?;
        let mut this = Self::connect(address, true)?;
        let job = serde_json::to_string(&farm.job).map_err(|error| Error::Usage(error.to_string()))?;
        let settings = farm.settings.to_string();
        let blocks = this.block_size(farm.job.chunks());
        let last = i64::try_from((farm.job.chunks() - 1) / blocks).unwrap_or(i64::MAX);
        let size = blocks.cast_signed();
        let (id, joined) = this.writing("enter the run into", |all| {
            schema::prepare(all)?;
            let same = "SELECT id FROM prony_farm.farms f WHERE job = $1::text::jsonb
                AND EXISTS (SELECT FROM prony_farm.blocks b WHERE b.farm = f.id AND NOT b.done)
                ORDER BY place DESC LIMIT 1";
            if let Some(row) = all.query_opt(same, &[&job])? {
                return Ok((row.get(0), true));
            }
            all.execute(
                "INSERT INTO prony_farm.farms (id, job, token, key, created, settings, block)
                 VALUES ($1, $2::text::jsonb, $3, $4, $5, $6::text::jsonb, $7)",
                &[&farm.id, &job, &farm.token, &farm.key, &farm.created, &settings, &size],
            )?;
            let fill = "INSERT INTO prony_farm.blocks (farm, block) SELECT $1, generate_series(0::bigint, $2::bigint)";
            all.execute(fill, &[&farm.id, &last])?;
            Ok((farm.id.clone(), false))
        })?;
        this.choose(Some(&id))?;
        Ok((this, joined))
    }

    /// Opens an existing run to continue it: the one with this name, or the last one. Where its last coordinator was
    /// lost, the new one must listen at that address ([`Farm::address`]).
    ///
    /// # Errors
    /// When there is none, or the server cannot be reached.
    pub fn open(address: &str, id: Option<&str>) -> Result<Self> {
        let mut this = Self::connect(address, true)?;
        this.choose(id)?;
        this.orphaned = this.orphan()?;
        Ok(this)
    }

    /// Opens an existing run for reading: the one with this name, or the last one.
    ///
    /// # Errors
    /// When there is none, or the server cannot be reached.
    pub fn read(address: &str, id: Option<&str>) -> Result<Self> {
        let mut this = Self::connect(address, false)?;
        this.choose(id)?;
        Ok(this)
    }

    /// The address without the password.
    #[must_use]
    pub fn place(&self) -> String {
        self.place.display().to_string()
    }

    /// Name of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Settings of the server that weaken durability, in words; `None` if there are none.
    /// # Errors
    /// When it does not answer.
    pub fn doubt(&self) -> Result<Option<String>> {
        let mut off = Vec::new();
        for setting in ["fsync", "full_page_writes", "synchronous_commit"] {
            let value: String = self
                .reading(|client| client.query_one("SELECT current_setting($1)", &[&setting]).map(|row| row.get(0)))?;
            if value == "off" {
                off.push(format!("{setting} = off"));
            }
        }
        let text = format!("{}: what counts may be lost when the server's host loses its power", off.join(", "));
        Ok((!off.is_empty()).then_some(text))
    }

    const fn block_size(&self, chunks: u64) -> u64 {
        let size = chunks / BLOCKS;
        if size == 0 {
            1
        } else if size > MAX_BLOCK {
            MAX_BLOCK
        } else {
            size
        }
    }

    fn connect(address: &str, write: bool) -> Result<Self> {
        // An address may hold a password: no part of it is printed before it is parsed.
        let unnamed = |reason: String| Error::Ledger { what: "open", path: "at the PostgreSQL address".into(), reason };
        let mut config: Config = address.parse().map_err(|error| unnamed(causes(&error)))?;
        config.connect_timeout(TIMEOUT).application_name("prony farm");
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        let place = PathBuf::from(describe(&config));
        let failure = |reason: String| Error::Ledger { what: "open", path: place.clone(), reason };
        let mut client = connect_to(&config, write).map_err(|error| failure(causes(&error)))?;
        match schema::version(&mut client).map_err(|error| failure(causes(&error)))? {
            Some(schema::VERSION) => {}
            Some(other) => {
                return Err(failure(format!(
                    "it has schema version {other}; this program knows version {}",
                    schema::VERSION
                )));
            }
            None => {}
        }
        Ok(Self {
            client: RefCell::new(Some(client)),
            config,
            write,
            place,
            id: String::new(),
            block: 1,
            chunks: 0,
            orphaned: String::new(),
            own: OwnCoordinator::default(),
        })
    }

    /// Finds the run.
    fn choose(&mut self, id: Option<&str>) -> Result<()> {
        let found = self.reading(|client| {
            if schema::version(client)?.is_none() {
                return Ok(None);
            }
            let text =
                "SELECT id, block FROM prony_farm.farms WHERE $1::text IS NULL OR id = $1 ORDER BY place DESC LIMIT 1";
            client.query_opt(text, &[&id])
        })?;
        let none = || match id {
            Some(id) => format!("there is no run {id} in it"),
            None => "there is no run in it; prony farm run --ledger enters one".to_owned(),
        };
        let row = found.ok_or_else(|| self.failure("read")(none()))?;
        self.id = row.get(0);
        self.block = row.get::<_, i64>(1).unsigned_abs().max(1);
        self.chunks = super::Ledger::farm(self)?.job.chunks();
        Ok(())
    }

    fn failure(&self, what: &'static str) -> impl Fn(String) -> Error + use<> {
        let path = self.place.clone();
        move |reason| Error::Ledger { what, path: path.clone(), reason }
    }

    /// Runs `work` over the connection, or over a new one if it was lost, until the server is back or the time limit
    /// ends. Everything done here can be done twice.
    fn with_retry<T>(&self, work: &mut dyn FnMut(&mut Client) -> Answer<T>) -> Answer<T> {
        let began = Instant::now();
        let mut held = self.client.borrow_mut();
        loop {
            let result = match held.take().map_or_else(|| connect_to(&self.config, self.write), Ok) {
                Ok(mut client) => {
                    let result = work(&mut client);
                    if !result.as_ref().is_err_and(ends_connection) {
                        *held = Some(client);
                    }
                    result
                }
                Err(error) => Err(error),
            };
            match result {
                Err(error) if ends_connection(&error) && began.elapsed() < TIMEOUT => std::thread::sleep(RETRY),
                // Two writers waited for each other, and the server ended one.
                Err(error) if is_conflict(&error) && began.elapsed() < TIMEOUT => {}
                other => return other,
            }
        }
    }

    fn reading<T>(&self, mut work: impl FnMut(&mut Client) -> Answer<T>) -> Result<T> {
        self.with_retry(&mut work).map_err(|error| self.failure("read")(causes(&error)))
    }

    fn writing<T>(&self, what: &'static str, mut work: impl FnMut(&mut Transaction<'_>) -> Answer<T>) -> Result<T> {
        let mut all = |client: &mut Client| {
            // Each statement must see what others have committed by then, whatever the server's default level is.
            let mut all = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start()?;
            let result = work(&mut all)?;
            all.commit()?;
            Ok(result)
        };
        self.with_retry(&mut all).map_err(|error| self.failure(what)(causes(&error)))
    }
}

fn connect_to(config: &Config, write: bool) -> Answer<Client> {
    let mut client = config.connect(NoTls)?;
    // The server ends a client that is frozen while it holds a lock; the client then reconnects.
    client.batch_execute(&format!(
        "SET lock_timeout = '{0}ms'; SET idle_in_transaction_session_timeout = '{0}ms'; SET synchronous_commit = on;
         SET default_transaction_read_only = {1}",
        TIMEOUT.as_millis(),
        if write { "off" } else { "on" }
    ))?;
    Ok(client)
}

/// The address without the password.
fn describe(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(directory)) => directory.display().to_string().replace('/', "%2F"),
        None => "localhost".to_owned(),
    };
    let user = config.get_user().map_or_else(String::new, |user| format!("{user}@"));
    let port =
        config.get_ports().first().filter(|port| **port != 5432).map_or_else(String::new, |port| format!(":{port}"));
    format!("postgres://{user}{host}{port}/{}", config.get_dbname().or(config.get_user()).unwrap_or_default())
}

/// Whether a connection is unusable after an error: the server ended it (class 57P), or the error did not come from the
/// server.
fn ends_connection(error: &postgres::Error) -> bool {
    error.code().is_none_or(|state| state.code().starts_with("57P") || state.code() == "25P03")
}

/// Whether a retry helps (class 40: the server rolled this transaction back in favour of another).
fn is_conflict(error: &postgres::Error) -> bool {
    error.code().is_some_and(|state| state.code().starts_with("40"))
}

/// The error with all its causes, in one line: the outermost text is only "db error".
fn causes(error: &postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let words = next.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = next.source();
    }
    text.replace('\n', " ")
}
