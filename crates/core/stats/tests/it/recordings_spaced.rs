//! Recorded samples further apart: the effect of spacing on the described period.

use super::recordings::{LEVEL, Tally, parse, table, until};
use stats::median;
use stats::order_statistic::{sample_median_interval, sample_median_range};
use stats::simulate::generator;

/// The spacing of samples decides what their interval describes. Samples half a second apart describe a quarter of a
/// minute, which differs from the next one if the host's other guests are busy.
#[test]
fn samples_further_apart_describe_more_of_the_host() {
    let mut rng = generator(37);
    let recorded = parse(include_str!("../noise/long_guest.txt"));
    let mut found = Vec::new();
    for step in [1, 2, 4, 8] {
        let every = |values: &Vec<f64>, start: usize, rng: &mut _| {
            let some: Vec<f64> =
                (0..values.len() / step).map(|at| values[(start + at * step) % values.len()]).collect();
            some[..until(rng).min(some.len())].to_vec()
        };
        let mut each: Vec<(String, Tally)> = Vec::new();
        for (name, values) in &recorded {
            let truth = median(values).unwrap();
            let tally = Tally::of(truth, (0..values.len()).map(|start| every(values, start, &mut rng)));
            each.push((name.clone(), tally));
        }
        let (all, _) = table(&format!("of a long recording, {:.1} s apart", 0.53 * step as f64), &each);
        found.push((all.coverage(), all.when_called()));
    }
    let [half, one, two, four] = found[..] else { panic!("{found:?}") };
    assert!(half.1 < one.1 && one.1 < two.1 && two.1 < four.1, "{found:?}");
    // The spacing of runs without a limit, and the rounds of `default`.
    assert!(one.0 >= 0.90 && one.1 >= 0.88 && two.1 >= 0.95 && four.1 >= 0.97, "{found:?}");
}

/// Share of runs in which the interval of `executions` samples, `step` apart, covers the median of the whole recording.
fn covered(recorded: &[f64], executions: usize, step: usize) -> f64 {
    let truth = median(recorded).unwrap();
    let starts = recorded.len() - (executions - 1) * step;
    let covers = |start: &usize| {
        let some: Vec<f64> = recorded[*start..].iter().step_by(step).take(executions).copied().collect();
        // Samples too few for that level give a min-max range at a lower one.
        let found = sample_median_interval(&some, LEVEL).or_else(|| sample_median_range(&some));
        found.is_some_and(|found| found.interval.contains(truth))
    };
    (0..starts).filter(covers).count() as f64 / starts as f64
}

/// The same holds for executions of whole programs: `executions_alone` and `executions_beside_builds` hold 3,000 and
/// 4,000 times of a program that lists a directory, microseconds, one every twentieth of a second, on an idle guest and
/// during intermittent compilation. Half a second apart is what `time` and `app` do.
#[test]
fn executions_further_apart_describe_more_of_the_host() {
    let texts = [
        ("alone", include_str!("../noise/executions_alone.txt")),
        ("beside builds", include_str!("../noise/executions_beside_builds.txt")),
    ];
    for (name, text) in texts {
        let recorded = parse(text).remove("ls").unwrap();
        for executions in [14, 20, 40] {
            let shares = [1, 2, 4, 10, 20].map(|step| covered(&recorded, executions, step));
            println!("TABLE {executions} executions {name}, 0.05, 0.1, 0.2, 0.5, 1 s apart: {shares:.3?} cover");
            assert!(shares[3] > shares[0] + 0.05, "{name}, {executions}: {shares:?}");
            assert!(name != "alone" || shares[3] >= 0.93, "{executions}: {shares:?}");
        }
    }
}
