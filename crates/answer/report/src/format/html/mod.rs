//! One self-contained HTML page, which makes no network request and runs only its own script.
//!
//! Every text passes through `maud`, which escapes it. A content security policy (W3C CSP level 3) allows only the
//! script whose hash it names, so that an unescaped text could not run either.

mod blocks;
mod boxes;
mod chart;
mod data;
mod heat;
mod table;

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::words::is_control;
use crate::{Document, Error, ReportFormat};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Renders documents as a page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Html;

impl ReportFormat for Html {
    fn render(&self, document: &Document, out: &mut dyn Write) -> Result<(), Error> {
        let mut text = page(document)?.into_string();
        text.retain(|c| c == '\n' || !is_control(c));
        out.write_all(text.as_bytes())?;
        Ok(())
    }
}

fn page(document: &Document) -> Result<Markup, Error> {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'"
    );
    let sections = document.sections.iter().enumerate().map(|(index, section)| blocks::section(index, section));
    let sections = sections.collect::<Result<Vec<Markup>, Error>>()?;
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="Prony";
                link rel="icon" href="data:,";
                title { (document.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.brand { "Prony" }
                    h1 { (document.title) }
                    @for sentence in &document.summary { p.lead { (sentence) } }
                    @if !document.notes.is_empty() {
                        ul.notes { @for note in &document.notes { li { (note) } } }
                    }
                }
                (blocks::contents(document))
                main { @for section in sections { (section) } }
                (data::downloads(document)?)
                @if !document.next.is_empty() {
                    footer { p { "Next: " @for (i, next) in document.next.iter().enumerate() { @if i > 0 { " · " } code { (next) } } } }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    })
}
