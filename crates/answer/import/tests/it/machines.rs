//! Whose results they are: what the source says, then what the user says, and no other machine's.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{fixture, fixtures};
use import::{Error, ImportOptions, import};

fn read(file: &str, options: &ImportOptions<'_>) -> Result<Vec<model::Run>, Error> {
    Ok(import(file, &fixture(file), options, benchmarks::catalogue())?.runs)
}

#[test]
fn nameless_sources_are_machines_of_their_own() {
    let mut names = std::collections::BTreeMap::new();
    for fixture in fixtures() {
        let source = import(&fixture.file, &fixture.bytes, &ImportOptions::default(), benchmarks::catalogue()).unwrap();
        for run in source.runs {
            let name = run.machine.name;
            assert!(!name.is_empty(), "{}", fixture.file);
            if let Some(other) =
                names.insert(name.clone(), fixture.file.clone()).filter(|_| name.starts_with("unnamed"))
            {
                assert_eq!(other, fixture.file, "{name} is the machine of two files");
            }
        }
    }
    let one = import(
        "a/out.txt",
        b"CoreMark Size    : 666\nIterations/Sec   : 1.5\n[0]crcfinal : 1\n",
        &ImportOptions::default(),
        benchmarks::catalogue(),
    );
    let two = import(
        "b/out.txt",
        b"CoreMark Size    : 666\nIterations/Sec   : 2.5\n[0]crcfinal : 1\n",
        &ImportOptions::default(),
        benchmarks::catalogue(),
    );
    let (one, two) = (one.unwrap().runs.remove(0).machine.name, two.unwrap().runs.remove(0).machine.name);
    assert!(one != two && one.contains("out.txt"), "{one} {two}");
}

#[test]
fn the_user_names_the_machine_its_cpu_and_the_date() {
    let options = ImportOptions {
        machine: Some("box7"),
        cpu: Some("Example CPU 7"),
        date: Some("2024-05-31"),
        ..ImportOptions::default()
    };
    for file in ["coremark.txt", "stream.txt", "spec-cpu.txt", "unixbench.txt"] {
        for run in read(file, &options).unwrap() {
            assert_eq!(
                (run.machine.name.as_str(), run.session.started.as_str()),
                ("box7", "2024-05-31T00:00:00Z"),
                "{file}"
            );
            assert_eq!(run.machine.text("cpu.model").as_deref(), Some("Example CPU 7"), "{file}");
        }
    }
    let several = read("phoronix.xml", &options).unwrap_err().to_string();
    assert!(several.contains("states several machines"), "{several}");
    let date = read("stream.txt", &ImportOptions { date: Some("31.5.2024"), ..ImportOptions::default() });
    let date = date.unwrap_err().to_string();
    assert!(date.contains("could not read the date '31.5.2024': write it as 2024-05-31"), "{date}");
}
