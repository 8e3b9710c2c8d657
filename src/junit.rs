//! Answers of gates as JUnit, which CI systems show.

use std::path::Path;

use anyhow::{Context, Result};
use model::GateAnswer;
use quick_xml::escape::escape;

/// One question with its answer.
#[derive(Debug, Clone)]
pub(crate) struct JunitCase {
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) answer: GateAnswer,
    /// The answer in a sentence.
    pub(crate) text: String,
}

/// Writes the answers to a file.
pub(crate) fn write(path: &Path, cases: &[JunitCase]) -> Result<()> {
    store::write_file(path, text(cases).as_bytes())
        .with_context(|| format!("could not write the answer of the gate to {}", path.display()))
}

fn text(cases: &[JunitCase]) -> String {
    let count = |answer| cases.iter().filter(|case| case.answer == answer).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"prony\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
        cases.len(),
        count(GateAnswer::Fail),
        count(GateAnswer::Inconclusive)
    );
    for case in cases {
        let said = harmless(&case.text);
        let inside = match case.answer {
            GateAnswer::Pass => format!("<system-out>{said}</system-out>"),
            GateAnswer::Fail => format!("<failure message=\"{said}\"/>"),
            GateAnswer::Inconclusive => format!("<skipped message=\"{said}\"/>"),
        };
        let (class, name) = (harmless(&case.class), harmless(&case.name));
        text.push_str(&format!("  <testcase classname=\"{class}\" name=\"{name}\">{inside}</testcase>\n"));
    }
    text + "</testsuite>\n"
}

/// Text for XML, which knows no control characters.
fn harmless(text: &str) -> String {
    let allowed: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    escape(allowed).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_counted_and_its_text_is_escaped() {
        let case =
            |answer| JunitCase { class: "c".to_owned(), name: "<a>\u{1b}".to_owned(), answer, text: "\"&".to_owned() };
        let text = text(&[case(GateAnswer::Pass), case(GateAnswer::Fail), case(GateAnswer::Inconclusive)]);
        assert!(text.contains("tests=\"3\" failures=\"1\" skipped=\"1\""), "{text}");
        assert!(text.contains("name=\"&lt;a&gt; \"") && text.contains("<failure message=\"&quot;&amp;\"/>"), "{text}");
    }
}
