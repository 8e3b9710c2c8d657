//! Reports of SPEC CPU in their three forms, and what runs print themselves.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{import_fixture, keys, near, noted, read_as, refused_as, unread, value};
use model::{Better, Unit};

#[test]
fn three_forms_of_one_report_of_spec_agree() {
    let forms = ["spec-cpu-invalid.csv", "spec-cpu-invalid.txt", "spec-cpu-invalid.rsf"];
    let [table, text, raw] = forms.map(|file| import_fixture(file).remove(0));
    for run in [&table, &text, &raw] {
        assert_eq!(keys(run), keys(&table), "nothing of what is coded is a figure, nor is a benchmark that failed");
        for figure in &table.figures {
            let key = figure.key().to_string();
            // The text has three digits, and says so.
            let rounding = run.figures.iter().find(|other| other.key() == figure.key()).unwrap().rounding.unwrap();
            assert!((value(run, &key) / value(&table, &key) - 1.0).abs() <= rounding, "{key}: {rounding}");
        }
        assert_eq!(run.session.started, "2021-03-20T17:50:30Z", "the moment, and not the first of the month");
        assert_eq!(run.origin.as_ref().unwrap().version.as_deref(), Some("1.0.5"));
        let facts: Vec<String> =
            run.machine.facts.iter().map(|fact| format!("{} {:?}", fact.name, fact.value)).collect();
        for (name, expected) in [
            ("cpu.model", Some("Example CPU rev 7")),
            ("memory.kind", Some("15.5 GB")),
            ("os.name", Some("Example Linux 18.5 LTS 4.14.150-example")),
            ("compiler", Some("C/C++/Fortran: Version 8.5.0 of the Example Compiler Collection")),
            ("cache.l2", Some("512 KB I+D on chip per core")),
            ("file_system.type", Some("nfs4")),
            ("system.vendor", None),
            ("system.model", None),
            ("cpu.enabled", None),
            ("cache.l3", None),
        ] {
            assert_eq!(run.machine.text(name).as_deref(), expected, "{name}: {facts:?}");
        }
        assert_eq!((run.machine.number("cpu.clock.max"), run.machine.number("cpu.clock")), (Some(2.5e9), None));
        for words in [
            "invalid by SPEC's rules",
            "no iteration succeeded of 628.pop2_s (base: CE)",
            "pointers: \
         64-bit",
        ] {
            assert!(noted(run, words), "{words}: {:?}", run.session.notes);
        }
        assert!(!noted(run, "the day is not stated") && !noted(run, "Not Applicable"));
    }
    assert_eq!(keys(&table).len(), 3);
    assert!(near(value(&raw, "spec_cpu.specspeed2017_fp_base"), 19.70912), "the raw file does not name it");
    assert_eq!([&table, &text].map(|run| run.machine.name.as_str()), ["box7"; 2], "an empty model is no name");
    assert!(raw.machine.name.starts_with("unnamed"));
    assert!(noted(&table, "estimates") && noted(&text, "estimates") && noted(&text, "the report's notes"));
    assert!(table.session.command.contains(&"--noreportable".to_owned()));
}

#[test]
fn raw_files_of_spec_tell_rates_from_speeds_and_need_a_ratio() {
    let text = |mode: &str, metric: &str, ratio: &str| {
        let edition = if metric.ends_with("2006") { "2006" } else { "2017" };
        format!(
            "spec.cpu{edition}.runmode: {mode}\nspec.cpu{edition}.metric: {metric}\nspec.cpu{edition}.peakmean: \
             10.5\n\
             spec.cpu{edition}.results.500_perlbench_r.peak.000.ratio: {ratio}\n\
             spec.cpu{edition}.results.500_perlbench_r.peak.000.copies: 4\n\
             spec.cpu{edition}.results.500_perlbench_r.peak.000.energy: 99.5\n"
        )
    };
    for (mode, metric, expected) in [
        ("rate", "CINT2017", "spec_cpu.specrate2017_int_peak"),
        ("speed", "CFP2006", "spec_cpu.specfp2006"),
        ("rate", "CINT2006", "spec_cpu.specint_rate2006"),
    ] {
        let run = &read_as("spec-cpu", &text(mode, metric, "10.5"))[0];
        assert!(near(value(run, expected), 10.5), "{:?}", keys(run));
    }
    assert!(near(
        value(
            &read_as("spec-cpu", &text("rate", "CINT2017", "9.5"))[0],
            "spec_cpu.500_perlbench_r:tuning=peak,copies=4"
        ),
        9.5
    ));
    assert_eq!(unread("spec-cpu", &text("rate", "CINT2017", "9.5")), 1, "energy is not read, and told");
    assert!(refused_as("spec-cpu", &text("rate", "CINT2017", "--")).contains("no ratio and no time of any iteration"));
    let energy = crate::common::text("spec-cpu.csv").replace("Base Selected", "Base Energy (kJ)");
    assert!(noted(&read_as("spec-cpu", &energy)[0], "columns that are not read: Base Energy (kJ)"));
}

#[test]
fn runs_of_spec_without_the_inputs_of_the_reference_have_times() {
    let printed = crate::common::text("spec-cpu-screen.txt");
    let run = &import_fixture("spec-cpu-screen.txt")[0];
    let expected = [
        "spec_cpu.401_bzip2:tuning=base",
        "spec_cpu.401_bzip2_time:tuning=base,input=train",
        "spec_cpu.433_milc_time:tuning=base,input=train",
        "spec_cpu.462_libquantum_time:tuning=base,input=train",
    ];
    assert_eq!(
        {
            let mut keys = keys(run);
            keys.sort();
            keys
        },
        expected,
        "no runs of other inputs are launches of one figure"
    );
    for (key, seconds) in [(expected[1], 45.25), (expected[2], 7.52), (expected[3], 0.0451)] {
        assert!(near(value(run, key), seconds), "{key}");
    }
    assert!(near(value(run, expected[0]), 21.5));
    let times = run.figures.iter().filter(|figure| figure.key().to_string().contains("_time"));
    assert!(times.clone().all(|figure| figure.metric.better == Better::Lower && figure.metric.unit == Unit::Seconds));
    assert!(noted(run, "estimates") && noted(run, "ratios are of the reference's inputs alone"));
    assert!(noted(run, "label of the build: example-gcc"), "{:?}", run.session.notes);
    // The same run again is another occurrence, not a launch: nothing says that its settings were the same.
    let twice = &read_as("spec-cpu", &format!("{printed}{printed}"))[0];
    assert_eq!((keys(twice).len(), twice.figures[0].launches.len()), (8, 1), "{:?}", keys(twice));
}

#[test]
fn times_stand_in_raw_files_and_tables_of_spec_too() {
    let raw = "spec.cpu2017.size: test (test)\n\
               spec.cpu2017.runmode: speed\n\
               spec.cpu2017.results.605_mcf_s.base.000.ratio: --\n\
               spec.cpu2017.results.605_mcf_s.base.000.reported_time: 12.502749\n\
               spec.cpu2017.results.605_mcf_s.base.000.valid: S\n\
               spec.cpu2017.results.605_mcf_s.base.001.ratio: --\n\
               spec.cpu2017.results.605_mcf_s.base.001.reported_time: --\n\
               spec.cpu2017.results.605_mcf_s.base.001.valid: RE\n\
               spec.cpu2017.results.605_mcf_s.base.001.threads: 2\n\
               spec.cpu2017.results.605_mcf_s.base.000.threads: 2\n";
    let table = "\"SPEC CPU2017 Integer Speed Result\"\n\n\"Full Results Table\"\n\n\
                 Benchmark,\"Base # Threads\",\"Est. Base Run Time\",\"Est. Base Ratio\",\"Base Selected\",\
                 \"Base Status\",Description\n\
                 605.mcf_s,2,12.502749,,0,S,\"test(test) iteration #1\"\n\
                 605.mcf_s,2,,,0,RE,\"test(test) iteration #2\"\n";
    for text in [raw, table] {
        let run = &read_as("spec-cpu", text)[0];
        assert_eq!(keys(run), ["spec_cpu.605_mcf_s_time:tuning=base,input=test,threads=2"], "{text}");
        assert!(near(value(run, &keys(run)[0]), 12.502749));
        let told = format!("{:?}", run.figures[0]);
        assert!(told.contains("1 iterations did not succeed"), "{told}");
    }
    // Systems of two reports would be mixed, and what follows notes is taken for notes.
    let notes = format!("{table}\n\"General Notes\"\n\n\"words\"\n");
    for text in [raw.repeat(2), notes.repeat(2), crate::common::text("spec-cpu.txt").repeat(2)] {
        assert!(refused_as("spec-cpu", &text).contains("another report begins here"));
    }
}
