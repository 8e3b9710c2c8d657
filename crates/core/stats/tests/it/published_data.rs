//! Fits of public series, compared with known results.
#![expect(clippy::unwrap_used, reason = "a data file that does not parse must fail the test")]

use stats::fit::break_test::sup_f;
use stats::fit::exponential::{Growth, exponential};

/// Dated values of a file with two columns.
fn series(name: &str) -> Vec<(f64, f64)> {
    let text = testing::public_data(name);
    let point = |line: &str| {
        let mut numbers = line.split_whitespace().map(|f| f.parse().unwrap());
        (numbers.next().unwrap(), numbers.next().unwrap())
    };
    text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')).map(point).collect()
}

fn between(points: &[(f64, f64)], from: f64, to: f64) -> Growth {
    let (times, values): (Vec<f64>, Vec<f64>) = points.iter().filter(|p| p.0 >= from && p.0 < to).copied().unzip();
    exponential(&times, &values).unwrap()
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn doubling_times_of_specint() {
    let points = series("rupp50_specint.dat");
    let expected = [
        (1988.0, 1999.0, 1.70, 1.41, 2.15),
        (1990.0, 1998.8, 1.56, 1.25, 2.06),
        (1988.0, 2004.0, 1.86, 1.70, 2.05),
        (2005.0, 2022.0, 6.0, 5.15, 7.2),
    ];
    for (from, to, value, low, high) in expected {
        let doubling = between(&points, from, to).doubling_time(0.95).unwrap();
        println!("{from}-{to}: {:.2} [{:.2}, {:.2}]", doubling.value, doubling.interval.low, doubling.interval.high);
        let near = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs() < 0.03;
        assert!(near(doubling.value, value) && near(doubling.interval.low, low) && near(doubling.interval.high, high));
    }
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn a_long_extrapolation_is_wrong() {
    let points = series("rupp50_specint.dat");
    let growth = between(&points, 1990.0, 1998.8);
    let seen: Vec<f64> = points.iter().filter(|p| (2007.5..2008.8).contains(&p.0)).map(|p| p.1).collect();
    let over = growth.predict(2008.0, 0.95).value / stats::median(&seen).unwrap();
    println!("1990-1998 extrapolated to 2008 is {over:.1} times too high");
    assert!(over > 3.0);
}

#[test]
#[ignore = "reads a public data set that is not part of this tree: PRONY_PUBLIC_DATA names its directory"]
fn the_end_of_fast_growth_is_a_break() {
    let points = series("rupp50_specint.dat");
    let (times, values): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    let logs: Vec<f64> = values.iter().map(|v: &f64| v.ln()).collect();
    let found = sup_f(&times, &logs, 199, 1).unwrap();
    println!("break between {:.1} and {:.1}, p {:.3}", found.after, found.before, found.p_value);
    assert!(found.p_value < 0.01 && (2000.0..2008.0).contains(&found.after));
    assert!(found.slope_before > 2.0 * found.slope_after);
}
