//! Every format on a fixture: detection, ids, values, spread, provenance.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common;

use crate::common::{estimate, fixtures, import_fixture, named, near, value};
use common::import;
use import::{Error, detect, formats};
use model::{Better, Catalogue, EstimateMethod, FigureKey, Outcome, Unit, parse_run, render_run};

#[test]
fn every_format_has_a_fixture_and_is_detected() {
    let fixtures = fixtures();
    for format in formats() {
        let own: Vec<_> = fixtures.iter().filter(|fixture| fixture.format == format.name).collect();
        assert!(!own.is_empty(), "{} has no fixture", format.name);
        for fixture in own {
            assert_eq!(detect(&fixture.file, &fixture.bytes).unwrap().name, format.name, "{}", fixture.file);
        }
        assert!(!format.about.is_empty() && !format.tool.is_empty());
    }
    assert_eq!(fixtures.iter().filter(|fixture| fixture.format.is_empty()).count(), 0);
}

/// People tell the rows of a table by titles and points: ids alone do not tell two figures apart.
#[test]
fn no_two_figures_of_a_run_look_the_same() {
    let mut alike = Vec::new();
    for fixture in fixtures() {
        for run in import(&fixture.file, &fixture.bytes, None, &Catalogue::default()).unwrap() {
            let mut seen = std::collections::HashMap::new();
            for figure in run.figures {
                let shown = (figure.title, figure.point.to_string(), figure.metric.unit, figure.metric.per);
                if let Some(other) = seen.insert(shown, figure.probe.clone()) {
                    alike.push(format!("{}: {other} and {}", fixture.file, figure.probe));
                }
            }
        }
    }
    assert!(alike.is_empty(), "{alike:#?}");
}

#[test]
fn runs_are_valid_documents_with_their_provenance() {
    for fixture in fixtures() {
        let runs = import(&fixture.file, &fixture.bytes, None, &Catalogue::default()).unwrap();
        let mut ids = std::collections::HashSet::new();
        for run in &runs {
            assert!(ids.insert(&run.id), "{}", run.id);
            assert_eq!(&parse_run(&render_run(run).unwrap()).unwrap(), run, "{}", fixture.file);
            if ["prony", "tidy-csv"].contains(&fixture.format.as_str()) {
                continue;
            }
            let origin = run.origin.as_ref().unwrap();
            assert_eq!(origin.document.as_deref(), Some(fixture.file.as_str()));
            assert_eq!(origin.sha256.as_ref().unwrap().len(), 64);
            assert!(run.id.starts_with(&format!("{}-{}", fixture.format, &origin.sha256.as_ref().unwrap()[..12])));
            for figure in &run.figures {
                if matches!(figure.outcome, Outcome::Below { bound } if bound > 0.0) {
                    continue;
                }
                let Outcome::Measured(estimate) = &figure.outcome else {
                    panic!("{} {:?}", figure.key(), figure.outcome)
                };
                assert!(figure.key().point.get("occurrence").is_none(), "{} twice in {}", figure.key(), fixture.file);
                // A spread that was not stated is absent, and never zero at a level.
                if estimate.low == estimate.high {
                    assert_eq!(estimate.level, 0.0, "{} of {}", figure.key(), fixture.file);
                }
                if estimate.method == EstimateMethod::OrderStatistic {
                    assert_eq!(figure.launches.len(), estimate.launches as usize);
                }
            }
        }
        assert_eq!(import(&fixture.file, &fixture.bytes, Some(&fixture.format), &Catalogue::default()).unwrap(), runs);
    }
}

#[test]
fn memory_tools_keep_their_counting_of_bytes() {
    let run = &import_fixture("stream.txt")[0];
    let copy = estimate(run, "memory.copy:working_set=512MiB,threads=1");
    let bytes = 2.0 * 8.0 * 33_554_432.0;
    assert!(near(copy.value, bytes / 0.0625) && near(copy.low, bytes / 0.1) && near(copy.high, bytes / 0.05));
    assert_eq!((copy.method, copy.level, copy.launches, copy.batches), (EstimateMethod::Range, 0.0, 1, 10));
    assert!(near(value(run, "memory.triad:working_set=768MiB,threads=1"), 1.5 * bytes / 0.063));
    assert_eq!(run.origin.as_ref().unwrap().version.as_deref(), Some("5.10"));

    let run = &import_fixture("babelstream.txt")[0];
    let dot = estimate(run, "babelstream.dot:model=OpenMP,precision=double,array=268.4MB");
    assert!(near(dot.value, 30e9 * 0.01789 / 0.0185) && dot.batches == 100);
    let run = &import_fixture("ramspeed.txt")[0];
    assert!(near(value(run, "memory.write:working_set=1KiB,width=integer"), 16e9));
    assert!(near(value(run, "memory.read:working_set=4KiB,width=double"), 20_000.5e6));
    assert!(near(value(run, "ramspeed.sse_nt_writing:block=4KiB"), 9e9));
    assert!(near(value(run, "ramspeed.triad:kind=integer"), 7.3e9));
    let run = &import_fixture("mbw.txt")[0];
    let copy = estimate(run, "mbw.memcpy:array=16MiB");
    assert!(
        copy.method == EstimateMethod::Range && copy.low < copy.value && copy.value < copy.high && copy.batches == 3
    );
    let run = &import_fixture("likwid-bench.txt")[0];
    assert!(near(value(run, "likwid_bench.bandwidth:kernel=triad,working_set=999936B,threads=2"), 147_056.41e6));
}

#[test]
fn lmbench_figures_get_the_probes_ids() {
    let run = &import_fixture("lmbench.txt")[0];
    assert_eq!(run.machine.name, "box");
    assert_eq!(run.session.started, "2026-11-21T02:00:00Z");
    assert_eq!(run.machine.number("cpu.clock"), Some(2.6e9));
    for (key, expected) in [
        ("os.syscall_getppid", 0.05e-6),
        ("os.syscall_write", 0.1e-6),
        ("lmbench.simple_read", 0.09e-6),
        ("os.select:descriptors=100,kind=file", 1.5e-6),
        ("ipc.pipe_latency:placement=free", 5e-6),
        ("os.fork_exec:linking=dynamic,program=hello", 400e-6),
        ("ipc.pipe_bandwidth:block=64KiB", 3e9),
        ("os.mmap:size=512KiB", 10e-6),
        ("file.create:size=10KiB", 50_000.0),
        ("file.delete:size=0B", 200_000.0),
        ("memory.read:working_set=8MiB", 10e9),
        ("os.context_switch:processes=8,working_set=0B,placement=free", 2e-6),
        ("memory.load_latency_strided:working_set=512B,stride=128B", 1.5e-9),
        ("memory.load_latency:working_set=8MiB", 90e-9),
    ] {
        assert!(near(value(run, key), expected), "{key}");
        assert_eq!(estimate(run, key).method, EstimateMethod::None);
    }
    let run = &import_fixture("lmbench-summary.txt")[0];
    for (key, expected) in [
        ("os.context_switch:processes=2,working_set=16KiB,placement=free", 11.3e-6),
        ("os.context_switch:processes=8,working_set=16KiB,placement=free", 14.4e-6),
        ("os.context_switch:processes=16,working_set=64KiB,placement=free", 15.0e-6),
        ("file.create:size=0B", 80_000.0),
        ("os.mmap", 111.5e-3),
        ("memory.load_latency", 140e-9),
    ] {
        assert!(near(value(run, key), expected), "{key}");
    }
    assert!(
        run.figure(&FigureKey::new(
            "os.context_switch",
            "processes=2,working_set=64KiB,placement=free".parse().unwrap()
        ))
        .is_none()
    );
}

#[test]
fn byte_tests_get_the_probes_ids_with_one_copy_only() {
    let runs = import_fixture("unixbench.txt");
    assert_eq!(runs.len(), 2);
    assert!(near(value(&runs[0], "cpu.dhrystone:registers=yes"), 3e7));
    assert!(near(value(&runs[0], "os.exec:linking=dynamic"), 1.0 / 5000.0), "a rate becomes a time per exec");
    assert!(near(value(&runs[0], "file.copy:buffer=1KiB,durability=none"), 1_024_000_000.0));
    assert!(near(value(&runs[0], "shell.script:concurrent=8,placement=free"), 20.0));
    assert!(near(value(&runs[0], "unixbench.index"), 1800.5));
    assert!(near(value(&runs[1], "unixbench.dhrystone_2_using_register_variables:copies=2"), 6e7));
    assert_eq!(estimate(&runs[0], "os.exec:linking=dynamic").launches, 2);
    let run = &import_fixture("byte4.txt")[0];
    assert!(near(value(run, "cpu.arithmetic:type=overhead"), 7e6));
    assert!(near(value(run, "shell.compile:program=small,placement=free"), 10.0));
    assert!(near(value(run, "file.read:seconds=10"), 1.024e9));
    assert!(near(value(run, "cpu.hanoi"), 5e4));
}

#[test]
fn intervals_keep_their_stated_level() {
    let run = &import_fixture("netperf.txt")[0];
    let stream = estimate(run, "netperf.tcp_stream:message=16384B");
    assert!(near(stream.value, 1e9) && near(stream.low, 0.975e9) && near(stream.high, 1.025e9));
    assert_eq!((stream.method, stream.level), (EstimateMethod::Stated, 0.99));
    let request = estimate(run, "netperf.tcp_request_response");
    assert!(near(request.value, 50_000.0) && request.method == EstimateMethod::None);
    assert!(near(value(run, "netperf.udp_stream:message=65507B"), 5e8));
    assert!(near(value(run, "netperf.udp_stream_received:message=65507B"), 4.95e8));
    let run = &import_fixture("netperf-omni.csv")[0];
    let omni = estimate(run, "netperf.tcp_request_response");
    assert!(near(omni.low, 9_800.0) && near(omni.high, 10_200.0) && omni.batches == 3);
    assert!(near(value(run, "netperf.tcp_request_response_latency"), 95e-6));
    let run = &import_fixture("netperf-keyval.txt")[0];
    let keyval = estimate(run, "netperf.omni_send_recv");
    assert!(near(keyval.low, 0.975e9) && keyval.level == 0.95);

    let run = &import_fixture("criterion.json")[0];
    let figure = named(run, "criterion.time");
    let estimate = figure.outcome.estimate().unwrap();
    assert_eq!((estimate.method, estimate.level, estimate.launches), (EstimateMethod::Stated, 0.95, 1));
    assert!(near(estimate.value, 100e-9) && near(estimate.high, 102e-9) && figure.launches.is_empty());
    assert!(figure.notes.iter().any(|note| note.contains("one process")));
    // What the terminal prints is in the file too.
    let own = |text: &str| {
        let run = &common::read_as("criterion", text)[0];
        assert_eq!(run.figures.len(), 2);
        let figure = named(run, "criterion.slope_or_mean");
        let estimate = figure.outcome.estimate().unwrap();
        (estimate.value * 1e9, estimate.low * 1e9, estimate.high * 1e9, figure.notes.join("; "))
    };
    let mut file = common::text("criterion.json");
    let (value_, low, high, notes) = own(&file);
    assert!(
        near(value_, 101.0) && near(low, 99.0) && near(high, 103.0) && notes.contains("the mean, since"),
        "{notes}"
    );
    let slope = r#""slope":{"confidence_interval":{"confidence_level":0.95,"lower_bound":97.0,"upper_bound":98.0},"point_estimate":97.5}"#;
    assert!(file.contains("\"slope\":null"));
    file = file.replace("\"slope\":null", slope);
    let (value_, low, high, notes) = own(&file);
    assert!(
        near(value_, 97.5) && near(low, 97.0) && near(high, 98.0) && notes.contains("the slope of time"),
        "{notes}"
    );
    let run = &import_fixture("criterion.txt")[0];
    assert_eq!(run.figures.len(), 2);
    assert!(near(value(run, "criterion.slope_or_mean:benchmark=sort/with a long name that fills the line"), 2.1e-3));
    let figure = named(run, "criterion.slope_or_mean");
    assert!(figure.notes.iter().any(|note| note.contains("does not say which")), "{:?}", figure.notes);
    let mut message = common::text("criterion-messages.json");
    assert!(message.contains("\"median\":{"));
    message = message.replace("\"median\":{", "\"other\":{");
    let run = &common::read_as("criterion", &message)[0];
    assert!(near(value(run, "criterion.slope_or_mean:benchmark=sort/short"), 12.5e-9), "without the median");
    let run = &import_fixture("criterion-messages.json")[0];
    assert!(near(value(run, "criterion.time:benchmark=sort/short"), 12.4e-9));
    assert!(near(value(run, "criterion.slope_or_mean:benchmark=sort/short"), 12.5e-9), "beside the median");
    let run = &import_fixture("criterion-sample.json")[0];
    assert_eq!(named(run, "criterion.time").outcome.estimate().unwrap().method, EstimateMethod::Range);
}

#[test]
fn only_fresh_processes_become_launches() {
    let run = &import_fixture("hyperfine.json")[0];
    let figure = named(run, "hyperfine.time");
    let estimate = figure.outcome.estimate().unwrap();
    assert_eq!((figure.launches.len(), estimate.launches), (8, 8));
    assert!(estimate.level > 0.5 && estimate.low < estimate.high, "at the level that eight executions support");
    let run = &import_fixture("hep-benchmark-suite.json")[0];
    let figure = named(run, "hep.workload");
    assert_eq!(figure.values(), [100.0, 103.0, 101.0], "runs are in their order, run10 last");
    let estimate = figure.outcome.estimate().unwrap();
    assert_eq!(
        (estimate.value, estimate.low, estimate.high, estimate.method),
        (101.0, 100.0, 103.0, EstimateMethod::Range)
    );
    assert!((estimate.level - 0.75).abs() < 0.26, "three executions support little: {}", estimate.level);
    let run = &import_fixture("spec-cpu.csv")[0];
    let base =
        run.figure(&FigureKey::new("spec_cpu.500_perlbench_r", "tuning=base,copies=4".parse().unwrap())).unwrap();
    assert_eq!(base.values(), [10.0, 9.8, 9.6]);
    let peak =
        run.figure(&FigureKey::new("spec_cpu.500_perlbench_r", "tuning=peak,copies=4".parse().unwrap())).unwrap();
    assert_eq!(peak.values(), [10.5, 10.3], "a failed iteration is excluded");
    let runs = import_fixture("phoronix.xml");
    assert_eq!(runs.iter().map(|run| run.machine.name.as_str()).collect::<Vec<_>>(), ["box A", "box B"]);
    let build = named(&runs[0], "phoronix.build_x");
    assert_eq!((build.metric.better, build.metric.unit, build.values().len()), (Better::Lower, Unit::Seconds, 3));
    assert_eq!(named(&runs[0], "phoronix.compress_7zip").title, "7-Zip & friends");
    assert_eq!(runs[1].figures.len(), 1, "a test without a value gives no figure");
    let run = &import_fixture("google-benchmark.json")[0];
    let figure = named(run, "google_benchmark.real_time");
    let estimate = figure.outcome.estimate().unwrap();
    assert!(
        near(estimate.value, 11e-6) && estimate.level == 0.0 && estimate.batches == 3 && figure.launches.is_empty()
    );
    assert!(near(value(run, "google_benchmark.bytes:benchmark=BM_Copy"), 5e9));
}

#[test]
fn other_formats_are_read() {
    let run = &import_fixture("coremark.txt")[0];
    assert!(near(value(run, "coremark.iterations"), 25_000.5));
    let run = &import_fixture("hpcg.txt")[0];
    assert!(near(value(run, "hpcg.flops:processes=4,threads=1"), 2.25e9));
    let run = &import_fixture("hpl.txt")[0];
    assert_eq!(run.figures.len(), 1, "a result with a failed residual is excluded");
    assert!(near(value(run, "hpl.flops:variant=WR11C2R4,n=10000,nb=192,p=1,q=2"), 5e10));
    assert!(run.session.notes[0].contains("failed its residual check"));
    let run = &import_fixture("osu.txt")[0];
    let latency = estimate(run, "osu.allreduce_latency:size=4B");
    assert!(near(latency.value, 46.87e-6) && latency.method == EstimateMethod::Range && latency.level == 0.0);
    assert!(near(value(run, "osu.bandwidth:size=1KiB"), 161.7e6));
    let run = &import_fixture("stress-ng.yaml")[0];
    let figure = named(run, "stress_ng.bogo_ops");
    assert!(
        figure.point.get("version").is_some() && figure.notes.iter().any(|note| note.contains("must not be compared"))
    );
    let runs = import_fixture("sysbench.txt");
    let latency = named(&runs[0], "sysbench.latency");
    assert!(latency.quantiles.len() == 3 && runs[0].origin.as_ref().unwrap().version.as_deref() == Some("1.0.20"));
    let run = &import_fixture("sockperf.txt")[0];
    assert!(named(run, "sockperf.latency").quantiles.len() >= 10);
    let run = &import_fixture("fio.json")[0];
    assert!(named(run, "fio.read_latency").quantiles.len() > 10);
    assert!(named(run, "fio.write_latency").notes[0].contains("single operations of one run"));
    let run = &import_fixture("iperf3.json")[0];
    let sent = named(run, "iperf3.sent").outcome.estimate().unwrap();
    assert_eq!((sent.method, sent.level), (EstimateMethod::Range, 0.0));
    let run = &import_fixture("perf-bench.txt")[0];
    assert_eq!(named(run, "perf_bench.sched_pipe").metric.unit, Unit::Seconds);
    let run = &import_fixture("7zip.txt")[0];
    assert!(value(run, "seven_zip.rating:dictionaries=16,threads=1") > 1e9);
}

#[test]
fn the_catalogue_defines_known_ids() {
    let catalogue = Catalogue {
        probes: vec![model::ProbeDescription {
            id: "os.context_switch".to_owned(),
            title: "Switch between processes".to_owned(),
            about: String::new(),
            metric: model::Metric::lower(Unit::Seconds, "switch"),
            class: model::Class::Ipc,
            stresses: vec![model::Primitive::ContextSwitch],
            sources: Vec::new(),
            axes: vec![model::AxisDescription {
                name: "working_set".to_owned(),
                values: vec!["0".to_owned(), "16KiB".to_owned()],
                usual: vec!["0".to_owned()],
            }],
        }],
    };
    let bytes = common::fixture("lmbench.txt");
    let run = import("lmbench.txt", &bytes, None, &catalogue).unwrap().remove(0);
    assert_eq!(run.figures[0].title, "Switch between processes", "figures stand in the catalogue's order");
    assert_eq!(run.figures[0].point.get("working_set"), Some("0"), "points take the catalogue's spelling");
}

#[test]
fn undetected_formats_are_refused_in_one_line() {
    let nothing = import("x.txt", b"hello\n", None, &Catalogue::default()).unwrap_err().to_string();
    assert!(nothing.contains("could not tell what wrote x.txt") && !nothing.contains('\n'));
    let mut mixed = common::fixture("stream.txt");
    mixed.extend(common::fixture("sysbench.txt"));
    let error = import("x.txt", &mixed, None, &Catalogue::default()).unwrap_err();
    assert!(matches!(&error, Error::Ambiguous { formats, .. } if formats == "stream and sysbench"), "{error}");
    assert_eq!(import("x.txt", &mixed, Some("stream"), &Catalogue::default()).unwrap()[0].figures.len(), 4);
    let unknown = import("x.txt", b"", Some("excel"), &Catalogue::default()).unwrap_err().to_string();
    assert!(unknown.contains("'excel'") && unknown.contains("sysbench"));
    let minutes = b"# Running sched/pipe benchmark...\n     Total time: 2.250 [min]\n";
    let minutes = import("x.txt", minutes, Some("perf-bench"), &Catalogue::default()).unwrap_err().to_string();
    assert!(minutes.contains("the unit of this time is not known at line 2"), "{minutes}");
    let empty = import("x.txt", b"", Some("stream"), &Catalogue::default()).unwrap_err().to_string();
    assert!(empty.contains("ends before any figure"), "{empty}");
}

#[test]
fn truncated_files_name_the_position() {
    for (file, cut, expected) in [
        ("stream.txt", "Triad:", "its table lacks some of the four kernels at line"),
        ("fio.json", "\"clat_ns\"", "EOF while parsing"),
        ("hpl.txt", "||Ax-b||", "has no residual check at line 6"),
        ("7zip.txt", "Tot:", "has no line of totals"),
        ("sysbench.txt", "Latency (ms)", "the run that begins here has no latency at line 1"),
        ("unixbench.txt", "System Benchmarks Index Score", "has no index score at line 8"),
        ("osu.txt", "   20.65", "the row has 2 values and its heading 5 at line 3"),
        ("phoronix.xml", "</Entry>", "it ends inside <Entry> at line"),
        ("netperf-omni.csv", "10000.00", "the test that begins here has no result"),
        ("mbw.txt", "2\tMethod: MEMCPY", "its last method has no average at line"),
        ("tidy-csv.csv", "9.9e-8", "the row and the heading differ in length at line 2"),
        ("prony.json", "\"outcome\"", "cut off"),
        ("ping.txt", "rtt min", "the run that begins here has no summary at line 1"),
        ("nuttcp.txt", " 2500.0000", "the transfer of this interval has no last line at line 2"),
        ("core-to-core-latency.csv", "49.5", "its table ends after 3 of 4 rows at line 3"),
        ("mkl-linpack.txt", "1000   1000", "it ends before any figure at line"),
    ] {
        let text = common::text(file);
        let text = &text[..text.find(cut).unwrap()];
        let error = import(file, text.as_bytes(), None, &Catalogue::default()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("line ") && !error.contains('\n'), "{file}: {error}");
    }
}

/// Programs that sort members, and those that keep none in order, put the schema anywhere.
#[test]
fn documents_of_this_program_are_known_by_their_members_in_any_order() {
    let (bytes, plain) = (common::fixture("prony.json"), import_fixture("prony.json"));
    let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let sorted = serde_json::to_string(&document).unwrap();
    assert!(!sorted.starts_with("{\"schema\""), "{sorted}");
    let spread = serde_json::to_string_pretty(&document).unwrap();
    let list = format!("[\n{sorted},\n{}]", sorted.replace("\"r1\"", "\"r2\""));
    let lines = format!("{sorted}\n{}\n", sorted.replace("\"r1\"", "\"r2\""));
    for (text, count) in [(&sorted, 1), (&spread, 1), (&list, 2), (&lines, 2)] {
        let runs = import("x", text.as_bytes(), None, &Catalogue::default()).unwrap();
        assert_eq!((runs.len(), &runs[0]), (count, &plain[0]));
    }
    // Behind megabytes of figures too.
    let long = sorted.replacen("\"figures\":[", &format!("\"figures\":[{}", " ".repeat(1 << 20)), 1);
    assert_eq!(detect("x", long.as_bytes()).unwrap().name, "prony");
    let other = sorted.replace("\"schema\":1", "\"schema\":\"https://example.org\"");
    assert!(matches!(detect("x", other.as_bytes()), Err(Error::Unrecognised { .. })));
    for nothing in ["", "\u{feff}", " \r\n\n"] {
        assert!(matches!(detect("x", nothing.as_bytes()), Err(Error::Empty { .. })), "{nothing:?}");
    }
}
