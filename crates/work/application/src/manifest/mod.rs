//! Manifests: TOML that says how to build, run, count and verify applications.

mod check;
mod raw;
mod template;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;

pub use template::Template;
pub(crate) use template::fill_all;

use crate::Error;

/// The built-in applications, as a manifest.
pub const BUILTIN: &str = include_str!("../../manifests/builtin.toml");
/// A commented manifest as a starting point.
pub const TEMPLATE: &str = include_str!("../../manifests/template.toml");

/// Longest manifest, bytes.
const LIMIT: u64 = 1 << 20;

/// A valid manifest.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The applications, in the order of the text.
    pub applications: Vec<Application>,
}

/// How a rate is computed.
#[derive(Debug, Clone)]
pub enum Rate {
    /// Work over the time from start to end, minus the start-up that the application prints.
    Wall,
    /// The program prints it: work a second, in the expression's first group.
    Printed(Regex),
}

/// Runs that must print the same digest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DigestScope {
    /// Those of one build.
    #[default]
    Build,
    /// All runs of one build.
    Application,
}

/// How a run proves that it did its work.
#[derive(Debug, Clone, Default)]
pub struct Verify {
    /// Expression that standard output must match.
    pub stdout: Option<Regex>,
    /// Expression whose first group is a digest.
    pub digest: Option<Regex>,
    /// Runs that must print the same digest.
    pub scope: DigestScope,
    /// The digest, if known.
    pub expect: Option<String>,
}

/// The work of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestWork {
    /// Amount.
    pub amount: f64,
    /// Unit, in the singular.
    pub unit: String,
}

/// One application.
#[derive(Debug, Clone)]
pub struct Application {
    /// Its name: results are `application.NAME`.
    pub name: String,
    /// What it does.
    pub about: String,
    /// Working directory of its commands.
    pub directory: PathBuf,
    /// Files and directories whose hash is recorded.
    pub sources: Vec<PathBuf>,
    /// Axes of the builds and their values, in the order of the text.
    pub axes: Vec<(String, Vec<String>)>,
    /// Values of excluded builds.
    pub exclude: Vec<BTreeMap<String, String>>,
    /// Build command; `None` if nothing is built.
    pub build: Option<Vec<Template>>,
    /// Command that prints the version of the compiler.
    pub version: Option<Vec<Template>>,
    /// The built program, which is hashed.
    pub binary: Option<Template>,
    /// Run command.
    pub run: Vec<Template>,
    /// Work of one run.
    pub work: ManifestWork,
    /// Values of placeholders that are the same for all builds.
    pub parameters: BTreeMap<String, String>,
    /// How its rate is computed.
    pub rate: Rate,
    /// Expression whose first group on standard output is the start-up time, seconds.
    pub startup: Option<Regex>,
    /// How its work is verified.
    pub verify: Verify,
    /// Variables that are set for it.
    pub environment: BTreeMap<String, String>,
    /// Time limit of a run or a build.
    pub patience: Duration,
    /// Numbers of copies that are started together; empty: 1, and the number of CPUs.
    pub copies: Vec<u32>,
}

impl Manifest {
    /// Reads a manifest from a file.
    ///
    /// # Errors
    /// When it cannot be read, or is invalid; the error names the line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let fail = |source| Error::File { what: "read the manifest", path: path.to_owned(), source };
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(fail)?;
        std::io::Read::read_to_string(&mut std::io::Read::take(file, LIMIT + 1), &mut text).map_err(fail)?;
        if text.len() as u64 > LIMIT {
            return Err(fail(std::io::Error::other(format!("it is longer than {LIMIT} bytes"))));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::parse(&text, &path.display().to_string(), &folder.canonicalize().map_err(fail)?)
    }

    /// Parses a manifest. `name` is its name in errors, and paths are relative to `folder`.
    ///
    /// # Errors
    /// When it is invalid; the error names the line.
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Self, Error> {
        check::manifest(text, folder).map_err(|(offset, reason)| {
            let line = text[..offset.min(text.len())].matches('\n').count() + 1;
            Error::Manifest { name: name.to_owned(), line, reason }
        })
    }

    /// The application of this name, or all without a name.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn select(mut self, name: Option<&str>) -> Result<Vec<Application>, Error> {
        let Some(name) = name else { return Ok(self.applications) };
        let known: Vec<String> = self.applications.iter().map(|application| application.name.clone()).collect();
        self.applications.retain(|application| application.name == name);
        if self.applications.is_empty() {
            return Err(Error::Unknown { name: name.to_owned(), known: known.join(", ") });
        }
        Ok(self.applications)
    }
}
