//! Results of all jobs of an event builder together.

use std::cell::RefCell;
use std::rc::Rc;

use lab::Drops;
use model::{BenchmarkResult, EstimateMethod, Metric, Parameters, Primitive, Unit, percent};
use network::build::{BuildOutcome, NodeCounters};
use network::loss::{LossCount, LossUnit, loss};
use network::series::{derived, result};

/// Finished jobs.
pub(super) type Jobs = Rc<RefCell<Vec<FinishedJob>>>;
/// A finished job, with the frames that queues of the laboratory dropped in it.
type FinishedJob = (BuildOutcome, Option<Drops>);

/// Notes on the jobs: packet losses, windows, skew, load.
pub(super) fn remarks(jobs: &[FinishedJob]) -> Vec<String> {
    if jobs.is_empty() {
        return Vec::new();
    }
    let nodes = || jobs.iter().flat_map(|(outcome, _)| outcome.senders.iter().chain(&outcome.receivers));
    let sum = |pick: fn(&NodeCounters) -> u64| -> u64 { nodes().map(pick).sum() };
    let mut notes = vec![drops(jobs, sum(|one| one.socket_drops), sum(|one| one.queue_full))];
    let events: u32 = jobs.iter().map(|(outcome, _)| outcome.built + outcome.missing).sum();
    let missing: u32 = jobs.iter().map(|(outcome, _)| outcome.missing).sum();
    if missing > 0 {
        notes.push(format!("{missing} of {events} events incomplete"));
    }
    let (again, lost) = (sum(|one| one.retransmits), sum(|one| one.losses));
    if again > 0 {
        notes.push(format!("retransmitted segments: {lost} lost, {} unnecessary", again.saturating_sub(lost)));
    }
    let (asked, needless) = (sum(|one| one.again), sum(|one| one.needless));
    if asked > 0 {
        notes.push(format!("repeated requests: {asked}, {needless} of them unnecessary"));
    }
    if let Some(window) = nodes().map(|one| one.window).max().filter(|window| *window > 0) {
        notes.push(format!("largest effective window {window} B"));
    }
    notes.extend(jobs.last().into_iter().flat_map(|(outcome, _)| whereabouts(outcome)));
    if let Some((sender, share)) = jobs.last().and_then(|(outcome, _)| outcome.slowest_source()) {
        let even = percent(1.0 / jobs.last().map_or(1, |(outcome, _)| outcome.senders.len()) as f64);
        notes.push(format!("slowest source: sender {sender}, last in {} of the events (even: {even})", percent(share)));
    }
    let skew = jobs.iter().map(|(outcome, _)| outcome.skew).fold(0.0, f64::max);
    let within = jobs.iter().map(|(outcome, _)| outcome.skew_within).fold(0.0, f64::max);
    let fairness = jobs.iter().map(|(outcome, _)| outcome.fairness()).fold(1.0, f64::min);
    notes.push(format!(
        "nodes started within {:.2} ms of each other (known to {:.2} ms), fairness at least {fairness:.3}",
        skew * 1e3,
        within * 1e3
    ));
    let bound = jobs.iter().filter(|(outcome, _)| outcome.cpu.host_bound()).count();
    if bound > 0 {
        notes.push(format!("CPU-bound in {bound} of {} jobs (more than 90% of a CPU used)", jobs.len()));
    }
    notes.extend(hole(jobs));
    notes
}

fn drops(jobs: &[FinishedJob], sockets: u64, refused: u64) -> String {
    let seen: Vec<&Drops> = jobs.iter().filter_map(|(_, drops)| drops.as_ref()).collect();
    let switch = if seen.is_empty() {
        "no switch to watch".to_owned()
    } else {
        let ports: u64 = seen.iter().map(|drops| drops.at_ports()).sum();
        let cards: u64 = seen.iter().map(|drops| drops.at_cards()).sum();
        let frames: u64 = seen.iter().flat_map(|drops| &drops.ports).map(|port| port.packets + port.drops).sum();
        let share = percent(if frames > 0 { ports as f64 / frames as f64 } else { 0.0 });
        format!("{ports} of {frames} frames at the switch ({share}), {cards} at cards")
    };
    format!("drops: {switch}, {sockets} in sockets, {refused} at full queues")
}

/// Cost of the loss of a receiver: the maximum over the jobs.
fn hole(jobs: &[FinishedJob]) -> Option<String> {
    let holes: Vec<[f64; 3]> = jobs.iter().filter_map(|(outcome, _)| outcome.hole).collect();
    let most = |index: usize| holes.iter().map(|hole| hole[index]).fold(0.0, f64::max) * 1e3;
    let refused: u64 = jobs.iter().map(|(outcome, _)| outcome.refused).sum();
    (!holes.is_empty()).then(|| {
        format!(
            "lost receiver: found within {:.0} ms, its events rebuilt after {:.0} ms, longest pause {:.0} ms; \
             {refused} duplicates refused",
            most(0),
            most(1),
            most(2)
        )
    })
}

/// Path of the data, interfaces used, and whether all data arrived.
fn whereabouts(outcome: &BuildOutcome) -> Vec<String> {
    let words = |place: &network::build::NodePlace| format!("{} {} ({})", place.host, place.address, place.interface);
    let list = |places: &[network::build::NodePlace]| {
        let more = if places.len() > 8 { format!(" and {} more", places.len() - 8) } else { String::new() };
        places.iter().take(8).map(words).collect::<Vec<_>>().join(", ") + more.as_str()
    };
    let (senders, receivers) = outcome.places.split_at(outcome.senders.len().min(outcome.places.len()));
    let (left, came, worst) = outcome.bytes();
    let verified = outcome.verified();
    let pair = match worst {
        Some((sender, receiver, lost)) => {
            format!("worst pair: {lost} B missing from sender {sender} to receiver {receiver}")
        }
        None if outcome.has_all_pairs() => "no pair lost any".to_owned(),
        None => "what the lost receiver got is unknown".to_owned(),
    };
    vec![
        format!("senders {}; receivers {}", list(senders), list(receivers)),
        format!("payload: {left} B sent, {came} B received; {pair}; {verified} B verified"),
    ]
}

/// Results of all jobs together: times of events, and losses.
pub(super) fn of_jobs(parameters: &Parameters, jobs: &[FinishedJob]) -> Vec<BenchmarkResult> {
    let events = |(one, _): &FinishedJob| {
        let missing = u64::from(one.missing);
        LossCount { lost: missing, of: missing + u64::from(one.built) }
    };
    let payload = |(one, _): &FinishedJob| {
        let (sent, received, _) = one.bytes();
        // The bytes of a receiver that was lost on purpose are not known.
        LossCount { lost: sent.saturating_sub(received), of: if one.has_all_pairs() { sent } else { 0 } }
    };
    let counts = |count: &dyn Fn(&FinishedJob) -> LossCount| jobs.iter().map(count).collect::<Vec<_>>();
    let [event, frame] = ["event", "frame"].map(LossUnit::each);
    let byte = LossUnit { name: "byte", together: u64::from(FRAME) };
    let lost = [
        loss("network.event_loss", "incomplete events", event, parameters.clone(), &counts(&events)),
        loss("network.payload_loss", "lost payload", byte, parameters.clone(), &counts(&payload)),
    ];
    let frames = |(one, drops): &FinishedJob| match drops {
        Some(drops) => {
            let sent = drops.ports.iter().map(|port| port.packets + port.drops).sum();
            LossCount { lost: drops.at_ports(), of: sent }
        }
        // Elsewhere the frames that did not arrive are told by their payload.
        None => {
            let (sent, received, _) = one.bytes();
            LossCount { lost: frames_of(sent.saturating_sub(received)), of: frames_of(sent) }
        }
    };
    let bursts = parameters
        .get("frames")
        .is_some()
        .then(|| loss("network.burst_loss", "lost frames of bursts", frame, parameters.clone(), &counts(&frames)));
    let lost = lost.into_iter().chain(bursts).flatten();
    latencies(parameters, jobs).into_iter().chain(slowest_window(parameters, jobs)).chain(lost).collect()
}

/// Payload of a full frame, bytes.
pub(super) const FRAME: u32 = 1456;

/// Full frames of a payload, bytes.
pub(super) fn frames_of(payload: u64) -> u64 {
    payload / u64::from(FRAME)
}

/// The slowest tenth of a second of each job.
fn slowest_window(parameters: &Parameters, jobs: &[FinishedJob]) -> Option<BenchmarkResult> {
    let values: Vec<f64> = jobs.iter().filter_map(|(one, _)| one.slowest_window()).collect();
    let metric = Metric::higher(Unit::PerSecond, "events");
    let title = "events built in the slowest 0.1 s";
    let result = result("network.events_slowest", parameters.clone(), title, metric, &[Primitive::NetworkLink]);
    derived(result, &values, EstimateMethod::OrderStatistic)
}

/// Quantiles of the time of events, each with its interval over jobs.
fn latencies(parameters: &Parameters, jobs: &[FinishedJob]) -> Vec<BenchmarkResult> {
    let of = |quantile: f64| -> Option<BenchmarkResult> {
        // Of few events, the last one is no such quantile.
        let tells = |one: &BuildOutcome| quantile >= 1.0 || (1.0 - quantile) * f64::from(one.built) >= 1.0 - 1e-9;
        let latency = |(one, _): &FinishedJob| one.latency.quantile(quantile).filter(|_| tells(one));
        let values: Vec<f64> = jobs.iter().filter_map(latency).map(|nanos| nanos as f64 * 1e-9).collect();
        let parameters = parameters.clone().with("quantile", quantile.to_string());
        let metric = Metric::lower(Unit::Seconds, "event");
        let result = result("network.event_latency", parameters, "event latency", metric, &[Primitive::NetworkLink]);
        derived(result, &values, EstimateMethod::OrderStatistic)
    };
    [0.5, 0.99, 0.999, 1.0].into_iter().filter_map(of).collect()
}
