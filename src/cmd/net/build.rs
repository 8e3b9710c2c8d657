//! `prony net build`: event building, in the laboratory, between processes, or between hosts.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use lab::{Drops, Lab};
use launcher::Launcher;
use measure::Stopper;
use model::words::seconds as in_words;
use model::{BenchmarkResult, Metric, Parameters, Primitive, Sample, Unit, format_size};
use network::LabLauncher;
use network::build::{Arrivals, BuildJob, BuildOutcome, PushPattern, SizeDistribution, Transport, build};
use network::series::{SeriesTrial, result};

use super::super::node_options::NodeOptions;
use super::jobs::{FRAME, Jobs, frames_of, of_jobs, remarks};
use super::options::{Derived, Switch, lab_path, measure_trials};
use super::stream::size;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::run_options::MeasureOptions;
use crate::value_parsers::short_seconds;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony net build --senders 4 --receivers 2
  prony net build --lab --burst-frames 4,5,6,8 --senders 4 --receivers 1
  prony net build --lab --senders 8 --receivers 1 --pattern burst,pull --rate 50,100,200
  prony net build --lab --senders 2,4,8,16 --receivers 1 --fragment 8000
  prony net build --launcher ssh --hosts a,b,c,d --senders 2 --receivers 2")]
pub(crate) struct Arguments {
    /// Use this many senders of fragments; several: one after the other
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "22", value_parser = clap::value_parser!(u32).range(1..=1000))]
    senders: Vec<u32>,
    /// Use this many receivers that build events
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    receivers: u32,
    /// Build events of this many bytes
    #[arg(long, help_heading = "Traffic", value_name = "BYTES", default_value_t = 32_000)]
    event: u32,
    /// Take this many bytes from each sender [default: those of the event, shared]
    #[arg(long, help_heading = "Traffic", value_name = "BYTES", conflicts_with = "event", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    fragment: Option<u32>,
    /// Build this many events [default: 4000; 10 with --burst-frames]
    #[arg(long, help_heading = "Traffic", value_name = "N")]
    events: Option<u32>,
    /// Send bursts of this many full frames from each sender into one port, such as 4,5,6,8
    #[arg(long, help_heading = "Traffic", value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000),
          conflicts_with_all = ["pattern", "transport", "event", "rate", "random", "credits", "window", "lose"])]
    burst_frames: Vec<u32>,
    /// Limit events per second; several: tails against the load [default: as fast as possible]
    #[arg(long, help_heading = "Traffic", value_name = "RATE", value_delimiter = ',')]
    rate: Vec<f64>,
    /// Vary the times of events (poisson) or the sizes of fragments (exponential or a file of sizes)
    #[arg(long, help_heading = "Traffic", value_name = "poisson|exponential|FILE", value_delimiter = ',')]
    random: Vec<String>,
    /// Choose the pattern: who sends when; each is measured
    #[arg(long, help_heading = "Traffic", value_name = "PATTERN", value_delimiter = ',', default_value = "pull",
          value_parser = ["burst", "staggered", "round_robin", "barrel_shift", "random", "pull"])]
    pattern: Vec<String>,
    /// Carry fragments by credits, tcp or datagrams [default: credits with pull, else tcp]
    #[arg(long, help_heading = "Traffic", value_parser = ["credits", "tcp", "datagrams"])]
    transport: Option<String>,
    /// Allow a receiver this many open requests
    #[arg(long, help_heading = "Traffic", value_name = "N", default_value_t = 4)]
    credits: u32,
    /// Set the receive buffer, which limits the TCP window [default: that of the system]
    #[arg(long, help_heading = "Traffic", value_name = "SIZE", value_parser = size)]
    window: Option<u32>,
    /// Fail this receiver half-way [default: none]
    #[arg(long, help_heading = "Traffic", value_name = "RECEIVER")]
    lose: Option<u32>,
    /// Refuse a job whose nodes start further apart; without a unit milliseconds
    #[arg(long, help_heading = "Traffic", value_name = "TIME", hide = true, default_value = "50ms", value_parser = short_seconds)]
    max_skew: f64,
    /// Build a virtual switch on this host and measure over it
    #[arg(long, help_heading = "Switch of --lab")]
    lab: bool,
    #[command(flatten)]
    switch: Switch,
    #[command(flatten)]
    measure: MeasureOptions,
    #[command(flatten)]
    nodes: NodeOptions,
}

struct BuildTrial {
    job: BuildJob,
    /// Bytes of an event, as asked for; 0: those of its fragments.
    event: u32,
    lose: Option<(u32, u32)>,
    max_skew: f64,
    launcher: SharedLauncher,
    lab: Option<Arc<Lab>>,
    parameters: Parameters,
    done: Jobs,
}

/// The launcher of all jobs of a run.
type SharedLauncher = Rc<RefCell<Box<dyn Launcher>>>;

impl SeriesTrial for BuildTrial {
    fn result(&self) -> BenchmarkResult {
        if self.is_burst() {
            let metric = Metric::higher(Unit::PerSecond, "frames");
            let title = "received frames of bursts";
            let stressed = [Primitive::UdpStack, Primitive::NetworkLink];
            return BenchmarkResult {
                ops: 1,
                ..result("network.burst_frames", self.parameters.clone(), title, metric, &stressed)
            };
        }
        let metric = Metric::higher(Unit::PerSecond, "events");
        let stack =
            if matches!(self.job.transport, Transport::Tcp { .. }) { Primitive::TcpStack } else { Primitive::UdpStack };
        let mut result =
            result("network.events", self.parameters.clone(), "events built", metric, &[stack, Primitive::NetworkLink]);
        result.ops = u64::from(self.job.events);
        result
    }

    fn launch(&mut self, stopper: &Stopper) -> launcher::Result<Sample> {
        let (outcome, drops) = self.together(stopper).inspect_err(|error| {
            // Wrong payload invalidates all earlier jobs.
            if matches!(error, launcher::Error::Payload(_)) {
                self.done.borrow_mut().clear();
            }
        })?;
        // Bursts are to lose: what counts is what arrived, not whole events.
        let rate = if self.is_burst() {
            // If every event lost a frame, none has an end that gives a time.
            let seconds = f64::from(self.job.events) / self.job.rate.unwrap_or(f64::MIN_POSITIVE);
            frames_of(outcome.bytes().1) as f64 / seconds
        } else {
            outcome.events_per_second(self.job.rate.is_some())
        };
        let nanos = (outcome.seconds * 1e9) as u64;
        let sample = Sample {
            value: rate,
            nanos: vec![nanos],
            ops: vec![u64::from(outcome.built)],
            steady: true,
            stolen: outcome.cpu.stolen(),
            verified_bytes: Some(outcome.verified()),
            ..Sample::default()
        };
        // A job that lost every event is a result too: its loss.
        self.done.borrow_mut().push((outcome, drops));
        if rate <= 0.0 {
            return Err(launcher::Error::Gone("too few events were complete for a rate".to_owned()));
        }
        Ok(sample)
    }

    fn notes(&self) -> Vec<String> {
        let (each, senders) = (self.job.fragment, self.job.senders);
        let whole = each.saturating_mul(senders);
        let uneven =
            (self.job.sizes == SizeDistribution::Fixed && !self.is_burst() && whole != self.event && self.event > 0)
                .then(|| format!("an event has {whole} B: {each} B from each of {senders} senders"));
        remarks(&self.done.borrow()).into_iter().chain(uneven).collect()
    }
}

/// Jobs whose nodes did not start together before a job is abandoned.
const ATTEMPTS: u32 = 3;

impl BuildTrial {
    /// Whether it is a step of a sweep of bursts.
    fn is_burst(&self) -> bool {
        self.parameters.get("frames").is_some()
    }

    /// One job whose nodes started together: others are no measurement of the network, and are repeated.
    fn together(&mut self, stopper: &Stopper) -> launcher::Result<(BuildOutcome, Option<Drops>)> {
        let mut skew = 0.0;
        // A common medium has no switch whose ports could be counted.
        let switch = self.lab.as_ref().filter(|lab| !lab.shape().half_duplex);
        for _ in 0..ATTEMPTS {
            let before = switch.map(|lab| lab.drops()).transpose()?;
            let outcome = build(&self.job, self.launcher.borrow_mut().as_mut(), self.lose, stopper)?;
            let drops = match (switch, before) {
                (Some(lab), Some(before)) => Some(lab.drops()?.since(&before)),
                _ => None,
            };
            // Uncertainty of the clocks counts as skew, so that the bound is certain.
            skew = outcome.skew + outcome.skew_within;
            if skew <= self.max_skew {
                return Ok((outcome, drops));
            }
        }
        let [skew, most] = [skew, self.max_skew].map(in_words);
        Err(launcher::Error::Usage(format!("nodes started up to {skew} apart, above the {most} of --max-skew")))
    }
}

/// What distinguishes the jobs of a sweep.
#[derive(Debug, Clone, Copy)]
struct SweptSettings<'a> {
    senders: u32,
    pattern: &'a str,
    rate: Option<f64>,
}

impl Arguments {
    /// The jobs of a sweep: each number of senders, with each pattern, at each rate.
    fn swept(&self) -> Vec<SweptSettings<'_>> {
        let rates: Vec<Option<f64>> =
            if self.rate.is_empty() { vec![None] } else { self.rate.iter().copied().map(Some).collect() };
        let mut all = Vec::new();
        for senders in &self.senders {
            for pattern in &self.pattern {
                all.extend(rates.iter().map(|rate| SweptSettings { senders: *senders, pattern, rate: *rate }));
            }
        }
        all
    }

    /// Senders at once, at most.
    fn most_senders(&self) -> u32 {
        self.senders.iter().copied().max().unwrap_or(1)
    }

    fn transport(&self, pattern: &str) -> &str {
        self.transport.as_deref().unwrap_or(if pattern == "pull" { "credits" } else { "tcp" })
    }
}

fn job(arguments: &Arguments, swept: SweptSettings<'_>) -> Result<BuildJob> {
    let (mut sizes, mut arrivals) = (SizeDistribution::Fixed, Arrivals::Regular);
    for what in &arguments.random {
        match what.as_str() {
            "poisson" => arrivals = Arrivals::Poisson,
            _ if sizes != SizeDistribution::Fixed => bail!("--random names two kinds of sizes; name one"),
            "exponential" => sizes = SizeDistribution::Exponential,
            path => sizes = SizeDistribution::Measured(measured(path.as_ref())?),
        }
    }
    let SweptSettings { senders, pattern, rate } = swept;
    ensure!(
        arrivals == Arrivals::Regular || rate.is_some(),
        "--random poisson needs the mean number of events per second; add --rate"
    );
    let event = arguments.event;
    ensure!(
        event >= senders || arguments.fragment.is_some() || matches!(sizes, SizeDistribution::Measured(_)),
        "could not share {event} B among {senders} senders: an event has at least one byte of each; see --event"
    );
    let fragment = arguments.fragment.unwrap_or((event / senders).max(1));
    Ok(BuildJob {
        senders,
        receivers: arguments.receivers,
        fragment,
        events: arguments.events.unwrap_or(4_000),
        rate,
        pattern: match pattern {
            "burst" => PushPattern::Burst,
            "staggered" => PushPattern::Staggered { nanos: stagger(arguments, fragment, senders, rate) },
            "round_robin" => PushPattern::RoundRobin,
            "barrel_shift" => PushPattern::BarrelShift,
            "random" => PushPattern::Random,
            _ => PushPattern::Pull,
        },
        transport: match arguments.transport(pattern) {
            "tcp" => Transport::Tcp { window: arguments.window },
            "datagrams" => Transport::Datagrams,
            _ => Transport::Credits { credits: arguments.credits },
        },
        // Distinguishes the packets of this job.
        seed: kernels::clock::realtime() as u32,
        sizes,
        arrivals,
    })
}

/// Nanoseconds by which each sender begins after the one before: those of a fragment on the link of a laboratory, or
/// equal shares of the time between two events.
fn stagger(arguments: &Arguments, fragment: u32, senders: u32, rate: Option<f64>) -> u64 {
    if arguments.lab {
        return (plan_network::Framing::TCP.buffered(u64::from(fragment)) as f64 * 8e9 / arguments.switch.rate as f64)
            as u64;
    }
    rate.map_or(0, |rate| (1e9 / rate / f64::from(senders)) as u64)
}

/// Longest file of sizes, bytes.
const LONGEST_SIZES: u64 = 64 << 20;

/// Sizes of fragments from a file: one per line.
fn measured(path: &std::path::Path) -> Result<Vec<u32>> {
    let text = super::super::choose::text_of(path, LONGEST_SIZES)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let cannot = || format!("could not read line {} of {}: write one size in bytes", at + 1, path.display());
            line.trim().parse().with_context(cannot)
        })
        .collect()
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let swept = arguments.swept();
    let jobs = swept.iter().map(|swept| job(arguments, *swept)).collect::<Result<Vec<_>>>()?;
    for job in &jobs {
        job.check()?;
        arguments.lose.map_or(Ok(()), |receiver| job.check_loss(receiver))?;
    }
    let nodes = (arguments.most_senders() + arguments.receivers) as usize;
    let (launcher, lab, path): (Box<dyn Launcher>, Option<Arc<Lab>>, String) = if arguments.lab {
        lab::gain()?;
        let lab = Arc::new(Lab::up(arguments.switch.shape(nodes)?)?);
        (Box::new(LabLauncher(Arc::clone(&lab))), Some(lab), lab_path(arguments.switch.rate))
    } else {
        let path = if arguments.nodes.by.launcher == "local" { "loopback" } else { "network" };
        (agents(arguments, nodes)?, None, path.to_owned())
    };
    let launcher: SharedLauncher = Rc::new(RefCell::new(launcher));
    let trials: Vec<(Parameters, BuildJob)> = if arguments.burst_frames.is_empty() {
        let each =
            |(swept, job): (&SweptSettings<'_>, BuildJob)| (parameters(arguments, swept, &job, path.clone()), job);
        swept.iter().zip(jobs).map(each).collect()
    } else {
        let each = |job: &BuildJob| {
            arguments.burst_frames.iter().map(|frames| burst(arguments, job, &path, *frames)).collect::<Vec<_>>()
        };
        jobs.iter().flat_map(each).collect()
    };
    let done: Vec<(Parameters, Jobs)> =
        trials.iter().map(|(parameters, _)| (parameters.clone(), Jobs::default())).collect();
    let trial =
        |((parameters, job), (_, done)): ((Parameters, BuildJob), &(Parameters, Jobs))| -> Box<dyn SeriesTrial> {
            Box::new(BuildTrial {
                lose: arguments.lose.map(|receiver| (receiver, job.events / 2)),
                job,
                event: if arguments.fragment.is_some() { 0 } else { arguments.event },
                max_skew: arguments.max_skew,
                launcher: Rc::clone(&launcher),
                lab: lab.clone(),
                parameters,
                done: Rc::clone(done),
            })
        };
    let trials = trials.into_iter().zip(&done).map(trial).collect();
    let derive = |_: &mut model::Run| {
        let results = done.iter().flat_map(|(parameters, jobs)| of_jobs(parameters, &jobs.borrow()));
        Derived { session: results.collect(), ..Derived::NONE }
    };
    measure_trials("net build", trials, derive, &arguments.measure, common)
}

/// Bytes of an event: the requested ones, or the mean of measured sizes.
fn event_size(arguments: &Arguments, job: &BuildJob) -> u64 {
    match &job.sizes {
        SizeDistribution::Measured(all) => {
            let sum: u64 = all.iter().map(|bytes| u64::from((*bytes).max(1))).sum();
            (sum * u64::from(job.senders) + all.len() as u64 / 2) / all.len().max(1) as u64
        }
        _ => u64::from(arguments.event),
    }
}

/// The parameters of a job.
fn parameters(arguments: &Arguments, swept: &SweptSettings<'_>, job: &BuildJob, path: String) -> Parameters {
    let (sized, bytes) = match arguments.fragment {
        Some(fragment) => ("fragment", u64::from(fragment)),
        None => ("event", event_size(arguments, job)),
    };
    let mut parameters = Parameters::none()
        .with("path", path)
        .with("senders", job.senders.to_string())
        .with("receivers", job.receivers.to_string())
        .with(sized, format_size(bytes))
        .with("pattern", swept.pattern)
        .with("transport", arguments.transport(swept.pattern));
    if let Some(rate) = job.rate {
        parameters = parameters.with("rate", rate.to_string());
    }
    if let Transport::Credits { credits } = job.transport {
        parameters = parameters.with("credits", credits.to_string());
    }
    match job.sizes {
        SizeDistribution::Fixed => {}
        SizeDistribution::Exponential => parameters = parameters.with("sizes", "exponential"),
        SizeDistribution::Measured(_) => parameters = parameters.with("sizes", "measured"),
    }
    if job.arrivals == Arrivals::Poisson {
        parameters = parameters.with("arrivals", "poisson");
    }
    if let Some(window) = arguments.window {
        parameters = parameters.with("window", format_size(u64::from(window)));
    }
    if let Some(receiver) = arguments.lose {
        parameters = parameters.with("lost_receiver", receiver.to_string());
    }
    duplex(arguments, parameters)
}

/// The parameters with the parameter of a common medium, as streams have it.
fn duplex(arguments: &Arguments, parameters: Parameters) -> Parameters {
    if arguments.switch.half_duplex { parameters.with("duplex", "half") } else { parameters }
}

/// Bursts of all senders into one port, each of `frames` full frames: datagrams, at half the rate that the port drains.
fn burst(arguments: &Arguments, base: &BuildJob, path: &str, frames: u32) -> (Parameters, BuildJob) {
    /// A full frame with its gap on the link, bytes.
    const ON_LINK: f64 = 1538.0;
    let drained = f64::from(base.senders * frames) * ON_LINK * 8.0 / arguments.switch.rate as f64;
    let job = BuildJob {
        fragment: frames * FRAME,
        events: arguments.events.unwrap_or(10),
        rate: Some(0.5 / drained),
        pattern: PushPattern::Burst,
        transport: Transport::Datagrams,
        ..base.clone()
    };
    let parameters = Parameters::none()
        .with("path", path)
        .with("senders", job.senders.to_string())
        .with("receivers", job.receivers.to_string())
        .with("link", format!("{}bit", arguments.switch.rate))
        .with("buffer", format!("{}B", arguments.switch.buffer))
        .with("frames", frames.to_string());
    (duplex(arguments, parameters), job)
}

/// Agents on nodes that a launcher reaches. All of them are required.
fn agents(arguments: &Arguments, count: usize) -> Result<Box<dyn Launcher>> {
    let chosen = arguments.nodes.choose(Some(count), true)?;
    if let Some(missing) = chosen.missing.first() {
        bail!("could not place {count} nodes: {} is missing, {}", missing.node, missing.reason);
    }
    Ok(chosen.launcher)
}
