//! The results as JSON (`phoronix-test-suite result-file-to-json`): the same as its XML under other names.

use serde::Deserialize;

use super::{Composite, ElementTexts, describe};
use crate::format::SourceText;
use crate::json::{self, BoundedMap, Scalar};
use crate::text::SourceFault;

#[derive(Deserialize)]
struct PhoronixDocument {
    #[serde(default)]
    systems: BoundedMap<PhoronixSystem>,
    results: BoundedMap<PhoronixResult>,
}

#[derive(Deserialize)]
struct PhoronixSystem {
    #[serde(default)]
    hardware: BoundedMap<Scalar>,
    #[serde(default)]
    software: BoundedMap<Scalar>,
    #[serde(default)]
    timestamp: String,
    #[serde(default)]
    client_version: Scalar,
    #[serde(default)]
    data: BoundedMap<Scalar>,
}

#[derive(Deserialize)]
struct PhoronixResult {
    #[serde(default)]
    identifier: Scalar,
    #[serde(default)]
    title: Scalar,
    #[serde(default)]
    app_version: Scalar,
    #[serde(default)]
    description: Scalar,
    #[serde(default)]
    scale: Scalar,
    #[serde(default)]
    proportion: Scalar,
    #[serde(default)]
    display_format: Scalar,
    #[serde(default)]
    results: BoundedMap<PhoronixValue>,
}

#[derive(Deserialize)]
struct PhoronixValue {
    #[serde(default)]
    value: Scalar,
    #[serde(default)]
    raw_values: Vec<Scalar>,
    /// How long the test took, which is no result.
    #[serde(default, rename = "test_run_times")]
    _times: Vec<Scalar>,
}

pub(super) fn read(source: &SourceText<'_>) -> Result<Composite, SourceFault> {
    let document: PhoronixDocument = json::read_noting(source.text, &source.ledger)?;
    let mut composite = Composite::default();
    let fault = |reason: String| SourceFault::new(reason, 1);
    for (name, system) in &document.systems.0 {
        let all = system.hardware.0.iter().chain(&system.software.0);
        let facts = all.map(|(name, value)| (name.clone(), value.words())).collect();
        let settings = system.data.0.iter().map(|(name, value)| (name.clone(), value.words())).collect();
        let words = [
            ("Identifier", name.clone()),
            ("TimeStamp", system.timestamp.clone()),
            ("TestClientVersion", system.client_version.words()),
        ];
        describe(&mut composite.sheets, &named(words), facts, &settings).map_err(fault)?;
    }
    for result in document.results.0.values() {
        composite.result = named([
            ("Identifier", result.identifier.words()),
            ("Title", result.title.words()),
            ("AppVersion", result.app_version.words()),
            ("Description", result.description.words()),
            ("Scale", result.scale.words()),
            ("Proportion", result.proportion.words()),
            ("DisplayFormat", result.display_format.words()),
        ]);
        for (system, found) in &result.results.0 {
            let trials: Vec<String> = found.raw_values.iter().map(Scalar::words).collect();
            let entry =
                [("Identifier", system.clone()), ("Value", found.value.words()), ("RawString", trials.join(":"))];
            composite.add(&named(entry)).map_err(fault)?;
        }
    }
    Ok(composite)
}

fn named<const N: usize>(words: [(&str, String); N]) -> ElementTexts {
    words.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
