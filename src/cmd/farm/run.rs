//! `prony farm run` and `prony farm resume`.

use std::path::PathBuf;
use std::time::Duration;

use ::farm::{Coordinator, Farm, FarmJob, Ledger, ProductFolder, SqliteLedger};
use anyhow::{Context, Result, bail};
use channel::{Token, nonce};

use super::super::session::watch_for_signals;
use super::conclusion::{Expected, conclude};
use super::drive::{Drive, listen_again};
use super::plan::{Wanted, WantedWork, plan};
use super::setup::FarmSetup;
use super::shared;
use super::staging::StageOptions;
use super::tell_damage;
use super::work::{EventRange, FarmWork};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::cmd::node_options::{LauncherOptions, refuse_twice};
use crate::output;
use crate::run_saver::{RunSaver, SaveOptions};
use crate::value_parsers::seconds;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony farm run builtin:reconstruct --events 1000 --chunk 20 --nodes 2
  prony farm run mine.toml --events 9000 --chunk 500 --launcher ssh --hosts a,b")]
pub(crate) struct Arguments {
    /// A manifest, builtin:reconstruct, builtin:simulate or builtin:analyse
    #[arg(value_name = "MANIFEST|builtin:NAME")]
    manifest: String,
    /// The application, if the manifest has several
    #[arg(value_name = "APPLICATION")]
    application: Option<String>,
    #[command(flatten)]
    range: EventRange,
    /// Read input files from this directory
    #[arg(long, help_heading = "Files", value_name = "DIR")]
    input: Option<PathBuf>,
    /// Keep the builds in this directory, which all nodes reach [default: prony-farm-builds]
    #[arg(long, help_heading = "Files", value_name = "DIR")]
    builds: Option<PathBuf>,
    /// Slow every chunk of a built-in workload down to this time, to rehearse failures on few CPUs
    #[arg(long, help_heading = "Safety", value_name = "TIME", hide = true, value_parser = seconds)]
    pace: Option<f64>,
    /// Give a chunk to another pilot after this time without a heartbeat
    #[arg(long, help_heading = "Safety", value_name = "TIME", default_value = "10s", value_parser = seconds)]
    lease: f64,
    /// Near the end, give a chunk that takes this many times the usual to a second pilot; 0: never
    #[arg(long, value_name = "FACTOR", hide = true, default_value_t = 1.5)]
    speculate: f64,
    /// Repeat this percentage of the chunks on other nodes, to find a node that computes wrongly
    #[arg(long, help_heading = "Safety", value_name = "PERCENT", default_value_t = 0.0, conflicts_with = "shared_dir")]
    verify: f64,
    /// Keep the files that chunks write to {out} here, reached by all nodes [default: farm-ID.products]
    #[arg(long, help_heading = "Files", value_name = "DIR", conflicts_with = "shared_dir")]
    products: Option<PathBuf>,
    /// Fail unless the digest of all events is this one
    #[arg(long, help_heading = "Safety", value_name = "HEX")]
    expect_digest: Option<String>,
    /// Write the ledger to this new file [default: farm-ID.ledger]
    #[arg(long, help_heading = "Files", value_name = "FILE", conflicts_with = "shared_dir")]
    ledger: Option<PathBuf>,
    /// Share the work through this directory, without a coordinator: run the command on every node
    #[arg(long, help_heading = "Nodes", value_name = "DIR")]
    shared_dir: Option<PathBuf>,
    /// Print no progress
    #[arg(long, help_heading = "Output", short)]
    quiet: bool,
    #[command(flatten)]
    saving: SaveOptions,
    #[command(flatten)]
    place: PilotPlacement,
    #[command(flatten)]
    stage: StageOptions,
}

/// Where pilots run.
#[derive(Debug, clap::Args)]
struct PilotPlacement {
    #[command(flatten)]
    by: LauncherOptions,
    /// Use this many nodes: each runs a pilot
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    nodes: u32,
    /// Run this many chunks at a time on a node [default: its CPUs; several local nodes share them]
    #[arg(long, help_heading = "Nodes", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
    /// Listen on this address, which all nodes reach
    #[arg(long, help_heading = "Nodes", value_name = "ADDRESS[:PORT]", default_value = "127.0.0.1")]
    listen: String,
    /// Wait this long for late nodes; pilots wait as long for a dead coordinator
    #[arg(long, help_heading = "Nodes", value_name = "TIME", default_value = "10m", value_parser = seconds)]
    patience: f64,
    /// End a node's Slurm job after this time
    #[arg(long, help_heading = "Nodes", value_name = "TIME", default_value = "24h", value_parser = seconds)]
    job_time: f64,
    /// Wait this long for a started pilot to connect
    #[arg(long, value_name = "TIME", hide = true, default_value = "60s", value_parser = seconds)]
    connect_wait: f64,
}

impl PilotPlacement {
    fn connect_wait(&self) -> Duration {
        Duration::from_secs_f64(self.connect_wait)
    }

    fn setup(&self, lease: f64, speculate: f64, verify: f64) -> Result<FarmSetup> {
        let by = &self.by;
        if by.launcher == "ssh" {
            refuse_twice(&by.hosts)?;
        }
        let nodes = if by.launcher == "ssh" { by.hosts.len() } else { self.nodes as usize };
        let cpus = kernels::affinity::allowed().map_or(1, |allowed| allowed.len());
        let share = if by.launcher == "local" { (cpus / nodes.max(1)).max(1) } else { 0 };
        if !(speculate >= 0.0 && speculate.is_finite()) {
            bail!("could not speculate by a factor of {speculate}; write 0 or a factor such as 1.5");
        }
        if !(0.0..=100.0).contains(&verify) {
            bail!("could not verify {verify} percent of the chunks; write a number from 0 to 100");
        }
        if verify > 0.0 && nodes < 2 {
            bail!("could not verify chunks on one node: a second node must repeat them; add --nodes 2");
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
            verify: verify / 100.0,
        };
        // Invalid parameters are refused before a ledger is created.
        setup.address()?;
        setup.nodes()?;
        Ok(setup)
    }
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let expected = arguments.expect_digest.as_deref().map(digest).transpose()?;
    let wanted = arguments.wanted()?;
    let stopper = watch_for_signals()?;
    let setup = arguments.place.setup(arguments.lease, arguments.speculate, arguments.verify)?;
    let (name, work) = plan(&wanted, &stopper)?;
    let id = nonce()?[..12].to_owned();
    let products = products(arguments, &id, &work)?;
    if arguments.verify > 0.0 && !work.has_digest() {
        bail!("could not verify: {name} prints no digest to compare; see verify in its manifest");
    }
    let job = arguments.job(name, &work, products)?;
    if let Some(folder) = &arguments.shared_dir {
        return shared::run(folder, &job, arguments.lease, expected, &stopper, common);
    }
    let saver = RunSaver::open(&arguments.saving, common)?;
    let path = arguments.ledger.clone().unwrap_or_else(|| PathBuf::from(format!("farm-{id}.ledger")));
    if path.to_string_lossy().contains("://") {
        bail!("could not use {}: a ledger is a file", model::without_password(&path.to_string_lossy()));
    }
    let farm = Farm {
        id,
        job,
        token: Token::draw()?.reveal().to_owned(),
        key: Token::draw()?.reveal().to_owned(),
        address: String::new(),
        created: ::farm::now(),
        settings: serde_json::to_value(&setup)?,
    };
    // An address that cannot be listened on, or products that cannot be kept, leave no ledger behind.
    let listener = Coordinator::listen(setup.address()?)?;
    if let Some(folder) = &farm.job.products {
        ProductFolder::create(folder, &farm.id)?;
    }
    let ledger = SqliteLedger::create(&path, &farm)?;
    output::remark(&format!("the ledger is {}", path.display()));
    let connect_wait = arguments.place.connect_wait();
    let drive = Drive { setup, quiet: arguments.quiet, connect_wait, stopper: &stopper };
    let (ending, ledger) = drive.go(Box::new(ledger), &farm, listener)?;
    conclude(&ending, &*ledger, &path, Expected { digest: expected }, saver, common)
}

impl Arguments {
    fn job(&self, name: String, work: &FarmWork, products: Option<PathBuf>) -> Result<FarmJob> {
        let EventRange { first, events, chunk, seed } = self.range;
        let job = FarmJob { name, work: serde_json::to_value(work)?, seed, first, events, chunk, products };
        job.check()?;
        Ok(job)
    }

    fn wanted(&self) -> Result<Wanted<'_>> {
        Ok(Wanted {
            work: WantedWork::of(&self.manifest, self.application.as_deref())?,
            input: self.input.as_deref(),
            builds: self.builds.as_deref(),
            pace: self.pace.unwrap_or(0.0),
            stage: self.stage.plan()?,
        })
    }
}

/// The directory of products: named, or one of its own if the work writes any.
fn products(arguments: &Arguments, id: &str, work: &FarmWork) -> Result<Option<PathBuf>> {
    let folder = match (&arguments.products, work.makes_products()) {
        (Some(_), false) => {
            bail!("could not use --products: the application writes no files; use {{out}} in the arguments of its run")
        }
        (_, true) if arguments.shared_dir.is_some() => {
            bail!("could not keep products without a coordinator: leave --shared-dir out")
        }
        (Some(folder), true) => folder.clone(),
        (None, true) => PathBuf::from(format!("farm-{id}.products")),
        (None, false) => return Ok(None),
    };
    // Nodes have other working directories.
    std::path::absolute(&folder).map(Some).with_context(|| format!("could not use {}", folder.display()))
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony farm resume farm-1a2b3c.ledger")]
pub(crate) struct ResumeArguments {
    /// The ledger that the run wrote
    #[arg(value_name = "LEDGER")]
    ledger: PathBuf,
    /// Listen on this address, which all nodes reach [default: where it was]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    listen: Option<String>,
    /// Fail unless the digest of all events is this one
    #[arg(long, value_name = "HEX")]
    expect_digest: Option<String>,
    /// Wait this long for a started pilot to connect
    #[arg(long, value_name = "TIME", hide = true, default_value = "60s", value_parser = seconds)]
    connect_wait: f64,
    /// Print no progress
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    saving: SaveOptions,
}

pub(crate) fn resume(arguments: &ResumeArguments, common: &CommonOptions) -> Result<ExitStatus> {
    let expected = arguments.expect_digest.as_deref().map(digest).transpose()?;
    let stopper = watch_for_signals()?;
    let ledger = SqliteLedger::open(&arguments.ledger)?;
    tell_damage(&ledger);
    let farm = ledger.farm()?;
    let setup = FarmSetup::of(&farm)?;
    let saver = RunSaver::open(&arguments.saving, common)?;
    let connect_wait = Duration::from_secs_f64(arguments.connect_wait);
    let drive = Drive { setup, quiet: arguments.quiet, connect_wait, stopper: &stopper };
    let address = drive.setup.address_again(&farm.address, arguments.listen.as_deref())?;
    let listener = listen_again(address)?;
    let (ending, ledger) = drive.go(Box::new(ledger), &farm, listener)?;
    conclude(&ending, &*ledger, &arguments.ledger, Expected { digest: expected }, saver, common)
}

/// A digest in its printed form.
fn digest(text: &str) -> Result<u64> {
    u64::from_str_radix(text, 16).with_context(|| format!("'{text}' is not a digest; write 16 hexadecimal digits"))
}
