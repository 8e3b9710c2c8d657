//! Trends: planted parameters, and the public record of processors.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "tests and their helpers")]

use decide::trend::{Dated, GrowthTrend, TrendCurve, TrendOptions, parse, trend};
use stats::simulate::{generator, standard_normal};

fn specint() -> Vec<Dated> {
    parse(&testing::public_data("rupp50_specint.dat"), None).unwrap()
}

fn fitted(data: &[Dated], from: f64, to: f64, project: &[f64]) -> GrowthTrend {
    trend(data, &TrendOptions { window: Some((from, to)), project: project.to_vec(), ..TrendOptions::default() })
        .unwrap()
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn doubling_times_of_the_public_record() {
    let data = specint();
    for (from, to, years, low, high) in [
        (1988.0, 1999.0, 1.70, 1.41, 2.15),
        (1990.0, 1998.8, 1.56, 1.25, 2.06),
        (1988.0, 2004.0, 1.86, 1.70, 2.05),
        (2005.0, 2022.0, 6.01, 5.15, 7.20),
    ] {
        let found = fitted(&data, from, to, &[]);
        let doubling = found.fits[0].doubling.clone().unwrap();
        eprintln!("{from} to {to}: {:.2} [{:.2}, {:.2}]", doubling.value, doubling.low, doubling.high);
        assert!((low..=high).contains(&doubling.value), "{from} to {to}: {doubling:?}");
        assert!((doubling.value / years - 1.0).abs() < 0.02, "{from} to {to}: {doubling:?}");
        assert!((doubling.low / low - 1.0).abs() < 0.03 && (doubling.high / high - 1.0).abs() < 0.03);
    }
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn the_fit_of_1998_says_that_2015_is_out_of_reach() {
    let data = specint();
    let found = fitted(&data, 1990.0, 1998.8, &[1999.5, 2008.0, 2015.0]);
    let [near, far, farthest] = found.fits[0].projections.as_slice() else { panic!("three dates") };
    assert!(!near.out_of_reach && far.out_of_reach && farthest.out_of_reach);
    let (_, too_high) = far.came.unwrap();
    assert!((4.0..10.0).contains(&too_high), "{too_high}");
    // Its own interval, once the rate may vary, no longer excludes the later values.
    for projection in [far, farthest] {
        let (low, high) = projection.wide.unwrap();
        let (came, _) = projection.came.unwrap();
        assert!(low <= came && came <= high && high / low > 50.0, "{projection:?}");
    }
    let later = found.later.clone().unwrap();
    assert!(later.inside < 0.5 && later.too_high_at_the_end > 5.0, "{later:?}");
    let sentences = found.sentences();
    sentences.iter().for_each(|sentence| eprintln!("{sentence}"));
    assert!(sentences[0].contains("too far to trust"));
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn the_break_of_the_public_record_is_found() {
    let data = specint();
    let found = fitted(&data, 1988.0, 2022.0, &[]);
    let broken = found.fits[0].broken.clone().unwrap();
    assert!(broken.significant && (2001.0..2008.0).contains(&broken.between.0), "{broken:?}");
    assert!(broken.doubling_after.unwrap() > 2.0 * broken.doubling_before.unwrap());
    assert_eq!(found.fits[1].curve, TrendCurve::Frontier);
}

fn planted(seed: u64, doubling: f64, from: i32, to: i32) -> Vec<Dated> {
    let mut rng = generator(seed);
    (4 * from..4 * to)
        .map(|quarter| {
            let time = f64::from(quarter) / 4.0;
            let value = 100.0 * ((time - 2000.0) / doubling).exp2() * (0.3 * standard_normal(&mut rng)).exp();
            Dated { time, value, name: None }
        })
        .collect()
}

#[test]
fn intervals_cover_what_they_say() {
    let (mut doubling, mut values) = (0, 0);
    let trials = testing::trials(40, 300);
    for seed in 0..trials as u64 {
        let data = planted(seed, 2.0, 2000, 2012);
        let found = trend(&data[..40], &TrendOptions { project: vec![2011.75], level: 0.9, ..TrendOptions::default() })
            .unwrap();
        let fit = &found.fits[0];
        let time = fit.doubling.clone().unwrap();
        doubling += usize::from(time.low <= 2.0 && 2.0 <= time.high);
        let said = &fit.projections[0];
        values += usize::from(said.low <= data[47].value && data[47].value <= said.high);
    }
    for covered in [doubling, values] {
        let share = covered as f64 / trials as f64;
        assert!((share - 0.9).abs() <= testing::at_most(0.1, trials) - 0.1, "{share}");
    }
}

#[test]
fn breaks_are_found_and_rarely_invented() {
    let trials = testing::trials(12, 60);
    let alarms = (0..trials as u64)
        .filter(|&seed| {
            let found = trend(&planted(seed, 2.0, 2000, 2010), &TrendOptions::default()).unwrap();
            found.fits[0].broken.clone().unwrap().significant
        })
        .count();
    assert!(alarms <= if trials < 60 { 3 } else { 8 }, "{alarms} of {trials}");
    let mut bent = planted(3, 2.0, 2000, 2010);
    let slow = planted(4, 8.0, 2010, 2020);
    let level = bent.last().unwrap().value / slow[0].value;
    bent.extend(slow.into_iter().map(|point| Dated { value: point.value * level, ..point }));
    let broken = trend(&bent, &TrendOptions::default()).unwrap().fits[0].broken.clone().unwrap();
    assert!(broken.significant && (broken.between.0 - 2010.0).abs() < 2.0, "{broken:?}");
}

#[test]
fn what_cannot_be_fitted_says_why() {
    let data = planted(1, 2.0, 2000, 2002);
    let none = trend(&data, &TrendOptions { window: Some((2030.0, 2040.0)), ..TrendOptions::default() }).unwrap_err();
    assert!(none.to_string().contains("between 2030 and 2040"), "{none}");
    for (window, words) in [((2030.0, f64::INFINITY), "from 2030 on"), ((f64::NEG_INFINITY, 1800.0), "until 1800;")] {
        let none = trend(&data, &TrendOptions { window: Some(window), ..TrendOptions::default() }).unwrap_err();
        assert!(none.to_string().contains(words), "{none}");
    }
    let same: Vec<Dated> = (0..9).map(|i| Dated { time: 2000.0, value: f64::from(i + 1), name: None }).collect();
    let one_date = trend(&same, &TrendOptions::default()).unwrap_err().to_string();
    assert!(
        one_date.contains("all 9 values have the same date; a trend needs at least 4, on different dates"),
        "{one_date}"
    );
    assert!(trend(&[], &TrendOptions::default()).is_err());
}

#[test]
fn nothing_is_ever_without_a_number() {
    fn numbers(value: &serde_json::Value, place: &str) {
        match value {
            serde_json::Value::Null => {
                let may_be_absent = ["doubling", "broken", "later", "came", "wide", "lost_from", "name"];
                let last = place.rsplit('.').next().unwrap_or_default();
                assert!(may_be_absent.iter().any(|name| last.starts_with(name)), "{place} is no number");
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| numbers(item, place)),
            serde_json::Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| numbers(value, &format!("{place}.{name}")));
            }
            _ => {}
        }
    }
    let cases: [(&str, Vec<(f64, f64)>); 6] = [
        ("flat", (0..12).map(|i| (2000.0 + f64::from(i), 5.0)).collect()),
        ("huge", (0..12).map(|i| (2000.0 + f64::from(i), 1e300 * f64::from(i + 1))).collect()),
        ("tiny", (0..12).map(|i| (2000.0 + f64::from(i), 1e-300 / f64::from(i + 1))).collect()),
        ("steep", (0..12).map(|i| (2000.0 + 1e-4 * f64::from(i), 10.0_f64.powi(20 * i))).collect()),
        ("exact", (0..12).map(|i| (2000.0 + f64::from(i), 2.0_f64.powi(i))).collect()),
        ("two halves", (0..12).map(|i| (2000.0 + f64::from(i), if i < 6 { 1.0 } else { 2.0_f64.powi(i) })).collect()),
    ];
    for (name, points) in cases {
        let data: Vec<Dated> = points.into_iter().map(|(time, value)| Dated { time, value, name: None }).collect();
        let window = Some((2000.0, data[8].time));
        for window in [None, window] {
            let options = TrendOptions { window, project: vec![1901.0, 2030.0, 2199.0], ..TrendOptions::default() };
            let found = trend(&data, &options).unwrap();
            numbers(&serde_json::to_value(&found).unwrap(), name);
            let words = found.sentences().join(" ").to_lowercase();
            assert!(!words.contains("nan") && !words.contains(" inf"), "{name}: {words}");
            let told = found.fits[0].projections.len() + found.beyond.len();
            assert_eq!(told, 3, "{name}");
        }
    }
}

/// Values on one line have no scatter, which is no certainty.
#[test]
fn values_on_the_line_are_no_certainty() {
    for growth in [1.0, 2.0_f64] {
        let data: Vec<Dated> =
            (0..5).map(|i| Dated { time: 2000.0 + f64::from(i), value: growth.powi(i), name: None }).collect();
        let found = trend(&data, &TrendOptions { project: vec![2005.0], ..TrendOptions::default() }).unwrap();
        let said = found.sentences().join(" ");
        assert!(
            said.contains("no interval: all values lie exactly on the line") && !said.contains("prediction interval"),
            "{said}"
        );
    }
}

/// Dated values, one a year from 1990 on.
fn yearly(values: &[f64]) -> Vec<Dated> {
    let dated = |(at, value): (usize, &f64)| Dated { time: 1990.0 + at as f64, value: *value, name: None };
    values.iter().enumerate().map(dated).collect()
}

/// The records of five years say nothing of what comes after five more years without any.
#[test]
fn a_frontier_without_new_records_has_ended() {
    let options = TrendOptions { project: vec![2001.0], ..TrendOptions::default() };
    let ended = yearly(&[1.0, 2.1, 3.9, 8.1, 16.0, 15.0, 14.0, 16.0, 15.5, 14.5]);
    let found = trend(&ended, &options).unwrap();
    let frontier = found.fits.iter().find(|fit| fit.curve == TrendCurve::Frontier).unwrap();
    assert_eq!((frontier.span, frontier.ended), ((1990.0, 1994.0), Some(1994.0)), "{frontier:?}");
    assert!(frontier.projections[0].out_of_reach && frontier.projections[0].extrapolation > 1.5, "{frontier:?}");
    let said = found.sentences().join(" ");
    assert!(said.contains("The frontier of 1990 to 1994 (5 values)"), "{said}");
    assert!(said.contains("No value after 1994 is a record. The growth would have brought one by 1999"), "{said}");
    // Turned round, for values of which lower is better.
    let metric = crate::common::time("call");
    let times = yearly(&ended.iter().map(|point| 1.0 / point.value).collect::<Vec<f64>>());
    let found = trend(&times, &TrendOptions { metric: Some(metric), ..options.clone() }).unwrap();
    assert!(found.fits.iter().any(|fit| fit.ended == Some(1994.0)), "{found:?}");
    // A current year without a record does not end growth, nor does continuing growth.
    for going in [yearly(&[1.0, 2.1, 3.9, 8.1, 15.0, 14.0]), yearly(&[1.0, 2.1, 3.9, 8.1, 16.0, 33.0, 64.0])] {
        let found = trend(&going, &options).unwrap();
        assert!(found.fits.iter().all(|fit| fit.ended.is_none()), "{found:?}");
    }
}

#[test]
fn five_values_do_not_show_how_their_growth_changes() {
    let options = TrendOptions { project: vec![2010.0], ..TrendOptions::default() };
    let few = trend(&yearly(&[1.0, 2.1, 3.9, 8.1, 16.0]), &options).unwrap();
    assert!(few.fits[0].projections[0].wide.is_none());
    assert!(!few.sentences().join(" ").contains("goes on changing as it did"), "{:?}", few.sentences());
    let enough = trend(&yearly(&[1.0, 2.1, 3.9, 8.1, 16.0, 30.0]), &options).unwrap();
    assert!(enough.fits[0].projections[0].wide.is_some());
}

#[test]
fn years_to_double_of_one_day_are_not_written_as_none() {
    let day = |at: usize| 2026.0 + at as f64 / 365.25 / 24.0;
    let dated = |at: usize| Dated {
        time: day(at),
        value: 1.1_f64.powi(at as i32) * (1.0 + 1e-3 * (at % 3) as f64),
        name: None,
    };
    let found = trend(&(0..8).map(dated).collect::<Vec<Dated>>(), &TrendOptions::default()).unwrap();
    let said = found.sentences().join(" ");
    assert!(said.contains("doubles in 0.0008") && !said.contains("0.00 years"), "{said}");
}

#[test]
fn what_a_frontier_may_become_is_reckoned_from_its_last_record() {
    // Twice the values of a frontier that ended: nothing of what came later changes what its records say.
    let records = [1.0, 2.3, 3.6, 8.8, 15.0, 31.0, 58.0, 131.0];
    let options = TrendOptions { project: vec![2010.0], ..TrendOptions::default() };
    let frontier = |values: &[f64]| {
        let found = trend(&yearly(values), &options).unwrap();
        found.fits.into_iter().find(|fit| fit.curve == TrendCurve::Frontier).unwrap()
    };
    let mut later = records.to_vec();
    later.extend([100.0; 6]);
    let (alone, ended) = (frontier(&records), frontier(&later));
    assert_eq!(ended.ended, Some(1997.0));
    assert_eq!(alone.projections, ended.projections);
}
