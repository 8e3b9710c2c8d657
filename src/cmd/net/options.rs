//! The path of network tests, how they are measured, and where their runs are stored.

use std::fs::File;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use channel::Token;
use clap::Args;
use lab::{Lab, LabShape};
use model::words::seconds as in_words;
use model::{BenchmarkResult, Plan, Run};
use network::series::{CutShort, FlowSeries, SeriesTrial};
use network::serve::{ListenSettings, ServeLimits, Server};
use network::{Client, Cpus, Path};
use report::view::{PrintedPlateau, RunContext};
use report::{Block, Document, DocumentSection};

use super::super::choose::text_from;
use super::super::resume;
use super::super::session::{LocalSession, measured};
use super::answer::answer;
use crate::cli::CommonOptions;
use crate::run_options::MeasureOptions;
use crate::value_parsers::short_seconds;
use crate::{ExitStatus, output};

/// What a test goes over; without any of these, loopback.
#[derive(Debug, Args)]
pub(super) struct Over {
    /// Measure to this host, where `prony net serve` runs; stream takes several
    #[arg(long, alias = "peer", value_name = "HOST:PORT", value_delimiter = ',', conflicts_with = "lab")]
    server: Vec<String>,
    #[command(flatten)]
    token: TokenSource,
    /// Build a virtual switch on this host and measure over it
    #[arg(long)]
    pub(super) lab: bool,
    #[command(flatten)]
    pub(super) switch: Switch,
    /// Place the two ends: on different CPUs, one CPU, or unpinned
    #[arg(long, help_heading = "Connection", value_name = "WHERE", default_value = "cross_cpu", value_parser = ["cross_cpu", "same_cpu", "free"])]
    pub(super) placement: String,
}

/// The variable that holds the token, where no file is named.
const TOKEN_VARIABLE: &str = "PRONY_NET_TOKEN";
/// Longest file of a token, bytes.
const LONGEST_TOKEN_FILE: u64 = 4096;

/// Where the token is. It is no option, because every user of a machine can read the arguments of its processes.
#[derive(Debug, Args)]
pub(super) struct TokenSource {
    /// Read the shared token from this file, readable by you alone [default: PRONY_NET_TOKEN]
    #[arg(long, help_heading = "Connection", value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl TokenSource {
    /// The token, if a file or the environment has one.
    pub(super) fn find(&self) -> Result<Option<Token>> {
        shared_token(self.token_file.as_deref(), TOKEN_VARIABLE)
    }
}

/// The token in a file, else that in a variable of the environment, if there is one.
pub(crate) fn shared_token(file: Option<&std::path::Path>, variable: &str) -> Result<Option<Token>> {
    let Some(path) = file else {
        let set = std::env::var_os(variable).filter(|token| !token.is_empty());
        let set = set.map(|token| token.into_string()).transpose();
        return match set.map_err(|_| anyhow::anyhow!("could not use {variable}: it is not UTF-8"))? {
            Some(text) => Ok(Some(Token::parse(&text).with_context(|| format!("could not use {variable}"))?)),
            None => Ok(None),
        };
    };
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| format!("could not read the token in {name}"))?;
    let found = file.metadata().with_context(|| format!("could not read the token in {name}"))?;
    ensure!(
        !found.is_file() || found.mode() & 0o077 == 0,
        "could not use the token in {name}: other users have access to the file; run chmod 600 {name}"
    );
    let text = text_from(file, &name, LONGEST_TOKEN_FILE)?;
    Ok(Some(Token::parse(&text).with_context(|| format!("could not use the token in {name}"))?))
}

/// The switch of a laboratory.
#[derive(Debug, Clone, Args)]
pub(super) struct Switch {
    /// Set the rate of the switch's links, such as 10mbit or 1gbit
    #[arg(id = "link", long = "link", help_heading = "Switch of --lab", value_name = "RATE", default_value = "100mbit", value_parser = bits)]
    pub(super) rate: u64,
    /// Set the buffer of a switch's port, in bytes
    #[arg(long, help_heading = "Switch of --lab", value_name = "BYTES", default_value_t = 160_000)]
    pub(super) buffer: u64,
    /// Set the largest packet, in bytes; stream takes several
    #[arg(long, help_heading = "Switch of --lab", value_name = "BYTES", value_delimiter = ',', default_value = "1500")]
    pub(super) mtu: Vec<u32>,
    /// Simulate half-duplex Ethernet: one medium with collisions, instead of a switch
    #[arg(long, help_heading = "Switch of --lab")]
    pub(super) half_duplex: bool,
    /// Add this delay to each frame; without a unit milliseconds
    #[arg(long, help_heading = "Switch of --lab", value_name = "TIME", default_value = "0ms", value_parser = short_seconds)]
    pub(super) delay: f64,
    /// Drop this percentage of the frames
    #[arg(long, help_heading = "Switch of --lab", value_name = "PERCENT", default_value = "0", value_parser = loss)]
    pub(super) loss: f64,
}

/// A share of frames, written as a percentage.
fn loss(text: &str) -> Result<f64, String> {
    let share = text.trim_end_matches('%').parse::<f64>().map(|percent| percent / 100.0);
    share.ok().filter(|share| (0.0..0.5).contains(share)).ok_or_else(|| "write 0 to 49, such as 0.1".to_owned())
}

impl Switch {
    pub(super) fn shape(&self, hosts: usize) -> Result<LabShape> {
        let [mtu] = self.mtu.as_slice() else { bail!("only prony net stream takes several MTUs; name one") };
        Ok(self.shape_with(hosts, *mtu))
    }

    fn shape_with(&self, hosts: usize, mtu: u32) -> LabShape {
        LabShape {
            hosts,
            bits_per_second: self.rate,
            port_buffer: self.buffer,
            mtu,
            half_duplex: self.half_duplex,
            delay: self.delay,
            loss: self.loss,
            ..LabShape::default()
        }
    }
}

/// A rate in bits per second: `10mbit`, `1gbit`, `64kbit`.
pub(super) fn bits(text: &str) -> Result<u64, String> {
    let refuse = || format!("'{text}' is not a rate; write one such as 10mbit or 1gbit");
    let lower = text.trim().to_lowercase();
    let (number, scale) = [("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)]
        .iter()
        .find_map(|(unit, scale)| Some((lower.strip_suffix(unit)?, *scale)))
        .ok_or_else(refuse)?;
    let number: f64 = number.trim().parse().map_err(|_| refuse())?;
    let bits = number * scale;
    if (1e3..=1e12).contains(&bits) {
        Ok(bits as u64)
    } else {
        Err("the rate must be between 1kbit and 1000gbit".to_owned())
    }
}

/// Name of the path through a laboratory whose links have this rate, bits a second: different rates are different
/// paths.
pub(super) fn lab_path(rate: u64) -> String {
    let [mbit, kbit] = [1_000_000, 1_000].map(|unit| rate.is_multiple_of(unit).then(|| rate / unit));
    match (mbit, kbit) {
        (Some(rate), _) => format!("lab_{rate}mbit"),
        (None, Some(rate)) => format!("lab_{rate}kbit"),
        (None, None) => format!("lab_{rate}bit"),
    }
}

/// A path and the objects that it requires.
pub(super) struct OpenedPath {
    pub(super) path: Path,
    _lab: Option<Arc<Lab>>,
    _server: Option<Server>,
}

impl Over {
    /// Opens the path.
    pub(super) fn open(&self) -> Result<OpenedPath> {
        if self.lab {
            return self.laboratory(self.switch.shape(2)?);
        }
        let cpus = self.cpus()?;
        let [to] = self.server.as_slice() else {
            anyhow::ensure!(self.server.is_empty(), "only prony net stream takes several servers; name one");
            let server = Server::start(patient()?)?;
            let client = Client::connect(server.address(), server.token())?;
            return Ok(OpenedPath { path: Path::new(client, "loopback", cpus), _lab: None, _server: Some(server) });
        };
        self.to_server(to, cpus)
    }

    fn to_server(&self, to: &str, cpus: Cpus) -> Result<OpenedPath> {
        let address: SocketAddr = to
            .to_socket_addrs()
            .with_context(|| format!("could not find {to}; write HOST:PORT"))?
            .next()
            .with_context(|| format!("could not find an address of {to}"))?;
        let token = self.token.find()?.with_context(|| {
            format!("could not use {to} without its token; name a file with --token-file, or set {TOKEN_VARIABLE}")
        })?;
        let client = Client::connect_after(address, &token, &mut |ahead| {
            let clients = if ahead == 1 { "1 client is".to_owned() } else { format!("{ahead} clients are") };
            output::remark(&format!("{clients} ahead of this one at {address}; waiting"));
        })
        .with_context(|| format!("could not be served by {to}"))?;
        Ok(OpenedPath { path: Path::new(client, address.to_string(), cpus), _lab: None, _server: None })
    }

    /// Opens the path, one to each of several servers, or one through a laboratory for each of several MTUs.
    pub(super) fn open_all(&self) -> Result<Vec<OpenedPath>> {
        if self.server.len() > 1 {
            return self.server.iter().map(|to| self.to_server(to, self.cpus()?)).collect();
        }
        if !self.lab || self.switch.mtu.len() == 1 {
            return Ok(vec![self.open()?]);
        }
        let open = |mtu: &u32| {
            let mut opened = self.laboratory(self.switch.shape_with(2, *mtu))?;
            opened.path = opened.path.with("mtu", mtu.to_string());
            Ok(opened)
        };
        self.switch.mtu.iter().map(open).collect()
    }

    /// Opens a path through a laboratory of this shape.
    pub(super) fn laboratory(&self, shape: LabShape) -> Result<OpenedPath> {
        lab::gain()?;
        let lab = Arc::new(Lab::up(shape)?);
        let settings = ListenSettings { address: Lab::address(0).into(), ..patient()? };
        let server = lab.at(0, || Server::start(settings))??;
        let client = Client::connect_from(&lab, 1, server.address(), server.token())?;
        let name = lab_path(shape.bits_per_second);
        let path = Path::new(client, name, self.cpus()?);
        let path = if shape.half_duplex { path.with("duplex", "half") } else { path };
        let path = if shape.delay > 0.0 { path.with("delay", in_words(shape.delay)) } else { path };
        let path = if shape.loss > 0.0 { path.with("loss", model::percent(shape.loss)) } else { path };
        Ok(OpenedPath { path, _lab: Some(lab), _server: Some(server) })
    }

    fn cpus(&self) -> Result<Cpus> {
        let allowed = kernels::affinity::allowed()?;
        Cpus::of(&self.placement, &allowed)
            .with_context(|| format!("could not place both ends: {} needs more CPUs than there are", self.placement))
    }
}

/// For a server of this process, whose only client may be busy for a time with other laboratories of the run.
fn patient() -> Result<ListenSettings> {
    let local = ListenSettings::local()?;
    Ok(ListenSettings { limits: ServeLimits { idle: 600.0, lease: 24.0 * 3600.0, ..local.limits }, ..local })
}

/// Target half-width of a network result, if no other is requested.
const TARGET: f64 = 0.025;

/// Results derived from observations of trials that samples in the document do not contain: they refer to the samples
/// of one session.
pub(super) struct Derived {
    /// From the samples in the document.
    pub(super) whole: Vec<BenchmarkResult>,
    /// From the samples of this session.
    pub(super) session: Vec<BenchmarkResult>,
}

impl Derived {
    /// No derived results.
    pub(super) const NONE: Self = Self { whole: Vec::new(), session: Vec::new() };
}

/// Measures trials as a run, adds derived results, saves and prints it.
pub(super) fn measure_trials(
    name: &str,
    trials: Vec<Box<dyn SeriesTrial>>,
    derive: impl FnOnce(&mut Run) -> Derived,
    options: &MeasureOptions,
    common: &CommonOptions,
) -> Result<ExitStatus> {
    let resumed = options.resume.as_ref().map(|run| resume::find(run, name, common)).transpose()?;
    let rounds = &options.rounds;
    let plan = Plan {
        suite: name.to_owned(),
        seed: rounds.seed(),
        target: rounds.target.unwrap_or(TARGET),
        time_limit: rounds.time_limit,
        ..Plan::default()
    };
    let mut session = LocalSession::open(name, options, common)?;
    let (mut series, fresh) = FlowSeries::begin(trials, plan)?;
    let mut earlier = Vec::new();
    if let Some(run) = &resumed {
        series.recall(run);
        earlier = run.results.get(run.plan.entries.len()..).unwrap_or_default().to_vec();
    }
    let is_resumed = resumed.is_some();
    let order = session.order(fresh, resumed)?;
    let mut result = session.measure(order, &mut series)?;
    let mut derived = derive(&mut result.run);
    if is_resumed {
        let note = "from the samples since the run was resumed";
        derived.session.iter_mut().for_each(|result| result.notes.push(note.to_owned()));
        // Derived results that this session does not have are kept from the earlier one.
        earlier.retain(|old| !derived.whole.iter().chain(&derived.session).any(|new| new.key() == old.key()));
    }
    result.run.results.extend([derived.whole, derived.session, earlier].concat());
    // A result that was given up can be measured to its end by resuming the run.
    result.run.session.complete &= series.cut_short().is_none();
    let resume = session.resume_command(&result.run);
    let exit = session.conclude(result, document, measured)?;
    Ok(match series.cut_short() {
        Some(cut) if matches!(exit, ExitStatus::Fine) => {
            output::remark(&unfinished(cut, resume));
            ExitStatus::Failed
        }
        _ => exit,
    })
}

/// The report of a run with the answer and the tables of its network results, if it has any.
pub(crate) fn document(run: &Run, context: &RunContext) -> Result<Document> {
    let mut document = report::view::run(run, context);
    let answer: Vec<Block> = answer(run).into_iter().map(Block::Text).collect();
    if !answer.is_empty() {
        document.sections.insert(0, DocumentSection { title: String::new(), blocks: answer });
    }
    document.sections.extend(report::view::network(run, &plateaus()?));
    Ok(document)
}

/// The message on results that the other side's end, or any other cause, left unfinished.
fn unfinished(cut: &CutShort, resume: Option<String>) -> String {
    let results = report::words::plural(cut.results, "result");
    let resume = resume.map(|command| format!("; resume with: {command}")).unwrap_or_default();
    format!("{results} could not be measured to the end: {}; what was measured is kept{resume}", cut.reason)
}

/// The plateaus that the event builder's designers printed in 1998.
pub(crate) fn plateaus() -> Result<Vec<PrintedPlateau>> {
    const FACTS: [(&str, &str); 4] = [
        ("full-duplex Fast Ethernet plateau", "1998, Fast Ethernet, full duplex"),
        ("half-duplex Fast Ethernet plateau (less than)", "1998, Fast Ethernet, half duplex"),
        ("ATM classical IP plateau (low)", "1998, ATM OC-3, from"),
        ("ATM classical IP plateau (high)", "1998, ATM OC-3, to"),
    ];
    let evaluation = import::published::find("babar-network-1998")?;
    let table = evaluation.table("facts").context("the published facts of the network are missing")?;
    let printed = |(fact, name): (&str, &str)| {
        let row = (0..table.rows.len()).find(|row| table.cell(*row, "fact") == Some(fact))?;
        let below = if fact.contains("less than") { "< " } else { "" };
        let printed = format!("{below}{}", table.cell(row, "value")?);
        Some(PrintedPlateau { network: name.to_owned(), printed })
    };
    Ok(FACTS.into_iter().filter_map(printed).collect())
}

#[cfg(test)]
mod tests {
    use super::{bits, lab_path};

    #[test]
    fn laboratories_of_different_rates_are_different_paths() {
        let named = |text: &str| lab_path(bits(text).unwrap());
        assert_eq!(["100mbit", "1gbit"].map(named), ["lab_100mbit", "lab_1000mbit"], "as documents have it");
        assert_eq!(["500kbit", "2.5mbit", "64.5kbit"].map(named), ["lab_500kbit", "lab_2500kbit", "lab_64500bit"]);
    }

    #[test]
    fn rates_are_read_with_their_units() {
        assert_eq!(bits("100mbit"), Ok(100_000_000));
        assert_eq!(bits("2.5Gbit"), Ok(2_500_000_000));
        assert_eq!(bits("64kbit"), Ok(64_000));
        for wrong in ["", "10", "mbit", "10MB", "0mbit", "-1mbit", "9999gbit", "nanmbit"] {
            assert!(bits(wrong).is_err(), "{wrong}");
        }
    }
}
