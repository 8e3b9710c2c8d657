//! `prony farm run` and `prony farm resume`.

use std::path::PathBuf;

use ::farm::{Farm, FarmJob};
use anyhow::{Context, Result, bail};
use channel::{Token, nonce};

use super::super::session::watch_for_signals;
use super::display::Show;
use super::drive::{Drive, conclude};
use super::ledger_location::{Entered, LedgerLocation};
use super::plan::{Wanted, plan};
use super::setup::FarmSetup;
use super::shared;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::cmd::node_options::LauncherOptions;
use crate::output;
use crate::run_saver::{RunSaver, SaveOptions};
use crate::value_parsers::seconds;

/// Options of `prony farm run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A manifest whose application has {first} and {events} in its arguments, or builtin:reconstruct, builtin:simulate, builtin:analyse
    #[arg(value_name = "MANIFEST|builtin:NAME")]
    manifest: String,
    /// The application, where the manifest has several
    #[arg(value_name = "APPLICATION")]
    application: Option<String>,
    /// Events in all
    #[arg(long, value_name = "N")]
    events: u64,
    /// Events of a chunk: what is lost when a node dies; about a minute's work is a good size
    #[arg(long, value_name = "K")]
    chunk: u64,
    /// Number of the first event
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// Seed of the events
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Directory of input files; its file system is reported
    #[arg(long, value_name = "DIR")]
    input: Option<PathBuf>,
    /// Keep the builds in this directory, where all nodes find it [default: prony-farm-builds]
    #[arg(long, value_name = "DIR")]
    builds: Option<PathBuf>,
    /// Let every chunk of a built-in workload take at least this long: failures can be rehearsed on few CPUs
    #[arg(long, value_name = "TIME", hide = true, value_parser = seconds)]
    pace: Option<f64>,
    #[command(flatten)]
    place: PilotPlacement,
    /// Seconds without heartbeat after which a chunk is given to another pilot
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = seconds)]
    lease: f64,
    /// Near the end, give a chunk that takes this many times the usual to a second pilot; 0: never
    #[arg(long, value_name = "FACTOR", default_value_t = 1.5)]
    speculate: f64,
    /// Fail unless the digest of all events is this one
    #[arg(long, value_name = "HEX")]
    expect_digest: Option<String>,
    /// The ledger: a new file, or a PostgreSQL database such as postgres://user@host/base, in which the same command elsewhere shares the run [default: farm-ID.ledger in the current directory]
    #[arg(long, value_name = "FILE|ADDRESS", conflicts_with = "shared_dir")]
    ledger: Option<PathBuf>,
    /// No coordinator: this process and others started alike share the work out in a directory that all of them reach
    #[arg(long, alias = "shared", value_name = "DIR")]
    shared_dir: Option<PathBuf>,
    #[command(flatten)]
    show: Show,
    #[command(flatten)]
    saving: SaveOptions,
}

/// Where pilots run.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Nodes")]
struct PilotPlacement {
    #[command(flatten)]
    by: LauncherOptions,
    /// How many nodes: a pilot is started on each
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    nodes: u32,
    /// Chunks at a time on a node [default: its CPUs; with several local nodes, their share of these]
    #[arg(long, alias = "slots", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
    /// Where the coordinator listens: one address that all nodes reach, with a port if it must be a certain one
    #[arg(long, value_name = "ADDRESS[:PORT]", default_value = "127.0.0.1")]
    listen: String,
    /// Time for which pilots wait for a coordinator that died and is to be resumed
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = seconds)]
    patience: f64,
    /// Slurm ends a node's job, its pilot, after this time
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = seconds)]
    job_time: f64,
}

impl PilotPlacement {
    fn setup(&self, lease: f64, speculate: f64) -> Result<FarmSetup> {
        let by = &self.by;
        let nodes = if by.launcher == "ssh" { by.hosts.len() } else { self.nodes as usize };
        let cpus = sys::affinity::allowed().map_or(1, |allowed| allowed.len());
        let share = if by.launcher == "local" { (cpus / nodes.max(1)).max(1) } else { 0 };
        if !(speculate >= 0.0 && speculate.is_finite()) {
            bail!("could not speculate by a factor of {speculate}; write 0 or a factor such as 1.5");
        }
        let setup = FarmSetup {
            launcher: by.launcher.clone(),
            nodes,
            slots: self.jobs.unwrap_or(u32::try_from(share).unwrap_or(1)),
            hosts: by.hosts.clone(),
            ssh: by.ssh.clone(),
            listen: self.listen.clone(),
            program: by.program()?,
            lease,
            speculate,
            patience: self.patience,
            minutes: (self.job_time / 60.0).ceil() as u64,
            options: by.slurm_option.clone(),
        };
        // Invalid parameters are refused before a ledger is created.
        setup.address()?;
        setup.nodes("")?;
        Ok(setup)
    }
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let expected = arguments.expect_digest.as_deref().map(digest).transpose()?;
    let stopper = watch_for_signals()?;
    let setup = arguments.place.setup(arguments.lease, arguments.speculate)?;
    let wanted = Wanted {
        manifest: &arguments.manifest,
        application: arguments.application.as_deref(),
        input: arguments.input.as_deref(),
        builds: arguments.builds.as_deref(),
        pace: arguments.pace.unwrap_or(0.0),
    };
    let (name, work) = plan(&wanted, &stopper)?;
    let (first, events, chunk, seed) = (arguments.first, arguments.events, arguments.chunk, arguments.seed);
    let job = FarmJob { name, work: serde_json::to_value(&work)?, seed, first, events, chunk };
    job.check()?;
    if let Some(folder) = &arguments.shared_dir {
        return shared::run(folder, &job, arguments.lease, expected, &stopper, common);
    }
    let saver = RunSaver::open(&arguments.saving, common)?;
    let id = nonce()?[..12].to_owned();
    let path = arguments.ledger.clone().unwrap_or_else(|| PathBuf::from(format!("farm-{id}.ledger")));
    let farm = Farm {
        id,
        job,
        token: Token::draw()?.reveal().to_owned(),
        key: Token::draw()?.reveal().to_owned(),
        address: String::new(),
        created: ::farm::now(),
        settings: serde_json::to_value(&setup)?,
    };
    let entered = LedgerLocation::named(&path, None)?.enter(farm)?;
    output::remark(&format!("the ledger is {}", entered.book.place()));
    let Entered { book, ledger, farm } = entered;
    let drive = Drive { setup, book: &book, show: &arguments.show, stopper: &stopper };
    let (ending, ledger) = drive.go(ledger, &farm)?;
    conclude(&ending, &*ledger, &book, expected, saver, common)
}

/// Options of `prony farm resume`.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArguments {
    /// The ledger that the run wrote: a file, or the address of a database
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
    /// The run, where the ledger is a database [default: the last that was entered]
    #[arg(long, value_name = "ID")]
    farm: Option<String>,
    /// Fail unless the digest of all events is this one
    #[arg(long, value_name = "HEX")]
    expect_digest: Option<String>,
    #[command(flatten)]
    show: Show,
    #[command(flatten)]
    saving: SaveOptions,
}

pub(crate) fn resume(arguments: &ResumeArguments, common: &CommonOptions) -> Result<ExitStatus> {
    let expected = arguments.expect_digest.as_deref().map(digest).transpose()?;
    let stopper = watch_for_signals()?;
    let book = LedgerLocation::named(&arguments.ledger, arguments.farm.as_deref())?;
    let ledger = book.open()?;
    let farm = ledger.farm()?;
    let setup: FarmSetup =
        serde_json::from_value(farm.settings.clone()).context("could not understand the ledger's settings")?;
    let saver = RunSaver::open(&arguments.saving, common)?;
    let drive = Drive { setup, book: &book, show: &arguments.show, stopper: &stopper };
    let (ending, ledger) = drive.go(ledger, &farm)?;
    conclude(&ending, &*ledger, &book, expected, saver, common)
}

/// A digest in its printed form.
fn digest(text: &str) -> Result<u64> {
    u64::from_str_radix(text, 16).with_context(|| format!("'{text}' is no digest; write 16 hexadecimal digits"))
}
