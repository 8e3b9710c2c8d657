//! Pages, environments and the queue of a site.

use model::Run;
use postgres::types::ToSql;
use postgres::{Row, Transaction};

use super::{PostgresStore, summary, unsigned};
use crate::site::{self, EnvironmentChange, MachineSummary, RunFilter};
use crate::{Error, Summary};

/// The schema of all tables.
pub(super) const PREFIX: &str = "prony.";

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl PostgresStore {
    pub(super) fn page_of(&self, filter: &RunFilter<'_>, limit: usize, offset: usize) -> Result<Vec<Summary>, Error> {
        let (limit, offset) = (signed(limit), signed(offset));
        let mut with: Vec<&(dyn ToSql + Sync)> = vec![&limit, &offset];
        let (number, pattern);
        match filter {
            RunFilter::All => {}
            RunFilter::Machine(text) | RunFilter::Id(text) => with.push(text),
            RunFilter::Text(text) => {
                pattern = site::pattern(text);
                with.push(&pattern);
            }
            RunFilter::Number(asked) => {
                number = i64::try_from(*asked).unwrap_or(i64::MAX);
                with.push(&number);
            }
        }
        Ok(self.query("list the runs of", &site::runs(filter, PREFIX), &with)?.iter().map(summary).collect())
    }

    pub(super) fn machines_of(
        &self,
        suite: Option<&str>,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<MachineSummary>, Error> {
        let (limit, offset) = (signed(limit), signed(offset));
        let mut with: Vec<&(dyn ToSql + Sync)> = vec![&limit, &offset];
        with.extend(suite.as_ref().map(|suite| suite as &(dyn ToSql + Sync)));
        let rows = self.query("list the machines of", &site::machines(suite.is_some(), PREFIX), &with)?;
        Ok(rows.iter().map(|row| MachineSummary { newest: summary(row), runs: unsigned(row, 15) }).collect())
    }

    pub(super) fn environments_of(&self, fingerprint: &str) -> Result<Vec<EnvironmentChange>, Error> {
        const ACTION: &str = "read the history in";
        let older = "SELECT to_regclass('prony.outbox') IS NULL";
        if self.query(ACTION, older, &[])?.first().is_some_and(|row| row.get(0)) {
            return Ok(Vec::new());
        }
        let rows = self.query(ACTION, &site::environments(PREFIX), &[&fingerprint])?;
        let run = |row: &Row| (unsigned(row, 0), row.get(1), row.get(2));
        site::changes(rows.iter().map(run).collect(), |digest| {
            let rows = self.query(ACTION, &site::facts(PREFIX), &[&digest])?;
            Ok(rows.first().map(|row| row.get(0)))
        })
    }
}

pub(super) fn put_environment(
    transaction: &mut Transaction<'_>,
    number: i64,
    run: &Run,
) -> Result<(), postgres::Error> {
    let (digest, text) = site::environment(run);
    let [facts, of_run] = site::save_environment(PREFIX);
    transaction.execute(&facts, &[&digest, &text])?;
    transaction.execute(&of_run, &[&number, &digest]).map(drop)
}
