//! Twenty planted defects, each with two faults beside it that lower nothing.

use check::{CheckVerdict, MachineCheck, PublicTable, check};
use model::{FactValue, Run, TakenTime};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::made::{context, healthy, number, put, slower, text};

/// A defect: its name, its plant, the beginning of the id of a row that it lowers, and the cause or a part of the note.
type Defect = (&'static str, fn(&mut Run), &'static str, &'static str);

const DEFECTS: [Defect; 20] = [
    ("CPU quota", |run| number(&mut run.machine, "cgroup.cpus", 6.0), "cpu.online", "cgroup CPU limit"),
    ("cpuset", |run| number(&mut run.machine, "cgroup.cpuset_cpus", 4.0), "cpu.online", "number of threads"),
    (
        "one NUMA node bound",
        |run| {
            text(&mut run.machine, "confinement.memory_nodes", "0");
            slower(run, "memory.triad", 1.9);
            slower(run, "memory.read", 1.9);
        },
        "memory.triad",
        "NUMA nodes",
    ),
    ("a slow core", |run| slower(run, "cpu.core_loop:cpu=5", 1.3), "cpu.core_loop", "slowest: core 5"),
    (
        "half the memory channels",
        |run| {
            number(&mut run.machine, "memory.channels", 4.0);
            slower(run, "memory.triad", 2.0);
            slower(run, "memory.read", 2.0);
        },
        "memory.triad",
        "memory channels and modules",
    ),
    (
        "memory at a lower speed",
        |run| {
            number(&mut run.machine, "memory.speed", 1.866e9);
            slower(run, "memory.triad", 1.7);
            slower(run, "memory.read", 1.7);
        },
        "memory.triad",
        "memory channels and modules",
    ),
    (
        "PCIe x4 of x16",
        |run| number(&mut run.machine, "pcie.0000_41_00_0.width", 4.0),
        "pcie.0000_41",
        "the link of a PCI Express device",
    ),
    (
        "100 Mb/s link",
        |run| number(&mut run.machine, "network.eth0.speed", 12.5e6),
        "network.eth0",
        "the network interface",
    ),
    (
        "half duplex",
        |run| text(&mut run.machine, "network.eth0.duplex", "half"),
        "network.eth0",
        "the network interface",
    ),
    ("MTU", |run| number(&mut run.machine, "network.eth0.mtu", 1500.0), "network.eth0", "the network interface"),
    (
        "governor powersave",
        |run| {
            text(&mut run.machine, "cpu.governor", "powersave");
            slower(run, "cpu.clock", 2.0);
            slower(run, "cpu.", 2.0);
        },
        "cpu.clock",
        "frequency and boost limits",
    ),
    (
        "turbo off",
        |run| {
            put(&mut run.machine, "cpu.boost", FactValue::Truth(false));
            slower(run, "cpu.arithmetic", 1.3);
            slower(run, "cpu.core_loop", 1.3);
        },
        "cpu.arithmetic",
        "frequency and boost limits",
    ),
    (
        "throttled clock",
        |run| {
            number(&mut run.machine, "cpu.core_throttled", 812.0);
            slower(run, "cpu.clock", 2.5);
            slower(run, "cpu.arithmetic", 2.5);
        },
        "cpu.clock",
        "heat",
    ),
    (
        "swap in use",
        |run| {
            number(&mut run.machine, "memory.swap_free", 1e9);
            slower(run, "memory.load_latency", 2.0);
        },
        "memory.load_latency",
        "swapping",
    ),
    (
        "full file system",
        |run| {
            number(&mut run.machine, "filesystem.target.free", 1e10);
            slower(run, "file.fsync", 4.0);
        },
        "file.fsync",
        "a full file system",
    ),
    (
        "hpet",
        |run| {
            text(&mut run.machine, "clock.source", "hpet");
            slower(run, "os.clock_read", 40.0);
        },
        "os.clock_read",
        "clock source",
    ),
    (
        "huge pages off",
        |run| {
            text(&mut run.machine, "memory.transparent_huge_pages", "never");
            slower(run, "memory.load_latency", 1.6);
        },
        "memory.load_latency",
        "huge pages",
    ),
    (
        "mitigations changed",
        |run| {
            text(&mut run.machine, "mitigation.retbleed", "Mitigation: untrained return thunk");
            slower(run, "os.syscall_getppid", 3.0);
        },
        "os.syscall_getppid",
        "retpolines and other indirect branch mitigations",
    ),
    (
        "an I/O limit",
        |run| {
            number(&mut run.machine, "cgroup.limited_disks", 1.0);
            slower(run, "file.fsync", 6.0);
        },
        "file.fsync",
        "a limit on disk I/O",
    ),
    (
        "a noisy neighbour",
        |run| {
            run.session.conditions.others = Some(TakenTime { seconds: 4.0, of: 10.0 });
            run.session.conditions.cpus = Some(16);
            slower(run, "memory.triad", 2.0);
        },
        "memory.triad",
        "other processes used 40%",
    ),
];

/// Two faults that are there and lower nothing: of the disk beside defects elsewhere, else of the clock and the memory.
fn decoys(run: &mut Run, name: &str) {
    if ["full file system", "an I/O limit"].contains(&name) {
        text(&mut run.machine, "clock.source", "acpi_pm");
        number(&mut run.machine, "memory.corrected_errors", 5000.0);
    } else {
        number(&mut run.machine, "disk.md0.missing_members", 1.0);
        number(&mut run.machine, "interrupts.busiest_cpu", 0.97);
    }
}

fn checked(run: &Run, peers: &[Run]) -> MachineCheck {
    let peers: Vec<&Run> = peers.iter().collect();
    check(run, &context(&peers, &PublicTable::default()))
}

#[test]
fn twenty_planted_defects_are_found_with_their_causes() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let peers: Vec<Run> = (0..12).map(|_| healthy(&mut random)).collect();
    let mut wrong = Vec::new();
    println!("| defect | row | verdict | first cause or note | rivals | decoys |\n|---|---|---|---|---|---|");
    for (name, plant, id, expected) in DEFECTS {
        let mut run = healthy(&mut random);
        plant(&mut run);
        decoys(&mut run, name);
        let found = checked(&run, &peers);
        let row = found.rows.iter().find(|row| row.id.starts_with(id)).unwrap();
        let causes: Vec<&str> = row.causes.iter().map(|cause| cause.title.as_str()).collect();
        let first = causes.first().copied().unwrap_or(&row.note);
        println!(
            "| {name} | {} | {} | {first} | {} | {} apart |",
            row.title,
            row.verdict.word(),
            causes.len().saturating_sub(1),
            found.look.len()
        );
        let named = causes.contains(&expected) || row.note.contains(expected);
        let verdict = if name == "a noisy neighbour" { CheckVerdict::Busy } else { CheckVerdict::Low };
        // The decoys are worth a look, and no low row has them as a cause.
        let blamed = found.low().flat_map(|row| &row.causes).any(|cause| {
            ["a degraded array", "interrupts on one CPU", "memory errors"].contains(&cause.title.as_str())
        });
        if !named || row.verdict != verdict || blamed || found.look.len() < 2 {
            wrong.push(format!("{name}: {row:#?} {:?}", found.look));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_fault_without_effect_is_worth_a_look_and_no_cause() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let peers: Vec<Run> = (0..12).map(|_| healthy(&mut random)).collect();
    let mut run = healthy(&mut random);
    decoys(&mut run, "");
    text(&mut run.machine, "clock.source", "hpet");
    let found = checked(&run, &peers);
    assert_eq!((found.low().count(), found.look.len()), (0, 3), "{:?}", found.look);
    // What is low without any such fact has no cause, and says what to measure next.
    slower(&mut run, "os.context_switch", 3.0);
    let found = checked(&run, &peers);
    let row = found.low().next().unwrap();
    assert!(row.causes.is_empty() && row.note.contains("no known cause") && row.note.contains("next: "), "{row:?}");
}

#[test]
fn disturbed_and_sparse_measurements_are_never_low() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let peers: Vec<Run> = (0..12).map(|_| healthy(&mut random)).collect();
    let spoil: [fn(&mut model::BenchmarkResult); 3] = [
        |result| result.flags.push(model::Flag::Steal),
        |result| result.flags.push(model::Flag::Noisy),
        |result| {
            if let model::Outcome::Measured(estimate) = &mut result.outcome {
                estimate.samples = 7;
            }
        },
    ];
    for spoil in spoil {
        let mut run = healthy(&mut random);
        slower(&mut run, "memory.load_latency", 3.0);
        spoil(run.results.iter_mut().find(|result| result.benchmark == "memory.load_latency").unwrap());
        let found = checked(&run, &peers);
        let row = found.rows.iter().find(|row| row.id.starts_with("memory.load_latency")).unwrap();
        assert!(row.verdict == CheckVerdict::Busy && !row.note.is_empty(), "{row:?}");
    }
}

#[test]
fn more_than_the_parts_can_do_is_a_measuring_fault() {
    let mut random = ChaCha8Rng::seed_from_u64(10);
    let mut run = healthy(&mut random);
    slower(&mut run, "memory.triad", 0.5);
    let found = checked(&run, &[]);
    let row = found.rows.iter().find(|row| row.id.starts_with("memory.triad")).unwrap();
    assert_eq!(row.verdict, CheckVerdict::Impossible, "{row:?}");
    // Without peers, limits and symmetry remain; the others have no expectation.
    let call = found.rows.iter().find(|row| row.id == "os.syscall_getppid").unwrap();
    assert_eq!((call.verdict, &call.expected), (CheckVerdict::NoExpectation, &None));
}
