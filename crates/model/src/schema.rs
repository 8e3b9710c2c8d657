//! Reading and writing the run document.
//!
//! Readers accept every older schema; a newer one is refused. `schema` is the first member of the document.

use serde::Deserialize;

use crate::{DocumentPosition, Error, Outcome, Run};

/// The schema that this program writes.
pub const SCHEMA: u32 = 2;

#[derive(Deserialize)]
struct SchemaHeader {
    schema: u64,
}

/// Reads a run document of this or any older schema.
///
/// # Errors
/// When the text is no run document (with the place), is of a newer schema, or contradicts itself.
pub fn parse_run(text: &str) -> Result<Run, Error> {
    let refuse = |error: serde_json::Error| Error::Document {
        reason: reason(&error),
        place: DocumentPosition { line: error.line().max(1), column: error.column().max(1) },
    };
    let head: SchemaHeader = serde_json::from_str(text).map_err(refuse)?;
    if head.schema > u64::from(SCHEMA) {
        return Err(Error::Newer { found: head.schema, known: SCHEMA });
    }
    if head.schema == 0 {
        return Err(Error::Invalid("its schema is 0; the first is 1".to_owned()));
    }
    let run: Run = serde_json::from_str(text).map_err(refuse)?;
    check(&run)?;
    Ok(run)
}

/// serde_json repeats the place in its text; the place is a field of ours.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

fn check(run: &Run) -> Result<(), Error> {
    let mut seen = std::collections::HashSet::new();
    for figure in &run.figures {
        let key = figure.key();
        if let Outcome::Measured(estimate) = &figure.outcome {
            let finite = [estimate.value, estimate.low, estimate.high, estimate.level].iter().all(|x| x.is_finite());
            if !finite || estimate.low > estimate.value || estimate.value > estimate.high {
                return Err(Error::Invalid(format!("the interval of {key} does not hold its value")));
            }
            if !(0.0..=1.0).contains(&estimate.level) {
                return Err(Error::Invalid(format!("the level of {key} is not between 0 and 1")));
            }
        }
        if !seen.insert(key.clone()) {
            return Err(Error::Invalid(format!("{key} stands in it twice")));
        }
    }
    Ok(())
}

/// Writes a run document: JSON, UTF-8, `schema` first, on one line, for there are many numbers.
///
/// # Errors
/// When an interval does not hold its value or a figure stands twice. A number that JSON cannot hold, deeper inside, is written as
/// `null`, which does not read back: stores check that.
pub fn render_run(run: &Run) -> Result<String, Error> {
    check(run)?;
    let mut text = serde_json::to_string(run).map_err(|error| Error::Invalid(error.to_string()))?;
    text.push('\n');
    Ok(text)
}

/// The JSON Schema of the run document, as published in `docs/reference`.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Run).to_value();
    schema["title"] = "Prony run document".into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smallest() -> Run {
        serde_json::from_str(
            r#"{"schema":1,"id":"r","machine":{"name":"m"},"session":{"started":"2026-11-21T00:00:00Z"},
            "plan":{"suite":"quick","seed":1,"level":0.95,"target":0.02,"looks":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"figures":[]}"#,
        )
        .unwrap()
    }

    #[test]
    fn documents_read_back_as_written() {
        let run = smallest();
        let text = render_run(&run).unwrap();
        assert!(text.trim_start_matches(['{', '\n', ' ']).starts_with("\"schema\":1"));
        assert_eq!(parse_run(&text).unwrap(), run);
    }

    #[test]
    fn newer_truncated_and_foreign_documents_are_refused_with_the_place() {
        let text = render_run(&smallest()).unwrap();
        let newer = text.replace("\"schema\":1", "\"schema\":3");
        assert!(matches!(parse_run(&newer), Err(Error::Newer { found: 3, known: SCHEMA })));
        for end in 0..text.trim_end().len() {
            assert!(parse_run(&text[..end]).is_err(), "cut at {end}");
        }
        let error = parse_run("{\"schema\":1}").unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("missing field"), "{error}");
        assert!(parse_run("[1,2]").is_err());
    }
}
