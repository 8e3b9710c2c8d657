//! Any numbers are a network or no network: its buffers are worked out, and little traffic is simulated to its end.
#![no_main]

use plan_network::{Burst, Design, FlowControl, FragmentSizes, Framing, SimulationSetup, TrafficPattern, Trigger, simulate};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// The numbers that the command line takes.
#[derive(Debug, Arbitrary)]
struct Asked {
    senders: u32,
    receivers: u32,
    event_bytes: u64,
    events_per_second: f64,
    link_bits: u64,
    output_buffer: u64,
    input_buffer: u64,
    latency: f64,
    events: u8,
    pattern: u8,
    window: u32,
    credits: u32,
    seed: u64,
}

impl Asked {
    /// The design, within the limits of the command line.
    fn design(&self) -> Design {
        let bounded = |number: f64, most: f64| if number.is_finite() { number.abs().min(most) } else { 0.0 };
        Design {
            senders: self.senders.clamp(1, 100_000),
            receivers: self.receivers.clamp(1, 100_000),
            events_per_second: bounded(self.events_per_second, 1e9),
            event_bytes: self.event_bytes.clamp(1, 1 << 40) as f64,
            link_rate: self.link_bits.max(1) as f64 / 8.0,
            output_buffer: self.output_buffer,
            input_buffer: self.input_buffer,
            round_trip: 2.0 * bounded(self.latency, 1e9),
        }
    }

    /// A simulation of a few events of few frames.
    fn setup(&self, design: &Design) -> SimulationSetup {
        let windowed = self.window > 0 && self.pattern & 4 > 0;
        let pattern = match self.pattern & 3 {
            0 => TrafficPattern::InOrder,
            1 => TrafficPattern::BarrelShift,
            2 => TrafficPattern::Random,
            _ => TrafficPattern::Pull { credits: self.credits },
        };
        SimulationSetup {
            senders: design.senders.min(20),
            receivers: design.receivers.min(20),
            link_rate: design.link_rate,
            latency: design.round_trip / 2.0,
            output_buffer: design.output_buffer,
            input_buffer: design.input_buffer,
            framing: if windowed { Framing::TCP } else { Framing::UDP },
            flow: if windowed { FlowControl::Window { bytes: self.window } } else { FlowControl::Datagrams },
            pattern,
            sizes: FragmentSizes::Fixed((design.fragment().round() as u32).clamp(1, 20_000)),
            trigger: match design.events_per_second {
                rate if rate > 0.0 && self.pattern & 8 > 0 => Trigger::Poisson(1.0 / rate),
                rate if rate > 0.0 => Trigger::Every(1.0 / rate),
                _ => Trigger::Unpaced,
            },
            events: u32::from(self.events.min(40)),
            timeout: 0.2,
            seed: self.seed,
        }
    }
}

fuzz_target!(|asked: Asked| {
    let design = asked.design();
    for finding in design.findings() {
        assert!(!finding.value.is_nan(), "{finding:?} of {design:?}");
    }
    for frames in [1, 5, 32] {
        let burst = Burst::of(design.senders, frames, design.link_rate, design.output_buffer, Framing::UDP);
        assert!((0.0..=1.0).contains(&burst.lost_share), "{burst:?} of {design:?}");
    }
    if let Some(tally) = simulate(&asked.setup(&design)) {
        assert!(tally.built <= u64::from(asked.events) && tally.lost() <= tally.sent, "{tally:?}");
        assert!(tally.seconds.is_finite() && (0.0..=1.0 + 1e-9).contains(&tally.fairness), "{tally:?}");
    }
});
