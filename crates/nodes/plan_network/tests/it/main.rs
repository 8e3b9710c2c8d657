//! Properties of the network simulator that hold for all parameters.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says what it skips"
)]

mod scale;

use plan_network::{
    FlowControl, FragmentSizes, Framing, SimulationSetup, SimulationTally, TrafficPattern, Trigger, lost_share,
    simulate, window_bytes,
};
use proptest::prelude::*;

fn setups() -> impl Strategy<Value = SimulationSetup> {
    let sizes = prop_oneof![
        (1_u32..20_000).prop_map(FragmentSizes::Fixed),
        (100.0_f64..5_000.0).prop_map(FragmentSizes::Exponential),
        prop::collection::vec(1_u32..9_000, 1..6).prop_map(FragmentSizes::Measured),
    ];
    let pattern = prop_oneof![
        Just(TrafficPattern::InOrder),
        Just(TrafficPattern::BarrelShift),
        Just(TrafficPattern::Random),
        (1_u32..40).prop_map(|credits| TrafficPattern::Pull { credits }),
    ];
    let flow =
        prop_oneof![Just(FlowControl::Datagrams), (1_000_u32..70_000).prop_map(|bytes| FlowControl::Window { bytes })];
    let trigger = prop_oneof![
        Just(Trigger::Unpaced),
        (1e-5_f64..1e-2).prop_map(Trigger::Every),
        (1e-5_f64..1e-2).prop_map(Trigger::Poisson),
    ];
    let switch = (2_000_u64..400_000, prop_oneof![Just(0_u64), 2_000_u64..64_000], 0.0_f64..1e-3);
    ((1_u32..12, 1_u32..9, 1_u32..60, any::<u64>()), sizes, pattern, flow, trigger, switch).prop_map(
        |(
            (senders, receivers, events, seed),
            sizes,
            pattern,
            flow,
            trigger,
            (output_buffer, input_buffer, latency),
        )| SimulationSetup {
            senders,
            receivers,
            link_rate: 12.5e6,
            latency,
            output_buffer,
            input_buffer,
            framing: Framing::TCP,
            pattern,
            // A receiver requests over datagrams: its credits are its window.
            flow: if matches!(pattern, TrafficPattern::Pull { .. }) { FlowControl::Datagrams } else { flow },
            sizes,
            trigger,
            events,
            timeout: 0.2,
            seed,
        },
    )
}

fn recovers(setup: &SimulationSetup) -> bool {
    setup.flow != FlowControl::Datagrams || matches!(setup.pattern, TrafficPattern::Pull { .. })
}

fn run(setup: &SimulationSetup) -> SimulationTally {
    simulate(setup).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::trials(80, 300) as u32))]

    #[test]
    fn frames_are_conserved_and_every_loss_is_repaired_or_costs_events(setup in setups()) {
        let tally = run(&setup);
        prop_assert_eq!(tally.sent, tally.delivered + tally.lost());
        prop_assert!(tally.peak_output <= setup.output_buffer && tally.peak_input <= setup.input_buffer);
        if recovers(&setup) || tally.lost() == 0 {
            prop_assert_eq!(tally.built, u64::from(setup.events));
        } else {
            prop_assert!(tally.built < u64::from(setup.events));
        }
        if recovers(&setup) {
            prop_assert_eq!(tally.repeated, tally.lost());
        }
        prop_assert!(tally.fairness > 0.0 && tally.fairness <= 1.0 + 1e-9);
        // A link cannot carry more than its rate.
        let most = 12.5e6 * Framing::TCP.efficiency() * f64::from(setup.receivers.min(setup.senders));
        prop_assert!(tally.payload_per_second() <= most * 1.0001, "{}", tally.payload_per_second());
    }

    #[test]
    fn the_same_setup_gives_the_same_tally(setup in setups()) {
        prop_assert_eq!(run(&setup), run(&setup));
    }

    #[test]
    fn windows_that_fit_the_buffer_never_lose(
        mut setup in setups(),
        senders in 1_u32..30,
    ) {
        setup.senders = senders;
        setup.pattern = TrafficPattern::InOrder;
        let window = window_bytes(senders, setup.output_buffer, Framing::TCP);
        prop_assume!(window > 0);
        // Small fragments make small frames with relatively larger headers.
        setup.sizes = FragmentSizes::Fixed(1448 * 4);
        setup.flow = FlowControl::Window { bytes: window as u32 };
        prop_assert_eq!(run(&setup).lost(), 0);
    }

    #[test]
    fn a_barrel_shift_loses_nothing_and_holds_one_frame_at_most(mut setup in setups()) {
        setup.pattern = TrafficPattern::BarrelShift;
        setup.flow = FlowControl::Datagrams;
        setup.input_buffer = 0;
        let tally = run(&setup);
        prop_assert_eq!(tally.lost(), 0);
        prop_assert!(tally.peak_output <= 2 * u64::from(Framing::TCP.full()), "{}", tally.peak_output);
    }

    #[test]
    fn credits_that_fit_the_buffer_never_lose(mut setup in setups(), credits in 1_u32..40) {
        setup.pattern = TrafficPattern::Pull { credits };
        setup.flow = FlowControl::Datagrams;
        setup.output_buffer = u64::from(credits) * u64::from(Framing::TCP.full());
        prop_assert_eq!(run(&setup).lost(), 0);
    }

    #[test]
    fn bursts_lose_as_many_frames_as_the_relation_predicts(senders in 2_u32..40, frames in 1_u32..20, buffer in 5_000_u64..400_000) {
        let tally = run(&SimulationSetup::burst(senders, frames, 1.25e6, buffer, 3));
        let said = lost_share(senders, u64::from(frames), buffer, Framing::UDP);
        prop_assert!((tally.lost_share() - said).abs() < 1e-9, "{} {said}", tally.lost_share());
    }
}

#[test]
fn nonsense_is_refused() {
    let good = SimulationSetup::burst(4, 2, 1e6, 10_000, 1);
    assert!(simulate(&good).is_some());
    for bad in [
        SimulationSetup { senders: 0, ..good.clone() },
        SimulationSetup { receivers: 0, ..good.clone() },
        SimulationSetup { events: 0, ..good.clone() },
        SimulationSetup { link_rate: 0.0, ..good.clone() },
        SimulationSetup { link_rate: f64::NAN, ..good.clone() },
        SimulationSetup { sizes: FragmentSizes::Measured(Vec::new()), ..good.clone() },
        SimulationSetup { pattern: TrafficPattern::Pull { credits: 0 }, ..good.clone() },
        // A time whose picoseconds exceed a word, and more connections than memory.
        SimulationSetup { latency: 1e9, ..good.clone() },
        SimulationSetup { trigger: Trigger::Every(1e9), ..good.clone() },
        SimulationSetup { link_rate: 1e-9, ..good.clone() },
        SimulationSetup {
            senders: 100_000,
            receivers: 100_000,
            flow: FlowControl::Window { bytes: 65_536 },
            ..good.clone()
        },
    ] {
        assert!(simulate(&bad).is_none(), "{bad:?}");
    }
}

#[test]
fn the_largest_numbers_that_are_taken_do_not_overflow() {
    let large = SimulationSetup {
        output_buffer: u64::MAX,
        input_buffer: u64::MAX,
        flow: FlowControl::Window { bytes: u32::MAX },
        sizes: FragmentSizes::Fixed(1 << 28),
        ..SimulationSetup::burst(2, 1, 12.5e6, 10_000, 20)
    };
    assert_eq!(run(&large).built, 20);
}

#[test]
fn pushing_in_order_loses_nearly_all_where_a_barrel_shift_loses_nothing() {
    let base = SimulationSetup {
        senders: 100,
        receivers: 100,
        link_rate: 12.5e9,
        latency: 2e-6,
        output_buffer: 100_000,
        input_buffer: 0,
        framing: Framing::UDP,
        pattern: TrafficPattern::InOrder,
        flow: FlowControl::Datagrams,
        sizes: FragmentSizes::Fixed(16 * 1472),
        trigger: Trigger::Unpaced,
        events: 1_000,
        timeout: 1e-3,
        seed: 1,
    };
    assert!(run(&base).lost_share() > 0.9);
    assert_eq!(run(&SimulationSetup { pattern: TrafficPattern::BarrelShift, ..base }).lost(), 0);
}

/// 22 x 15, 32 kB, 2 kHz on Fast Ethernet: pulling with credits reaches the rate without loss, windows of 64 kB do not.
#[test]
fn the_design_of_1998_holds_with_credits() {
    let design = SimulationSetup {
        senders: 22,
        receivers: 15,
        link_rate: 12.5e6,
        latency: 50e-6,
        output_buffer: 160_000,
        input_buffer: 32_000,
        framing: Framing::UDP,
        pattern: TrafficPattern::Pull { credits: 4 },
        flow: FlowControl::Datagrams,
        sizes: FragmentSizes::Fixed(32_000 / 22),
        trigger: Trigger::Every(1.0 / 2_000.0),
        events: 20_000,
        timeout: 0.02,
        seed: 1,
    };
    let tally = run(&design);
    assert_eq!((tally.lost(), tally.built), (0, 20_000));
    assert!((tally.events_per_second() / 2_000.0 - 1.0).abs() < 0.01, "{tally:?}");
    let four = |window: u32, input_buffer: u64| SimulationSetup {
        senders: 4,
        receivers: 1,
        pattern: TrafficPattern::InOrder,
        framing: Framing::PLAIN_TCP,
        flow: FlowControl::Window { bytes: window },
        sizes: FragmentSizes::Fixed(1460 * 50),
        trigger: Trigger::Unpaced,
        events: 300,
        input_buffer,
        ..design.clone()
    };
    // 4 windows of 64 kB: the input buffers absorb the excess of the output buffer.
    assert!(run(&four(65_536, 0)).lost() > 0);
    assert_eq!(run(&four(65_536, 40_000)).lost(), 0);
    assert_eq!(run(&four(32_768, 0)).lost(), 0);
}
