//! A campaign on a machine that disturbs it: samples with outside evidence against them are excluded, with the reason.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use application::{Campaign, CampaignOrder, CopyOutput, CopyReport, Manifest, ProcessEnd, Starter, document};
use measure::{MeasureEvent, MeasureSession, Observer, RunRequest, Stopper};
use model::{Flag, Invalid, Run};

const MANIFEST: &str = "[application.x]\nrun = [\"x\"]\nwork = { runs = 1, unit = \"run\" }\n";

struct Reports(Vec<String>);

impl Observer for Reports {
    fn on_event(&mut self, event: &MeasureEvent<'_>) {
        // The event comes once for each result of a sample.
        if let MeasureEvent::Repeated { key, reason } = event
            && key.benchmark == "application.x"
        {
            self.0.push(reason.clone());
        }
    }
}

struct Unsaved;

impl measure::Saver for Unsaved {
    fn save(&mut self, _: &Run) -> Result<(), String> {
        Ok(())
    }
}

/// A helper that starts nothing and reports samples of one second; every `n`th reports a suspended machine.
fn starter(folder: &Path, n: u32, sleeps: bool) -> Starter {
    let report = |name: &str, suspended: Option<f64>| {
        let (stdout, stderr) = (String::new(), String::new());
        let copy = CopyOutput { started: 0.0, ended: 1.0, how: ProcessEnd::Code(0), stdout, stderr };
        let report = CopyReport { copies: vec![copy], suspended, ..CopyReport::default() };
        let path = folder.join(name);
        std::fs::write(&path, serde_json::to_string(&report).unwrap()).unwrap();
        path.display().to_string()
    };
    let bad = report("bad", sleeps.then_some(60.0));
    let (good, count) = (report("good", None), folder.join("count"));
    let script = format!(
        "cat >/dev/null; n=$(($(cat {0} 2>/dev/null || echo 0) + 1)); echo $n >{0}; \
         if [ $((n % {n})) = 0 ]; then cat {bad}; else cat {good}; fi",
        count.display(),
    );
    Starter::new("/bin/sh", ["-c", &script])
}

fn campaign(n: u32, sleeps: bool) -> (Run, Vec<String>) {
    campaign_of(MANIFEST, None, n, sleeps)
}

fn campaign_of(manifest: &str, duet: Option<[usize; 2]>, n: u32, sleeps: bool) -> (Run, Vec<String>) {
    measured(manifest, duet, (n, sleeps), None)
}

fn measured(
    manifest: &str,
    duet: Option<[usize; 2]>,
    (n, sleeps): (u32, bool),
    energy: Option<application::EnergyReader>,
) -> (Run, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let applications = Manifest::parse(manifest, "m.toml", folder.path()).unwrap().applications;
    let run = document("app", 1, 0.02, None, folder.path().to_owned());
    let order = CampaignOrder { run, applications, copies: vec![1], root: folder.path().to_owned(), duet, energy };
    let mut reports = Reports(Vec::new());
    let starter = starter(folder.path(), n, sleeps);
    let (mut campaign, run) = Campaign::build(order, &starter, &Stopper::default()).unwrap();
    let order = RunRequest::of(run, kernels::affinity::allowed().unwrap()).unwrap();
    let ended = MeasureSession::measure(order, &mut campaign, &mut reports, &mut Unsaved, Stopper::default()).unwrap();
    (ended.run, reports.0)
}

/// Excluded samples, all samples, and the number of reported reasons.
fn spoiled(run: &Run, reports: &[String]) -> (usize, usize) {
    let samples = &run.results[0].samples;
    let spoiled = samples.iter().filter(|sample| sample.invalid.is_some());
    let kept = spoiled.clone().all(|sample| sample.invalid == Some(Invalid::Suspended(60.0)));
    assert!(kept && reports.iter().all(|reason| reason.contains("slept for 60.0 s")), "{reports:?}");
    assert_eq!(reports.len(), spoiled.clone().count());
    (spoiled.count(), samples.len())
}

#[test]
fn a_disturbed_sample_is_kept_with_its_reason_and_excluded() {
    let (run, reports) = campaign(6, true);
    let (spoiled, of) = spoiled(&run, &reports);
    assert!(spoiled > 0);
    let rate = &run.results[0];
    assert_eq!(rate.outcome.estimate().unwrap().samples as usize, of - spoiled);
    assert!(rate.has(Flag::Repeated));
}

#[test]
fn a_reason_in_every_sample_excludes_a_fifth_at_most() {
    let (run, reports) = campaign(1, true);
    let (spoiled, of) = spoiled(&run, &reports);
    assert!(spoiled > 0 && spoiled <= of.max(10) / 5, "{spoiled} of {of}");
    let rate = &run.results[0];
    assert_eq!(rate.outcome.estimate().unwrap().samples as usize, of - spoiled);
    assert!(!rate.has(Flag::Unfinished));
}

#[test]
fn without_disturbance_no_sample_is_excluded() {
    let (run, reports) = campaign(1, false);
    assert_eq!(spoiled(&run, &reports).0, 0);
    assert!(run.results[0].outcome.estimate().is_some());
}

#[test]
fn two_builds_side_by_side_have_a_ratio_and_three_run_in_turns() {
    let manifest = |sides: &str| {
        MANIFEST.replace("[\"x\"]", "[\"x\", \"{side}\"]") + &format!("builds = {{ side = [{sides}] }}\n")
    };
    let (run, _) = campaign_of(&manifest("\"base\", \"head\""), Some([0, 1]), 1, false);
    let ratio = run.results.iter().find(|result| result.benchmark == "application.x_ratio").unwrap();
    assert_eq!((ratio.parameters.get("build"), ratio.parameters.get("against")), (Some("head"), Some("base")));
    let samples = ratio.samples.len();
    assert!(samples > 0 && ratio.samples.iter().all(|sample| sample.nanos.len() == 4 && sample.value == 1.0));
    let rates: Vec<_> = run.results.iter().filter(|result| result.benchmark == "application.x").collect();
    assert!(rates.len() == 2 && rates.iter().all(|rate| rate.samples.len() == samples));
    assert_eq!(rates[0].samples[0].footprint.operations, 2);
    let cpu: Vec<_> = run.results.iter().filter(|result| result.benchmark == "application.x_cpu_time").collect();
    assert!(cpu.len() == 2 && cpu.iter().all(|cpu| cpu.samples.len() == samples), "CPU time is of each alone");
    let pair = application::build_pairs(&run, 0.01).remove(0);
    assert_eq!(pair.verdict, model::Verdict::NoChange, "{pair:?}");
    let (run, _) = campaign_of(&manifest("\"a\", \"b\", \"c\""), Some([0, 1]), 1, false);
    assert!(run.results.iter().all(|result| !result.benchmark.ends_with("_ratio")));
    // Every second helper reports that the machine slept: the samples of all results are excluded alike.
    let (run, _) = campaign_of(&manifest("\"base\", \"head\""), Some([0, 1]), 2, true);
    let ratio = run.results.iter().find(|result| result.benchmark == "application.x_ratio").unwrap();
    assert!(ratio.samples.iter().any(|sample| sample.invalid == Some(Invalid::Suspended(60.0))));
}

/// The counter of energy is that of all processors, and two builds use it at once.
#[test]
fn side_by_side_no_build_has_an_energy_of_its_own() {
    let manifest = MANIFEST.replace("[\"x\"]", "[\"x\", \"{side}\"]") + "builds = { side = [\"base\", \"head\"] }\n";
    let of = |run: &Run| -> Vec<model::Outcome> {
        let energies = run.results.iter().filter(|result| result.benchmark == "application.x_energy");
        energies.map(|result| result.outcome.clone()).collect()
    };
    let counter = || -> application::EnergyReader {
        let joules = std::cell::Cell::new(0.0);
        Box::new(move || joules.replace(joules.get() + 3.0))
    };
    let (run, _) = measured(&manifest, Some([0, 1]), (1, false), Some(counter()));
    let not_measured = "the build beside it uses the same energy";
    assert_eq!(of(&run), vec![model::Outcome::NotMeasured(not_measured.to_owned()); 2]);
    let (run, _) = measured(&manifest, None, (1, false), Some(counter()));
    assert!(of(&run).iter().all(|outcome| outcome.estimate().is_some_and(|joules| joules.value == 3.0)), "{run:?}");
}
