//! What tools of networks and message passing print in their corners: directions, sides, settings of a table.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{import, keys, near, read_as, read_repeats, refused_as, text, value};
use model::{Catalogue, FigureKey, Outcome, Run};

fn bound(run: &Run, key: &str) -> f64 {
    let (probe, point) = key.split_once(':').unwrap();
    let figure = run.figure(&FigureKey::new(probe, point.parse().unwrap())).unwrap();
    match figure.outcome {
        Outcome::Below { bound } => bound,
        ref other => panic!("{key} is {other:?}"),
    }
}

#[test]
fn a_server_of_iperf_2_receives_and_each_of_its_clients_is_a_test() {
    let client = |id: u32, rows: &str| {
        format!(
            "[  {id}] local 192.0.2.1 port 5001 connected with 192.0.2.2 port 4000{id}\n\
             [ ID] Interval       Transfer     Bandwidth\n{rows}"
        )
    };
    let text = [
        "Server listening on TCP port 5001\nTCP window size:  128 KByte (default)\n",
        &client(4, "[  4] 0.0- 1.0 sec  100 MBytes  800 Mbits/sec\n[  4] 0.0-10.0 sec  1.00 GBytes  880 Mbits/sec\n"),
        &client(5, "[  5] 0.0- 5.0 sec  0.50 GBytes  840 Mbits/sec\n"),
    ]
    .concat();
    let run = &read_repeats("iperf", &text)[0];
    assert_eq!(keys(run), ["iperf.received:protocol=tcp,streams=1"]);
    assert_eq!(run.figures[0].values(), [110e6, 105e6], "intervals are no results, and no client is dropped");
    // A second client while the intervals of the first go on belongs to the same time.
    let text = "Server listening on TCP port 5001\n\
                [  4] local 192.0.2.1 port 5001 connected with 192.0.2.2 port 40001\n\
                [ ID] Interval       Transfer     Bandwidth\n[  4] 0.0- 1.0 sec  100 MBytes  800 Mbits/sec\n\
                [  5] local 192.0.2.1 port 5001 connected with 192.0.2.3 port 40002\n\
                [  4] 1.0- 2.0 sec  100 MBytes  800 Mbits/sec\n[  5] 0.0- 2.0 sec  100 MBytes  400 Mbits/sec\n\
                [  4] 0.0- 2.0 sec  200 MBytes  808 Mbits/sec\n";
    let run = &read_repeats("iperf", text)[0];
    assert!(near(value(run, "iperf.received:protocol=tcp,streams=2,stream=4"), 101e6));
    assert!(near(value(run, "iperf.received:protocol=tcp,streams=2,stream=5"), 50e6));
}

#[test]
fn directions_of_iperf_2_are_not_added_up_nor_turned() {
    let text = |mark: &str, rows: &str| {
        format!(
            "Client connecting to 192.0.2.1, TCP port 5001\n\
             [  1] local 192.0.2.2 port 40001 connected with 192.0.2.1 port 5001{mark} (icwnd/mss/irtt=319/32741/70)\n\
             [ ID] Interval       Transfer     Bandwidth\n{rows}"
        )
    };
    let row = |id: &str, rate: &str| format!("[{id}] 0.0000-1.0001 sec  1.00 GBytes  {rate} Gbits/sec\n");
    let run = &read_as("iperf", &text(" (reverse)", &row(" *1", "8.0")))[0];
    assert!(near(value(run, "iperf.received:protocol=tcp,streams=1,direction=reverse"), 1e9));
    let rows = [row("  1", "8.0"), row(" *1", "4.0"), row("SUM", "12.0")].concat();
    let run = &read_as("iperf", &text(" (full-duplex)", &rows))[0];
    assert!(near(value(run, "iperf.sent:protocol=tcp,streams=1,bidirectional=yes"), 1e9));
    assert!(near(value(run, "iperf.received:protocol=tcp,streams=1,bidirectional=yes,direction=reverse"), 5e8));
    assert_eq!(run.figures.len(), 2, "the sum is the rate of neither direction");
    // The dual test of old versions: what comes in at the port that it listens on is received.
    let text = "Server listening on TCP port 5001\nClient connecting to 192.0.2.1, TCP port 5001\n\
                [  5] local 192.0.2.2 port 40001 connected with 192.0.2.1 port 5001\n\
                [  4] local 192.0.2.2 port 5001 connected with 192.0.2.1 port 40002\n\
                [ ID] Interval       Transfer     Bandwidth\n\
                [  5]  0.0-10.0 sec  1.00 GBytes  800 Mbits/sec\n[  4]  0.0-10.0 sec  0.50 GBytes  400 Mbits/sec\n";
    let run = &read_as("iperf", text)[0];
    assert!(near(value(run, "iperf.sent:protocol=tcp,streams=1,bidirectional=yes"), 100e6));
    assert!(near(value(run, "iperf.received:protocol=tcp,streams=1,bidirectional=yes"), 50e6));
}

#[test]
fn iperf_3_counts_streams_of_one_direction_and_the_servers_copy_once() {
    let row = |id: u32, role: &str, rate: &str, side: &str| {
        format!("[  {id}]{role}   0.00-1.00   sec  1.00 GBytes  {rate} Gbits/sec                  {side}\n")
    };
    let begin = "Connecting to host 192.0.2.1, port 5201\n";
    let text = [
        begin,
        "[ ID][Role] Interval           Transfer     Bitrate         Retr\n",
        &row(5, "[TX-C]", "8.00", "sender"),
        &row(5, "[TX-C]", "7.20", "receiver"),
        &row(7, "[RX-C]", "4.00", "sender"),
        &row(7, "[RX-C]", "3.20", "receiver"),
    ]
    .concat();
    let run = &read_as("iperf", &text)[0];
    assert!(near(value(run, "iperf.received:protocol=tcp,streams=1,bidirectional=yes"), 9e8));
    assert!(near(value(run, "iperf.received:protocol=tcp,streams=1,bidirectional=yes,direction=reverse"), 4e8));
    let heading = "[ ID] Interval           Transfer     Bitrate\n";
    let text = [begin, heading, &row(5, "", "8.00", "receiver"), "\nServer output:\n", "Accepted connection from x\n"];
    let text = [&text.concat(), heading, &row(5, "", "8.00", "receiver"), "\niperf Done.\n"].concat();
    assert_eq!(read_as("iperf", &text)[0].figures[0].values().len().max(1), 1, "one process");
    let jitter = "[  5]   0.00-1.00   sec  1.25 MBytes  10.0 Mbits/sec  0.000 ms  0/900 (0%)  receiver\n";
    let run =
        &read_as("iperf", &[begin, "[ ID] Interval Transfer Bitrate Jitter Lost/Total Datagrams\n", jitter].concat())
            [0];
    assert!(near(bound(run, "iperf.jitter:protocol=udp,streams=1"), 0.5e-6), "0.000 ms is less than half a digit");
}

const START: &str = r#""start": {"version": "iperf 3.12", "test_start": {"protocol": "UDP", "num_streams": 1, "blksize": 1024,
    "reverse": 0, "target_bitrate": 5000000}}"#;
const SENT: &str = r#"{"bits_per_second": 8000.0, "jitter_ms": 0, "lost_percent": 0}"#;
const RECEIVED: &str = r#"{"bits_per_second": 7200.0, "jitter_ms": 0.5, "lost_percent": 10}"#;

#[test]
fn the_sender_of_datagrams_knows_no_jitter() {
    let end = format!(r#""end": {{"sum": {RECEIVED}, "sum_sent": {SENT}, "sum_received": {RECEIVED}}}"#);
    let test = format!("{{\n{START}, \"intervals\": [], {end}\n}}\n");
    let run = &read_repeats("iperf3", &test)[0];
    let at = "protocol=udp,streams=1,block=1KiB,target=5Mbit/s";
    assert!(near(value(run, &format!("iperf3.jitter:{at}")), 0.5e-3));
    assert!(near(value(run, &format!("iperf3.lost:{at}")), 0.1));
    assert_eq!(run.figures.len(), 4, "{:?}", keys(run));
    // Tests that were appended to one file are its launches, and one that failed is told.
    let failed = "{\n\"start\": {}, \"error\": \"unable to connect\"\n}\n";
    let run = &read_repeats("iperf3", &[&test, failed, &test].concat())[0];
    assert_eq!(run.figures[0].values().len(), 2);
    assert!(run.session.notes.iter().any(|note| note.contains("test 2 failed")), "{:?}", run.session.notes);
}

#[test]
fn zeros_of_datagrams_that_were_not_counted_are_no_results() {
    let zeros = |seconds: u32| {
        format!(
            r#"{{"seconds": {seconds}, "bytes": 0, "bits_per_second": 0, "jitter_ms": 0, "lost_packets": 0, "packets": 0,
            "lost_percent": 0}}"#
        )
    };
    let test = |end: &str| format!("{{\n{START}, \"intervals\": [], \"end\": {{{end}}}\n}}\n");
    let broken_off = test(&format!("\"sum\": {}", zeros(0)));
    let error = refused_as("iperf3", &broken_off);
    assert!(error.contains("it counted nothing: the test was broken off"), "{error}");
    // What one end knows is kept, and the other does not say 0 of it.
    let at = "protocol=udp,streams=1,block=1KiB,target=5Mbit/s";
    let one_end = test(&format!("\"sum_sent\": {SENT}, \"sum_received\": {}", zeros(10)));
    let run = &read_repeats("iperf3", &one_end)[0];
    assert!(near(value(run, &format!("iperf3.sent:{at}")), 1000.0));
    assert_eq!(run.figures.len(), 1, "{:?}", keys(run));
    assert!(run.session.notes.iter().any(|note| note.contains("counted no datagram")), "{:?}", run.session.notes);
    // Among several tests it is left out.
    let whole = test(&format!("\"sum_sent\": {SENT}, \"sum_received\": {RECEIVED}"));
    let run = &read_repeats("iperf3", &[&whole[..], &broken_off, &whole].concat())[0];
    assert!(run.session.notes.iter().any(|note| note.contains("test 2 counted nothing")), "{:?}", run.session.notes);
    assert!(near(value(run, &format!("iperf3.received:{at}")), 900.0));
    // All lost is a result.
    let lost =
        r#"{"seconds": 10, "bytes": 0, "bits_per_second": 0, "jitter_ms": 0, "packets": 90, "lost_percent": 100}"#;
    let run = &read_repeats("iperf3", &test(&format!("\"sum_sent\": {SENT}, \"sum_received\": {lost}")))[0];
    assert!(near(value(run, &format!("iperf3.lost:{at}")), 1.0));
}

#[test]
fn lines_of_iperf_3s_stream_are_one_test() {
    let start = START.split_once(": ").unwrap().1.replace('\n', " ");
    let line = |event: &str, data: &str| format!("{{\"event\":\"{event}\",\"data\":{data}}}\n");
    let interval = |rate: u32| line("interval", &format!("{{\"sum\":{{\"bits_per_second\":{rate}.0}}}}"));
    let end = format!("{{\"sum_sent\":{SENT},\"sum_received\":{RECEIVED}}}");
    let text = [line("start", &start), interval(7000), interval(9000), line("end", &end)].concat();
    let run = &read_as("iperf3", &text)[0];
    let at = "protocol=udp,streams=1,block=1KiB,target=5Mbit/s";
    assert!(near(value(run, &format!("iperf3.received:{at}")), 900.0));
    let error = refused_as("iperf3", &[text.clone(), text].concat());
    assert!(error.contains("a further test begins here") && error.contains("line 5"), "{error}");
}

#[test]
fn settings_above_tables_of_message_passing_define_their_figures() {
    let table = |receive: &str, rate: &str| {
        format!(
            "# OSU MPI-CUDA Bandwidth Test v7.2\n# Send Buffer on DEVICE (D) and Receive Buffer on {receive}\n\
             # Size      Bandwidth (MB/s)\n# Datatype: MPI_CHAR.\n8    {rate}\n"
        )
    };
    let run = &read_as("osu", &[table("DEVICE (D)", "4.50"), table("HOST (H)", "2.50")].concat())[0];
    assert!(near(value(run, "osu.cuda_bandwidth:size=8B,buffers=device-device"), 4.5e6));
    assert!(near(value(run, "osu.cuda_bandwidth:size=8B,buffers=device-host"), 2.5e6));
    let mode = |name: &str, time: &str| {
        format!(
            "#\n#    MODE: {name} \n#\n       #bytes #repetitions      t[usec]   Mbytes/sec\n  1024  1000  {time}  100.0\n\n"
        )
    };
    let text = "# Benchmarking Unidir_Put\n# #processes = 2 (threads: 4)\n";
    let text = [text, &mode("AGGREGATE", "2.50"), &mode("NON-AGGREGATE", "9.50")].concat();
    let run = &read_as("imb", &text)[0];
    assert!(near(value(run, "imb.unidir_put:size=1KiB,processes=2,threads=4,mode=aggregate"), 2.5e-6));
    assert!(near(value(run, "imb.unidir_put:size=1KiB,processes=2,threads=4,mode=non-aggregate"), 9.5e-6));
}

#[test]
fn sizes_of_messages_are_no_launches() {
    let run = |size: u32, rate: &str| {
        format!(
            "sockperf: == version #3.7 == \n[ 0] IP = 192.0.2.1  PORT = 11111 # TCP\n\
             sockperf: NOTE: test was performed, using msg-size={size}. For getting maximum throughput consider others\n\
             sockperf: Summary: Message Rate is {size}000 [msg/sec]\nsockperf: Summary: BandWidth is {rate} MBps (1.0 Mbps)\n"
        )
    };
    let runs = &read_as("sockperf", &[run(14, "2.000"), run(1400, "200.000")].concat())[0];
    assert!(near(value(runs, "sockperf.bandwidth:protocol=tcp,message=14B"), 2.0 * 1_048_576.0));
    assert!(near(value(runs, "sockperf.message_rate:protocol=tcp,message=1400B"), 1_400_000.0));
    let latency = "sockperf: == version #3.7 == \nsockperf: Summary: Latency is 5.500 usec\n";
    let runs = &read_as("sockperf", &latency.repeat(2))[0];
    assert!(runs.figures[0].notes.iter().any(|note| note.contains("size of its messages is not printed")));
}

#[test]
fn sizes_of_requests_and_latencies_of_netperf_are_read() {
    let classic = |request: u32, response: u32, rate: &str| {
        format!(
            "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.1 () port 0 AF_INET : first burst 0\n\
             Local /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\n\
             bytes  Bytes  bytes    bytes   secs.    per sec\n\n16384  87380  {request}  {response}  10.00  {rate}\n16384  87380\n"
        )
    };
    let run = &read_as("netperf", &[classic(1, 1, "9000.50"), classic(64, 1024, "7000.50")].concat())[0];
    assert!(near(value(run, "netperf.tcp_request_response"), 9000.5));
    assert!(near(value(run, "netperf.tcp_request_response:request=64B,response=1024B"), 7000.5));
    let text = "OMNI Send|Recv TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.1 () port 0 AF_INET\n\
                THROUGHPUT=5000.00\nTHROUGHPUT_UNITS=Trans/s\nMEAN_LATENCY=200.50\nP50_LATENCY=190\nP99_LATENCY=900\n\
                REQUEST_SIZE=1\nRESPONSE_SIZE=128\n";
    let run = &read_as("netperf", text)[0];
    assert!(near(value(run, "netperf.omni_send_recv_latency:response=128B"), 190e-6));
    assert!(near(value(run, "netperf.omni_send_recv_mean_latency:response=128B"), 200.5e-6));
}

#[test]
fn runs_of_nccl_tests_are_told_apart_by_their_name_or_not_joined() {
    let run = |most: u32, time: &str| {
        format!(
            "# nThread 1 nGpus 2 minBytes 8 maxBytes {most} step: 2(factor) warmup iters: 5 iters: 20 graph: 1\n\
             #   Rank  0 Pid  100 on  box device  0 [0x1b] GPU\n\
             #  size  count  type  redop  time  algbw  busbw  error\n#  (B)  (elements)  (us)  (GB/s)  (GB/s)\n\
             1024  256  float  {time}  1.00  1.50  0e+00\n# Avg bus bandwidth    : 1.500\n"
        )
    };
    let text = [
        "# Collective test starting: all_gather_perf\n",
        &run(1024, "20.50"),
        "# Collective test starting: alltoall_perf\n",
        &run(2048, "40.50"),
    ];
    let runs = &read_as("nccl-tests", &text.concat())[0];
    let at = "size=1KiB,place=out,type=float,ranks=1,graph=yes,collective";
    assert!(near(value(runs, &format!("nccl.time:{at}=all_gather")), 20.5e-6), "{:?}", keys(runs));
    assert!(near(value(runs, &format!("nccl.time:{at}=alltoall")), 40.5e-6));
    let average = "nccl.average_bandwidth:sizes=8B-1KiB,ranks=1,graph=yes,collective=all_gather";
    assert!(near(value(runs, average), 1.5e9), "{:?}", keys(runs));
    // Without a name they may be of different collectives.
    let runs = &read_as("nccl-tests", &[run(1024, "20.50"), run(1024, "40.50")].concat())[0];
    assert!(
        near(value(runs, "nccl.time:size=1KiB,place=out,type=float,ranks=1,graph=yes"), 20.5e-6),
        "{:?}",
        keys(runs)
    );
}

#[test]
fn output_that_mpirun_tagged_is_read_like_any_other() {
    for name in ["nccl-tests.txt", "osu.txt"] {
        let plain = text(name);
        let tagged: String = plain.split_inclusive('\n').map(|line| format!("[1,0]<stdout>:{line}")).collect();
        let of = |text: &str| import("x", text.as_bytes(), None, &Catalogue::default()).unwrap().remove(0);
        let (plain, tagged) = (of(&plain), of(&tagged));
        assert!(plain.figures.len() > 2 && tagged.figures == plain.figures, "{name}: {:?}", keys(&tagged));
        assert_eq!(tagged.origin.unwrap().tool, plain.origin.unwrap().tool);
    }
}

#[test]
fn a_table_of_nvbandwidth_has_the_name_of_its_sum_or_none() {
    let table = "nvbandwidth Version: v0.8\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n      0     1\n 0  N/A  25.50\n";
    let run = &read_as("nvbandwidth", &format!("{table}\nSUM copy_ce 25.50\n"))[0];
    assert!(near(value(run, "nvbandwidth.copy_ce:row=0,column=1"), 25.5e9), "{:?}", keys(run));
    let error = refused_as("nvbandwidth", table);
    assert!(error.contains("no line says which test") && error.contains("line 2"), "{error}");
}

#[test]
fn hosts_of_netperf_over_ipv6_are_no_launches() {
    let test = |family: &str, host: &str, rate: &str| {
        format!(
            "MIGRATED TCP REQUEST/RESPONSE TEST from ::0 (::) port 0 {family} to {host} () port 0 {family} : first burst 0\n\
             Local /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\n\
             bytes  Bytes  bytes    bytes   secs.    per sec\n\n16384  131072 1        1       10.00    {rate}\n16384  131072\n"
        )
    };
    let text =
        [test("AF_INET6", "a", "5000.50"), test("AF_INET6", "b", "9000.50"), test("AF_INET", "a", "7000.50")].concat();
    let run = &read_as("netperf", &text)[0];
    for (point, rate) in [("peer=a,family=ipv6", 5000.5), ("peer=b,family=ipv6", 9000.5), ("peer=a", 7000.5)] {
        assert!(near(value(run, &format!("netperf.tcp_request_response:{point}")), rate), "{point}: {:?}", keys(run));
    }
}
