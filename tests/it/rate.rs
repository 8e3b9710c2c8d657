//! The frozen sets through the program. A script simulates components if the test is about their failures; other tests
//! check the real ones.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

pub(crate) mod rated {
    use std::fmt::Write;
    use std::os::unix::fs::PermissionsExt;

    use crate::common::{Answer, Place};
    use serde_json::Value;

    /// A program that reports twice the reference time for every component, except what `special` reports for one.
    pub(crate) fn player(place: &Place, special: (&str, &str)) -> String {
        let listed = place.ask(&["benchmarks", "--suite", "rating", "--format=json"]).fine().json();
        let mut script = "#!/bin/sh\ncase $2 in\n".to_owned();
        writeln!(script, "{}) {};;", special.0, special.1).unwrap();
        for component in listed.as_array().unwrap() {
            let text = |name: &str| component[name].as_str().unwrap();
            let seconds = 2.0 * component["reference_seconds"].as_f64().unwrap();
            let said = format!("seconds={seconds}\\nchecksum={}\\nbuild=played\\noptimised=true\\n", text("checksum"));
            writeln!(script, "{}) printf '{said}';;", text("name")).unwrap();
        }
        script.push_str("esac\n");
        let path = place.file("player");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn rate(place: &Place, special: (&str, &str), suite: &str, more: &[&str]) -> Answer {
        let program = player(place, special);
        place.ask(&[&["run", "--suite", suite, "--build", &program, "--format=json"], more].concat())
    }

    fn result<'a>(run: &'a Value, id: &str) -> &'a Value {
        run["results"].as_array().unwrap().iter().find(|result| result["benchmark"] == id).unwrap()
    }

    fn value(run: &Value, id: &str) -> f64 {
        let result = result(run, id);
        crate::common::estimate(result)
            .and_then(|found| found["value"].as_f64())
            .unwrap_or_else(|| panic!("{result:#}"))
    }

    #[test]
    fn ratios_are_to_the_reference_and_copies_add_up() {
        let place = Place::new();
        let run = rate(&place, ("none", ":"), "rating", &["--copies", "1,3", "--max-samples", "8"]).fine().json();
        for set in ["int_1", "fp_1"] {
            assert!((value(&run, &format!("rating.{set}_speed")) - 0.5).abs() < 1e-9);
            assert!((value(&run, &format!("rating.{set}_rate")) - 1.5).abs() < 1e-9);
        }
        assert!((value(&run, "rating.fp_1_dynamics_rate") - 1.5).abs() < 1e-9);
        assert_eq!(run["results"].as_array().unwrap().len(), 2 * (1 + 6 + 1 + 6));
        assert!(result(&run, "rating.int_1_speed")["notes"].to_string().contains("built by played"));
        let said = place.ask(&["show", "1"]).fine().out;
        assert!(said.contains("geometric mean") && said.contains("stencil"), "{said}");
    }

    #[test]
    fn a_wrong_checksum_makes_the_rating_of_its_set_invalid_and_the_other_goes_on() {
        let place = Place::new();
        let wrong = "printf 'seconds=0.1\\nchecksum=0123456789abcdef\\n'; echo strange >&2";
        let answer = rate(&place, ("sqlite", wrong), "rating", &["--copies", "1", "--max-samples", "8"]);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        let run = answer.json();
        let reason = result(&run, "rating.int_1_speed")["outcome"]["failed"].as_str().unwrap().to_owned();
        assert!(reason.contains("invalid: sqlite") && reason.contains("0123456789abcdef"), "{reason}");
        let sqlite = result(&run, "rating.int_1_sqlite_speed");
        assert!(sqlite["notes"].to_string().contains("strange"), "{sqlite}");
        assert!((value(&run, "rating.fp_1_speed") - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_component_that_crashes_or_prints_nothing_is_no_rating() {
        for (does, says) in [("kill -SEGV $$", "segmentation fault"), ("exit 3", "status 3"), (":", "checksum nothing")]
        {
            let place = Place::new();
            let answer = rate(&place, ("ray", does), "fp-1", &["--copies", "1"]);
            assert_eq!(answer.code, Some(2), "{answer:?}");
            let run = answer.json();
            let reason = result(&run, "rating.fp_1_speed")["outcome"]["failed"].as_str().unwrap().to_owned();
            assert!(reason.contains("invalid: ray") && reason.contains(says), "{reason}");
        }
    }

    #[test]
    fn a_time_limit_holds_within_the_first_sample_and_one_that_is_too_short_is_told() {
        let place = Place::new();
        // It would count as hung after two minutes, and fail.
        let endless = "echo begun >>\"$0.log\"; exec sleep 300";
        let cut = rate(&place, ("zstd", endless), "int-1", &["--copies", "1", "--time-limit", "1s"]);
        let told = "two samples of every component, which take 2 s on the reference machine; --time-limit gives 1 s";
        assert!(cut.err.contains(told), "{cut:?}");
        assert_eq!(std::fs::read_to_string(place.file("player.log")).unwrap().lines().count(), 1, "{cut:?}");
        let run = cut.json();
        for result in run["results"].as_array().unwrap() {
            assert!(result["outcome"].get("failed").is_none(), "{result}");
            assert!(result["samples"].as_array().is_none_or(Vec::is_empty), "nothing was begun after it: {result}");
        }
        let enough = ["--copies", "1", "--max-samples", "8", "--time-limit", "10m"];
        let answer = rate(&place, ("none", ":"), "int-1", &enough).fine();
        assert!(!answer.err.contains("two samples"), "{answer:?}");
        assert!((value(&answer.json(), "rating.int_1_speed") - 0.5).abs() < 1e-9);
    }

    #[test]
    fn two_ratings_are_compared_explained_and_reported() {
        let place = Place::new();
        rate(&place, ("none", ":"), "int-1", &["--copies", "1", "--max-samples", "8"]).fine();
        rate(&place, ("none", ":"), "int-1", &["--copies", "1", "--max-samples", "8"]).fine();
        let compared = place.ask(&["compare", "1", "2", "--format=json"]).fine().json();
        assert_eq!(compared["rows"].as_array().unwrap().len(), 7);
        place.ask(&["explain", "1", "2"]).fine();
        place.ask(&["report", "1", "2", "--output", "both.html"]).fine();
        let html = std::fs::read_to_string(place.file("both.html")).unwrap();
        assert!(html.contains("int-1 speed, geometric mean"), "the rating is missing from the report");
    }

    #[test]
    fn a_missing_program_or_set_is_refused() {
        let place = Place::new();
        let said = place.ask(&["run", "--suite", "int-1", "--build", "nowhere"]).refused();
        assert!(said.contains("nowhere"), "{said}");
        assert!(place.ask(&["run", "--suite", "int-2"]).refused().contains("prony benchmarks --suite"));
        assert!(place.ask(&["run", "--suite", "quick", "--copies", "2"]).refused().contains("frozen sets"));
    }
}
