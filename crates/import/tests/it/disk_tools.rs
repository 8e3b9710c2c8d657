//! What tools of files print in their corners: directions, times instead of rates, several documents in one file.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{estimate, import_fixture, keys, near, read_as, read_repeats, refused_as, text, unread, value};

fn job(name: &str, bandwidth: u32, more: &str) -> String {
    format!(
        r#"{{"jobname": "{name}", "error": 0, {more} "read": {{"io_bytes": 4096, "bw": 4, "bw_bytes": {bandwidth}, "iops": 1.5}}}}"#
    )
}

fn document(timestamp: u32, list: &str, jobs: &[String]) -> String {
    format!(
        "{{\n  \"fio version\" : \"fio-3.33\", \"timestamp\" : {timestamp},\n  \"{list}\" : [{}]\n}}\n",
        jobs.join(", ")
    )
}

#[test]
fn documents_of_fio_in_one_file_are_processes_and_its_states_are_not() {
    let first = document(1000, "jobs", &[job("a", 1000, "\"elapsed\": 10,")]);
    let again = document(2000, "jobs", &[job("a", 3000, "\"elapsed\": 10,")]);
    let run =
        &read_repeats("fio", &["fio: a warning\n", &first, &again, "\na: (groupid=0, jobs=1): err= 0\n"].concat())[0];
    let key = "fio.read_bandwidth:job=a";
    assert_eq!((estimate(run, key).launches, run.figures[0].values()), (2, vec![1000.0, 3000.0]));
    // With --status-interval, the same run is stated again and again.
    let later = document(1005, "jobs", &[job("a", 2000, "\"elapsed\": 15,")]);
    let run = &read_repeats("fio", &[&first[..], &later].concat())[0];
    assert!(near(value(run, key), 2000.0) && estimate(run, key).launches == 1);
    let started = |bandwidth| document(1000, "jobs", &[job("a", bandwidth, "\"job_start\": 77, \"elapsed\": 10,")]);
    let run = &read_repeats("fio", &[started(1000), started(4000)].concat())[0];
    assert!(near(value(run, key), 4000.0));
}

#[test]
fn fio_reads_the_servers_of_a_client_and_directions_together() {
    let host = |name: &str, bandwidth| job("a", bandwidth, &format!("\"hostname\": \"{name}\","));
    let run = &read_as("fio", &document(1000, "client_stats", &[host("n1", 1000), host("n2", 2000)]))[0];
    assert!(near(value(run, "fio.read_bandwidth:job=a,host=n2"), 2000.0), "{:?}", keys(run));
    let run = &read_as("fio", &document(1000, "jobs", &[job("a", 1000, "").replace("\"read\"", "\"mixed\"")]))[0];
    assert!(near(value(run, "fio.mixed_operations:job=a"), 1.5));
}

#[test]
fn fio_on_the_terminal_keeps_jobs_blocks_and_hosts_apart() {
    let begin = "a: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 8192B-8192B, (T) 4096B-4096B, ioengine=libaio, iodepth=4\nfio-3.33\n";
    let result = |jobs: u32, pid: u32, rate: u32| {
        format!(
            "a: (groupid=0, jobs={jobs}): err= 0: pid={pid}: Tue Nov 24 23:07:24 2026\n\
             \x20 read: IOPS=10, BW={rate}KiB/s (1kB/s)(2048KiB/32msec)\n  write: IOPS=10, BW={rate}KiB/s (1kB/s)(2048KiB/32msec)\n"
        )
    };
    let run = &read_as("fio-text", &[begin, &result(1, 7, 1), begin, &result(2, 8, 2)].concat())[0];
    let at = "job=a,rw=randrw,ioengine=libaio,iodepth=4";
    assert!(near(value(run, &format!("fio.read_bandwidth:{at},bs=4096B")), 1024.0), "{:?}", keys(run));
    assert!(near(value(run, &format!("fio.write_bandwidth:{at},bs=8192B,numjobs=2")), 2048.0));
    // All jobs are stated again, those of the same processes: their later state.
    let both = |rate: u32| [result(1, 7, rate), result(1, 8, rate).replace("a:", "b:")].concat();
    let run = &read_as("fio-text", &[begin, &both(1), &both(3), &both(5)].concat())[0];
    assert!(near(value(run, &format!("fio.read_bandwidth:{at},bs=4096B")), 5120.0), "{:?}", keys(run));
    assert!(near(value(run, "fio.read_bandwidth:job=b"), 5120.0) && run.figures.len() == 8, "{:?}", keys(run));
    let run = &read_as("fio-text", &[begin, &result(1, 7, 1), &result(1, 7, 3)].concat())[0];
    assert!(near(value(run, &format!("fio.read_bandwidth:{at},bs=4096B")), 3072.0));
    assert_eq!(run.figures.len(), 4);
    let hosts =
        ["<n1> a: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\n<n1>\n", &result(1, 7, 1), "<n2>\n"];
    let all = result(2, 0, 3).replace("a: (", "All clients: (");
    let run = &read_as("fio-text", &[&hosts.concat(), &result(1, 7, 2)[..], &all].concat())[0];
    assert!(near(value(run, "fio.read_bandwidth:job=All clients,numjobs=2"), 3072.0), "{:?}", keys(run));
    assert!(near(value(run, "fio.read_bandwidth:job=a,host=n2,rw=read,bs=4K,ioengine=sync,iodepth=1"), 2048.0));
    let mixed = result(1, 7, 1).replace("  read:", "  mixed:");
    assert!(keys(&read_as("fio-text", &mixed)[0]).iter().any(|key| key == "fio.mixed_bandwidth:job=a"));
}

const MDTEST: &str = "mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)\n\
                      Command line used: ./mdtest '-n' '10' '-w' '3901' '-u'\n2 tasks, 20 files\n\n";

#[test]
fn times_of_mdtest_are_no_rates() {
    let table = |summary: &str, value: &str| {
        format!(
            "SUMMARY {summary}: (of 3 iterations)\n   Operation                Max       Min      Mean   Std Dev\n\
             \x20  ---------                ---       ---      ----   -------\n   File creation   9.000  2.000  {value}  0.500\n"
        )
    };
    let at = "tasks=2,nodes=1,files=20,written=3901B,directories=one a task";
    let both = [MDTEST, &table("time (in ms/op)", "4.000"), &table("rate (in ops/sec)", "5.500")].concat();
    let run = &read_as("mdtest", &both)[0];
    assert!(near(value(run, &format!("mdtest.file_creation:{at}")), 5.5), "{:?}", keys(run));
    // Whatever its heading says, its times are those of all operations.
    assert!(run.figures.len() == 1, "{:?}", keys(run));
    // Until 4.0 the heading of times named no unit of theirs.
    let old = [MDTEST, &table("time", "4.000"), &table("rate", "5.500")].concat();
    let run = &read_as("mdtest", &old)[0];
    assert!(near(value(run, &format!("mdtest.file_creation:{at}")), 5.5) && run.figures.len() == 1, "{:?}", keys(run));
    // Before 2.0 the summary did not say what it is of, and its iterations count all the same.
    let old = [MDTEST, &table("", "5.500").replace("SUMMARY :", "SUMMARY:")].concat();
    assert!(near(estimate(&read_as("mdtest", &old)[0], &format!("mdtest.file_creation:{at}")).low, 2.0));
}

#[test]
fn iterations_of_mdtest_stand_beside_its_ranks() {
    let text = format!(
        "{MDTEST}SUMMARY rate: (of 2 iterations)\n\
         \x20  Operation         per Rank: Max       Min      Mean       per Iteration: Max      Min     Mean     Std Dev\n\
         \x20  Directory stat              900.0     100.0    500.0      300.5      100.5   200.5    10.0\n"
    );
    let stat = estimate(
        &read_as("mdtest", &text)[0],
        "mdtest.directory_stat:tasks=2,nodes=1,files=20,written=3901B,directories=one a task",
    );
    assert!(near(stat.value, 200.5) && near(stat.high, 300.5), "{stat:?}");
}

#[test]
fn the_order_of_accesses_defines_a_rate_of_ior() {
    let run = |order: &str, kind: &str, rate: &str| {
        format!(
            "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\nOptions:\ntype                : {kind}\nordering in a file  : {order}\n\
             Operation   Max(MiB)   Min(MiB)  Mean(MiB)  #Tasks  segcnt\nwrite  {rate}  {rate}  {rate}  4  16\n"
        )
    };
    let text = [run("sequential", "independent", "100.50"), run("random", "collective", "20.50")].concat();
    let run = &read_as("ior", &text)[0];
    assert!(near(value(run, "ior.write:tasks=4,segments=16"), 100.5 * 1_048_576.0), "{:?}", keys(run));
    assert!(near(value(run, "ior.write:tasks=4,segments=16,order=random,type=collective"), 20.5 * 1_048_576.0));
}

#[test]
fn phases_of_elbencho_are_read_until_their_last_thread() {
    let run = &import_fixture("elbencho.txt")[0];
    let of = |id: &str, operation: &str, axes: &str| value(run, &format!("elbencho.{id}:operation={operation},{axes}"));
    let large = "threads=96,block=1m,size=16g,direct=yes,hosts=node[1;3]";
    assert!(near(of("throughput", "write", large), 30_000.0 * 1_048_576.0), "the last column: {:?}", keys(run));
    assert!(near(of("iops", "write", large), 30_000.0) && near(of("time", "write", large), 125.75));
    assert!(near(of("throughput", "read", large), 40_000.0 * 1_048_576.0));
    let small = "threads=8,dirs=0,files=1250";
    assert!(near(of("files", "write", small), 16_978.0) && near(of("time", "write", small), 0.588));
    let latency = run.figures.iter().find(|figure| figure.probe == "elbencho.files_latency").unwrap();
    let quantiles: Vec<f64> = latency.quantiles.iter().map(|found| found.estimate.value).collect();
    assert_eq!(quantiles.len(), 4, "least, two percentiles and greatest");
    assert!(near(quantiles[1], 512e-6) && near(quantiles[3], 14.5e-3));
    assert_eq!(run.session.started, "2026-11-21T02:00:00Z");
    let text = text("elbencho.txt");
    assert_eq!(unread("elbencho", &text), 0);
    assert!(
        refused_as("elbencho", &text.replace("FIRST DONE   LAST", "FIRST   LAST")).contains("is not known at line 3")
    );
    assert!(refused_as("elbencho", &text.replacen("2m5.750s", "2x", 1)).contains("'2x' is no time at line 5"));
    assert!(refused_as("elbencho", &text.replacen("33000       30000", "33000", 1)).contains("two values at line 6"));
    let cut = &text[..text.find("WRITE").unwrap()];
    assert!(refused_as("elbencho", cut).contains("ends before any figure"));
}
