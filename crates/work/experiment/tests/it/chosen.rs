//! Which settings are tried, and what is refused in one line.

use std::collections::HashSet;

use experiment::{Chosen, SETTINGS, Setting, SettingKind, System, Wanted, choose};
use model::PlanEntry;

fn metric(benchmark: &str, parameters: &str) -> PlanEntry {
    PlanEntry { benchmark: benchmark.to_owned(), parameters: parameters.parse().unwrap(), target: 0.02, shares: None }
}

fn context_switch() -> PlanEntry {
    metric("os.context_switch", "processes=2,working_set=0,placement=same_cpu")
}

fn chosen(names: &[&str], system: bool, privileged: bool) -> Result<Chosen, String> {
    let wanted = Wanted { names: names.iter().map(|name| (*name).to_owned()).collect(), system };
    let this = System { privileged, ..System::this() };
    choose(&this, &wanted, &context_switch()).map_err(|error| error.to_string())
}

fn ids(chosen: &Chosen) -> Vec<&str> {
    chosen.switches.iter().map(|switch| switch.setting.id).collect()
}

#[test]
fn every_setting_is_complete_and_has_its_own_name() {
    let names: HashSet<&str> = SETTINGS.iter().map(|setting| setting.id).collect();
    assert_eq!(names.len(), SETTINGS.len());
    for setting in SETTINGS {
        assert!(!setting.title.is_empty() && setting.id.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        assert!(setting.kind == SettingKind::Process || setting.root, "{}: the machine is root's", setting.id);
    }
}

#[test]
fn settings_of_the_machine_need_to_be_allowed() {
    let default = chosen(&[], false, true).unwrap();
    assert!(default.switches.iter().all(|switch| switch.setting.kind == SettingKind::Process));
    assert!(default.not_tried.iter().any(|(_, reason)| reason == "needs --allow system"));
    let refused = chosen(&["swappiness"], false, true).unwrap_err();
    assert_eq!(refused, "swappiness changes the whole machine; allow that with --allow system");
}

#[test]
fn what_needs_root_says_so_in_one_line() {
    let refused = chosen(&["swappiness"], true, false).unwrap_err();
    assert_eq!(refused, "could not try swappiness: needs root");
    let default = chosen(&[], false, false).unwrap();
    assert!(default.not_tried.iter().any(|(title, reason)| title == "scheduling policy" && reason == "needs root"));
    assert!(ids(&default).contains(&"nice"), "what a process may do to itself needs no root");
}

#[test]
fn what_may_cut_a_connection_is_tried_by_name_alone() {
    let cuts = |setting: &&Setting| setting.cuts;
    let all = chosen(&["all"], true, true).unwrap();
    for setting in SETTINGS.iter().filter(cuts) {
        assert!(!ids(&all).contains(&setting.id), "{}", setting.id);
    }
    assert!(SETTINGS.iter().filter(cuts).count() >= 4);
    assert!(all.not_tried.iter().any(|(_, reason)| reason.contains("--try mtu")));
}

#[test]
fn a_name_may_have_a_value_and_a_wrong_one_gets_a_hint() {
    let one = chosen(&["nice=7"], false, true).unwrap();
    assert_eq!(one.switches.iter().map(|switch| switch.to.as_str()).collect::<Vec<_>>(), ["7"]);
    let refused = chosen(&["seccom"], false, true).unwrap_err();
    assert!(refused.starts_with("there is no setting seccom; similar: seccomp"), "{refused}");
    assert!(refused.lines().count() == 1);
}

#[test]
fn parameters_of_the_benchmark_are_settings_of_it() {
    let default = chosen(&[], false, true).unwrap();
    let values = |id: &str| {
        let of = default.switches.iter().filter(|switch| switch.setting.id == id);
        of.map(|switch| switch.to.clone()).collect::<Vec<_>>()
    };
    assert!(values("placement").contains(&"cross_cpu".to_owned()), "{:?}", values("placement"));
    assert!(values("sync").is_empty());
}
