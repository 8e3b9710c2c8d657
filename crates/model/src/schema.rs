//! Reading and writing the run document.
//!
//! Readers accept every older schema; a newer one is refused. `schema` is the first member of the document.

use serde::Deserialize;

use crate::{ANY_CROSSING, DocumentPosition, Error, Machine, Point, Run, plausible};

/// The schema version that this program writes.
pub const SCHEMA: u32 = 3;

#[derive(Deserialize)]
struct SchemaHeader {
    schema: u64,
}

/// Reads a run document of this or any older schema.
///
/// # Errors
/// When the text is not a run document (with the position), has a newer schema, or contradicts itself.
pub fn parse_run(text: &str) -> Result<Run, Error> {
    let refuse = |error: serde_json::Error| Error::Document {
        reason: reason(&error, text),
        place: DocumentPosition { line: error.line().max(1), column: error.column().max(1) },
    };
    let head: SchemaHeader = serde_json::from_str(text).map_err(refuse)?;
    if head.schema > u64::from(SCHEMA) {
        return Err(Error::Newer { found: head.schema, known: SCHEMA });
    }
    if head.schema == 0 {
        return Err(Error::Invalid("its schema is 0; the first is 1".to_owned()));
    }
    let mut run: Run = serde_json::from_str(text).map_err(refuse)?;
    name_the_crossing(&mut run);
    crate::older::complete(&mut run);
    plausible::check(&run)?;
    Ok(run)
}

/// Documents of older versions say of two CPUs only that they were not the same. They were the nearest two cores, or
/// two threads where there was one core: where the facts leave one relation open, the figures get it, so that they
/// stand beside those of today. Elsewhere they keep what they say.
fn name_the_crossing(run: &mut Run) {
    if run.machine.topology.is_some() || run.origin.is_some() {
        return;
    }
    let Some(relation) = only_crossing(&run.machine) else { return };
    let rename = |probe: &str, point: &mut Point| {
        // Two ends of a network connection are not what this is about.
        let pinned = ["os.", "ipc."].iter().any(|family| probe.starts_with(family));
        if pinned && point.get("placement") == Some(ANY_CROSSING) {
            *point = point.clone().with("placement", relation);
        }
    };
    run.plan.entries.iter_mut().for_each(|entry| rename(&entry.probe, &mut entry.point));
    run.figures.iter_mut().for_each(|figure| rename(&figure.probe, &mut figure.point));
}

/// How any two CPUs on different cores of a machine stand to each other, where its facts know.
fn only_crossing(machine: &Machine) -> Option<&'static str> {
    let number = |name: &str| machine.number(name);
    let (online, cores) = (number("cpu.online")?, number("cpu.cores")?);
    if online < 2.0 {
        return None;
    }
    if cores <= 1.0 {
        return Some("sibling");
    }
    let behind = number(&format!("cache.l{}.cpus", number("cache.levels")?))?;
    (number("cpu.packages") == Some(1.0) && behind >= online).then_some("same_cache")
}

/// What is wrong, and with which member. serde_json repeats the place in its text; the place is a field of ours. Of a
/// text that ends too early its reader only needs to know that.
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
/// When it holds what no run can, such as a value outside its interval, a time below 0 or a figure twice. A number that
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
            "plan":{"suite":"quick","seed":1,"level":0.95,"target":0.02,"looks":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"figures":[]}"#,
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
    fn modes_have_shares_of_the_launches() {
        let figure = |share: f64| {
            format!(
                r#""origin":{{"tool":"t"}},"figures":[{{"probe":"os.b","point":{{}},"title":"b","metric":{{"unit":"seconds","per":"call","better":"lower"}},
                "class":"compute","stresses":[],"outcome":{{"modes":[{{"share":{share},"estimate":{{"value":1.0,"low":1.0,"high":1.0,
                "level":0.9,"launches":9,"batches":9,"method":"order_statistic"}}}}]}}}}]"#
            )
        };
        let text = render_run(&smallest()).unwrap();
        let read = |share: f64| parse_run(&text.replace("\"figures\":[]", &figure(share)));
        read(0.6).unwrap();
        for share in [5.0, -0.5] {
            let said = read(share).unwrap_err().to_string();
            assert!(said.contains("share of a mode of os.b"), "{said}");
        }
    }

    #[test]
    fn newer_truncated_and_foreign_documents_are_refused_with_the_position() {
        let text = render_run(&smallest()).unwrap();
        let newer = text.replace("\"schema\":1", "\"schema\":4");
        assert!(matches!(parse_run(&newer), Err(Error::Newer { found: 4, known: SCHEMA })));
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

    #[test]
    fn two_cpus_of_older_documents_get_the_only_relation_that_they_can_have() {
        let read = |facts: &[(&str, f64)], rest: &str| {
            let facts: Vec<String> = facts
                .iter()
                .map(|(name, value)| format!(r#"{{"name":"{name}","value":{{"number":{value}}},"source":"s"}}"#))
                .collect();
            let text = format!(
                r#"{{"schema":1,"id":"r","machine":{{"name":"m"{rest},"facts":[{}]}},"session":{{"started":"2026-11-21T00:00:00Z"}},
                "plan":{{"suite":"quick","seed":1,"level":0.95,"target":0.02,"looks":[10],"batches":20,"batch_nanos":1000000,"band":0.02,
                "entries":[{{"probe":"os.b","point":{{"placement":"cross_cpu"}},"target":0.02}}]}},"figures":[]}}"#,
                facts.join(",")
            );
            parse_run(&text).unwrap().plan.entries[0].point.to_string()
        };
        let guest = [
            ("cpu.online", 2.0),
            ("cpu.cores", 2.0),
            ("cpu.packages", 1.0),
            ("cache.levels", 3.0),
            ("cache.l3.cpus", 2.0),
        ];
        assert_eq!(read(&guest, ""), "placement=same_cache");
        let one_core = [("cpu.online", 2.0), ("cpu.cores", 1.0)];
        assert_eq!(read(&one_core, ""), "placement=sibling");
        let mut two_caches = guest;
        two_caches[0].1 = 4.0;
        assert_eq!(read(&two_caches, ""), "placement=cross_cpu", "which two they were is unknown");
        assert_eq!(read(&[], ""), "placement=cross_cpu");
        let of_today = r#","topology":{"online":"0-1","cores":["0","1"],"classes":[]}"#;
        assert_eq!(read(&guest, of_today), "placement=cross_cpu", "what a document of today says it means");
    }
}
