//! The views of a site: what `show`, `compare` and `fleet spread` print.

use anyhow::Result;
use model::Run;
use report::Document;
use report::view::RunContext;
use serve::{Held, Views};
use store::Store;

use crate::cmd::{compare, fleet, show};
use crate::run_finder::{self, Named};

pub(super) struct SiteViews;

fn named(runs: &[Held]) -> Vec<Named> {
    runs.iter().map(|held| Named { handle: held.number.to_string(), run: held.run.as_ref().clone() }).collect()
}

fn told<T>(made: Result<T>) -> Result<T, String> {
    made.map_err(|error| format!("{error:#}"))
}

impl Views for SiteViews {
    fn run(&self, held: &Held) -> Result<Document, String> {
        let context = RunContext {
            catalogue: benchmarks::catalogue(),
            handle: Some(held.number.to_string()),
            brief: true,
            ..RunContext::default()
        };
        told(show::document(&held.run, &context))
    }

    fn compare(&self, store: &dyn Store, runs: &[Held]) -> Result<Document, String> {
        told(compare::side_by_side(store, &named(runs)))
    }

    fn fleet(&self, store: &dyn Store, runs: &[Held]) -> Result<Document, String> {
        let history = |runs: &[&Run]| run_finder::history_in(store, runs);
        told(fleet::spread_of(named(runs), &history))
    }
}
