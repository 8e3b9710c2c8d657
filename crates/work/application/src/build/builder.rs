//! Builds applications and records everything about a build.

use std::path::{Path, PathBuf};

use measure::Stopper;
use model::RECORD;

use super::hash::{hash_file, hash_sources};
use super::{Build, Built, elf};
use crate::Error;
use crate::launch::{LaunchSpec, Starter};
use crate::manifest::{Application, fill_all};

/// Time limit of a program that prints its version, seconds.
const VERSION_PATIENCE: f64 = 20.0;
/// Inherited variables that may change a program and are safe to print; others may hold secrets.
const SHOWN: [&str; 12] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "OMP_NUM_THREADS",
    "MALLOC_ARENA_MAX",
    "GLIBC_TUNABLES",
    "CFLAGS",
    "CXXFLAGS",
    "PYTHONPATH",
];
/// Compilers that print their version with `--version`.
const COMPILERS: [&str; 14] =
    ["cc", "c++", "gcc", "g++", "gfortran", "clang", "clang++", "flang", "rustc", "nvcc", "icx", "icpx", "ifx", "ghc"];
/// Bytes of a failed command's output that a result keeps.
const KEPT: usize = 4000;

/// Builds applications in one directory.
#[derive(Debug)]
pub struct Builder<'a> {
    /// Starts commands.
    pub starter: &'a Starter,
    /// Directory of all builds, one subdirectory for each.
    pub root: &'a Path,
    /// Tells whether to stop.
    pub stopper: &'a Stopper,
}

impl Builder<'_> {
    /// Builds one combination. An error of the build is part of the result.
    ///
    /// # Errors
    /// When the user asked to stop, or no process can be started.
    pub fn build(&self, application: &Application, build: &Build, index: usize) -> Result<Built, Error> {
        let out = self.root.join(&application.name).join(format!("{index:03}"));
        std::fs::create_dir_all(&out).map_err(|source| Error::File {
            what: "create the directory of a build",
            path: out.clone(),
            source,
        })?;
        let mut built = Built { values: self.values(application, build, &out), out, ..Built::default() };
        self.describe(application, &mut built)?;
        if let Some(templates) = &application.build {
            let argv = fill_all(templates, &built.values);
            built.record(format!("built by: {}", argv.join(" ")));
            let report =
                self.starter.launch(&order(application, argv, application.patience.as_secs_f64()), self.stopper)?;
            if let Some(copy) = report.copies.first() {
                if let Some(trouble) = copy.how.trouble(application.patience.as_secs_f64()) {
                    built.failed = Some(format!("the build {trouble}"));
                    built.notes.extend(outputs(&copy.stdout, &copy.stderr));
                    return Ok(built);
                }
                built.seconds = Some(copy.ended - copy.started);
            }
            if let Some(seconds) = built.seconds {
                built.record(format!("building took {seconds:.2} s"));
            }
        }
        self.inspect(application, &mut built);
        Ok(built)
    }

    fn values(
        &self,
        application: &Application,
        build: &Build,
        out: &Path,
    ) -> std::collections::BTreeMap<String, String> {
        // Outside a farm there is one chunk, the first.
        let mut values: std::collections::BTreeMap<String, String> =
            ["chunk", "attempt", "first"].map(|hole| (hole.to_owned(), "0".to_owned())).into();
        values.insert("in".to_owned(), application.directory.display().to_string());
        values.insert("build".to_owned(), out.display().to_string());
        values.extend(application.parameters.clone());
        values.extend(build.values.clone());
        values.insert("out".to_owned(), out.display().to_string());
        values.insert("prony".to_owned(), self.starter.program());
        values.insert("directory".to_owned(), application.directory.display().to_string());
        values.insert("copy".to_owned(), "0".to_owned());
        values
    }

    /// Records compiler, sources, directory and environment.
    fn describe(&self, application: &Application, built: &mut Built) -> Result<(), Error> {
        let asked = match (&application.version, &application.build) {
            (Some(version), _) => Some(fill_all(version, &built.values)),
            (None, Some(build)) => compiler(fill_all(build, &built.values)),
            (None, None) => None,
        };
        if let Some(argv) = asked {
            let report = self.starter.launch(&order(application, argv.clone(), VERSION_PATIENCE), self.stopper)?;
            let told = report.copies.first().and_then(|copy| {
                copy.how.trouble(VERSION_PATIENCE).is_none().then(|| {
                    copy.stdout
                        .lines()
                        .chain(copy.stderr.lines())
                        .find(|line| !line.trim().is_empty())
                        .map(str::to_owned)
                })?
            });
            let told = told.unwrap_or_else(|| format!("{} did not print its version", argv.join(" ")));
            built.notes.push(format!("version: {}", told.trim()));
        }
        if !application.sources.is_empty() {
            built.record(match hash_sources(&application.sources) {
                Ok(hash) => format!("sources: SHA-256 {hash}"),
                Err(error) => format!("sources: could not be hashed: {error}"),
            });
        }
        built.record(format!("directory: {}", application.directory.display()));
        let set: Vec<String> = application.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let inherited = SHOWN.iter().filter(|name| !application.environment.contains_key(**name));
        let inherited: Vec<String> =
            inherited.filter_map(|name| Some(format!("{name}={}", std::env::var(name).ok()?))).collect();
        if !set.is_empty() {
            built.record(format!("environment set: {}", set.join(" ")));
        }
        built.record(format!("environment inherited, in part: {}", inherited.join(" ")));
        Ok(())
    }

    /// Records hash and size of the program.
    fn inspect(&self, application: &Application, built: &mut Built) {
        let Some(binary) = &application.binary else { return };
        let path = PathBuf::from(binary.fill(&built.values).concat());
        match hash_file(&path) {
            Ok(hash) => built.record(format!("program: SHA-256 {hash}")),
            Err(error) => {
                built.failed = Some(format!("the build left no {}: {error}", path.display()));
                return;
            }
        }
        built.text_size = std::fs::read(&path).ok().and_then(|bytes| elf::text_size(&bytes));
    }
}

/// The command that prints the version of the compiler in `command`; `None` for an unknown compiler.
fn compiler(command: Vec<String>) -> Option<Vec<String>> {
    let program = command.into_iter().next()?;
    let name = Path::new(&program).file_name()?.to_str()?;
    // For example gcc-12, x86_64-linux-gnu-g++, clang++-15.
    let words: Vec<&str> = name.split('-').filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).collect();
    COMPILERS.contains(words.last()?).then(|| vec![program, "--version".to_owned()])
}

pub(crate) fn order(application: &Application, argv: Vec<String>, patience: f64) -> LaunchSpec {
    LaunchSpec {
        commands: vec![argv],
        directory: application.directory.clone(),
        environment: application.environment.clone(),
        patience,
        ..LaunchSpec::default()
    }
}

/// The output of a copy, as notes of a result.
#[must_use]
pub fn said(copy: &crate::CopyOutput) -> Vec<String> {
    outputs(&copy.stdout, &copy.stderr)
}

/// The end of a program's output, where the cause of an error usually is, as notes of a result.
pub(crate) fn outputs(stdout: &str, stderr: &str) -> Vec<String> {
    [("standard output", stdout), ("standard error", stderr)]
        .iter()
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(name, text)| {
            let text = text.trim_end();
            let mut start = text.len().saturating_sub(KEPT);
            while !text.is_char_boundary(start) {
                start += 1;
            }
            format!("{RECORD}{name}: {}{}", if start > 0 { "[...] " } else { "" }, &text[start..])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_their_names() {
        let asked = |program: &str| compiler(vec![program.to_owned(), "-O2".to_owned()]);
        for program in ["gcc", "/usr/bin/gcc-12", "x86_64-linux-gnu-g++", "clang++-15", "rustc"] {
            assert_eq!(asked(program), Some(vec![program.to_owned(), "--version".to_owned()]));
        }
        for program in ["make", "./build.sh", "sh", "python3", "12", ""] {
            assert_eq!(asked(program), None, "{program}");
        }
    }
}
