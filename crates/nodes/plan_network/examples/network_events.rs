//! Steps a second of the network simulator on this core: `cargo run --release --example network_events`.

use std::time::Instant;

use plan_network::{FlowControl, FragmentSizes, Framing, SimulationSetup, TrafficPattern, Trigger, simulate};

fn main() {
    for (name, setup) in cases() {
        tell(name, &setup);
    }
}

/// Simulated cases: every pattern, and the largest switch.
fn cases() -> [(&'static str, SimulationSetup); 7] {
    let base = SimulationSetup {
        senders: 500,
        receivers: 500,
        link_rate: 12.5e9,
        latency: 2e-6,
        output_buffer: 1_000_000,
        input_buffer: 0,
        framing: Framing::UDP,
        pattern: TrafficPattern::BarrelShift,
        flow: FlowControl::Datagrams,
        sizes: FragmentSizes::Fixed(8 * 1472),
        trigger: Trigger::Unpaced,
        events: 2_000,
        timeout: 1e-3,
        seed: 1,
    };
    [
        ("500 x 500 barrel shift", base.clone()),
        ("500 x 500 in order", SimulationSetup { pattern: TrafficPattern::InOrder, ..base.clone() }),
        ("500 x 500 random", SimulationSetup { pattern: TrafficPattern::Random, ..base.clone() }),
        (
            "500 x 500 pull, 16 credits",
            SimulationSetup { pattern: TrafficPattern::Pull { credits: 16 }, ..base.clone() },
        ),
        (
            "500 x 500 random, windows of 16 KiB",
            SimulationSetup {
                pattern: TrafficPattern::Random,
                flow: FlowControl::Window { bytes: 16_384 },
                ..base.clone()
            },
        ),
        (
            "2000 x 2000 barrel shift",
            SimulationSetup {
                senders: 2_000,
                receivers: 2_000,
                events: 2_000,
                sizes: FragmentSizes::Fixed(2 * 1472),
                ..base.clone()
            },
        ),
        (
            "2000 x 2000 pull, 16 credits",
            SimulationSetup {
                senders: 2_000,
                receivers: 2_000,
                events: 2_000,
                sizes: FragmentSizes::Fixed(2 * 1472),
                pattern: TrafficPattern::Pull { credits: 16 },
                ..base
            },
        ),
    ]
}

fn tell(name: &str, setup: &SimulationSetup) {
    let began = Instant::now();
    let Some(tally) = simulate(setup) else { return };
    let seconds = began.elapsed().as_secs_f64();
    #[expect(clippy::print_stdout, reason = "an example that prints its result")]
    {
        println!(
            "{name}: {:.1} M steps/s ({} steps), lost {:.2}%, peak {} B, built {}, {:.1} GB/s simulated",
            tally.steps as f64 / seconds / 1e6,
            tally.steps,
            tally.lost_share() * 100.0,
            tally.peak_output,
            tally.built,
            tally.payload_per_second() / 1e9
        );
    }
}
