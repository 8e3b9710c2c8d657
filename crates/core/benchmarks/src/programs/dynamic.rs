//! The loader and the C library of this system, read from one of its dynamically linked programs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Unsupported;

/// The loader and the C library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DynamicNames {
    /// Path of the loader, which the kernel starts.
    pub(crate) loader: String,
    /// Name of the C library, which the loader searches.
    pub(crate) library: String,
}

/// Small programs that are dynamically linked on most systems and do nothing.
const TRUE: [&str; 3] = ["/bin/true", "/usr/bin/true", "/run/current-system/sw/bin/true"];
/// Longest program that is read for its names, bytes.
const LONGEST: u64 = 16 << 20;

/// Path of the system's own `true`, dynamically linked.
///
/// # Errors
/// When there is none.
pub(crate) fn system_true() -> Result<PathBuf, Unsupported> {
    let found = TRUE.iter().map(PathBuf::from).find(|path| names_of(path).is_some());
    found.ok_or_else(|| Unsupported::new("there is no dynamically linked /bin/true"))
}

/// The names that programs of this system use.
///
/// # Errors
/// When no dynamically linked program is found.
pub(crate) fn names() -> Result<DynamicNames, Unsupported> {
    let shells = ["/bin/sh", "/bin/ls"].iter();
    let found = TRUE.iter().chain(shells).find_map(|path| names_of(Path::new(path)));
    found.ok_or_else(|| {
        Unsupported::new("no dynamically linked program tells which loader and C library this system has")
    })
}

fn names_of(path: &Path) -> Option<DynamicNames> {
    let short = fs::metadata(path).ok()?.len() <= LONGEST;
    if short { read(&fs::read(path).ok()?) } else { None }
}

/// Reads an ELF file of 64 bits, little-endian (System V ABI, chapters 4 and 5).
pub(super) fn read(file: &[u8]) -> Option<DynamicNames> {
    const PT_LOAD: u64 = 1;
    const PT_DYNAMIC: u64 = 2;
    const PT_INTERP: u64 = 3;
    const DT_NEEDED: u64 = 1;
    const DT_STRTAB: u64 = 5;
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size, count) = (number(file, 32, 8)?, number(file, 54, 2)?, number(file, 56, 2)?);
    let segment = |index: u64| -> Option<[u64; 4]> {
        let at = table.checked_add(index * size)?;
        Some([number(file, at, 4)?, number(file, at + 8, 8)?, number(file, at + 16, 8)?, number(file, at + 32, 8)?])
    };
    let segments: Vec<[u64; 4]> = (0..count).filter_map(segment).collect();
    let [_, loader, ..] = *segments.iter().find(|segment| segment[0] == PT_INTERP)?;
    let [_, dynamic, _, bytes] = *segments.iter().find(|segment| segment[0] == PT_DYNAMIC)?;
    let entry = |index: u64| Some((number(file, dynamic + 16 * index, 8)?, number(file, dynamic + 16 * index + 8, 8)?));
    let entries: Vec<(u64, u64)> =
        (0..(bytes / 16).min(1000)).map_while(entry).take_while(|(tag, _)| *tag != 0).collect();
    let (_, address) = *entries.iter().find(|(tag, _)| *tag == DT_STRTAB)?;
    let holds = |segment: &&[u64; 4]| {
        segment[0] == PT_LOAD && (segment[2]..segment[2].saturating_add(segment[3])).contains(&address)
    };
    let [_, offset, start, _] = *segments.iter().find(holds)?;
    let strings = address - start + offset;
    let needed = entries.iter().filter(|(tag, _)| *tag == DT_NEEDED);
    let library = needed.filter_map(|(_, at)| text(file, strings + at)).find(|name| name.starts_with("libc."))?;
    Some(DynamicNames { loader: text(file, loader)?, library })
}

fn number(file: &[u8], at: u64, bytes: usize) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let field = file.get(at..at.checked_add(bytes)?)?;
    Some(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// A text that ends with a zero.
fn text(file: &[u8], at: u64) -> Option<String> {
    let rest = file.get(usize::try_from(at).ok()?..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    String::from_utf8(rest[..end].to_vec()).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_dynamic_programs_have_no_names() {
        assert_eq!(read(b"#!/bin/sh\n"), None);
        assert_eq!(read(b"\x7fELF\x02\x01"), None);
        let mut wild = vec![0xff; 200];
        wild[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert_eq!(read(&wild), None);
    }

    #[test]
    fn the_system_names_a_loader_that_exists() {
        match names() {
            Ok(found) => assert!(Path::new(&found.loader).exists(), "{found:?}"),
            Err(not_measured) => testing::skip!("{not_measured}"),
        }
    }
}
