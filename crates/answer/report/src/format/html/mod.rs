//! One self-contained HTML page, which makes no network request and runs only its own script.
//!
//! Every text passes through `maud`, which escapes it. A content security policy (W3C CSP level 3) allows only the
//! script whose hash it names, so that an unescaped text could not run either. The page is complete without its script,
//! which finds, filters, sorts and points out what the page already has.

mod blocks;
mod boxes;
mod cards;
mod chart;
mod data;
mod heat;
mod table;

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::words::is_control;
use crate::{Document, Error, ReportFormat};

const STYLE: &str = include_str!("page.css");
/// In a function, so that its names are not those of the page.
const SCRIPT: &str = concat!("(() => {", include_str!("page.js"), "})();");

/// Renders documents as a page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Html;

impl ReportFormat for Html {
    fn render(&self, document: &Document, out: &mut dyn Write) -> Result<(), Error> {
        out.write_all(page(document, &PageFrame::default())?.as_bytes())?;
        Ok(())
    }
}

/// What surrounds a document in a page.
#[derive(Debug, Clone, Default)]
pub struct PageFrame {
    /// Links above the title, as of a site: their words and their addresses.
    pub links: Vec<(String, String)>,
    /// Whether to leave out the data of the document for download.
    pub without_data: bool,
}

/// The policy of a page: no request, no form, and no script but its own.
#[must_use]
pub fn content_security_policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
}

/// A document with its charts as a page.
///
/// # Errors
/// When the data of the document cannot be written.
pub fn page(document: &Document, frame: &PageFrame) -> Result<String, Error> {
    let data = if frame.without_data {
        html! {}
    } else {
        data::downloads(document)?
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(content_security_policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="Prony";
                link rel="icon" href="data:,";
                title { (document.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.brand { "Prony" @for (words, address) in &frame.links { " · " a href=(address) { (words) } } }
                    h1 { (document.title) }
                    @for sentence in &document.summary { p.lead { (sentence) } }
                    @if !document.notes.is_empty() {
                        ul.notes { @for note in &document.notes { li { (note) } } }
                    }
                }
                (blocks::contents(document))
                main { (blocks::sections(&document.sections)) (data) }
                @if !document.next.is_empty() {
                    footer { p { "Next: " @for (i, next) in document.next.iter().enumerate() { @if i > 0 { " · " } code { (next) } } } }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    let mut text: String = page.into_string();
    text.retain(|c| c == '\n' || !is_control(c));
    Ok(text)
}
