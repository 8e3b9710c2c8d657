//! CoreMark: iterations a second of one process.

use super::{ImportFormat, Parsed, SourceText, sure};
use crate::sheet::{SourceReading, SourceSheet, rate, text};
use crate::text::{SourceFault, lines, need};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "coremark",
    tool: "CoreMark",
    about: "iterations a second; no spread is stated",
    by_lines: true,
    detect: |head| sure(head, &["CoreMark Size"]).max(sure(head, &["CoreMark 1.0 :"])),
    parse,
};

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet { version: Some("1.0".to_owned()), ..SourceSheet::default() };
    let (mut begun, mut open) = (false, None);
    for (at, line) in lines(source.text) {
        if line.contains("CoreMark Size") {
            sheet.begin_process();
            (begun, open) = (true, Some(at));
        }
        let Some((name, value)) = line.split_once(':').filter(|_| begun) else { continue };
        let value = value.trim();
        match name.trim() {
            "Iterations/Sec" => {
                let reading =
                    SourceReading::new("coremark.iterations", "CoreMark", need(value, at)?, rate("iterations"));
                sheet.readings.push(reading);
            }
            "Compiler version" => sheet.fact(text("compiler", value, "output", &[])),
            "Compiler flags" => sheet.fact(text("compiler.flags", value, "output", &[])),
            name if name.starts_with("Parallel") => {
                if let Some(reading) = sheet.readings.last_mut() {
                    reading.point = std::mem::take(&mut reading.point).with("copies", crate::text::axis_value(value));
                }
            }
            name if name.contains("crcfinal") => open = None,
            "CoreMark Size" | "Total ticks" | "Total time (secs)" | "Iterations" | "seedcrc" | "CoreMark 1.0" => {}
            name if name.starts_with('[') => {}
            _ => continue,
        }
        source.took(at);
        if line.contains("ERROR!") || line.contains("Errors detected") {
            sheet.notes.push("CoreMark reports errors: the run is invalid by its rules".to_owned());
        }
    }
    match open {
        Some(at) => Err(SourceFault::new("the run that begins here has no checksums", at)),
        None => Ok(Parsed::Sheets(vec![sheet])),
    }
}
