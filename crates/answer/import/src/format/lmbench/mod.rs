//! lmbench 2 and 3: the raw results, the summary tables, and the curve of lat_mem_rd.

mod raw;
mod summary;
mod tables;

use super::{CodeFormat, Confidence, Parsed, SourceText, likely, sure};
use crate::text::SourceFault;

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "lmbench",
    tool: "lmbench",
    about: "raw results, summary tables and lat_mem_rd curves; no spread is stated",
    by_lines: true,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let named = sure(head, &["[lmbench"]).max(sure(head, &["L M B E N C H"])).max(sure(head, &["Simple syscall:"]));
    let curve = if head.trim_ascii_start().starts_with(b"\"stride=") { Confidence::Likely } else { Confidence::No };
    named.max(curve).max(likely(head, &["\n\"stride="]))
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let sheets = if source.text.contains("L M B E N C H") { summary::parse(source)? } else { raw::parse(source)? };
    Ok(Parsed::Sheets(sheets))
}
