//! What tools print that people use to choose machines: matrices of memory, fabrics, parallel codes and disks.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{self, estimate, goes, import_repeats, keys, named, near, refused_as, text, value};
use model::Better;

#[test]
fn rows_of_bonnie_are_read_by_their_version_and_what_was_too_quick_is_told() {
    let runs = import_repeats("bonnie.txt");
    let names: Vec<&str> = runs.iter().map(|run| run.machine.name.as_str()).collect();
    assert_eq!(names, ["node1", "node2", "node3", "node4"]);
    let versions: Vec<_> = runs.iter().map(|run| run.origin.as_ref().unwrap().version.clone().unwrap()).collect();
    assert_eq!(versions, ["1.97", "2.00a", "1.96", "1.03"]);
    let block = estimate(&runs[0], "bonnie.put_block:file=8GiB");
    assert!(goes(&block, 80_000.0 * 1024.0, 82_000.0 * 1024.0, 512.0) && block.launches == 2);
    for (run, key, expected) in [
        (0, "bonnie.seeks:file=8GiB", 905.5),
        (0, "bonnie.put_block_longest:file=8GiB", 1.905),
        (0, "bonnie.seq_create:files=16384", 20_500.0),
        (0, "bonnie.ran_stat_longest:files=16384", 35.5e-6),
        (1, "bonnie.get_block:file=16GiB,chunk=64k,concurrency=4", 900_000.0 * 1024.0),
        (1, "bonnie.put_block_longest:file=16GiB,chunk=64k,concurrency=4", 15.0),
        (1, "bonnie.seq_del:files=2048,largest=2000,smallest=100,folders=10,concurrency=4", 4000.0),
        (2, "bonnie.ran_del:files=61440,largest=32,smallest=32", 1250.0),
        (2, "bonnie.ran_del_longest:files=61440,largest=32,smallest=32", 9.6),
        (3, "bonnie.getc:file=3000MiB,chunk=64k", 20_000.0 * 1024.0),
        (3, "bonnie.ran_del:files=16384,largest=1000,smallest=100,folders=10", 4000.0),
    ] {
        assert!(near(value(&runs[run], key), expected), "{key}: {:?}", keys(&runs[run]));
    }
    assert!(runs[0].figures.iter().all(|figure| figure.probe != "bonnie.seq_stat"), "no figure of what was too quick");
    let note = "too quick to be measured at line 24: seq_stat, seq_del, ran_stat; a further row has such tests too";
    assert!(runs[0].session.notes.iter().any(|said| said == note), "{:?}", runs[0].session.notes);
    let better = |probe| named(&runs[0], probe).metric.better;
    assert_eq!((better("bonnie.seeks"), better("bonnie.seeks_longest")), (Better::Higher, Better::Lower));
}

#[test]
fn versions_of_bonnie_stand_apart_and_cut_rows_are_refused() {
    let text = text("bonnie.txt");
    let row = text.lines().find(|line| line.starts_with("1.97,")).unwrap();
    let both = format!("{row}\n{}\n", row.replace("1.97,1.97", "1.97,1.97b"));
    let run = &common::import("x", both.as_bytes(), None, &model::Catalogue::default()).unwrap()[0];
    assert!(near(value(run, "bonnie.rewrite:file=8GiB,version=1.97b"), 40_000.0 * 1024.0), "{:?}", keys(run));
    for (row, expected) in [
        (
            row[..row.len() - 6].trim_end_matches(',').to_owned(),
            "the row has 47 values, and of its version 48 at line 1",
        ),
        (row.replacen("1.97,", "1.93,", 1), "version '1.93' of its rows is not known at line 1"),
        (row.replace("80000", "fast"), "'fast' is not a usable number at line 1"),
        (row.replace("1900ms", "1900hours"), "'1900hours' is no time at line 1"),
        (row.replace(",8G,", ",8 big,"), "'8 big' is no size at line 1"),
    ] {
        let error = refused_as("bonnie", &row);
        assert!(error.contains(expected), "{row}: {error}");
    }
    let table = &text[text.find("Version").unwrap()..text.find("1.97,1.97").unwrap()];
    let told = import::import(
        "x",
        format!("{row}\n{table}").as_bytes(),
        &import::ImportOptions::default(),
        &model::Catalogue::default(),
    );
    assert!(told.unwrap().unread.unwrap().count > 3, "a table without its row is told");
}
