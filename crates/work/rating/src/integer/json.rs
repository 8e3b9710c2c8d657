//! JSON: parsed into values, changed, printed.

use serde_json::{Value, json};

use crate::input::{Checksum, SplitMix, prose};
use crate::work::RatingWork;

pub(crate) struct JsonComponent(String);

impl JsonComponent {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(4);
        let words: Vec<String> = prose(5, 100_000).split_whitespace().map(str::to_owned).collect();
        let mut word = || words[random.below(words.len() as u64) as usize].clone();
        let mut numbers = SplitMix::new(6);
        let records: Vec<Value> = (0..22_000)
            .map(|id| {
                json!({
                    "id": id, "name": word(), "tags": [word(), word(), word()],
                    "place": { "x": numbers.below(100_000), "y": numbers.below(100_000), "text": format!("{} \"{}\"\n", word(), word()) },
                    "active": numbers.below(2) == 0, "none": null,
                })
            })
            .collect();
        Box::new(Self(Value::Array(records).to_string()))
    }
}

impl RatingWork for JsonComponent {
    fn run(&mut self) -> Result<u64, String> {
        let mut sum = Checksum::default();
        for _ in 0..3 {
            let mut value: Value = serde_json::from_str(&self.0).map_err(|error| error.to_string())?;
            for record in value.as_array_mut().into_iter().flatten() {
                record["id"] = json!(record["id"].as_u64().unwrap_or(0) + 1);
            }
            let text = serde_json::to_string_pretty(&value).map_err(|error| error.to_string())?;
            sum.bytes(text.as_bytes());
        }
        Ok(sum.value())
    }
}
