//! Writing an executable: an ELF header, program headers, the instructions and their data, and for a dynamically linked
//! program what its loader reads.
//!
//! Format: System V ABI, chapters 4 and 5.

use super::dynamic::DynamicNames;

/// Load address: above the lowest addresses, which Linux does not map.
pub(super) const BASE: u64 = 0x40_0000;
pub(super) const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;

/// Offset of the first instruction.
pub(super) const fn entry(dynamic: bool) -> usize {
    HEADER + if dynamic { 4 } else { 2 } * PROGRAM_HEADER
}

/// A segment or an entry of the dynamic section's table.
struct ElfSegment {
    kind: u32,
    flags: u32,
    at: u64,
    bytes: u64,
    align: u64,
}

/// The executable with these instructions, followed by data, for an architecture by its number.
pub(super) fn executable(machine: u16, code: &[u8], names: Option<&DynamicNames>) -> Vec<u8> {
    let mut rest = code.to_vec();
    let first = entry(names.is_some());
    let mut segments = Vec::new();
    if let Some(names) = names {
        segments = linked(names, first, &mut rest);
    }
    let size = (first + rest.len()) as u64;
    // PT_LOAD, readable and executable: the whole file. PT_GNU_STACK: a stack that is not executable.
    segments.push(ElfSegment { kind: 1, flags: 5, at: 0, bytes: size, align: 0x1000 });
    segments.push(ElfSegment { kind: 0x6474_e551, flags: 6, at: 0, bytes: 0, align: 0 });
    let mut file = header(machine, first, segments.len());
    for segment in &segments {
        let address = if segment.bytes == 0 { 0 } else { BASE + segment.at };
        file.extend(segment.kind.to_le_bytes());
        file.extend(segment.flags.to_le_bytes());
        for value in [segment.at, address, address, segment.bytes, segment.bytes, segment.align] {
            file.extend(value.to_le_bytes());
        }
    }
    file.extend(rest);
    file
}

/// 64 bits, little-endian, version 1, System V; an executable without section headers.
fn header(machine: u16, first: usize, segments: usize) -> Vec<u8> {
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    file.extend(2_u16.to_le_bytes());
    file.extend(machine.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    for value in [BASE + first as u64, HEADER as u64, 0] {
        file.extend(value.to_le_bytes());
    }
    file.extend(0_u32.to_le_bytes());
    for value in [HEADER as u16, PROGRAM_HEADER as u16, segments as u16, 64, 0, 0] {
        file.extend(value.to_le_bytes());
    }
    file
}

/// Appends the loader's path and the dynamic section to a file whose part before `rest` has `first` bytes. No symbol is
/// needed: the loader maps and starts the C library for its name alone.
fn linked(names: &DynamicNames, first: usize, rest: &mut Vec<u8>) -> Vec<ElfSegment> {
    let mut append = |bytes: &[u8]| {
        while !(first + rest.len()).is_multiple_of(8) {
            rest.push(0);
        }
        let at = (first + rest.len()) as u64;
        rest.extend(bytes);
        at
    };
    let loader = [names.loader.as_bytes(), b"\0"].concat();
    let strings = [b"\0", names.library.as_bytes(), b"\0"].concat();
    let loader_at = append(&loader);
    let strings_at = append(&strings);
    let symbols_at = append(&[0; 24]);
    // One bucket and one symbol, the undefined one.
    let hash: Vec<u8> = [1_u32, 1, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    let hash_at = append(&hash);
    // NEEDED, HASH, STRTAB, SYMTAB, STRSZ, SYMENT and the end.
    let entries = [
        (1, 1),
        (4, BASE + hash_at),
        (5, BASE + strings_at),
        (6, BASE + symbols_at),
        (10, strings.len() as u64),
        (11, 24),
        (0, 0),
    ];
    let section: Vec<u8> = entries
        .iter()
        .flat_map(|(tag, value): &(u64, u64)| [tag.to_le_bytes(), value.to_le_bytes()])
        .flatten()
        .collect();
    let section_at = append(&section);
    vec![
        ElfSegment { kind: 3, flags: 4, at: loader_at, bytes: loader.len() as u64, align: 1 },
        ElfSegment { kind: 2, flags: 4, at: section_at, bytes: section.len() as u64, align: 8 },
    ]
}
