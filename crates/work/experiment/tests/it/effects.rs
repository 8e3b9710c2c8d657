//! What experiments call, against known effects.

use compare::experiment::{SettingEffect, SettingEffects, explained};
use experiment::{Row, rows};
use model::{Direction, Verdict};

use crate::simulated::{ALL, Simulated, every, measured, switch};

fn find<'a>(found: &'a SettingEffects, id: &str) -> &'a SettingEffect {
    found.effects.iter().find(|effect| effect.setting == id).unwrap()
}

#[test]
fn a_setting_that_does_nothing_is_rarely_called() {
    let runs = testing::trials(40, 200);
    let called = (0..runs as u64).filter(|seed| {
        let (_, found) = measured(Simulated::new(*seed, &[], 0.03), rows(&every()), 16, *seed);
        assert_eq!(found.effects.len(), 5);
        found.effects.iter().any(|effect| effect.verdict.differs())
    });
    let called = called.count();
    assert!(called as f64 <= 0.05 * runs as f64, "{called} of {runs}");
}

#[test]
fn the_planted_cause_comes_first_though_the_machine_drifts() {
    for (seed, factor) in [(1, 1.2), (2, 0.8), (3, 3.0), (4, 1.08)] {
        let machine = Simulated::new(seed, &[("second", factor)], 0.02);
        let (run, found) = measured(machine, rows(&every()), 24, seed);
        let first = &found.effects[0];
        assert_eq!(first.setting, "second", "{found:?}");
        let slower = if factor > 1.0 { Direction::Slower } else { Direction::Faster };
        assert_eq!(first.verdict, Verdict::Different(Some(slower)));
        let [ratio, low, high] = first.ratio.unwrap();
        assert!(low < ratio && ratio < high && (ratio / factor).ln().abs() < 0.03, "{ratio} of {factor}");
        assert!(found.effects[1..].iter().all(|effect| !effect.verdict.differs()), "{found:?}");
        assert!(found.as_found.is_some() && run.results[0].benchmark == "os.syscall_getppid");
    }
}

#[test]
fn an_effect_is_one_of_time_whatever_the_metric_counts() {
    let machine = Simulated::new(5, &[("first", 1.5)], 0.01).rate();
    let (_, found) = measured(machine, rows(&[switch(&ALL[0])]), 12, 5);
    assert_eq!(find(&found, "first").verdict, Verdict::Different(Some(Direction::Slower)));
    assert!((find(&found, "first").ratio.unwrap()[0] - 1.5).abs() < 0.05);
}

#[test]
fn no_change_is_shown_and_not_assumed() {
    let (_, found) = measured(Simulated::new(6, &[], 0.004), rows(&[switch(&ALL[0])]), 24, 6);
    assert_eq!(find(&found, "first").verdict, Verdict::NoChange);
    let (_, found) = measured(Simulated::new(7, &[], 0.2), rows(&[switch(&ALL[0])]), 8, 7);
    assert_eq!(find(&found, "first").verdict, Verdict::Inconclusive);
}

#[test]
fn few_blocks_have_no_verdict() {
    let machine = Simulated::new(8, &[("first", 3.0)], 0.01);
    let (_, found) = measured(machine, rows(&[switch(&ALL[0])]), 5, 8);
    let first = find(&found, "first");
    assert_eq!((first.blocks, first.ratio, first.verdict), (5, None, Verdict::Inconclusive));
}

#[test]
fn an_interaction_is_what_both_do_beyond_each() {
    let pair = |machine, seed| {
        let rows = rows(&[]).into_iter().chain([Row::Interaction([switch(&ALL[0]), switch(&ALL[1])])]).collect();
        let (_, found) = measured(machine, rows, 24, seed);
        let effect = found.effects.into_iter().find(|effect| effect.interaction).unwrap();
        assert_eq!(effect.setting, "first+second");
        effect
    };
    let factors = [("first", 2.0), ("second", 1.5)];
    let mut machine = Simulated::new(9, &factors, 0.01);
    machine.together = 0.7;
    let effect = pair(machine, 9);
    assert!(effect.verdict.differs() && (effect.ratio.unwrap()[0] - 0.7).abs() < 0.05, "{effect:?}");
    let effect = pair(Simulated::new(10, &factors, 0.002), 10);
    assert_eq!(effect.verdict, Verdict::NoChange, "{effect:?}");
}

#[test]
fn shares_of_a_difference_are_those_that_were_planted() {
    // The explained machine takes 1.5 times as long. One setting is 60% of that in logarithms, one is nothing.
    let whole = 1.5_f64;
    let planted = whole.powf(-0.6);
    let mut all = rows(&[switch(&ALL[0]), switch(&ALL[2])]);
    all.push(Row::Effect(vec![switch(&ALL[0]), switch(&ALL[2])]));
    let (_, found) = measured(Simulated::new(11, &[("first", planted)], 0.01), all, 24, 11);
    let parts = explained([whole, 1.48, 1.52], &found);
    let [share, low, high] = parts.parts[0].share.unwrap();
    assert_eq!(parts.parts[0].setting, "first");
    assert!(low < 0.6 && 0.6 < high && (share - 0.6).abs() < 0.05, "{share} ({low} to {high})");
    assert!(parts.parts[1].share.unwrap()[0].abs() < 0.05);
    let [open, low, high] = parts.unexplained().unwrap();
    assert!(low < 0.4 && 0.4 < high && (open - 0.4).abs() < 0.05, "{open} ({low} to {high})");
}
