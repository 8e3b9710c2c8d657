//! Recorded machines: their parsed topology, and the CPUs of every choice.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use std::fmt::Write;
use std::path::Path;

use model::{CpuSet, Topology};
use os::topology::{CpuChoice, CpuRelation, of_files, plan, read_under, relation};
use testing::machine::{self, RecordedMachine};

fn planted(name: &str) -> (Topology, CpuSet) {
    let recorded = RecordedMachine::named(name);
    let online = recorded.online.parse().unwrap();
    let machine = of_files(&online, &|file| recorded.read(file));
    let allowed = recorded.allowed.map_or(online, |list| list.parse().unwrap());
    (machine, allowed)
}

/// What every choice takes: CPUs in order where they are few, else how many, the first and the set.
fn plans(machine: &Topology, allowed: &CpuSet) -> String {
    let pairs = [CpuRelation::Same, CpuRelation::Sibling].into_iter().chain(CpuRelation::OF_CORES);
    let named = [
        ("one_core".to_owned(), CpuChoice::OneCore),
        ("all_cores".to_owned(), CpuChoice::AllCores),
        ("all_threads".to_owned(), CpuChoice::AllThreads),
    ];
    let mut text = String::new();
    for (name, choice) in named.into_iter().chain(pairs.map(|pair| (pair.to_string(), CpuChoice::Pair(pair)))) {
        let said = match plan(machine, allowed, choice) {
            Ok(cpus) if cpus.len() <= 2 => cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(" "),
            Ok(cpus) => format!("{} from {}: {}", cpus.len(), cpus[0], CpuSet::from(cpus.as_slice())),
            Err(reason) => format!("none, {reason}"),
        };
        writeln!(text, "plan {name} {said}").unwrap();
    }
    text
}

/// The plans are at the end of every record; `PRONY_BLESS=1` rewrites them for review.
#[test]
fn every_recorded_machine_has_its_expected_plans() {
    let names = machine::names();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let record = machine::record(&name);
        let (found, allowed) = planted(&name);
        let expected: String =
            record.lines().filter(|line| line.starts_with("plan ")).fold(String::new(), |all, line| all + line + "\n");
        let plans = plans(&found, &allowed);
        if std::env::var_os("PRONY_BLESS").is_some() {
            let facts = record.lines().filter(|line| !line.starts_with("plan "));
            let facts = facts.fold(String::new(), |all, line| all + line + "\n");
            std::fs::write(machine::folder().join(format!("{name}.txt")), facts + &plans).unwrap();
        } else {
            assert_eq!(plans, expected, "{name}");
        }
    }
}

#[test]
fn the_parts_of_recorded_machines_are_read() {
    let of = |name: &str| planted(name).0;
    let counts = |name: &str| of(name).counts();
    assert_eq!(counts("spr-snc4"), (2, 112, 224));
    assert_eq!((counts("epyc-7451"), of("epyc-7451").dies.len()), ((2, 48, 96), 8));
    assert_eq!(counts("power9"), (2, 8, 32));
    assert_eq!(counts("epyc-9754"), (2, 256, 512));
    assert_eq!(of("xeon-offline").offline.to_string(), "2,5,13-14");
    assert_eq!(of("power9").offline.len(), 144);
    let sparse = of("amd48-sparse");
    assert_eq!(sparse.nodes.iter().map(|node| node.number).collect::<Vec<_>>(), [0, 1, 2, 33, 34, 45, 72, 73]);
    assert_eq!((sparse.nodes[7].bytes, sparse.nodes[7].distances.last()), (Some(16 << 30), Some(&10)));
    let classes = |name: &str| {
        let classes = of(name).classes;
        classes.iter().map(|class| format!("{} {}", class.name, class.cpus)).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(classes("i7-1370p"), "core 0-11, atom 12-19");
    assert_eq!(classes("gb10"), "Arm Cortex-X925 5-9,15-19, Arm Cortex-A725 0-4,10-14");
    assert_eq!(classes("altra-q80"), "Arm Neoverse N1 0-79");
    assert_eq!(of("epyc-9754").classes.len(), 1);
    let last = |name: &str, cpu| of(name).last_level(cpu).map(|(cache, shared)| (cache.bytes.unwrap(), shared.len()));
    assert_eq!(last("spr-snc4", 0), Some((105 << 20, 112)));
    assert_eq!(last("epyc-7451", 0), Some((8 << 20, 6)));
    assert_eq!(last("i7-1370p", 15), Some((24 << 20, 20)));
    assert_eq!(last("altra-q80", 3), Some((1 << 20, 1)));
    let all = of("epyc-7451");
    assert_eq!(all.last_level_bytes(&all.online), Some(128 << 20));
    assert_eq!(all.last_level_bytes(&"0-2".parse().unwrap()), Some(8 << 20));
}

/// A pair has the relation of its name, uses only allowed CPUs, and is a sibling pair only on request.
#[test]
fn plans_keep_their_word_on_every_machine() {
    for name in machine::names() {
        let (machine, allowed) = planted(&name);
        let cores = plan(&machine, &allowed, CpuChoice::AllCores).unwrap();
        for (at, one) in cores.iter().enumerate() {
            let mut others = cores[at + 1..].iter();
            assert!(others.all(|other| relation(&machine, *one, *other) > Some(CpuRelation::Sibling)), "{name}");
        }
        let first = plan(&machine, &allowed, CpuChoice::OneCore).unwrap()[0];
        assert_eq!((cores[0], machine.class(first)), (first, 0), "{name}: the fastest class");
        let threads = plan(&machine, &allowed, CpuChoice::AllThreads).unwrap();
        assert_eq!((threads[0], CpuSet::from(threads.as_slice())), (first, allowed.clone()), "{name}");
        for wanted in CpuRelation::OF_CORES.into_iter().chain([CpuRelation::Sibling]) {
            if let Ok(pair) = plan(&machine, &allowed, CpuChoice::Pair(wanted)) {
                assert_eq!(relation(&machine, pair[0], pair[1]), Some(wanted), "{name}");
                assert!(pair.iter().all(|cpu| allowed.contains(*cpu)), "{name}");
            }
        }
    }
}

#[test]
fn a_part_of_a_machine_is_planned_within_it() {
    let (hybrid, _) = planted("i7-1370p");
    let within = |list: &str, choice| plan(&hybrid, &list.parse().unwrap(), choice);
    assert_eq!(within("0-3,12-15", CpuChoice::OneCore), Ok(vec![3]), "a performance core, though it is not the last");
    assert_eq!(within("12-15", CpuChoice::OneCore), Ok(vec![15]), "the fastest that there is");
    assert_eq!(within("0,1", CpuChoice::Pair(CpuRelation::Sibling)), Ok(vec![1, 0]));
    assert!(within("0,1", CpuChoice::Pair(CpuRelation::SameCache)).unwrap_err().contains("two cores"));
    assert_eq!(within("1,12", CpuChoice::Pair(CpuRelation::SameCache)), Ok(vec![1, 12]), "of two classes at need");
    assert_eq!(within("", CpuChoice::OneCore), Err("no CPU may be used".to_owned()));
    let (sparse, all) = planted("amd48-sparse");
    let near = plan(&sparse, &all, CpuChoice::Pair(CpuRelation::OtherPackage)).unwrap();
    let distance = sparse.nodes[7].distances[sparse.nodes.iter().position(|n| n.cpus.contains(near[1])).unwrap()];
    assert_eq!((near[0], distance), (47, 16), "the nearest of the other packages");
}

#[test]
fn this_machine_is_written_and_read_back() {
    let here = os::topology::read().unwrap();
    let text = serde_json::to_string(&here).unwrap();
    assert_eq!(serde_json::from_str::<Topology>(&text).unwrap(), here);
    assert_eq!(read_under(Path::new("/")).unwrap().cores, here.cores);
}
