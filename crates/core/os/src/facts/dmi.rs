//! Memory modules in the firmware tables: SMBIOS structures of type 17 (DMTF DSP0134, section 7.18).

/// One populated memory module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Module {
    /// `DDR4`, `DDR5` ...
    pub(super) kind: &'static str,
    /// Configured transfer rate, transfers per second.
    pub(super) transfers_per_second: Option<u64>,
}

const MEMORY_DEVICE: u8 = 17;
const END: u8 = 127;

/// All populated modules of a table. A damaged table yields those before the damage.
pub(super) fn modules(table: &[u8]) -> Vec<Module> {
    let mut found = Vec::new();
    let mut rest = table;
    while let [kind, len, ..] = *rest {
        let len = usize::from(len);
        if len < 4 || len > rest.len() || kind == END {
            break;
        }
        let (fields, strings) = rest.split_at(len);
        if kind == MEMORY_DEVICE {
            found.extend(module(fields));
        }
        // Strings follow, terminated by two zero bytes.
        let Some(end) = strings.windows(2).position(|pair| pair == [0, 0]) else { break };
        rest = &strings[end + 2..];
    }
    found
}

fn module(fields: &[u8]) -> Option<Module> {
    let word = |at: usize| fields.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    if matches!(word(0x0c)?, 0 | 0xffff) {
        return None;
    }
    let told = |speed: Option<u16>| speed.filter(|speed| !matches!(speed, 0 | 0xffff));
    let speed = told(word(0x20)).or_else(|| told(word(0x15)));
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
    Some(Module { kind, transfers_per_second: speed.map(|mega| u64::from(mega) * 1_000_000) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(size: u16, kind: u8, speed: u16, configured: u16) -> Vec<u8> {
        let mut bytes = vec![0u8; 0x28];
        bytes[0] = MEMORY_DEVICE;
        bytes[1] = 0x28;
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
        let found = modules(&table);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], Module { kind: "DDR4", transfers_per_second: Some(2_933_000_000) });
        assert_eq!(found[1], Module { kind: "DDR5", transfers_per_second: Some(4_800_000_000) });
    }

    #[test]
    fn damaged_tables_do_not_hang_or_panic() {
        let whole = device(1, 0x1a, 1, 1);
        for cut in 0..whole.len() {
            assert!(modules(&whole[..cut]).len() <= 1);
        }
        assert!(modules(&[17, 0, 0, 0]).is_empty());
        assert!(modules(&[17, 4, 0, 0, 0, 0, 17, 255]).is_empty());
    }
}
