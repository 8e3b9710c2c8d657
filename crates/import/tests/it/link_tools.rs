//! What tools of links between machines and between processors print: ping, nuttcp, core-to-core-latency.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{
    estimate, import_fixture, import_repeats, keys, named, near, noted, read_as, read_repeats, refused_as, text,
    unread, value,
};
use model::{Better, EstimateMethod, Outcome};

#[test]
fn hosts_payloads_and_pauses_define_round_trips() {
    let run = &import_fixture("ping.txt")[0];
    let trip = estimate(run, "ping.round_trip:peer=peer,payload=56B");
    assert!(near(trip.value, 0.2e-3) && near(trip.low, 0.15e-3) && near(trip.high, 0.25e-3));
    assert_eq!((trip.method, trip.batches), (EstimateMethod::Range, 2), "packets that came back");
    assert!(near(value(run, "ping.loss:peer=peer,payload=56B"), 1.0 / 3.0), "exactly, of its counts");
    assert!(near(value(run, "ping.round_trip:peer=peer,payload=1400B,pace=no pause"), 0.1e-3));
    assert!(near(value(run, "ping.loss:peer=gone,payload=56B"), 1.0), "nothing came back: {:?}", keys(run));
    assert_eq!(estimate(run, "ping.round_trip:peer=other,payload=56B").method, EstimateMethod::None);
    assert_eq!(named(run, "ping.loss").metric.better, Better::Lower);
    assert_eq!(unread("ping", &text("ping.txt")), 0);
    assert!(near(value(run, "ping.loss:peer=peer,payload=1400B,pace=no pause"), 0.0));
    let six = "2001:db8::2 ping statistics\n2 packets transmitted, 2 received, 0% packet loss, time 9ms\n\
               rtt min/avg/max/mdev = 30/40/50/9 us\n";
    assert!(near(value(&read_as("ping", six)[0], "ping.round_trip:peer=2001:db8::2"), 40e-6));
    assert!(refused_as("ping", &six.replace(" us", " fortnights")).contains("the unit 'fortnights' is not known"));
    assert!(refused_as("ping", &six.replace("30/40", "40")).contains("more names than values"));
    let cut = text("ping.txt");
    let cut = &cut[..cut.find("rtt min").unwrap()];
    assert!(refused_as("ping", cut).contains("has no summary at line 1"));
    let below = six.replace("30/40/50/9 us", "0.000/0.000/0.001/0.000 ms");
    assert!(matches!(named(&read_as("ping", &below)[0], "ping.round_trip").outcome, Outcome::Below { .. }));
}

#[test]
fn transfers_of_nuttcp_are_read_as_words_members_and_both_ends() {
    let run = &import_repeats("nuttcp.txt")[0];
    for (key, expected) in [
        ("nuttcp.bandwidth:protocol=tcp", 1250e6),
        ("nuttcp.cpu_sender:protocol=tcp", 0.5),
        ("nuttcp.retransmissions:protocol=tcp", 3.0),
        ("nuttcp.round_trip:protocol=tcp", 0.25e-3),
        ("nuttcp.bandwidth:protocol=udp", 4e6),
        ("nuttcp.loss:protocol=udp", 0.005),
        ("nuttcp.received:protocol=tcp,direction=receive,streams=1,buffer=65536B", 900e6),
        ("nuttcp.sent:protocol=tcp,direction=receive,streams=1,buffer=65536B", 910e6),
        ("nuttcp.retransmissions:protocol=tcp,direction=receive,streams=1,buffer=65536B", 7.0),
        ("nuttcp.cpu_receiver:protocol=tcp,direction=receive,streams=1,buffer=65536B", 0.23),
    ] {
        assert!(near(value(run, key), expected), "{key}");
    }
    let idle = named(run, "nuttcp.cpu_receiver");
    assert!(matches!(idle.outcome, Outcome::Below { bound } if near(bound, 0.005)), "less than half a percent");
    assert_eq!((named(run, "nuttcp.loss").metric.better, unread("nuttcp", &text("nuttcp.txt"))), (Better::Lower, 0));
    let last = " 100.0000 MB /   1.00 sec =   800.0000 Mbps 50 %TX 40 %RX 0 retrans 0.25 msRTT\n";
    let alone = &read_repeats("nuttcp", &last.repeat(2))[0];
    assert_eq!(named(alone, "nuttcp.bandwidth").values().len(), 2, "each line is a process");
    assert!(noted(alone, "are not printed without -v"));
    let interval = " 100.0000 MB /   1.00 sec =   800.0000 Mbps     0 retrans\n";
    assert!(refused_as("nuttcp", &[last, interval].concat()).contains("has no last line at line 2"));
    assert!(refused_as("nuttcp", &last.replace("msRTT", "dayRTT")).contains("its unit 'dayRTT' is not known"));
    assert!(refused_as("nuttcp", &last.replace(" msRTT", "")).contains("ends early"));
}

#[test]
fn pairs_of_cpus_are_figures_and_a_table_must_be_whole() {
    let run = &import_fixture("core-to-core-latency.csv")[0];
    assert_eq!(run.figures.len(), 6);
    assert!(near(value(run, "core_to_core.latency:cpus=0+1"), 21.5e-9));
    assert!(near(value(run, "core_to_core.latency:cpus=1+3"), 48e-9), "the smaller number first");
    assert_eq!(named(run, "core_to_core.latency").metric.better, Better::Lower);
    let table = text("core-to-core-latency.csv");
    let refused = |from: &str, to: &str| refused_as("core-to-core-latency", &table.replacen(from, to, 1));
    assert!(refused("49.5,48.000000000000004,20.125,\n", "").contains("ends after 3 of 4 rows at line 3"));
    assert!(refused("20.125,\n", "20.125,0.0\n").contains("on or above its diagonal at line 4"));
    assert!(refused("48.25,47.75,,", "48.25,,,").contains("'' is not a usable number at line 3"));
    assert!(refused("21.5,,,", "21.5,,").contains("as many rows as columns at line 2"));
    let wide = ",".repeat(4000);
    assert!(refused_as("core-to-core-latency", &wide).contains("more than 512 CPUs at line 1"));
}
