//! Event building in the laboratory, compared with the buffer relation and the simulator. Rates are low where loss is
//! tested: the relation is in bytes, and on a slow link senders are simultaneous even on few CPUs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use std::sync::Arc;

use lab::{Lab, LabShape, means};
use measure::Stopper;
use network::LabLauncher;
use network::build::{Arrivals, BuildJob, PushPattern, SizeDistribution, Transport, build};
use plan_network::{FlowControl, Framing, SimulationSetup, Trigger, lost_share, simulate};

fn lab(shape: LabShape) -> Option<Arc<Lab>> {
    match means().and_then(|_| Lab::up(shape)) {
        Ok(lab) => Some(Arc::new(lab)),
        Err(reason) => {
            testing::skip!("{reason}");
            None
        }
    }
}

fn job(senders: u32, receivers: u32) -> BuildJob {
    BuildJob {
        senders,
        receivers,
        fragment: 1454,
        events: 200,
        rate: None,
        pattern: PushPattern::Pull,
        transport: Transport::Credits { credits: 4 },
        seed: 7,
        sizes: SizeDistribution::Fixed,
        arrivals: Arrivals::Regular,
    }
}

/// A node whose program prints something else than messages, such as a library or a login, is reported with its output.
/// One that ends is reported as ended, and one that builds without verifying payload as that.
#[test]
fn what_a_node_sends_instead_of_messages_is_told() {
    let said_of = |duty: &str, at_work: &str| {
        let hello = format!(
            r#"{{"version":"{}","host":"h","process":1,"clock":1,"cpus":1,"address":"127.0.0.1","can":["{duty}"]}}"#,
            env!("CARGO_PKG_VERSION")
        );
        let script = format!(
            "echo '{hello}'; for question in 1 2 3 4 5 6 7; do read line; echo '{{\"clock\":1}}'; done\n\
             read duty; read order; {at_work}"
        );
        let commands = vec![["sh", "-c", &script].map(str::to_owned).to_vec()];
        let mut launcher = launcher::Local { commands, addresses: Vec::new() };
        build(&job(1, 1), &mut launcher, None, &Stopper::default()).unwrap_err().to_string()
    };
    let said = |at_work: &str| said_of(network::build::DUTY.name, at_work);
    let garbage = said("printf 'Bus error at \\033[1m0x10\\n'; sleep 100");
    assert!(garbage.starts_with("could not continue without ") && garbage.contains("node"), "{garbage}");
    assert!(garbage.ends_with(r"it sent 'Bus error at \x1b[1m0x10'"), "{garbage}");
    assert!(said("exit").ends_with("it ended"));
    let older = said_of("build", "exit");
    assert!(older.ends_with("its program has no duty build_verified; use the same prony on both"), "{older}");
}

/// Attempts of tests with timing, which neighbours that keep senders or receivers from the CPUs may spoil.
const ATTEMPTS: u32 = 8;

/// Loss of bursts of `frames` frames from each of `senders`: in the laboratory, by the relation, and by the simulator.
/// An error if a receiver did not get a CPU in time and lost frames in its socket.
fn burst(lab: &Arc<Lab>, senders: u32, frames: u32, rate: f64) -> Result<[f64; 3], String> {
    let drain = f64::from(senders * frames * 1514) / rate;
    let events = 4;
    let job = BuildJob {
        fragment: frames * 1456,
        events,
        rate: Some(1.0 / (1.5 * drain + 0.1)),
        pattern: PushPattern::Burst,
        transport: Transport::Datagrams,
        ..job(senders, 1)
    };
    let before = lab.drops().unwrap();
    let outcome = build(&job, &mut LabLauncher(Arc::clone(lab)), None, &Stopper::default()).unwrap();
    let drops = lab.drops().unwrap().since(&before);
    let sent: u64 = outcome.senders.iter().map(|node| node.sent).sum();
    let received = outcome.receivers[0].received;
    assert_eq!(sent, u64::from(senders * frames * events), "{outcome:?}");
    // Every lost frame was lost at a port: none at a card or in a socket.
    assert_eq!(drops.at_cards(), 0);
    let in_socket = outcome.receivers[0].socket_drops;
    assert_eq!(drops.at_ports() + in_socket, sent - received, "{drops:?}");
    testing::hold!(in_socket == 0, "{in_socket} frames lost in the socket");
    let setup = SimulationSetup::burst(senders, frames, rate, 160_000, events);
    let said = lost_share(senders, u64::from(frames), 160_000, Framing::UDP);
    Ok([1.0 - received as f64 / sent as f64, said, simulate(&setup).unwrap().lost_share()])
}

#[test]
fn bursts_lose_as_predicted_by_relation_and_simulator() {
    // A frame takes 3 ms, and so much apart senders may begin that wait for a CPU.
    let rate = 4_000_000;
    let Some(lab) = lab(LabShape { hosts: 23, bits_per_second: rate, ..LabShape::default() }) else { return };
    let mut bursts = vec![(4, 50), (22, 6)];
    if testing::slow("three more lengths of bursts; one that loses much and one that loses little stand for them") {
        bursts.extend([(4, 30), (22, 5), (22, 8)]);
    }
    for (senders, frames) in bursts {
        testing::attempts(ATTEMPTS, || {
            let [seen, said, simulated] = burst(&lab, senders, frames, rate as f64 / 8.0)?;
            eprintln!(
                "{senders} senders, {frames} frames each: lost {seen:.4}, relation {said:.4}, simulator {simulated:.4}"
            );
            assert!((said - simulated).abs() < 0.01);
            testing::hold!((seen - said).abs() < 0.01, "{senders} x {frames}: {seen} against {said}");
            Ok(())
        });
    }
}

#[test]
fn windows_that_fit_the_buffer_lose_nothing_and_others_do() {
    let Some(lab) = lab(LabShape { hosts: 23, bits_per_second: 20_000_000, ..LabShape::default() }) else { return };
    let events = testing::trials(12, 40) as u32;
    let run = |asked: u32| {
        let job = BuildJob {
            fragment: 8_000,
            events,
            pattern: PushPattern::RoundRobin,
            transport: Transport::Tcp { window: Some(asked) },
            ..job(22, 1)
        };
        let before = lab.port_drops().unwrap();
        let outcome = build(&job, &mut LabLauncher(Arc::clone(&lab)), None, &Stopper::default()).unwrap();
        assert_eq!((outcome.built, outcome.refused), (events, 0));
        let drops: u64 =
            lab.port_drops().unwrap().iter().zip(before).map(|(now, before)| now.since(before).drops).sum();
        let window = outcome.senders.iter().map(|node| node.window).max().unwrap();
        eprintln!("asked {asked} B: effective {window} B, {drops} drops");
        (window, drops)
    };
    let (small, none) = run(4_096);
    assert!(22 * small.div_ceil(1448) * 1514 <= 160_000, "effective window {small}");
    assert_eq!(none, 0);
    // Senders that wait for a CPU do not all send at the same moment.
    testing::attempts(ATTEMPTS, || {
        let (large, some) = run(65_536);
        assert!(22 * large > 160_000, "effective window {large}");
        testing::hold!(some > 0, "effective window {large}, {some} drops");
        Ok(())
    });
}

/// Loss of four pushing senders with windows of 64 kB (effective) to one receiver, with this buffer.
fn four_senders(lab: &Arc<Lab>, asked: u32, events: u32) -> (f64, u64) {
    let job = BuildJob {
        fragment: 64_000,
        events,
        pattern: PushPattern::RoundRobin,
        transport: Transport::Tcp { window: Some(asked) },
        ..job(4, 1)
    };
    let before = lab.port_drops().unwrap();
    let outcome = build(&job, &mut LabLauncher(Arc::clone(lab)), None, &Stopper::default()).unwrap();
    assert_eq!((outcome.built, outcome.refused), (events, 0));
    let port = lab.port_drops().unwrap()[4].since(before[4]);
    let window = outcome.senders.iter().map(|node| node.window).max().unwrap();
    let share = port.drops as f64 / (port.packets + port.drops) as f64;
    eprintln!("asked {asked} B, effective {window} B: {} of {} frames lost", port.drops, port.packets + port.drops);
    (share, window)
}

/// The published loss of 41 of 60000 packets with four senders at a 64 kB window to one receiver. A buffer of 160 kB,
/// the output port alone, loses far more; one that holds all windows loses nothing; the published loss lies between.
#[test]
fn four_windows_of_64_kb_lose_little_where_input_buffers_help() {
    let shape =
        |port_buffer: u64| LabShape { hosts: 5, bits_per_second: 20_000_000, port_buffer, ..LabShape::default() };
    // Linux gives 5/4 of the requested buffer.
    let asked = 51_800;
    let [output, between, close, all] = [160_000, 256_000, 265_000, 300_000].map(|buffer| lab(shape(buffer)));
    let (Some(output), Some(between), Some(close), Some(all)) = (output, between, close, all) else { return };
    let slow = testing::slow("loss with two buffers in between; one that loses and one that does not stand for them");
    let events = if slow { 60 } else { 20 };
    let (none, _) = four_senders(&all, asked, events);
    assert_eq!(none, 0.0);
    testing::attempts(ATTEMPTS, || {
        let (much, window) = four_senders(&output, asked, events);
        assert!((60_000..70_000).contains(&window), "{window}");
        testing::hold!(much > 0.005, "{much}");
        if !slow {
            return Ok(());
        }
        let (little, _) = four_senders(&between, asked, events);
        // Measured at 265 kB: 5 to 9 frames of 10640; 41 of 60000 would be 7.
        let (published, _) = four_senders(&close, asked, events);
        testing::hold!(published > 0.0 && published <= little, "{little} {published}");
        testing::hold!(little < 0.005 && little < much / 3.0, "{much} {little}");
        Ok(())
    });
}

#[test]
fn random_sizes_and_moments_build_every_event_once() {
    let Some(lab) = lab(LabShape { hosts: 5, ..LabShape::default() }) else { return };
    let mut launcher = LabLauncher(lab);
    for transport in [Transport::Credits { credits: 4 }, Transport::Tcp { window: Some(8_192) }] {
        let asks = matches!(transport, Transport::Credits { .. });
        let job = BuildJob {
            pattern: if asks { PushPattern::Pull } else { PushPattern::BarrelShift },
            transport,
            rate: Some(500.0),
            sizes: if asks { SizeDistribution::Exponential } else { SizeDistribution::Measured(vec![1, 900, 5_000]) },
            arrivals: Arrivals::Poisson,
            ..job(3, 2)
        };
        let outcome = build(&job, &mut launcher, None, &Stopper::default()).unwrap();
        assert_eq!((outcome.built, outcome.missing, outcome.refused), (200, 0, 0), "{transport:?}");
        let bytes: u64 = outcome.receivers.iter().map(|node| node.bytes).sum();
        let said: u64 = (0..200)
            .flat_map(|event| (0..3).map(move |sender| (event, sender)))
            .map(|(event, sender)| u64::from(job.length(event, sender)))
            .sum();
        assert_eq!(bytes, said, "{transport:?}");
    }
    let empty = BuildJob { sizes: SizeDistribution::Measured(Vec::new()), ..job(3, 2) };
    assert!(build(&empty, &mut launcher, None, &Stopper::default()).is_err());
    assert!(
        build(&BuildJob { arrivals: Arrivals::Poisson, ..job(3, 2) }, &mut launcher, None, &Stopper::default())
            .is_err()
    );
}

#[test]
fn every_transport_and_pattern_builds_every_event_once() {
    let Some(lab) = lab(LabShape { hosts: 7, ..LabShape::default() }) else { return };
    let mut launcher = LabLauncher(lab);
    for pattern in [PushPattern::Burst, PushPattern::RoundRobin, PushPattern::BarrelShift, PushPattern::Random] {
        let job = BuildJob { pattern, transport: Transport::Tcp { window: Some(4_096) }, ..job(4, 3) };
        let outcome = build(&job, &mut launcher, None, &Stopper::default()).unwrap();
        assert_eq!((outcome.built, outcome.refused), (200, 0), "{pattern:?}");
        assert!(outcome.fairness() > 0.99 && outcome.latency.count() == 200);
    }
    let paced = BuildJob { rate: Some(500.0), fragment: 4_000, ..job(4, 3) };
    let outcome = build(&paced, &mut launcher, None, &Stopper::default()).unwrap();
    assert_eq!((outcome.built, outcome.refused), (200, 0));
    // 200 events at 500 a second take at least 0.398 s.
    assert!(outcome.seconds > 0.39, "{}", outcome.seconds);
    assert!(build(&BuildJob { senders: 0, ..job(4, 3) }, &mut launcher, None, &Stopper::default()).is_err());
    assert!(
        build(&BuildJob { transport: Transport::Datagrams, ..job(4, 3) }, &mut launcher, None, &Stopper::default())
            .is_err()
    );
}

#[test]
fn losses_at_a_small_port_are_repaired_by_repeated_requests() {
    let shape = LabShape { hosts: 9, bits_per_second: 10_000_000, port_buffer: 6_000, ..LabShape::default() };
    let Some(lab) = lab(shape) else { return };
    let job = BuildJob { events: 60, transport: Transport::Credits { credits: 32 }, ..job(8, 1) };
    testing::attempts(ATTEMPTS, || {
        let outcome = build(&job, &mut LabLauncher(Arc::clone(&lab)), None, &Stopper::default()).unwrap();
        assert_eq!((outcome.built, outcome.refused), (60, 0));
        // Senders that wait for a CPU do not all send at the same moment.
        testing::hold!(outcome.receivers[0].again > 0, "{outcome:?}");
        Ok(())
    });
}

#[test]
fn a_lost_receiver_loses_no_event_and_duplicates_none() {
    let Some(lab) = lab(LabShape { hosts: 8, ..LabShape::default() }) else { return };
    let job = BuildJob { events: 3_000, rate: Some(1_500.0), ..job(4, 4) };
    let outcome = build(&job, &mut LabLauncher(lab), Some((2, 1_000)), &Stopper::default()).unwrap();
    assert_eq!(outcome.built, 3_000);
    let others: u32 = [0, 1, 3].into_iter().map(|one| outcome.by_receiver[one]).sum();
    assert!(outcome.by_receiver[2] < 750 && others + outcome.by_receiver[2] == 3_000, "{:?}", outcome.by_receiver);
    let [known, repaired, gap] = outcome.hole.unwrap();
    eprintln!("lost receiver: known after {known:.3} s, repaired after {repaired:.3} s, longest gap {gap:.3} s");
    assert!(repaired >= known && gap < outcome.seconds);
}

/// Pulling with credits, and pushing over windows: latency within 10% and loss within one percentage point of the
/// simulator's. An event has 40 frames to its receiver, so that the two frames of a token bucket are negligible.
#[test]
fn pulling_and_windows_in_the_laboratory_are_as_simulated() {
    let rate = 4_000_000;
    let events = testing::trials(10, 24) as u32;
    let Some(lab) = lab(LabShape { hosts: 6, bits_per_second: rate, ..LabShape::default() }) else { return };
    let base = SimulationSetup {
        senders: 4,
        receivers: 2,
        latency: 60e-6,
        // The header of 16 B is payload to the switch.
        framing: Framing { payload: 1456, headers: 58, gap: 0 },
        sizes: plan_network::FragmentSizes::Fixed(10 * 1456),
        events,
        timeout: 0.2,
        ..SimulationSetup::burst(4, 10, rate as f64 / 8.0, 160_000, events)
    };
    let pull = SimulationSetup {
        pattern: plan_network::TrafficPattern::Pull { credits: 8 },
        trigger: Trigger::Every(0.1),
        ..base.clone()
    };
    let job = BuildJob {
        fragment: 10 * 1456,
        events,
        rate: Some(10.0),
        transport: Transport::Credits { credits: 8 },
        ..job(4, 2)
    };
    testing::attempts(ATTEMPTS, || same("pull", &lab, &job, &pull));
    let windows =
        SimulationSetup { flow: FlowControl::Window { bytes: 5_792 }, framing: Framing::TCP.without_gap(), ..base };
    let windows =
        SimulationSetup { trigger: Trigger::Every(0.2), pattern: plan_network::TrafficPattern::InOrder, ..windows };
    let job = BuildJob {
        rate: Some(5.0),
        pattern: PushPattern::Burst,
        transport: Transport::Tcp { window: Some(4_608) },
        ..job
    };
    testing::attempts(ATTEMPTS, || same("windows", &lab, &job, &windows));
}

fn same(name: &str, lab: &Arc<Lab>, job: &BuildJob, setup: &SimulationSetup) -> Result<(), String> {
    let before = lab.port_drops().unwrap();
    let outcome = build(job, &mut LabLauncher(Arc::clone(lab)), None, &Stopper::default()).unwrap();
    let ports = lab.port_drops().unwrap();
    let drops: u64 = ports.iter().zip(&before).map(|(now, before)| now.since(*before).drops).sum();
    let packets: u64 = ports.iter().zip(&before).map(|(now, before)| now.since(*before).packets).sum();
    let tally = simulate(setup).unwrap();
    let (said, seen) = (tally.latency.unwrap().p50, outcome.latency.quantile(0.5).unwrap() as f64 * 1e-9);
    let lost = drops as f64 / (drops + packets) as f64;
    eprintln!("{name}: p50 {seen:.5} s, simulator {said:.5} s; lost {lost:.4}, simulator {:.4}", tally.lost_share());
    assert_eq!((outcome.built, tally.built), (job.events, u64::from(setup.events)));
    testing::hold!((seen / said - 1.0).abs() < 0.10, "{name}: {seen} against {said}");
    testing::hold!((lost - tally.lost_share()).abs() < 0.01, "{name}: lost {lost} against {}", tally.lost_share());
    Ok(())
}

#[test]
fn latency_in_the_laboratory_is_that_of_the_simulator() {
    let rate = 10_000_000;
    let Some(lab) = lab(LabShape { hosts: 9, bits_per_second: rate, ..LabShape::default() }) else { return };
    let job = BuildJob {
        fragment: 8 * 1456,
        events: 12,
        rate: Some(5.0),
        pattern: PushPattern::Burst,
        transport: Transport::Datagrams,
        ..job(8, 1)
    };
    let simulated =
        simulate(&SimulationSetup::burst(8, 8, rate as f64 / 8.0, 160_000, 12)).unwrap().latency.unwrap().p50;
    testing::attempts(ATTEMPTS, || {
        let outcome = build(&job, &mut LabLauncher(Arc::clone(&lab)), None, &Stopper::default()).unwrap();
        testing::hold!(outcome.built == 12, "{} events of 12", outcome.built);
        let seen = outcome.latency.quantile(0.5).unwrap() as f64 * 1e-9;
        eprintln!("p50 of a burst: laboratory {seen:.4} s, simulator {simulated:.4} s");
        // 64 frames of 1.2 ms each: the time of the CPUs is negligible.
        testing::hold!((seen / simulated - 1.0).abs() < 0.10, "{seen} against {simulated}");
        Ok(())
    });
}

#[test]
fn a_stop_ends_a_job_whose_next_event_is_far_away() {
    let Some(lab) = lab(LabShape { hosts: 3, ..LabShape::default() }) else { return };
    for (pattern, transport) in [
        (PushPattern::Pull, Transport::Credits { credits: 4 }),
        (PushPattern::Burst, Transport::Tcp { window: None }),
        (PushPattern::Burst, Transport::Datagrams),
    ] {
        // The second event is due in a day.
        let job = BuildJob { pattern, transport, events: 2, rate: Some(1.0 / 86_400.0), ..job(2, 1) };
        let stopper = Stopper::default();
        let asked = stopper.clone();
        let user = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(1_500));
            asked.stop();
        });
        let stopped = build(&job, &mut LabLauncher(Arc::clone(&lab)), None, &stopper);
        assert!(matches!(stopped, Err(launcher::Error::Stopped)), "{transport:?}: {stopped:?}");
        user.join().unwrap();
    }
}
