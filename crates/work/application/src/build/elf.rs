//! Size of a program's code and constants: sections that are loaded and not writable, as size(1) counts text (elf(5)).

const LOADED: u64 = 2;
const WRITTEN: u64 = 1;
/// A section without bytes in the file.
const NO_BITS: u64 = 8;

/// Size of the text of a little-endian 64-bit ELF file; `None` for any other file.
pub(super) fn text_size(bytes: &[u8]) -> Option<u64> {
    let number = |at: usize, length: usize| -> Option<u64> {
        let field = bytes.get(at..at.checked_add(length)?)?;
        Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = usize::try_from(number(0x28, 8)?).ok()?;
    let (size, count) = (number(0x3a, 2)? as usize, number(0x3c, 2)? as usize);
    let mut text = 0;
    for index in 0..count {
        let section = table.checked_add(index * size)?;
        let (kind, flags) = (number(section.checked_add(4)?, 4)?, number(section.checked_add(8)?, 8)?);
        if flags & LOADED != 0 && flags & WRITTEN == 0 && kind != NO_BITS {
            text += number(section.checked_add(0x20)?, 8)?;
        }
    }
    (count > 0).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_text_and_damaged_files_cause_no_panic() {
        let bytes = std::fs::read("/proc/self/exe").unwrap_or_default();
        if bytes.starts_with(b"\x7fELF\x02\x01") {
            let text = text_size(&bytes).unwrap();
            assert!(text > 10_000 && text < bytes.len() as u64, "{text}");
        } else {
            testing::lacks!("this test is not a 64-bit ELF program");
        }
        assert_eq!(text_size(b"#!/bin/sh"), None);
        let mut wild = vec![0xff; 128];
        wild[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert_eq!(text_size(&wild), None);
    }
}
