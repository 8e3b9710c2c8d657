//! What tools of memory print in their corners: settings, missing averages, times of few digits.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{estimate, keys, named, near, noted, read_as, read_repeats, refused_as, value};

const MIB: f64 = 1_048_576.0;

fn mbw(method: &str, rates: &[&str], average: Option<&str>) -> String {
    let line = |begin: &str, rate: &str| {
        format!("{begin}\tMethod: {method}\tElapsed: 0.00100\tMiB: 8.00000\tCopy: {rate} MiB/s\n")
    };
    let copies: String = rates.iter().enumerate().map(|(at, rate)| line(&at.to_string(), rate)).collect();
    copies + &average.map_or(String::new(), |rate| line("AVG", rate))
}

#[test]
fn copies_of_mbw_without_an_average_are_averaged_by_their_times() {
    let begin = "Long uses 8 bytes. Allocating 2*1048576 elements = 16777216 bytes of memory.\n\
                 Getting down to business... Doing 2 runs per test.\n";
    let text =
        [begin, &mbw("MEMCPY", &["1000.000", "3000.000"], None), &mbw("DUMB", &["500.000", "500.000"], None)].concat();
    let run = &read_as("mbw", &text)[0];
    let copy = estimate(run, "mbw.memcpy:array=8MiB");
    assert!(near(copy.value, 1500.0 * MIB) && near(copy.high, 3000.0 * MIB), "each method by itself: {copy:?}");
    let error = refused_as("mbw", &[begin, &mbw("MEMCPY", &["1000.000"], None)].concat());
    assert!(error.contains("its last method has no average at line 3"), "{error}");
}

#[test]
fn blocks_and_quiet_processes_of_mbw_stand_apart() {
    let begin = "Long uses 8 bytes. Allocating 2*1048576 elements = 16777216 bytes of memory.\n\
                 Using 4096 bytes as blocks for memcpy block copy test.\n";
    let block = |rate: &str| mbw("MCBLOCK", &[rate], Some(rate));
    let run = &read_as("mbw", &[begin, &block("4000.000"), &block("8000.000")].concat())[0];
    assert!(near(value(run, "mbw.mcblock:array=8MiB,block=4096B"), 4000.0 * MIB));
    assert!(near(value(run, "mbw.mcblock:array=8MiB"), 8000.0 * MIB), "a process with -q does not state its blocks");
}

#[test]
fn times_with_few_digits_do_not_contradict_their_rate() {
    let table = |least: &str| {
        let row = |name: &str, rate: &str| format!("{name}  {rate}  0.0008  {least}  0.0010\n");
        format!(
            "Array size = 1000000, Offset = 0\nFunction      Rate (MB/s)   Avg time     Min time     Max time\n{}{}{}{}",
            row("Copy:", "22000.0"),
            row("Scale:", "22000.0"),
            row("Add:", "33000.0"),
            row("Triad:", "33000.0")
        )
    };
    let run = &read_as("stream", &table("0.0007"))[0];
    let copy = named(run, "memory.copy");
    assert!(near(value(run, &copy.key().to_string()), 16e6 / 0.0008));
    assert!(copy.rounding.is_some_and(|rounding| near(rounding, 0.00005 / 0.0008)), "{:?}", copy.rounding);
    let run = &read_as("stream", &table("0.0000"))[0];
    assert!(near(value(run, "stream.copy_best:working_set=15625KiB"), 22e9), "no time, no average: {:?}", keys(run));
    assert!(refused_as("stream", &table("0.0020")).contains("contradict each other"));
}

#[test]
fn babelstream_is_read_with_its_new_lines_units_and_as_csv() {
    let table = |unit: &str| {
        format!(
            "BabelStream\nVersion: 5.0\nImplementation: OpenMP\nRunning kernels 100 times\nPrecision: double\n\
             Init: 0.076713 s (=10498.2 MBytes/sec)\nRead: 0.000713 s (=10498.2 MBytes/sec)\n\
             Function    {unit}  Min (sec)   Max         Average     \n\
             Copy        10000.000   0.01000     0.02000     0.01250     \n"
        )
    };
    let key = "babelstream.copy:model=OpenMP,precision=double";
    assert!(near(value(&read_as("babelstream", &table("MBytes/sec"))[0], key), 8e9));
    assert!(near(value(&read_as("babelstream", &table("MiBytes/sec"))[0], key), 8000.0 * MIB));
    let csv = "function,num_times,n_elements,sizeof,max_mbytes_per_sec,min_runtime,max_runtime,avg_runtime\n\
               Triad,100,1000,4,10000.0,0.01,0.02,0.0125\n";
    let run = &read_as("babelstream", csv)[0];
    assert!(near(value(run, "babelstream.triad:precision=float,elements=1000"), 8e9));
    assert!(refused_as("babelstream", &csv.replace(",4,", ",3,")).contains("neither 4 nor 8 bytes"));
    let short = table("MBytes/sec").replace("0.01000 ", "0.00000 ");
    let run = &read_as("babelstream", &short)[0];
    assert!(near(value(run, "babelstream.copy_best:model=OpenMP,precision=double"), 1e10), "no rate of no time");
}

#[test]
fn devices_threads_and_memory_of_babelstream_are_no_launches() {
    let process = |more: &str, rate: u32| {
        format!(
            "BabelStream\nVersion: 5.0\nImplementation: CUDA\nRunning kernels 100 times\nPrecision: double\n{more}\
             Function    MBytes/sec  Min (sec)   Max         Average     \n\
             Copy        {rate}.000   0.01000     0.01000     0.01000     \n"
        )
    };
    let key = "babelstream.copy:model=CUDA,precision=double";
    let device = |name: &str| format!("Using CUDA device {name}\nDriver: 11040\n");
    let two = [process(&device("GPU A"), 40_000), process(&device("GPU B"), 20_000)].concat();
    let run = &read_repeats("babelstream", &two)[0];
    assert!(near(value(run, &format!("{key},device=GPU A")), 40e9), "{:?}", keys(run));
    assert!(near(value(run, &format!("{key},device=GPU B")), 20e9));
    let one = &read_repeats("babelstream", &process(&device("GPU A"), 40_000).repeat(2))[0];
    assert_eq!(
        (named(one, "babelstream.copy").values().len(), one.machine.text("device.model").as_deref()),
        (2, Some("GPU A"))
    );
    let wrong = process("Validation failed on sum. Error 3.5e-06\n", 4000);
    assert!(noted(&read_repeats("babelstream", &wrong)[0], "reports wrong results: Validation failed on sum"));
}
