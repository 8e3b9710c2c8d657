//! The manifest as TOML has it; every value with its position.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::DigestScope;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub(super) application: BTreeMap<Spanned<String>, RawApplication>,
}

/// A list, or its only member.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts was expected")]
pub(super) enum Texts {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawApplication {
    #[serde(default)]
    pub(super) about: String,
    pub(super) directory: Option<Spanned<String>>,
    pub(super) sources: Option<Spanned<Texts>>,
    #[serde(default)]
    pub(super) builds: BTreeMap<String, Spanned<Vec<String>>>,
    pub(super) exclude: Option<Spanned<Vec<BTreeMap<String, String>>>>,
    pub(super) build: Option<Vec<Spanned<String>>>,
    pub(super) version: Option<Vec<Spanned<String>>>,
    pub(super) binary: Option<Spanned<String>>,
    pub(super) run: Spanned<Vec<Spanned<String>>>,
    pub(super) work: Spanned<BTreeMap<String, Value>>,
    #[serde(default)]
    pub(super) parameters: BTreeMap<String, Spanned<Value>>,
    pub(super) rate: Option<Spanned<String>>,
    pub(super) startup: Option<Spanned<String>>,
    pub(super) verify: Option<RawVerify>,
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
    pub(super) timeout: Option<Spanned<Value>>,
    pub(super) copies: Option<Spanned<Vec<u32>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawVerify {
    pub(super) stdout: Option<Spanned<String>>,
    pub(super) digest: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) digest_scope: DigestScope,
    pub(super) expect: Option<Spanned<String>>,
}
