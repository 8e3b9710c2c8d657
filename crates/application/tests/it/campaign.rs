//! A campaign on a machine that disturbs it: what outside evidence speaks against never counts, and says why.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::path::Path;

use application::{Campaign, CampaignOrder, Copy, Ended, Manifest, Report, Starter, document};
use measure::{Event, Listener, Stopper};
use model::{Flag, Invalid, Outcome, Run};

const MANIFEST: &str = "[application.x]\nrun = [\"x\"]\nwork = { runs = 1, unit = \"run\" }\n";

struct Reports(Vec<String>);

impl Listener for Reports {
    fn hear(&mut self, event: &Event<'_>) {
        if let Event::Repeated { reason, .. } = event {
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

/// A helper that starts nothing and reports launches of one second, every `n`th without disturbance.
fn starter(folder: &Path, undisturbed: u32) -> Starter {
    let report = |name: &str, suspended: Option<f64>| {
        let (stdout, stderr) = (String::new(), String::new());
        let copy = Copy { started: 0.0, ended: 1.0, how: Ended::Code(0), stdout, stderr };
        let report = Report { copies: vec![copy], suspended, ..Report::default() };
        let path = folder.join(name);
        std::fs::write(&path, serde_json::to_string(&report).unwrap()).unwrap();
        path.display().to_string()
    };
    let (good, bad, count) = (report("good", None), report("bad", Some(60.0)), folder.join("count"));
    let script = format!(
        "cat >/dev/null; n=$(($(cat {0} 2>/dev/null || echo 0) + 1)); echo $n >{0}; \
         if [ {undisturbed} -gt 0 ] && [ $((n % {1})) = 0 ]; then cat {good}; else cat {bad}; fi",
        count.display(),
        undisturbed.max(1)
    );
    Starter::new("/bin/sh", ["-c", &script])
}

fn campaign(undisturbed: u32) -> (Run, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let applications = Manifest::parse(MANIFEST, "m.toml", folder.path()).unwrap().applications;
    let run = document("app", 1, 0.02, None, folder.path().to_owned());
    let order = CampaignOrder { run, applications, copies: vec![1], root: folder.path().to_owned() };
    let mut reports = Reports(Vec::new());
    let starter = starter(folder.path(), undisturbed);
    let ended = Campaign::measure(order, &starter, &mut reports, &mut Unsaved, Stopper::default()).unwrap();
    (ended.run, reports.0)
}

#[test]
fn a_disturbed_launch_never_counts_however_often_it_was_repeated() {
    let (run, reports) = campaign(3);
    let rate = &run.figures[0];
    let spoiled: Vec<_> = rate.launches.iter().filter(|launch| launch.invalid.is_some()).collect();
    assert!(spoiled.iter().all(|launch| launch.invalid == Some(Invalid::Suspended(60.0))));
    assert_eq!(reports.len(), spoiled.len());
    assert!(spoiled.len() >= 10 && reports.iter().all(|reason| reason.contains("slept for 60.0 s")), "{reports:?}");
    let estimate = rate.outcome.estimate().unwrap();
    assert_eq!(estimate.launches as usize, rate.launches.len() - spoiled.len());
    assert!(rate.has(Flag::Repeated));
}

#[test]
fn a_machine_that_disturbs_every_launch_leaves_a_failure_with_its_reason() {
    let (run, _) = campaign(0);
    let rate = &run.figures[0];
    assert!(rate.launches.iter().all(|launch| launch.invalid.is_some()));
    let Outcome::Failed(reason) = &rate.outcome else { panic!("{:?}", rate.outcome) };
    assert!(reason.contains("launch after launch did not count: the machine slept"), "{reason}");
    assert!(!rate.has(Flag::Unfinished));
}
