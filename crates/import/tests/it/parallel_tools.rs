//! What the suites for clusters print: sizes behind each figure, tests that did not run, checks, copies at once.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{import_fixture, keys, near};

#[test]
fn every_residual_of_linpack_counts() {
    let run = &import_fixture("hpl-1.txt")[0];
    let of = |variant: &str| run.figures.iter().find(|figure| figure.point.get("variant") == Some(variant));
    let tcp = of("WR13R2C4").unwrap();
    assert!(near(tcp.outcome.estimate().unwrap().value, 7.5e9), "{:?}", keys(run));
    assert!(near(tcp.rounding.unwrap(), 0.0005 / 7.5), "the exponent is no decimal: {:?}", tcp.rounding);
    let vendor = of("WC0").unwrap();
    assert!(near(vendor.outcome.estimate().unwrap().value, 12.68e9));
    assert_eq!(run.figures.len(), 2, "one of three residuals failed");
    assert!(run.session.notes.iter().any(|note| note.contains("the result at line 14 failed its residual check")));
}
