//! The real program on a machine of several packages and NUMA nodes, in a guest under an emulator: plans and bindings,
//! not speed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

use crate::common::Place;

/// Runs a script in the guest; `None`, said aloud, where no guest can be had.
fn in_guest(place: &Place, script: &str) -> Option<String> {
    std::fs::write(place.file("script"), script).unwrap();
    let output = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/labs/numa.sh"))
        .args(["run", place.file("script").to_str().unwrap()])
        .env("PROGRAM", env!("CARGO_BIN_EXE_prony"))
        .env("LAB", place.file("lab"))
        .env("LIMIT", "1200")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success()
        && ["could not install", "no apt-get", "knows Debian's kernel"].iter().any(|e| said.contains(e))
    {
        testing::skip!("{}", said.trim());
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_guest_of_two_nodes_measures_every_pair_of_them() {
    if !testing::slow("a machine of two packages and two NUMA nodes is emulated; recorded machines stand for it") {
        return;
    }
    let place = Place::new();
    let named = [
        "node_latency:working_set=4MiB",
        "node_bandwidth:working_set=16MiB",
        "node_loaded_latency:cpu_node=0,memory_node=1",
        "core_pair",
    ];
    let asked: Vec<String> = named.iter().map(|name| format!("--benchmark memory.{name}")).collect();
    // An emulator takes long for every process: a round or two show where everything ran and lay. A loaded host needs
    // more time for them.
    let script = format!(
        "for limit in 120 480; do
            prony run {} --target 90 --time-limit $limit --max-samples 8 --no-rulers --no-store --quiet --output run.json >&2
            grep -q 'the run ended before it ' run.json || break
        done
        tr -d '\\n' <run.json; echo\n",
        asked.join(" ")
    );
    let Some(said) = in_guest(&place, &script) else { return };
    let run = model::parse_run(said.trim()).unwrap();
    let machine = run.machine.topology.as_ref().unwrap();
    assert_eq!((machine.counts(), machine.nodes.len()), ((2, 4, 8), 2));
    assert_eq!(machine.nodes[0].distances, [10, 21]);
    let of = |benchmark: &str| run.results.iter().filter(|result| result.benchmark == benchmark).collect::<Vec<_>>();
    for (benchmark, pairs) in
        [("memory.node_latency", 4), ("memory.node_bandwidth", 4), ("memory.node_loaded_latency", 1)]
    {
        assert_eq!(of(benchmark).len(), pairs, "{benchmark}: two nodes from two nodes");
    }
    let pairs = of("memory.core_pair");
    assert_eq!(pairs.len(), 6, "every two of four cores");
    for result in run.results.iter().filter(|result| result.benchmark.starts_with("memory.")) {
        // A sample with memory on another node would have been refused. On a loaded host the emulator may let a stream
        // starve, which its result notices.
        let measured = result.samples.iter().filter(|sample| sample.invalid.is_none()).count();
        let starved = matches!(&result.outcome, model::Outcome::Failed(reason) if reason.contains("should stream"));
        assert!(measured > 0 || starved, "{}: {:?}", result.key(), result.outcome);
        let asked = result.samples.iter().flat_map(|sample| &sample.placement.asked).map(|cpu| *cpu as usize);
        match result.parameters.count("cpu_node") {
            Ok(node) => {
                let cpus = &machine.nodes[node as usize].cpus;
                assert!(asked.into_iter().all(|cpu| cpus.contains(cpu)), "{}", result.key());
            }
            Err(_) => {
                let named = ["cpu", "other"].map(|parameter| result.parameters.count(parameter).unwrap() as usize);
                assert!(asked.into_iter().all(|cpu| named.contains(&cpu)), "{}", result.key());
                let packages = named.map(|cpu| machine.package(cpu).unwrap().number);
                let relation = if packages[0] == packages[1] { "same_cache" } else { "other_package" };
                assert_eq!(result.parameters.get("relation"), Some(relation), "{}", result.key());
            }
        }
    }
}

#[test]
fn control_groups_of_version_2_are_kept_and_named() {
    if !testing::slow("a machine with control groups of version 2 is emulated; recorded containers stand for it") {
        return;
    }
    let place = Place::new();
    let script = "mount -t cgroup2 none /sys/fs/cgroup
        echo '+memory +pids +cpuset' >/sys/fs/cgroup/cgroup.subtree_control
        mkdir /sys/fs/cgroup/box && cd /sys/fs/cgroup/box
        echo 209715200 >memory.max; echo 9 >pids.max; echo 0-3 >cpuset.cpus; echo $$ >cgroup.procs
        cd /tmp
        prony doctor --format json | tr -d '\\n'; echo
        asked='--benchmark memory.copy:threads=1,stores=normal --benchmark os.context_switch:processes=16,working_set=0B --benchmark os.clock_read'
        prony run $asked --target 90 --time-limit 120 --max-samples 8 --no-rulers --no-store --quiet --output run.json >&2
        tr -d '\\n' <run.json; echo
        grep oom_kill /sys/fs/cgroup/box/memory.events\n";
    let Some(said) = in_guest(&place, script) else { return };
    let lines: Vec<&str> = said.lines().collect();
    let doctor: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    let doctor = doctor.to_string();
    for words in ["4 of 8 may be used, by the cpuset of its control group", "permits 200 MiB", "permits 9 processes"] {
        assert!(doctor.contains(words), "{words}: {doctor}");
    }
    let run = model::parse_run(lines[1]).unwrap();
    let reason = |benchmark: &str| {
        let result = run.results.iter().find(|result| result.benchmark == benchmark).unwrap();
        match &result.outcome {
            model::Outcome::NotMeasured(reason) | model::Outcome::Failed(reason) => reason.clone(),
            _ => String::new(),
        }
    };
    assert!(reason("memory.copy").contains("it needs 256 MiB of memory"), "{}", reason("memory.copy"));
    let refused = reason("os.context_switch");
    assert!(refused.contains("a control group permits 9 processes and threads"), "{refused}");
    assert!(run.result(&model::ResultKey::new("os.clock_read", model::Parameters::none())).unwrap().samples.len() > 1);
    assert_eq!(lines[2], "oom_kill 0");
}

/// The laboratory of programs for aarch64; `None`, said aloud, where it cannot be.
fn on_arm(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/labs/arm.sh")).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("arm.sh: needs") || said.contains("arm.sh: this kernel cannot") {
        testing::skip!("{}", said.trim());
        return None;
    }
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}: {out}{said}");
    Some(out)
}

#[test]
fn on_aarch64_the_kernels_are_what_they_declare_and_documents_are_read_on_both() {
    if !testing::slow("the program is built for aarch64 and emulated") {
        return;
    }
    let place = Place::new();
    if on_arm(&["build"]).is_none() {
        return;
    }
    let Some(kernels) = on_arm(&["kernels"]) else { return };
    assert!(kernels.contains("machine_code::") && kernels.contains("0 failed"), "{kernels}");
    let there = place.file("there.json");
    let (there, store) = (there.to_str().unwrap(), place.file("there.sqlite"));
    let quick = format!(
        "PRONY_STORE={} \"$PROGRAM\" run --suite quick --max-samples 8 --target 90 --quiet --directory {} --output {there}",
        store.display(),
        place.path().display(),
    );
    // A busy machine needs more time for the same.
    let within = format!(
        "for limit in 60 400; do {quick} --time-limit $limit; code=$?
        grep -q 'the run ended before it ' {there} || break; done; exit $code"
    );
    on_arm(&["run", "bash", "-c", &within]).unwrap();
    let run = model::parse_run(&std::fs::read_to_string(there).unwrap()).unwrap();
    let measured = run.results.iter().filter(|result| !result.samples.is_empty()).count();
    // Emulation on a busy machine may not come to the last ones in time.
    assert!(measured >= 8, "{measured} of {} results were measured", run.results.len());
    assert_eq!(run.machine.text("cpu.architecture").as_deref(), Some("aarch64"));
    // A document of each architecture is read by the program of the other.
    let here = Place::with_a_run();
    here.ask(&["show", there]).fine();
    let ours = here.file("a.json");
    let said = on_arm(&["run", "bash", "-c", &format!("\"$PROGRAM\" show {}", ours.display())]).unwrap();
    assert!(said.contains("null system call"), "{said}");
}
