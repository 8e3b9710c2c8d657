//! Any text is a manifest of applications or refused with its line. An accepted one makes a bounded number of builds,
//! whose commands can be filled in.
#![no_main]

use std::path::Path;

use application::{Manifest, matrix};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(manifest) = Manifest::parse(text, "input", Path::new(".")) else { return };
    for application in &manifest.applications {
        assert!(application.work.amount > 0.0 && !application.run.is_empty());
        let builds = matrix(application);
        assert!(builds.len() <= 500, "{} builds", builds.len());
        for build in builds.iter().take(3) {
            application.run.iter().for_each(|template| drop(template.fill(&build.values)));
        }
    }
});
