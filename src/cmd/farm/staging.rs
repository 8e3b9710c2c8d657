//! Input files of chunks on the local disk of a node.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ::farm::{StageCache, StagedFile};
use anyhow::{Context, Result, bail};
use application::Template;
use channel::nonce;
use serde::{Deserialize, Serialize};

use crate::value_parsers::bytes;

/// Options of staging.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input files")]
pub(super) struct StageOptions {
    /// Copy this file to the node's disk before a chunk, such as 'run-{chunk}.raw'; {in} is the copy
    #[arg(long, value_name = "FILE")]
    stage: Option<String>,
    /// Keep the copies in this directory of each node [default: removed after the run]
    #[arg(long, value_name = "DIR", requires = "stage")]
    stage_to: Option<PathBuf>,
    /// Limit the copies on a node to this size; the oldest are removed
    #[arg(long, value_name = "SIZE", default_value = "10GiB", value_parser = bytes, requires = "stage")]
    stage_limit: u64,
    /// Check the files by these checksums, as sha256sum(1) writes them
    #[arg(long, value_name = "FILE", requires = "stage")]
    stage_sums: Option<PathBuf>,
}

/// The staged files of a chunk, as stored in the ledger.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StagePlan {
    /// The file, with placeholders.
    source: String,
    /// Directory of the copies; `None`: in the node's directory of temporary files.
    folder: Option<PathBuf>,
    /// A part of the name of a directory of temporary files that no other user can know before it is there.
    run: String,
    /// Bytes of all copies.
    limit: u64,
    /// Checksums by file.
    sums: BTreeMap<PathBuf, String>,
}

impl StageOptions {
    pub(super) fn plan(&self) -> Result<Option<StagePlan>> {
        let Some(stage) = &self.stage else { return Ok(None) };
        let template = Template::parse(stage).map_err(|reason| anyhow::anyhow!("could not use --stage: {reason}"))?;
        if let Some(hole) = template.holes().find(|hole| !["chunk", "first", "events", "seed"].contains(hole)) {
            bail!("could not use --stage: {{{hole}}} is unknown; known are {{chunk}}, {{first}}, {{events}}, {{seed}}");
        }
        let source = std::path::absolute(stage).with_context(|| format!("could not use {stage}"))?;
        let sums = self.stage_sums.as_deref().map(sums).transpose()?.unwrap_or_default();
        let folder = self.stage_to.as_deref().map(std::path::absolute).transpose()?;
        let (source, run) = (source.display().to_string(), nonce()?);
        Ok(Some(StagePlan { source, folder, run, limit: self.stage_limit, sums }))
    }
}

/// Longest list of checksums, bytes: two million files.
const LONGEST_SUMS: u64 = 256 << 20;

/// Lines of sha256sum(1): the checksum, a blank, a blank or an asterisk, the file, relative to the list.
fn sums(path: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let text = crate::cmd::choose::text_of(path, LONGEST_SUMS)?;
    let root = std::path::absolute(path)?.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut sums = BTreeMap::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let parts = line.split_once(' ').map(|(sum, name)| (sum, name.trim_start_matches([' ', '*'])));
        match parts {
            Some((sum, name)) if sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                sums.insert(root.join(name), sum.to_ascii_lowercase());
            }
            _ => bail!("could not understand line {} of {}; write CHECKSUM  FILE", number + 1, path.display()),
        }
    }
    Ok(sums)
}

/// Stages files for one worker.
pub(super) struct Stage {
    plan: StagePlan,
    template: Template,
    cache: StageCache,
}

impl Stage {
    pub(super) fn open(plan: StagePlan) -> Result<Self> {
        let template = Template::parse(&plan.source).map_err(anyhow::Error::msg)?;
        let cache = match &plan.folder {
            Some(folder) => StageCache::below(folder, None, plan.limit)?,
            None => StageCache::below(&std::env::temp_dir(), Some(&plan.run), plan.limit)?,
        };
        Ok(Self { plan, template, cache })
    }

    /// The copy for a chunk, which stays as long as the returned value.
    pub(super) fn fetch(&self, values: &BTreeMap<String, String>) -> Result<StagedFile, String> {
        let source = PathBuf::from(self.template.fill(values).concat());
        let expected = self.plan.sums.get(&source).map(String::as_str);
        if expected.is_none() && !self.plan.sums.is_empty() {
            return Err(format!("the input {} is not in the list of checksums", source.display()));
        }
        self.cache.fetch(&source, expected).map_err(|error| error.to_string())
    }
}
