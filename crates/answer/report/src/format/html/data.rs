//! The data of the page, compressed, for download.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, PreEscaped, html};

use crate::{Csv, Document, Error, ReportFormat};

/// Download buttons and the data: gzip in base64, inside elements that browsers do not execute.
pub(super) fn downloads(document: &Document) -> Result<Markup, Error> {
    let json = document.data.as_ref().map(|data| packed(data.text().as_bytes())).transpose()?;
    let csv = if document.records.is_some() {
        let mut text = Vec::new();
        Csv.render(document, &mut text)?;
        Some(packed(&text)?)
    } else {
        None
    };
    if json.is_none() && csv.is_none() {
        return Ok(html! {});
    }
    Ok(html! {
        section #data {
            h2 { "Download the data" }
            noscript { p { "The buttons need JavaScript." } }
            p.buttons {
                @if json.is_some() { button type="button" data-from="data-json" data-name="prony-report.json" data-type="application/json" { "Download JSON" } }
                @if csv.is_some() { button type="button" data-from="data-csv" data-name="prony-report.csv" data-type="text/csv" { "Download CSV" } }
                span #data-status role="status" {}
            }
            // Base64 contains no character that could end the element.
            @if let Some(json) = json { script #data-json type="application/gzip" { (PreEscaped(json)) } }
            @if let Some(csv) = csv { script #data-csv type="application/gzip" { (PreEscaped(csv)) } }
        }
    })
}

fn packed(bytes: &[u8]) -> Result<String, Error> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes)?;
    Ok(STANDARD.encode(packer.finish()?))
}
