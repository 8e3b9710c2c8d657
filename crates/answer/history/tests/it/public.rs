//! Series of the Turing change point dataset (van den Burg and Williams, arXiv:2003.06222), with the changes that people
//! marked in them.

use crate::nights::{NOISE, of, runs};

/// Name, and the change that most of five people marked.
const SERIES: [(&str, Option<usize>); 6] = [
    ("quality_control_1", Some(144)),
    ("quality_control_2", Some(97)),
    ("quality_control_3", Some(179)),
    ("quality_control_4", Some(340)),
    ("quality_control_5", None),
    ("nile", Some(28)),
];

#[test]
#[ignore = "reads a public data set"]
fn annotated_series_have_the_changes_that_people_marked() {
    let mut right = 0;
    for (name, marked) in SERIES {
        let text = testing::public_data(&format!("TCPD/datasets/{name}/{name}.json"));
        let data: serde_json::Value = serde_json::from_str(&text).unwrap();
        let raw: Vec<f64> = data["series"][0]["raw"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        // In units of its own noise, since a benchmark's value is positive and these are not.
        let steps: Vec<f64> = raw.windows(2).map(|two| (two[1] - two[0]).abs()).collect();
        let scale = NOISE * 0.954 / stats::median(&steps).unwrap();
        let logs = vec![raw.iter().map(|value| value * scale).collect::<Vec<f64>>()];
        let found: Vec<(history::Shape, usize)> =
            of(&runs(&logs)).events.iter().map(|event| (event.shape, event.run)).collect();
        let is = |at: usize| found.iter().any(|(_, run)| run.abs_diff(at) <= 5);
        let good = marked.map_or(found.is_empty(), |at| is(at) && found.len() == 1);
        println!("{name}: marked {marked:?}, found {found:?}");
        right += usize::from(good);
    }
    assert!(right >= 4, "{right} of {}", SERIES.len());
}
