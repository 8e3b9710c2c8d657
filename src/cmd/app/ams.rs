//! `prony run --suite ams`: simulation and reconstruction, built in and by real packages, and twelve sessions at once.

use std::path::Path;

use anyhow::{Context, Result};
use application::{
    Application, BUILTIN, Campaign, CampaignOrder, FileSharing, Manifest, SessionOrder, Sessions, SubjectPair,
};
use model::Run;

use super::sessions::{FilesToWrite, write_files};
use super::{run::energy, starter, view};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::cmd::resume;
use crate::cmd::session::{LocalSession, measured};
use crate::run_options::MeasureOptions;
use crate::{evaluation, output};

/// Name of the suite.
pub(crate) const SUITE: &str = "ams";
/// Name, results and content, for lists of suites.
pub(crate) const LISTED: (&str, usize, &str) = (
    SUITE,
    16,
    "the AMS02 evaluation: simulation and reconstruction, ACTS and Pythia where they are installed, twelve sessions",
);
/// Sessions at once, and files that they read, each its own.
const SESSIONS: (usize, u64) = (12, 24);
/// Size of a file that is not to be larger than memory, bytes.
const FILE: u64 = 16_000_000;

/// Real packages: the module that Python must have, and files of their manifests.
const PACKAGES: [(&str, &[(&str, &str)]); 2] = [
    (
        "acts",
        &[
            ("acts.toml", include_str!("../../../examples/manifests/acts.toml")),
            ("acts/muons.py", include_str!("../../../examples/manifests/acts/muons.py")),
        ],
    ),
    (
        "pythia8mc",
        &[
            ("pythia.toml", include_str!("../../../examples/manifests/pythia.toml")),
            ("pythia/zdecays.py", include_str!("../../../examples/manifests/pythia/zdecays.py")),
        ],
    ),
];

/// Measures the suite.
pub(crate) fn measure(
    (directory, beyond_memory): (&Path, bool),
    resumed: Option<Run>,
    options: &MeasureOptions,
    common: &CommonOptions,
) -> Result<ExitStatus> {
    let options = &options.of_suite();
    let folder = tempfile::Builder::new()
        .prefix(&format!("{}ams-", os::process::owned_prefix()))
        .tempdir()
        .context("could not make a folder")?;
    let starter = starter()?;
    let mut session = LocalSession::open("run, suite ams", options, common)?.needing_intervals();
    let wanted = if beyond_memory {
        FilesToWrite::beyond_memory(directory, SESSIONS.1)?
    } else {
        FilesToWrite::of(directory, SESSIONS.1, FILE)
    };
    let total = wanted.total();
    let (_files, files) = write_files(wanted, &session.stopper)?;
    let rounds = &options.rounds;
    let mut run = application::document(SUITE, rounds.seed(), rounds.target(), rounds.time_limit, directory.to_owned());
    run.session.notes.push(format!("the sessions read {} MB in {} files", total / 1_000_000, files.len()));
    let applications = applications(folder.path(), &mut run)?;
    let root = folder.path().join("builds");
    std::fs::create_dir_all(&root).with_context(|| format!("could not make {}", root.display()))?;
    let order = CampaignOrder { run, applications, copies: vec![1], root, duet: None, energy: energy() };
    let (mut campaign, run) = Campaign::build(order, &starter, &session.stopper)?;
    let split = run.results.len();
    let own = std::env::current_exe().context("could not find this program's own file")?;
    let command = [own.to_string_lossy().as_ref(), "app", "read", "--analyse"].map(str::to_owned).to_vec();
    let order = SessionOrder {
        sessions: SESSIONS.0,
        files,
        sharing: FileSharing::Own,
        cached: false,
        command,
        patience: 3600.0,
    };
    let (mut sessions, fresh) = Sessions::new(run, order, "analyse", super::attendant()?);
    if let Some(run) = &resumed {
        resume::same_results(run, &fresh)?;
        campaign.recall(run, &fresh)?;
    }
    let order = session.order(fresh, resumed)?;
    let result = session.measure(order, &mut SubjectPair::new(&mut campaign, &mut sessions, split))?;
    let tables = evaluation::named(SUITE)?;
    let draw = |run: &Run, context: &report::view::RunContext| {
        let mut document = report::view::in_tables_measured(run, &tables, context);
        document.sections.extend(view::failures(run, |result| result.metric.unit == model::Unit::PerSecond));
        Ok(document)
    };
    session.conclude(result, draw, measured)
}

/// The built-in simulation and reconstruction, and the installed packages; a note names the missing ones.
fn applications(folder: &Path, run: &mut Run) -> Result<Vec<Application>> {
    let mut all = Vec::new();
    for name in ["simulate", "reconstruct"] {
        all.extend(Manifest::parse(BUILTIN, "builtin", folder)?.select(Some(name))?);
    }
    for (module, files) in PACKAGES {
        if !importable(module) {
            let note = format!("the Python package {module} is not installed: its results are missing");
            output::remark(&note);
            run.session.notes.push(note);
            continue;
        }
        for (name, text) in files {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).with_context(|| format!("could not make {}", parent.display()))?;
            }
            std::fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))?;
        }
        if let Some((manifest, _)) = files.first() {
            all.extend(Manifest::read(&folder.join(manifest))?.select(None)?);
        }
    }
    Ok(all)
}

/// Whether Python finds a module.
fn importable(module: &str) -> bool {
    /// Time limit of Python's start.
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);
    let mut command = std::process::Command::new("python3");
    command.args(["-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)", module]);
    os::process::run(&mut command, &[], PATIENCE, 1 << 16).is_ok_and(|done| done.status.success())
}
