//! Reading and writing the run document.
//!
//! Schema 1 begins with version 0.1.0; from then on every document stays readable. A document with another number is
//! refused. `schema` is the first member of the document.

use serde::Deserialize;

use crate::{DocumentPosition, Error, Run, plausible};

/// The schema version that this program reads and writes.
pub const SCHEMA: u32 = 1;

#[derive(Deserialize)]
struct SchemaHeader {
    schema: u64,
}

/// Reads a run document.
///
/// # Errors
/// When the text is not a run document (with the position), has another schema, or contradicts itself.
pub fn parse_run(text: &str) -> Result<Run, Error> {
    let refuse = |error: serde_json::Error| Error::Document {
        reason: reason(&error, text),
        place: DocumentPosition { line: error.line().max(1), column: error.column().max(1) },
    };
    let head: SchemaHeader = serde_json::from_str(text).map_err(refuse)?;
    if head.schema != u64::from(SCHEMA) {
        return Err(Error::Schema { found: head.schema, known: SCHEMA });
    }
    let run: Run = serde_json::from_str(text).map_err(refuse)?;
    plausible::check(&run)?;
    Ok(run)
}

/// The error and the member that has it. serde_json repeats the position in its text, which is already a field here.
/// For a truncated text the error alone is enough.
fn reason(error: &serde_json::Error, text: &str) -> String {
    if error.is_eof() {
        return "it is cut off (copy or export it again)".to_owned();
    }
    let words = error.to_string();
    let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(reason, _)| reason);
    match wrong_member(text) {
        Some(member) => format!("{member}: {words}"),
        None => words.to_owned(),
    }
}

/// The member of a document whose value cannot be read; `None` where the text is not JSON. Finding it takes a second
/// reading, which only refused documents cost.
fn wrong_member(text: &str) -> Option<String> {
    let reader = &mut serde_json::Deserializer::from_str(text);
    let refused = serde_path_to_error::deserialize::<_, Run>(reader).err()?;
    let member = refused.path().to_string();
    (refused.inner().is_data() && member != ".").then_some(member)
}

/// Writes a run document: JSON in UTF-8, `schema` first, on one line because of its many numbers.
///
/// # Errors
/// When it holds what no run can, such as a value outside its interval, a time below 0 or a result twice. A number that
/// JSON cannot represent is written as `null`, which cannot be read back: stores check that.
pub fn render_run(run: &Run) -> Result<String, Error> {
    plausible::check(run)?;
    let mut text = serde_json::to_string(run).map_err(|error| Error::Invalid(error.to_string()))?;
    text.push('\n');
    Ok(text)
}

/// The JSON Schema of the run document, as published in `docs/reference`.
#[cfg(feature = "schema")]
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
            "plan":{"suite":"quick","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"results":[]}"#,
        )
        .unwrap()
    }

    #[test]
    fn documents_are_read_back_as_written() {
        let run = smallest();
        let text = render_run(&run).unwrap();
        assert!(text.trim_start_matches(['{', '\n', ' ']).starts_with("\"schema\":1"));
        assert_eq!(parse_run(&text).unwrap(), run);
    }

    #[test]
    fn modes_have_shares_of_the_samples() {
        let result = |share: f64| {
            format!(
                r#""origin":{{"tool":"t"}},"results":[{{"benchmark":"os.b","parameters":{{}},"title":"b","metric":{{"unit":"seconds","per":"call","better":"lower"}},
                "class":"compute","stresses":[],"outcome":{{"modes":[{{"share":{share},"estimate":{{"value":1.0,"low":1.0,"high":1.0,
                "level":0.9,"samples":9,"batches":9,"method":"order_statistic"}}}}]}}}}]"#
            )
        };
        let text = render_run(&smallest()).unwrap();
        let read = |share: f64| parse_run(&text.replace("\"results\":[]", &result(share)));
        read(0.6).unwrap();
        for share in [5.0, -0.5] {
            let said = read(share).unwrap_err().to_string();
            assert!(said.contains("share of a mode of os.b"), "{said}");
        }
    }

    #[test]
    fn truncated_and_foreign_documents_and_those_of_another_schema_are_refused() {
        let text = render_run(&smallest()).unwrap();
        for other in [0, 2, 4] {
            let error = parse_run(&text.replace("\"schema\":1", &format!("\"schema\":{other}"))).unwrap_err();
            assert!(matches!(error, Error::Schema { found, known: SCHEMA } if found == other), "{error}");
            assert!(error.to_string().contains(&format!("its schema is {other}")), "{error}");
        }
        for end in 0..text.trim_end().len() {
            let error = parse_run(&text[..end]).unwrap_err().to_string();
            // Half a number may also be a wrong one.
            let told = error.contains("cut off (copy or export it again)") || error.contains("invalid number");
            assert!(told, "cut at {end}: {error}");
        }
        let error = parse_run("{\"schema\":1}").unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("missing field"), "{error}");
        assert!(parse_run("[1,2]").is_err());
    }
}
