//! Any folder of an evaluation is machines with results or refused. The folder is one text, in which
//! `=== NAME` and the end of that line begin each file.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use import::published::PublishedEvaluation;
use libfuzzer_sys::fuzz_target;
use model::{Catalogue, render_run};

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("prony-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|text: &str| {
    let mut written = Vec::new();
    for part in text.split("=== ").skip(1) {
        let (name, content) = part.split_once('\n').unwrap_or((part, ""));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if (5..40).contains(&name.len()) && name.chars().all(plain) {
            let path = FOLDER.join(name);
            std::fs::write(&path, content).expect("a file");
            written.push(path);
        }
    }
    let runs = PublishedEvaluation::open(&FOLDER).and_then(|read| read.runs(&Catalogue::default()));
    for run in runs.into_iter().flatten() {
        assert!(render_run(&run).is_ok(), "a run that contradicts itself");
    }
    written.iter().for_each(|path| drop(std::fs::remove_file(path)));
});
