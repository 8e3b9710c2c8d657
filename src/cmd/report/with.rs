//! Results of other commands inside a report: predictions, choices, trends and fits.

use anyhow::{Context, Result};
use report::{Block, Document, DocumentSection, EmbeddedJson};

use crate::cli::{self, CliCommand, CommonOptions};
use crate::cmd::{app, choose, predict, trend};

/// Adds the results of the commands, in their order, before the last section, which explains how to read the report.
pub(super) fn add(document: &mut Document, commands: &[String], common: &CommonOptions) -> Result<()> {
    let mut found = Vec::new();
    for command in commands {
        let part = part(command, common).with_context(|| format!("--with '{command}'"))?;
        let data = part.data.as_ref().and_then(|data| serde_json::from_str(data.text()).ok());
        found.push(serde_json::json!({ "command": command, "findings": data.unwrap_or(serde_json::Value::Null) }));
        let place = document.sections.len().saturating_sub(1);
        let sections = sections(part);
        document.sections.splice(place..place, sections);
    }
    if !found.is_empty() {
        let own = document.data.as_ref().and_then(|data| serde_json::from_str(data.text()).ok());
        let mut whole = own.unwrap_or_else(|| serde_json::json!({}));
        whole["with"] = serde_json::Value::Array(found);
        document.data = EmbeddedJson::of(&whole).ok();
    }
    Ok(())
}

fn part(command: &str, common: &CommonOptions) -> Result<Document> {
    let words = words(command).context("a quotation mark is not closed")?;
    let cli = cli::parse_from(std::iter::once("prony".to_owned()).chain(words)).map_err(|error| {
        let text = error.to_string();
        anyhow::anyhow!("{}", text.lines().next().unwrap_or_default().trim_start_matches("error: "))
    })?;
    match &cli.command {
        CliCommand::Predict(arguments) => predict::document(arguments, common),
        CliCommand::Choose(arguments) => choose::document(arguments, common, true),
        CliCommand::Trend(arguments) => trend::document(arguments, common),
        CliCommand::App(arguments) => app::document(arguments, common).unwrap_or_else(|| Err(other())),
        _ => Err(other()),
    }
}

fn other() -> anyhow::Error {
    anyhow::anyhow!("a report can hold predict, choose, trend and app fit")
}

/// Its sections under its title, with its notes and summaries as text.
fn sections(part: Document) -> Vec<DocumentSection> {
    let Document { title, notes, sections, summary, .. } = part;
    let items: Vec<String> = summary.into_iter().chain(notes).collect();
    let mut head = DocumentSection { title, blocks: Vec::new() };
    if !items.is_empty() {
        head.blocks.push(Block::list(items));
    }
    let mut all = vec![head];
    for section in sections {
        match all.last_mut() {
            Some(last) if section.title.is_empty() => last.blocks.extend(section.blocks),
            _ => all.push(section),
        }
    }
    all
}

/// The words of a command; quotation marks of either kind keep spaces together. `None` if one is not closed.
fn words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in command.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn quotation_marks_keep_blanks_together() {
        let expected = ["predict", "a b", "--on", "it's", ""];
        assert_eq!(words("predict  'a b' --on \"it's\" ''").unwrap(), expected);
        assert!(words("predict 'a").is_none() && words(" ").unwrap().is_empty());
    }
}
