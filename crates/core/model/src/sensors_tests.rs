//! Sensor readings in documents, and values derived from them.

use super::*;

#[test]
fn rows_of_similar_numbers_are_written_as_differences_and_read_back() {
    let row = SmallSteps(vec![14_010, 14_002, 29_192, 0, u32::MAX]);
    let text = serde_json::to_string(&row).unwrap();
    assert_eq!(text, "[14010,-8,15190,-29192,4294967295]");
    assert_eq!(serde_json::from_str::<SmallSteps>(&text).unwrap(), row);
    assert!(serde_json::from_str::<SmallSteps>("[5,-6]").is_err());
    assert!(serde_json::from_str::<SmallSteps>("[9223372036854775807,1]").is_err());
    assert!(serde_json::from_str::<SmallSteps>("[]").unwrap().is_empty());
}

#[test]
fn readings_become_a_clock_and_a_ratio_without_unit() {
    let lengths = SensorLengths { clock: 36_000, contention: 180_000, issue: 0 };
    assert!((lengths.hertz(10_000) - 3.6e9).abs() < 1.0);
    // At another clock both change by the same factor: the ratio is constant.
    assert!((lengths.ratio(10_000, 13_000) - lengths.ratio(20_000, 26_000)).abs() < 1e-12);
    assert!((lengths.ratio(10_000, 13_000) - 0.26).abs() < 1e-12);
    assert_eq!(lengths.issued(10_000, 10_000), None, "not read");
    let lengths = SensorLengths { issue: 216_000, ..lengths };
    assert!((lengths.issued(10_000, 10_000).unwrap() - 6.0).abs() < 1e-12);
    assert!((lengths.issued(20_000, 20_000).unwrap() - 6.0).abs() < 1e-12);
    assert_eq!(lengths.issued(10_000, 0), None);
}

#[test]
fn readings_of_an_earlier_part_without_the_issue_reference_stay_beside_their_own_rows() {
    let old = SensorReading { clock: 10, contention: 12, issue: 0 };
    let mut samples = SensorSamples::default();
    samples.push(1, 0, old);
    assert!(samples.issue.is_empty() && !serde_json::to_string(&samples).unwrap().contains("issue"));
    samples.push(2, 1, SensorReading { issue: 9, ..old });
    samples.push(3, 0, old);
    let read: Vec<(u32, u32)> = samples.readings().map(|(cpu, reading)| (cpu, reading.issue)).collect();
    assert_eq!(read, [(0, 0), (1, 9), (0, 0)]);
}
