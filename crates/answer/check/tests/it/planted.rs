//! Twenty planted defects, each with two faults beside it that lower nothing.

use check::{CheckContext, CheckRow, CheckVerdict, MachineCheck, PublicTable, check};
use model::{Run, TakenTime};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::made::{context, healthy, put, slower};

/// A defect a line: its name; the facts that it sets and the results that it slows down by a factor; the beginning of the
/// id of a row that it lowers; and the cause, or a part of the note.
const DEFECTS: &str = "\
CPU quota; cgroup.cpus=6; cpu.online; cgroup CPU limit
cpuset; cgroup.cpuset_cpus=4; cpu.online; number of threads
one NUMA node bound; confinement.memory_nodes=0, memory.triad*1.9, memory.read*1.9; memory.triad; NUMA nodes
a slow core; cpu.core_loop:cpu=5*1.3; cpu.core_loop; slowest: core 5
half the memory channels; memory.channels=4, memory.triad*2, memory.read*2; memory.triad; memory channels and modules
memory at a lower speed; memory.speed=1.866e9, memory.triad*1.7, memory.read*1.7; memory.triad; memory channels and modules
PCIe x4 of x16; pcie.0000_41_00_0.width=4; pcie.0000_41; the link of a PCI Express device
100 Mb/s link; network.eth0.speed=12.5e6; network.eth0; the network interface
half duplex; network.eth0.duplex=half; network.eth0; the network interface
MTU; network.eth0.mtu=1500; network.eth0; the network interface
governor powersave; cpu.governor=powersave, cpu.*2; cpu.clock; frequency and boost limits
turbo off; cpu.boost=no, cpu.arithmetic*1.3, cpu.core_loop*1.3; cpu.arithmetic; frequency and boost limits
throttled clock; cpu.core_throttled=812, cpu.clock*2.5, cpu.arithmetic*2.5; cpu.clock; heat
swap in use; memory.swap_free=1e9, memory.load_latency*2; memory.load_latency; swapping
full file system; filesystem.target.free=1e10, file.fsync*4; file.fsync; a full file system
hpet; clock.source=hpet, os.clock_read*40; os.clock_read; clock source
huge pages off; memory.transparent_huge_pages=never, memory.load_latency*1.6; memory.load_latency; huge pages
mitigations changed; mitigation.retbleed=Mitigation: untrained return thunk, os.syscall_getppid*3; os.syscall_getppid; \
retpolines and other indirect branch mitigations
an I/O limit; cgroup.limited_disks=1, file.fsync*6; file.fsync; a limit on disk I/O
a noisy neighbour; memory.triad*2; memory.triad; other processes used 40%";

/// Sets the facts and slows the results of a list.
fn plant(run: &mut Run, list: &str) {
    for word in list.split(", ") {
        match word.rsplit_once('*') {
            Some((begins, factor)) => slower(run, begins, factor.parse().unwrap()),
            None => put(&mut run.machine, word),
        }
    }
}

/// Two faults that are there and lower nothing: of the disk beside defects elsewhere, else of the clock and the memory.
const DECOYS: [&str; 2] =
    ["disk.md0.missing_members=1, interrupts.busiest_cpu=0.97", "clock.source=acpi_pm, memory.corrected_errors=5000"];

/// Twelve healthy machines, and one more.
fn fleet(seed: u64) -> (Vec<Run>, Run) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let peers = (0..12).map(|_| healthy(&mut random)).collect();
    (peers, healthy(&mut random))
}

fn checked(run: &Run, peers: &[Run]) -> MachineCheck {
    let peers: Vec<&Run> = peers.iter().collect();
    check(run, &context(&peers, &PublicTable::default()))
}

fn row<'a>(found: &'a MachineCheck, begins: &str) -> &'a CheckRow {
    found.rows.iter().find(|row| row.id.starts_with(begins)).unwrap()
}

#[test]
fn twenty_planted_defects_are_found_with_their_causes() {
    let (peers, healthy) = fleet(7);
    let mut wrong = Vec::new();
    println!("| defect | row | verdict | first cause or note | rivals | decoys |\n|---|---|---|---|---|---|");
    assert_eq!(DEFECTS.lines().count(), 20);
    for line in DEFECTS.lines() {
        let [name, list, id, expected] = *line.split("; ").collect::<Vec<_>>() else { panic!("{line}") };
        let mut run = healthy.clone();
        plant(&mut run, list);
        plant(&mut run, DECOYS[usize::from(id == "file.fsync")]);
        let mut verdict = CheckVerdict::Low;
        if name == "a noisy neighbour" {
            run.session.conditions.others = Some(TakenTime { seconds: 4.0, of: 10.0 });
            run.session.conditions.cpus = Some(16);
            verdict = CheckVerdict::Busy;
        }
        let found = checked(&run, &peers);
        let row = row(&found, id);
        let causes: Vec<&str> = row.causes.iter().map(|cause| cause.title.as_str()).collect();
        let first = causes.first().copied().unwrap_or(&row.note);
        let (rivals, apart) = (causes.len().saturating_sub(1), found.look.len());
        println!("| {name} | {} | {} | {first} | {rivals} | {apart} apart |", row.title, row.verdict.word());
        let named = causes.contains(&expected) || row.note.contains(expected);
        // The decoys are worth a look, and no low row has them as a cause.
        let decoys = ["a degraded array", "interrupts on one CPU", "memory errors"];
        let blamed = found.low().flat_map(|row| &row.causes).any(|cause| decoys.contains(&cause.title.as_str()));
        if !named || row.verdict != verdict || blamed || apart < 2 {
            wrong.push(format!("{name}: {row:#?} {:?}", found.look));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_fault_without_effect_is_worth_a_look_and_no_cause() {
    let (peers, mut run) = fleet(8);
    plant(&mut run, DECOYS[0]);
    plant(&mut run, "clock.source=hpet");
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
    let (peers, healthy) = fleet(9);
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
        let mut run = healthy.clone();
        slower(&mut run, "memory.load_latency", 3.0);
        spoil(run.results.iter_mut().find(|result| result.benchmark == "memory.load_latency").unwrap());
        let found = checked(&run, &peers);
        let row = row(&found, "memory.load_latency");
        assert!(row.verdict == CheckVerdict::Busy && !row.note.is_empty(), "{row:?}");
    }
}

#[test]
fn earlier_runs_count_unless_their_files_lay_elsewhere() {
    let (mut past, mut run) = fleet(15);
    slower(&mut run, "file.fsync", 6.0);
    let verdict = |run: &Run, past: &[Run]| {
        let past: Vec<&Run> = past.iter().collect();
        let found = check(run, &CheckContext { past: &past, ..context(&[], &PublicTable::default()) });
        (row(&found, "file.fsync").verdict, row(&found, "os.clock_read").verdict)
    };
    assert_eq!(verdict(&run, &past), (CheckVerdict::Low, CheckVerdict::Ok));
    past.iter_mut().for_each(|past| put(&mut past.machine, "filesystem.target.source=/dev/sdb1"));
    assert_eq!(verdict(&run, &past), (CheckVerdict::NoExpectation, CheckVerdict::Ok));
}

#[test]
fn more_than_the_parts_can_do_is_a_measuring_fault() {
    let (_, mut run) = fleet(10);
    slower(&mut run, "memory.triad", 0.5);
    let found = checked(&run, &[]);
    assert_eq!(row(&found, "memory.triad").verdict, CheckVerdict::Impossible);
    // Without peers, limits and symmetry remain; the others have no expectation.
    let call = row(&found, "os.syscall_getppid");
    assert_eq!((call.verdict, &call.expected), (CheckVerdict::NoExpectation, &None));
}
