//! Builds: every combination of the axes, with its data.

mod builder;
mod elf;
mod hash;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use builder::Builder;
pub(crate) use builder::outputs;
pub use builder::said;

use crate::manifest::Application;

/// One combination of the axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// Its values in the order of the axes; its name in results.
    pub name: String,
    /// Value on every axis.
    pub values: BTreeMap<String, String>,
}

/// Result of a build.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Built {
    /// Values of all placeholders.
    pub values: BTreeMap<String, String>,
    /// Output directory.
    pub out: PathBuf,
    /// Notes of all its results.
    pub notes: Vec<String>,
    /// Duration of the build, seconds.
    pub seconds: Option<f64>,
    /// Size of the program's code and constants, bytes.
    pub text_size: Option<u64>,
    /// The cause, if the build failed.
    pub failed: Option<String>,
}

impl Built {
    /// Adds a note for the record.
    pub(crate) fn record(&mut self, text: impl std::fmt::Display) {
        self.notes.push(format!("{}{text}", model::RECORD));
    }
}

/// Every combination of the axes that is not excluded; the last axis varies fastest. Without axes, one nameless build.
#[must_use]
pub fn matrix(application: &Application) -> Vec<Build> {
    let mut all = vec![BTreeMap::new()];
    for (axis, values) in &application.axes {
        all = all
            .into_iter()
            .flat_map(|build| {
                values.iter().map(move |value| {
                    let mut more = build.clone();
                    more.insert(axis.clone(), value.clone());
                    more
                })
            })
            .collect();
    }
    let excluded = |build: &BTreeMap<String, String>| {
        application.exclude.iter().any(|rule| rule.iter().all(|(axis, value)| build.get(axis) == Some(value)))
    };
    let name = |build: &BTreeMap<String, String>| {
        let words: Vec<&str> = application.axes.iter().map(|(axis, _)| build[axis].as_str()).collect();
        words.join(" ").trim().to_owned()
    };
    all.retain(|build| !excluded(build));
    all.into_iter()
        .map(|values| {
            let name = name(&values);
            Build { name: if name.is_empty() { "default".to_owned() } else { name }, values }
        })
        .collect()
}
