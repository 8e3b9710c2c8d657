//! What the design of a CPU is called, from the numbers by which it identifies itself.
//!
//! Sources: for x86 the families and models that the Linux kernel names (`arch/x86/kernel/cpu/amd.c`,
//! `arch/x86/include/asm/intel-family.h`); for Arm the part numbers of the main ID register, as the technical reference
//! manuals, the kernel (`arch/arm64/include/asm/cputype.h`) and `lscpu` of util-linux list them. A number that is not
//! certain has no name.

use crate::Machine;

/// Models, the last included.
type Range = (u32, u32);

/// Families and models of AMD.
const AMD: &[(u32, &[Range], &str)] = &[
    (0x10, &[(0x00, 0xff)], "K10"),
    (0x14, &[(0x00, 0xff)], "Bobcat"),
    (0x15, &[(0x00, 0x01)], "Bulldozer"),
    (0x15, &[(0x02, 0x02), (0x10, 0x1f)], "Piledriver"),
    (0x15, &[(0x30, 0x3f)], "Steamroller"),
    (0x15, &[(0x60, 0x7f)], "Excavator"),
    (0x16, &[(0x00, 0x0f)], "Jaguar"),
    (0x16, &[(0x30, 0x3f)], "Puma"),
    (0x17, &[(0x00, 0x2f), (0x50, 0x5f)], "Zen"),
    (0x17, &[(0x30, 0x4f), (0x60, 0x7f), (0x90, 0x91), (0xa0, 0xaf)], "Zen 2"),
    (0x19, &[(0x00, 0x0f), (0x20, 0x5f)], "Zen 3"),
    (0x19, &[(0x10, 0x1f), (0x60, 0xaf)], "Zen 4"),
    (0x1a, &[(0x00, 0x2f), (0x40, 0x4f), (0x60, 0x7f)], "Zen 5"),
];

/// Models of Intel's family 6, with the steppings where one number is of several generations.
const INTEL: &[(&[u32], Range, &str)] = &[
    (&[0x0f, 0x16], ANY, "Merom"),
    (&[0x17, 0x1d], ANY, "Penryn"),
    (&[0x1a, 0x1e, 0x1f, 0x2e], ANY, "Nehalem"),
    (&[0x25, 0x2c, 0x2f], ANY, "Westmere"),
    (&[0x2a, 0x2d], ANY, "Sandy Bridge"),
    (&[0x3a, 0x3e], ANY, "Ivy Bridge"),
    (&[0x3c, 0x3f, 0x45, 0x46], ANY, "Haswell"),
    (&[0x3d, 0x47, 0x4f, 0x56], ANY, "Broadwell"),
    (&[0x4e, 0x5e], ANY, "Skylake"),
    (&[0x55], (0, 4), "Skylake"),
    (&[0x55], (5, 7), "Cascade Lake"),
    (&[0x55], (10, 11), "Cooper Lake"),
    (&[0x8e, 0x9e], (0, 9), "Kaby Lake"),
    (&[0x8e], (10, 10), "Coffee Lake"),
    (&[0x8e], (11, 12), "Whiskey Lake"),
    (&[0x9e], (10, 13), "Coffee Lake"),
    (&[0xa5, 0xa6], ANY, "Comet Lake"),
    (&[0x66], ANY, "Cannon Lake"),
    (&[0x6a, 0x6c, 0x7d, 0x7e], ANY, "Ice Lake"),
    (&[0x8c, 0x8d], ANY, "Tiger Lake"),
    (&[0xa7], ANY, "Rocket Lake"),
    (&[0x97, 0x9a], ANY, "Alder Lake"),
    (&[0xb7, 0xba, 0xbf], ANY, "Raptor Lake"),
    (&[0x8f], ANY, "Sapphire Rapids"),
    (&[0xcf], ANY, "Emerald Rapids"),
    (&[0xad, 0xae], ANY, "Granite Rapids"),
    (&[0xaf], ANY, "Sierra Forest"),
    (&[0xaa, 0xac], ANY, "Meteor Lake"),
    (&[0xb5, 0xc5, 0xc6], ANY, "Arrow Lake"),
    (&[0xbd], ANY, "Lunar Lake"),
    (&[0x1c, 0x26], ANY, "Bonnell"),
    (&[0x27, 0x35, 0x36], ANY, "Saltwell"),
    (&[0x37, 0x4a, 0x4d], ANY, "Silvermont"),
    (&[0x4c, 0x5a, 0x75], ANY, "Airmont"),
    (&[0x5c, 0x5f], ANY, "Goldmont"),
    (&[0x7a], ANY, "Goldmont Plus"),
    (&[0x86, 0x96, 0x9c], ANY, "Tremont"),
    (&[0xbe], ANY, "Gracemont"),
    (&[0x57], ANY, "Knights Landing"),
    (&[0x85], ANY, "Knights Mill"),
];

const ANY: Range = (0, u32::MAX);

/// Implementers and parts of Arm cores.
const ARM: &[(u32, u32, &str)] = &[
    (0x41, 0xc07, "Arm Cortex-A7"),
    (0x41, 0xc08, "Arm Cortex-A8"),
    (0x41, 0xc09, "Arm Cortex-A9"),
    (0x41, 0xc0f, "Arm Cortex-A15"),
    (0x41, 0xd03, "Arm Cortex-A53"),
    (0x41, 0xd04, "Arm Cortex-A35"),
    (0x41, 0xd05, "Arm Cortex-A55"),
    (0x41, 0xd07, "Arm Cortex-A57"),
    (0x41, 0xd08, "Arm Cortex-A72"),
    (0x41, 0xd09, "Arm Cortex-A73"),
    (0x41, 0xd0a, "Arm Cortex-A75"),
    (0x41, 0xd0b, "Arm Cortex-A76"),
    (0x41, 0xd0c, "Arm Neoverse N1"),
    (0x41, 0xd0d, "Arm Cortex-A77"),
    (0x41, 0xd40, "Arm Neoverse V1"),
    (0x41, 0xd41, "Arm Cortex-A78"),
    (0x41, 0xd42, "Arm Cortex-A78AE"),
    (0x41, 0xd44, "Arm Cortex-X1"),
    (0x41, 0xd46, "Arm Cortex-A510"),
    (0x41, 0xd47, "Arm Cortex-A710"),
    (0x41, 0xd48, "Arm Cortex-X2"),
    (0x41, 0xd49, "Arm Neoverse N2"),
    (0x41, 0xd4a, "Arm Neoverse E1"),
    (0x41, 0xd4b, "Arm Cortex-A78C"),
    (0x41, 0xd4d, "Arm Cortex-A715"),
    (0x41, 0xd4e, "Arm Cortex-X3"),
    (0x41, 0xd4f, "Arm Neoverse V2"),
    (0x41, 0xd80, "Arm Cortex-A520"),
    (0x41, 0xd81, "Arm Cortex-A720"),
    (0x41, 0xd82, "Arm Cortex-X4"),
    (0x41, 0xd84, "Arm Neoverse V3"),
    (0x41, 0xd85, "Arm Cortex-X925"),
    (0x41, 0xd87, "Arm Cortex-A725"),
    (0x41, 0xd8e, "Arm Neoverse N3"),
    (0x42, 0x516, "ThunderX2"),
    (0x43, 0x0a0, "ThunderX"),
    (0x43, 0x0af, "ThunderX2"),
    (0x43, 0x0b8, "ThunderX3"),
    (0x46, 0x001, "Fujitsu A64FX"),
    (0x48, 0xd01, "HiSilicon TaiShan v110"),
    (0x4e, 0x004, "NVIDIA Carmel"),
    (0x50, 0x000, "X-Gene"),
    (0x51, 0xc00, "Qualcomm Falkor"),
    (0x61, 0x020, "Apple Icestorm (A14)"),
    (0x61, 0x021, "Apple Firestorm (A14)"),
    (0x61, 0x022, "Apple Icestorm (M1)"),
    (0x61, 0x023, "Apple Firestorm (M1)"),
    (0x61, 0x024, "Apple Icestorm (M1 Pro)"),
    (0x61, 0x025, "Apple Firestorm (M1 Pro)"),
    (0x61, 0x028, "Apple Icestorm (M1 Max)"),
    (0x61, 0x029, "Apple Firestorm (M1 Max)"),
    (0x61, 0x032, "Apple Blizzard (M2)"),
    (0x61, 0x033, "Apple Avalanche (M2)"),
    (0x6d, 0xd49, "Azure Cobalt 100 (Neoverse N2)"),
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1A"),
];

/// The name of an Arm core, by the implementer and the part number of its main ID register.
#[must_use]
pub fn arm_core(implementer: u32, part: u32) -> Option<&'static str> {
    ARM.iter().find(|core| (core.0, core.1) == (implementer, part)).map(|core| core.2)
}

impl Machine {
    /// What the design of its CPU is called, such as `Zen 5` or `Sapphire Rapids`; `None` if it is not certain.
    #[must_use]
    pub fn microarchitecture(&self) -> Option<&'static str> {
        let (vendor, model) = (self.text("cpu.vendor")?, number(&self.text("cpu.model_number")?)?);
        let of = |name: &str| number(&self.text(name)?);
        let has = |range: &Range, number: u32| range.0 <= number && number <= range.1;
        match vendor.as_str() {
            "AuthenticAMD" => {
                let family = of("cpu.family")?;
                let found = AMD.iter().find(|one| one.0 == family && one.1.iter().any(|range| has(range, model)));
                found.map(|one| one.2)
            }
            "GenuineIntel" if of("cpu.family")? == 6 => {
                let stepping = of("cpu.stepping");
                let fits = |range: &Range| *range == ANY || stepping.is_some_and(|stepping| has(range, stepping));
                INTEL.iter().find(|one| one.0.contains(&model) && fits(&one.1)).map(|one| one.2)
            }
            implementer => arm_core(number(implementer)?, model),
        }
    }
}

/// A number as `/proc/cpuinfo` prints it: decimal, or hexadecimal after `0x`.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fact;

    fn named(vendor: &str, family: &str, model: &str, stepping: &str) -> Option<&'static str> {
        let facts =
            [("cpu.vendor", vendor), ("cpu.family", family), ("cpu.model_number", model), ("cpu.stepping", stepping)];
        let fact = |(name, value): (&str, &str)| Fact::new(name, value, "", &[]);
        Machine { facts: facts.map(fact).into(), ..Machine::default() }.microarchitecture()
    }

    #[test]
    fn the_numbers_of_a_cpu_name_its_design() {
        for (vendor, family, model, stepping, expected) in [
            ("AuthenticAMD", "23", "1", "2", Some("Zen")),
            ("AuthenticAMD", "23", "49", "0", Some("Zen 2")),
            ("AuthenticAMD", "25", "1", "1", Some("Zen 3")),
            ("AuthenticAMD", "25", "17", "1", Some("Zen 4")),
            ("AuthenticAMD", "26", "2", "1", Some("Zen 5")),
            ("AuthenticAMD", "99", "2", "1", None),
            ("GenuineIntel", "6", "26", "5", Some("Nehalem")),
            ("GenuineIntel", "6", "85", "4", Some("Skylake")),
            ("GenuineIntel", "6", "85", "7", Some("Cascade Lake")),
            ("GenuineIntel", "6", "142", "10", Some("Coffee Lake")),
            ("GenuineIntel", "6", "106", "6", Some("Ice Lake")),
            ("GenuineIntel", "6", "143", "8", Some("Sapphire Rapids")),
            ("GenuineIntel", "6", "207", "2", Some("Emerald Rapids")),
            ("GenuineIntel", "6", "254", "1", None),
            ("GenuineIntel", "19", "1", "0", None),
            ("Somebody", "25", "1", "1", None),
            ("0x41", "8", "0xd0c", "1", Some("Arm Neoverse N1")),
            ("0x46", "8", "0x001", "0", Some("Fujitsu A64FX")),
            ("0x61", "8", "0x023", "1", Some("Apple Firestorm (M1)")),
            ("0xc0", "8", "0xac3", "0", Some("Ampere-1")),
            ("0x41", "8", "0xfff", "0", None),
        ] {
            assert_eq!(named(vendor, family, model, stepping), expected, "{vendor} {family} {model} {stepping}");
        }
    }

    #[test]
    fn no_number_has_two_names() {
        for model in 0..=0xff {
            for family in [0x10, 0x14, 0x15, 0x16, 0x17, 0x19, 0x1a] {
                let has = |one: &&(u32, &[Range], &str)| {
                    one.0 == family && one.1.iter().any(|range| range.0 <= model && model <= range.1)
                };
                assert!(AMD.iter().filter(has).count() <= 1, "{family:#x} {model:#x}");
            }
            for stepping in 0..16 {
                let has =
                    |one: &&(&[u32], Range, &str)| one.0.contains(&model) && one.1.0 <= stepping && stepping <= one.1.1;
                assert!(INTEL.iter().filter(has).count() <= 1, "{model:#x} {stepping}");
            }
        }
        for (place, core) in ARM.iter().enumerate() {
            assert!(ARM[..place].iter().all(|other| (other.0, other.1) != (core.0, core.1)), "{core:?}");
        }
    }
}
