//! `prony net build`: event building, in the laboratory, between processes, or between hosts.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use fleet::build::{Job, Outcome, Pattern, Transport, build};
use fleet::lab::Lab;
use fleet::launcher::{LabLauncher, Launcher, Local};
use fleet::series::{Trial, figure};
use model::{Estimate, Figure, Launch, Method, Metric, Point, Primitive, Unit, format_size};

use super::super::placing::Nodes;
use super::setting::{Measuring, Switch};
use crate::Exit;
use crate::cli::Common;

/// Options of `prony net build`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Sources of fragments
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(1..=1000))]
    senders: u32,
    /// Builders of events
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    receivers: u32,
    /// Bytes of an event
    #[arg(long, value_name = "BYTES", default_value_t = 32_000)]
    event: u32,
    /// Events of one job
    #[arg(long, default_value_t = 4_000)]
    events: u32,
    /// Events a second [default: as fast as it goes]
    #[arg(long, value_name = "RATE")]
    rate: Option<f64>,
    /// Who sends when
    #[arg(long, default_value = "pull", value_parser = ["burst", "round_robin", "barrel_shift", "random", "pull"])]
    pattern: String,
    /// What carries fragments: credits (asked for, with pull), tcp, or datagrams that nobody sends again
    #[arg(long, default_value = "credits", value_parser = ["credits", "tcp", "datagrams"])]
    transport: String,
    /// Requests that a receiver has open
    #[arg(long, default_value_t = 4)]
    credits: u32,
    /// Receive buffer of connections, which bounds their windows
    #[arg(long, value_name = "BYTES")]
    window: Option<u32>,
    /// Let this receiver fail half-way
    #[arg(long, value_name = "RECEIVER")]
    lose: Option<u32>,
    /// Refuse a job whose nodes start further apart, milliseconds
    #[arg(long, value_name = "MS", default_value_t = 50.0)]
    most_skew: f64,
    /// In a switch of namespaces on this host
    #[arg(long)]
    lab: bool,
    /// Address of each node for data, senders first [default: loopback]
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', conflicts_with = "lab")]
    address: Vec<IpAddr>,
    /// Command that starts the agent of each node, such as 'ssh a prony agent --by ssh'; the last stands for all further ones
    #[arg(long, value_name = "COMMAND", conflicts_with = "lab")]
    agent: Vec<String>,
    #[command(flatten)]
    nodes: Nodes,
    #[command(flatten)]
    switch: Switch,
    #[command(flatten)]
    measuring: Measuring,
}

struct BuildTrial {
    job: Job,
    lose: Option<(u32, u32)>,
    most_skew: f64,
    launcher: Box<dyn Launcher>,
    lab: Option<Arc<Lab>>,
    point: Point,
    notes: Vec<String>,
    outcomes: Rc<RefCell<Vec<Outcome>>>,
}

impl Trial for BuildTrial {
    fn figure(&self) -> Figure {
        let metric = Metric::higher(Unit::PerSecond, "events");
        let stack =
            if matches!(self.job.transport, Transport::Tcp { .. }) { Primitive::TcpStack } else { Primitive::UdpStack };
        let mut figure =
            figure("network.events", self.point.clone(), "Events built", metric, &[stack, Primitive::NetworkLink]);
        figure.ops = u64::from(self.job.events);
        figure
    }

    fn launch(&mut self) -> fleet::Result<Launch> {
        let before = self.lab.as_ref().map(|lab| lab.drops()).transpose()?;
        let outcome = build(&self.job, self.launcher.as_mut(), self.lose)?;
        let drops = match (&self.lab, before) {
            (Some(lab), Some(before)) => Some(lab.drops()?.since(&before)),
            _ => None,
        };
        // What is not known of the clocks counts as skew: the bound holds surely or not at all.
        let skew = (outcome.skew + outcome.skew_within) * 1e3;
        if skew > self.most_skew {
            let bound = self.most_skew;
            return Err(fleet::Error::Refused(format!("nodes started up to {skew:.1} ms apart, above {bound} ms")));
        }
        self.notes = remarks(&outcome, drops.map(|drops| (drops.at_ports(), drops.at_cards())));
        let rate = outcome.events_per_second();
        if rate <= 0.0 {
            return Err(fleet::Error::Gone("no event was built whole".to_owned()));
        }
        let nanos = (outcome.seconds * 1e9) as u64;
        let launch = Launch {
            value: rate,
            nanos: vec![nanos],
            ops: vec![u64::from(outcome.built)],
            steady: true,
            steal: Some(outcome.cpu.steal),
            ..Launch::default()
        };
        self.outcomes.borrow_mut().push(outcome);
        Ok(launch)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// What a reader must know of a job: where packets were lost, windows, skew, load.
fn remarks(outcome: &Outcome, lab: Option<(u64, u64)>) -> Vec<String> {
    let sum = |pick: fn(&fleet::build::Counters) -> u64| -> u64 {
        outcome.senders.iter().chain(&outcome.receivers).map(pick).sum()
    };
    let mut notes = Vec::new();
    let switch =
        lab.map_or_else(|| "not seen".to_owned(), |(ports, cards)| format!("{ports} at the switch, {cards} at cards"));
    let lost = sum(|one| one.losses);
    let places = [
        switch,
        format!("{} in sockets", sum(|one| one.socket_drops)),
        format!("{} refused by full queues", sum(|one| one.queue_full)),
    ];
    notes.push(format!("drops: {}", places.join(", ")));
    if sum(|one| one.retransmits) > 0 {
        let needless = sum(|one| one.retransmits) - lost;
        notes.push(format!("segments sent again: {lost} lost, {needless} needlessly"));
    }
    if sum(|one| one.again) > 0 {
        notes.push(format!(
            "asked again {} times, {} of them needlessly",
            sum(|one| one.again),
            sum(|one| one.needless)
        ));
    }
    if let Some(window) = outcome.senders.iter().map(|one| one.window).max().filter(|window| *window > 0) {
        notes.push(format!("largest effective window {window} B"));
    }
    notes.extend(whereabouts(outcome));
    if outcome.cpu.host_bound() {
        notes.push(format!("host-bound: {:.0}% of CPU time was used", outcome.cpu.busy * 100.0));
    }
    if let Some([known, repaired, gap]) = outcome.hole {
        notes.push(format!(
            "lost receiver: known after {:.0} ms, its events built by others after {:.0} ms, longest time without a built \
             event {:.0} ms; {} events reported twice were refused",
            known * 1e3,
            repaired * 1e3,
            gap * 1e3,
            outcome.refused
        ));
    }
    notes
}

/// Where data went, by which interface, and whether it all arrived.
fn whereabouts(outcome: &Outcome) -> Vec<String> {
    let words = |place: &fleet::build::Place| format!("{} {} ({})", place.host, place.address, place.interface);
    let list = |places: &[fleet::build::Place]| {
        let more = if places.len() > 8 { format!(" and {} more", places.len() - 8) } else { String::new() };
        places.iter().take(8).map(words).collect::<Vec<_>>().join(", ") + more.as_str()
    };
    let (senders, receivers) = outcome.places.split_at(outcome.senders.len().min(outcome.places.len()));
    let (left, came, worst) = outcome.bytes();
    let pair = worst.map_or_else(
        || "every pair agrees".to_owned(),
        |(sender, receiver, lost)| {
            format!("most more left than came from sender {sender} to receiver {receiver}: {lost} B")
        },
    );
    vec![
        format!("senders {}; receivers {}", list(senders), list(receivers)),
        format!("payload: {left} B left senders, {came} B came to receivers; {pair}"),
    ]
}

fn job(arguments: &Arguments) -> Job {
    Job {
        senders: arguments.senders,
        receivers: arguments.receivers,
        fragment: (arguments.event / arguments.senders).max(1),
        events: arguments.events,
        rate: arguments.rate,
        pattern: match arguments.pattern.as_str() {
            "burst" => Pattern::Burst,
            "round_robin" => Pattern::RoundRobin,
            "barrel_shift" => Pattern::BarrelShift,
            "random" => Pattern::Random,
            _ => Pattern::Pull,
        },
        transport: match arguments.transport.as_str() {
            "tcp" => Transport::Tcp { window: arguments.window },
            "datagrams" => Transport::Datagrams,
            _ => Transport::Credits { credits: arguments.credits },
        },
        // Tells this job's packets from others'.
        seed: sys::clock::realtime() as u32,
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Exit> {
    let job = job(arguments);
    job.check()?;
    let (launcher, lab, path): (Box<dyn Launcher>, Option<Arc<Lab>>, String) = if arguments.lab {
        fleet::lab::gain()?;
        let lab = Arc::new(Lab::up(arguments.switch.shape((job.senders + job.receivers) as usize))?);
        (Box::new(LabLauncher(Arc::clone(&lab))), Some(lab), format!("lab_{}mbit", arguments.switch.rate / 1_000_000))
    } else {
        let local = arguments.nodes.launcher == "local";
        let path = if arguments.address.is_empty() && local { "loopback" } else { "network" };
        (agents(arguments, (job.senders + job.receivers) as usize)?, None, path.to_owned())
    };
    let mut point = Point::origin()
        .with("path", path)
        .with("senders", job.senders.to_string())
        .with("receivers", job.receivers.to_string())
        .with("event", format_size(u64::from(arguments.event)))
        .with("pattern", arguments.pattern.clone())
        .with("transport", arguments.transport.clone());
    if let Some(rate) = job.rate {
        point = point.with("rate", rate.to_string());
    }
    if let Some(window) = arguments.window {
        point = point.with("window", format_size(u64::from(window)));
    }
    if let Some(receiver) = arguments.lose {
        point = point.with("lost_receiver", receiver.to_string());
    }
    let outcomes = Rc::new(RefCell::new(Vec::new()));
    let trial = BuildTrial {
        lose: arguments.lose.map(|receiver| (receiver, job.events / 2)),
        job,
        most_skew: arguments.most_skew,
        launcher,
        lab,
        point: point.clone(),
        notes: Vec::new(),
        outcomes: Rc::clone(&outcomes),
    };
    let derive = |run: &mut model::Run| {
        let outcomes = outcomes.borrow();
        if let Some(figure) = run.figures.first_mut() {
            figure.notes.extend(together(&outcomes));
        }
        latencies(&point, &outcomes)
    };
    arguments.measuring.measure("net build", vec![Box::new(trial)], derive, common)
}

/// How well the nodes of all jobs began together and shared the events.
fn together(outcomes: &[Outcome]) -> Option<String> {
    let most = |of: fn(&Outcome) -> f64| outcomes.iter().map(of).fold(0.0, f64::max) * 1e3;
    let fairness = outcomes.iter().map(Outcome::fairness).fold(f64::INFINITY, f64::min);
    (!outcomes.is_empty()).then(|| {
        let (skew, known) = (most(|one| one.skew), most(|one| one.skew_within));
        format!(
            "in every job nodes started within {skew:.2} ms (known to {known:.2} ms), fairness at least {fairness:.3}"
        )
    })
}

/// Agents on nodes that a launcher reaches, or behind whatever command starts them. All of them must be there.
fn agents(arguments: &Arguments, count: usize) -> Result<Box<dyn Launcher>> {
    if arguments.agent.is_empty() {
        let chosen = arguments.nodes.choose(Some(count), &arguments.address, true)?;
        if let Some(missing) = chosen.missing.first() {
            anyhow::bail!("could not place {count} nodes: {} is missing, {}", missing.node, missing.reason);
        }
        return Ok(chosen.launcher);
    }
    let commands =
        arguments.agent.iter().map(|command| command.split_whitespace().map(str::to_owned).collect()).collect();
    Ok(Box::new(Local { commands, addresses: arguments.address.clone() }))
}

/// Quantiles of the time that events took, each with its interval over jobs.
fn latencies(point: &Point, outcomes: &[Outcome]) -> Vec<Figure> {
    let of = |quantile: f64| -> Option<Figure> {
        let values: Vec<f64> =
            outcomes.iter().filter_map(|one| one.latency.quantile(quantile)).map(|nanos| nanos as f64 * 1e-9).collect();
        let found = stats::serial_median_interval(&values, 0.95)?;
        let point = point.clone().with("quantile", quantile.to_string());
        let metric = Metric::lower(Unit::Seconds, "event");
        let mut figure =
            figure("network.event_latency", point, "Time to build an event", metric, &[Primitive::NetworkLink]);
        figure.flags.clear();
        figure.outcome = model::Outcome::Measured(Estimate {
            value: found.median,
            low: found.interval.low,
            high: found.interval.high,
            level: found.interval.level,
            launches: values.len() as u32,
            batches: 1,
            method: Method::OrderStatistic,
        });
        Some(figure)
    };
    [0.5, 0.9, 0.99, 1.0].into_iter().filter_map(of).collect()
}
