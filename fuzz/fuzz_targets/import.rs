//! Any bytes are read by the format that the target is named after, or refused in one line.
#![no_main]

use import::ImportOptions;
use libfuzzer_sys::fuzz_target;
use model::{Catalogue, render_run};

fuzz_target!(|bytes: &[u8]| {
    let options = ImportOptions { format: Some(env!("CARGO_BIN_NAME")), ..ImportOptions::default() };
    match import::import("input", bytes, &options, &Catalogue::default()) {
        Ok(source) => {
            for run in source.runs {
                assert!(render_run(&run).is_ok(), "a run that contradicts itself");
            }
        }
        Err(error) => {
            let error = error.to_string();
            assert!(error.starts_with("could not ") && !error.contains('\n'), "{error:?}");
        }
    }
});
