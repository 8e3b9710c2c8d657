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
/// A commented manifest to begin with.
pub const TEMPLATE: &str = include_str!("../../manifests/template.toml");

/// Longest manifest that is read.
const LIMIT: u64 = 1 << 20;

/// A manifest whose every line was understood.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The applications, in the order of the text.
    pub applications: Vec<Application>,
}

/// How a rate is found.
#[derive(Debug, Clone)]
pub enum Rate {
    /// Work over the time from start to end, less the start-up that the application states.
    Wall,
    /// The program prints it: work a second, by the expression's first group.
    Printed(Regex),
}

/// Which runs must print the same digest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DigestScope {
    /// Those of one build.
    #[default]
    Build,
    /// Those of all builds.
    Application,
}

/// How a run shows that it did its work.
#[derive(Debug, Clone, Default)]
pub struct Verify {
    /// Standard output must match.
    pub stdout: Option<Regex>,
    /// Its first group is a digest.
    pub digest: Option<Regex>,
    /// Which runs must agree on it.
    pub scope: DigestScope,
    /// What it must be, where that is known.
    pub expect: Option<String>,
}

/// The work of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestWork {
    /// How much.
    pub amount: f64,
    /// Of what, in the singular.
    pub unit: String,
}

/// One application.
#[derive(Debug, Clone)]
pub struct Application {
    /// Its name: figures are `application.NAME`.
    pub name: String,
    /// What it does.
    pub about: String,
    /// Where its commands run.
    pub directory: PathBuf,
    /// Files and folders that are hashed into the record.
    pub sources: Vec<PathBuf>,
    /// Axes of the builds and their values, in the order of the text.
    pub axes: Vec<(String, Vec<String>)>,
    /// Builds that are left out: all that have these values.
    pub exclude: Vec<BTreeMap<String, String>>,
    /// How to build; nothing to do where absent.
    pub build: Option<Vec<Template>>,
    /// What tells the version of what builds it.
    pub version: Option<Vec<Template>>,
    /// The built program, to be hashed.
    pub binary: Option<Template>,
    /// How to run.
    pub run: Vec<Template>,
    /// What one run does.
    pub work: ManifestWork,
    /// Values of holes that are the same for all builds.
    pub parameters: BTreeMap<String, String>,
    /// How its rate is found.
    pub rate: Rate,
    /// Seconds of start-up, by the expression's first group on standard output.
    pub startup: Option<Regex>,
    /// How its work is verified.
    pub verify: Verify,
    /// Variables that are set for it.
    pub environment: BTreeMap<String, String>,
    /// Time after which a run or a build counts as hung.
    pub patience: Duration,
    /// Numbers of copies that are started together; empty: 1 and as many as there are CPUs.
    pub copies: Vec<u32>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// When it cannot be read, or with the line and what is wrong there.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let fail = |source| Error::File { what: "read the manifest", path: path.to_owned(), source };
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(fail)?;
        std::io::Read::read_to_string(&mut std::io::Read::take(file, LIMIT), &mut text).map_err(fail)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::parse(&text, &path.display().to_string(), &folder.canonicalize().map_err(fail)?)
    }

    /// Understands the text of a manifest. `name` is what errors call it, `folder` what its paths are relative to.
    ///
    /// # Errors
    /// With the line and what is wrong there.
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Self, Error> {
        check::manifest(text, folder).map_err(|(offset, reason)| {
            let line = text[..offset.min(text.len())].matches('\n').count() + 1;
            Error::Manifest { name: name.to_owned(), line, reason }
        })
    }

    /// One application by name, or the only one.
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
