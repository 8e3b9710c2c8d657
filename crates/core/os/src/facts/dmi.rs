//! Memory in the firmware tables: SMBIOS structures of type 17, memory devices, and of type 19, mapped ranges (DMTF
//! DSP0134, sections 7.18 and 7.20).

use std::collections::BTreeSet;

/// One populated memory module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Module {
    /// `DDR4`, `DDR5` ...
    pub(super) kind: &'static str,
    /// Configured transfer rate, transfers per second.
    pub(super) transfers_per_second: Option<u64>,
    /// The rate that the module is made for, transfers per second.
    pub(super) rated: Option<u64>,
    /// Bytes that one transfer moves, without those of error correction.
    pub(super) width: u64,
}

/// The memory of a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// Populated modules.
    pub(super) modules: Vec<Module>,
    /// Slots, empty ones included.
    pub(super) slots: usize,
    /// Channels with a module; `None` if neither the names of slots nor the ranges tell them.
    pub(super) channels: Option<usize>,
    /// Channels of the board; `None` if the names of slots do not tell them.
    pub(super) board_channels: Option<usize>,
}

impl Memory {
    /// The least of a number of the modules.
    pub(super) fn least(&self, pick: fn(&Module) -> Option<u64>) -> Option<f64> {
        self.modules.iter().filter_map(pick).min().map(|least| least as f64)
    }
}

const MEMORY_DEVICE: u8 = 17;
const MAPPED_RANGE: u8 = 19;
const END: u8 = 127;

/// The memory of a table. A damaged table yields what stands before the damage.
pub(super) fn memory(table: &[u8]) -> Memory {
    let (mut found, mut named, mut populated) = (Memory::default(), BTreeSet::new(), BTreeSet::new());
    let (mut nameless, mut rows) = (false, 0);
    for (fields, strings) in structures(table) {
        match fields[0] {
            MEMORY_DEVICE => {
                found.slots += 1;
                let name = channel(&text(fields, strings, 0x10), &text(fields, strings, 0x11));
                let module = module(fields);
                match name {
                    Some(name) => {
                        populated.extend(module.is_some().then(|| name.clone()));
                        named.insert(name);
                    }
                    None => nameless = true,
                }
                found.modules.extend(module);
            }
            // Devices that form a row of the range together are on one channel each.
            MAPPED_RANGE => rows += usize::from(*fields.get(0x0e).unwrap_or(&0)),
            _ => {}
        }
    }
    if !nameless && !named.is_empty() {
        found.board_channels = Some(named.len());
        found.channels = Some(populated.len());
    } else {
        found.channels = Some(rows).filter(|rows| (1..=found.modules.len()).contains(rows));
    }
    found
}

/// Fields and strings of every whole structure.
fn structures(table: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = table;
    std::iter::from_fn(move || {
        let [kind, len, ..] = *rest else { return None };
        let len = usize::from(len);
        if len < 4 || len > rest.len() || kind == END {
            return None;
        }
        let (fields, strings) = rest.split_at(len);
        // Two zero bytes end the strings.
        let end = strings.windows(2).position(|pair| pair == [0, 0])?;
        rest = &strings[end + 2..];
        Some((fields, &strings[..end]))
    })
}

/// The string that a field numbers, from 1; empty if there is none.
fn text(fields: &[u8], strings: &[u8], at: usize) -> String {
    let number = fields.get(at).map_or(0, |number| usize::from(*number));
    let found = strings.split(|byte| *byte == 0).nth(number.wrapping_sub(1));
    String::from_utf8_lossy(found.unwrap_or_default()).into_owned()
}

/// The channel in the names of a slot and its bank, with the processor if one is named: boards write
/// `P0 CHANNEL A`, `ChannelB-DIMM0`, `CPU1_DIMM_C2`, `DIMM_A1`, `A1`, `NODE 1 CHANNEL 2 DIMM 0`.
fn channel(device: &str, bank: &str) -> Option<String> {
    let both = format!("{bank} {device}").to_ascii_uppercase().replace(['_', '-', '/', '.'], " ");
    let words: Vec<&str> = both.split_whitespace().collect();
    // What stands behind one of these names, in the same word or as the next one.
    let behind = |names: &[&str], fits: fn(&str) -> bool| {
        words.iter().enumerate().find_map(|(at, word)| {
            let rest = names.iter().find_map(|name| word.strip_prefix(name))?;
            let rest = if rest.is_empty() { words.get(at + 1)? } else { rest };
            fits(rest).then_some(rest)
        })
    };
    let is_number = |word: &str| word.chars().all(|letter| letter.is_ascii_digit());
    let processor = behind(&["CPU", "PROC", "NODE", "P"], is_number).unwrap_or_default();
    let slot = || {
        let name = behind(&["DIMM"], |_| true).or_else(|| words.last().copied())?;
        let letter = name.get(..1)?;
        (letter.chars().all(|letter| letter.is_ascii_uppercase()) && is_number(&name[1..])).then_some(letter)
    };
    let name = match behind(&["CHANNEL"], |_| true) {
        // Behind the letter is the number of the slot; some boards number channels.
        Some(name) if is_number(name) => name,
        Some(name) => name.trim_end_matches(|letter: char| letter.is_ascii_digit()),
        None => slot()?,
    };
    Some(format!("{processor} {name}"))
}

fn module(fields: &[u8]) -> Option<Module> {
    let word = |at: usize| fields.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    if matches!(word(0x0c)?, 0 | 0xffff) {
        return None;
    }
    let told =
        |at: usize| word(at).filter(|speed| !matches!(speed, 0 | 0xffff)).map(|mega| u64::from(mega) * 1_000_000);
    let kind = match fields.get(0x12)? {
        0x12 => "DDR",
        0x13 => "DDR2",
        0x18 => "DDR3",
        0x1a => "DDR4",
        0x1e => "LPDDR4",
        0x20 => "HBM",
        0x21 => "HBM2",
        0x22 => "DDR5",
        0x23 => "LPDDR5",
        0x24 => "HBM3",
        _ => "other",
    };
    let bits = word(0x0a).filter(|bits| (8..=1024).contains(bits)).map_or(64, u64::from);
    Some(Module { kind, transfers_per_second: told(0x20).or_else(|| told(0x15)), rated: told(0x15), width: bits / 8 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(size: u16, kind: u8, speed: u16, configured: u16) -> Vec<u8> {
        let mut bytes = vec![0u8; 0x28];
        bytes[0] = MEMORY_DEVICE;
        bytes[1] = 0x28;
        bytes[0x0a..0x0c].copy_from_slice(&64_u16.to_le_bytes());
        bytes[0x10] = 1;
        bytes[0x0c..0x0e].copy_from_slice(&size.to_le_bytes());
        bytes[0x12] = kind;
        bytes[0x15..0x17].copy_from_slice(&speed.to_le_bytes());
        bytes[0x20..0x22].copy_from_slice(&configured.to_le_bytes());
        bytes.extend(b"DIMM A\0\0");
        bytes
    }

    #[test]
    fn populated_modules_at_their_configured_speed() {
        let mut table = vec![0, 4, 0, 0, 0, 0];
        table.extend(device(16384, 0x1a, 3200, 2933));
        table.extend(device(0, 0x1a, 3200, 2933));
        table.extend(device(32767, 0x22, 4800, 0));
        table.extend([END, 4, 0, 0, 0, 0]);
        table.extend(device(1, 0x1a, 1, 1));
        let found = memory(&table);
        let module = |kind, configured, rated| Module {
            kind,
            transfers_per_second: Some(configured),
            rated: Some(rated),
            width: 8,
        };
        assert_eq!(found.modules[0], module("DDR4", 2_933_000_000, 3_200_000_000));
        assert_eq!(found.modules[1], module("DDR5", 4_800_000_000, 4_800_000_000));
        assert_eq!((found.modules.len(), found.slots, found.channels), (2, 3, Some(1)), "all slots are called A");
    }

    #[test]
    fn channels_are_in_the_names_of_slots_or_in_the_ranges() {
        for (device, bank, expected) in [
            ("DIMM 0", "P0 CHANNEL A", Some("0 A")),
            ("ChannelB-DIMM0", "BANK 2", Some(" B")),
            ("CPU1_DIMM_C2", "NODE 1", Some("1 C")),
            ("DIMM_A1", "_Node0_Channel0_Dimm1", Some("0 0")),
            ("A1", "", Some(" A")),
            ("DIMM 3", "Not Specified", None),
        ] {
            assert_eq!(channel(device, bank).as_deref(), expected, "{device} {bank}");
        }
        let mut table = device(16384, 0x1a, 3200, 3200);
        let end = table.len();
        table.splice(end - 8.., *b"DIMM 0\0\0");
        let mut range = vec![0_u8; 0x0f];
        (range[0], range[1], range[0x0e]) = (MAPPED_RANGE, 0x0f, 1);
        table.extend(range);
        table.extend([0, 0]);
        let found = memory(&table);
        assert_eq!((found.channels, found.board_channels), (Some(1), None));
    }

    #[test]
    fn damaged_tables_do_not_hang_or_panic() {
        let whole = device(1, 0x1a, 1, 1);
        for cut in 0..whole.len() {
            assert!(memory(&whole[..cut]).modules.len() <= 1);
        }
        assert!(memory(&[17, 0, 0, 0]).modules.is_empty());
        assert!(memory(&[17, 4, 0, 0, 0, 0, 17, 255]).modules.is_empty());
    }
}
