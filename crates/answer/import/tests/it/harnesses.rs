//! Tables of many rows.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::read_as;

#[test]
fn rows_of_one_machine_are_its_samples_in_their_order() {
    let rows: String = (0..3000).map(|row| format!("a,{}\n", row % 7 + 1)).collect();
    let result = &read_as("wide-csv", &format!("machine,x (s)\n{rows}"))[0].results[0];
    let values: Vec<f64> = result.samples.iter().map(|sample| sample.value).collect();
    assert_eq!((values.len(), &values[..3], values[2999]), (3000, &[1.0, 2.0, 3.0][..], 4.0));
    assert_eq!(result.outcome.estimate().unwrap().value, 4.0);
}
