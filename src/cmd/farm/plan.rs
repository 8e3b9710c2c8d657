//! From the command line to a job: a built-in workload, or the first build of a manifest's application.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use application::{Application, Builder, DigestScope, Manifest, matrix};
use measure::Stopper;

use super::super::app::starter;
use super::staging::StagePlan;
use super::work::{FarmWork, ProgramTemplate};

/// The work of each chunk.
pub(super) enum WantedWork<'a> {
    /// A built-in workload.
    Builtin(&'a str),
    /// An application of a manifest.
    Application(Box<Application>),
}

impl<'a> WantedWork<'a> {
    /// The work of that name. A manifest may be a pipe into which nothing is written: it is read before signals are
    /// watched for, so that each of them still ends the program.
    pub(super) fn of(manifest: &'a str, application: Option<&str>) -> Result<Self> {
        if let Some(name) = manifest.strip_prefix("builtin:") {
            return Ok(Self::Builtin(name));
        }
        let mut found = Manifest::read(Path::new(manifest))?.select(application)?;
        if found.len() != 1 {
            let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
            bail!("could not choose: the manifest has {}; name one of them", names.join(", "));
        }
        Ok(Self::Application(Box::new(found.remove(0))))
    }
}

/// The requested work.
pub(super) struct Wanted<'a> {
    pub(super) work: WantedWork<'a>,
    pub(super) input: Option<&'a Path>,
    pub(super) builds: Option<&'a Path>,
    pub(super) pace: f64,
    pub(super) stage: Option<StagePlan>,
}

/// Its name, and the work.
pub(super) fn plan(wanted: &Wanted<'_>, stopper: &Stopper) -> Result<(String, FarmWork)> {
    let input = wanted
        .input
        .map(|input| input.canonicalize().with_context(|| format!("could not find the input {}", input.display())));
    let input = input.transpose()?;
    let application = match &wanted.work {
        WantedWork::Application(application) => application,
        WantedWork::Builtin(name) => return builtin(name, wanted, input),
    };
    let program = program(application, wanted, input, stopper)?;
    Ok((application.name.clone(), FarmWork::Command(Box::new(program))))
}

fn builtin(name: &str, wanted: &Wanted<'_>, input: Option<PathBuf>) -> Result<(String, FarmWork)> {
    if wanted.stage.is_some() {
        bail!("could not use --stage: a built-in workload takes no {{in}}");
    }
    if !physics::NAMES.contains(&name) {
        bail!("could not find builtin:{name}; there are builtin:{}", physics::NAMES.join(", builtin:"));
    }
    if input.is_some() && name != "analyse" {
        bail!("could not use --input: only builtin:analyse reads files");
    }
    Ok((name.to_owned(), FarmWork::Builtin { workload: name.to_owned(), input, pace: wanted.pace }))
}

fn program(
    application: &Application,
    wanted: &Wanted<'_>,
    input: Option<PathBuf>,
    stopper: &Stopper,
) -> Result<ProgramTemplate> {
    let holes: Vec<&str> = application.run.iter().flat_map(application::Template::holes).collect();
    let told = holes.contains(&"chunk") || holes.contains(&"first") && holes.contains(&"events");
    if !told {
        bail!(
            "could not cut {} into chunks: run needs {{first}} and {{events}}, or {{chunk}}, among its arguments",
            application.name
        );
    }
    if application.verify.scope == DigestScope::Application && application.verify.expect.is_some() {
        bail!(
            "could not use expect for {}: a chunk's digest is not that of the whole; use --expect-digest",
            application.name
        );
    }
    let root = wanted.builds.map_or_else(|| PathBuf::from("prony-farm-builds"), Path::to_path_buf);
    std::fs::create_dir_all(&root).with_context(|| format!("could not make {}", root.display()))?;
    let starter = starter()?;
    let builder = Builder { starter: &starter, root: &root.canonicalize()?, stopper };
    let builds = matrix(application);
    // Levels are written from the lowest to the highest.
    let build = builds.last().context("the manifest leaves no build")?;
    let built = builder.build(application, build, builds.len() - 1)?;
    if let Some(reason) = built.failed {
        bail!("could not build {}: {reason}", application.name);
    }
    let text = |expression: &Option<regex::Regex>| expression.as_ref().map(|one| one.as_str().to_owned());
    let mut values = built.values;
    let input = input.unwrap_or_else(|| application.directory.clone());
    for hole in ["input", "in"] {
        values.insert(hole.to_owned(), input.display().to_string());
    }
    Ok(ProgramTemplate {
        run: application.run.iter().map(|template| template.text().to_owned()).collect(),
        values,
        directory: application.directory.clone(),
        environment: application.environment.clone(),
        patience: application.patience.as_secs_f64(),
        stdout: text(&application.verify.stdout),
        digest: text(&application.verify.digest),
        input,
        stage: wanted.stage.clone(),
    })
}
