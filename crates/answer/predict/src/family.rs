//! Families of CPUs by name: maker and class of microarchitecture.

/// Marks in a name, and the family that they mean; the first line that fits counts. A mark is the beginning of a word.
const LINES: [(&[&str], &str); 52] = [
    (&["neoverse", "graviton2", "graviton3", "graviton4", "altra", "ampere", "ampereone"], "Arm Neoverse"),
    (&["cobalt", "yitian", "axion", "kunpeng"], "Arm Neoverse"),
    (&["cortex-a5", "cortex-a7", "cortex-a32", "cortex-a34", "cortex-a35"], "Arm Cortex small"),
    (&["cortex-x", "cortex-a"], "Arm Cortex"),
    (&["arm1176", "arm11", "arm9"], "Arm before Cortex"),
    (&["graviton"], "Arm"),
    (&["cortex", "snapdragon", "qualcomm", "exynos", "rockchip", "rk", "amlogic", "allwinner", "mediatek"], "Arm"),
    (&["mt", "broadcom", "bcm", "jetson", "tegra", "carmel", "phytium", "thunderx", "nxp", "armv", "aarch64"], "Arm"),
    (&["apple"], "Apple"),
    (&["risc-v", "riscv", "sifive", "spacemit", "sg2042", "c920"], "RISC-V"),
    (&["loongson"], "Loongson"),
    (&["elbrus"], "Elbrus"),
    (&["mips", "baikal-t"], "MIPS"),
    (&["powerpc", "ppc"], "PowerPC"),
    (&["power"], "POWER"),
    (&["alpha"], "Alpha"),
    (&["sparc", "ultrasparc", "sun"], "SPARC"),
    (&["pa-"], "PA-RISC"),
    (&["itanium"], "Intel Itanium"),
    (&["epyc"], "AMD EPYC"),
    (&["ryzen", "threadripper"], "AMD Ryzen"),
    (&["opteron"], "AMD Opteron"),
    (&["athlon", "phenom", "sempron", "turion"], "AMD Athlon"),
    (&["amd"], "AMD"),
    (&["xeon-phi"], "Intel Xeon Phi"),
    (&["xeon"], "Intel Xeon"),
    (&["atom", "n95", "n97", "n100", "n150", "n200", "n305", "i3-n"], "Intel Atom"),
    (&["celeron-n", "celeron-j", "pentium-n", "pentium-j", "pentium-silver"], "Intel Atom"),
    (&["pentium-4", "pentium-iv", "pentium-d", "celeron-d"], "Intel NetBurst"),
    (&["pentium-m", "pentium-ii", "pentium-iii", "pentium-pro", "pentium-2", "pentium-3"], "Intel P6"),
    (&["pentium-g", "celeron-g", "pentium-gold"], "Intel Core"),
    (&["core", "i3-", "i5-", "i7-", "i9-", "i3", "i5", "i7", "i9"], "Intel Core"),
    (&["pentium", "celeron"], "Intel Pentium"),
    (&["intel", "genuineintel"], "Intel"),
    (&["zhaoxin"], "Zhaoxin"),
    (&["hygon"], "AMD EPYC"),
    (&["vax"], "VAX"),
    (&["hp"], "PA-RISC"),
    (&["r10000", "r12000", "r8000", "r4400", "sgi"], "MIPS"),
    (&["rs6000", "rs/6000"], "POWER"),
    (&["z13", "z14", "z15", "z16"], "IBM Z"),
    (&["grace"], "Arm Neoverse"),
    (&["m1", "m2", "m3", "m4"], "Apple"),
    (&["raspberry", "odroid", "pine64", "orange"], "Arm"),
    (&["k6", "k7", "k8", "duron"], "AMD Athlon"),
    (&["via"], "VIA"),
    (&["transmeta", "crusoe", "efficeon"], "Transmeta"),
    (&["cyrix"], "Cyrix"),
    (&["486", "80486", "i486"], "Intel"),
    (&["68040", "68030", "68060", "motorola"], "Motorola 68000"),
    (&["cray"], "Cray"),
    (&["arm"], "Arm"),
];

/// A family of CPUs: maker and class of microarchitecture, as far as the name shows; else its first word.
///
/// A small core of a hybrid chip belongs to the small cores of its maker.
#[must_use]
pub fn cpu_family(name: &str) -> String {
    let model = super::cpu::cpu_model(name);
    let words: Vec<&str> = model
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '/')
        .filter(|word| !word.is_empty())
        .collect();
    // The second word distinguishes "Pentium G4600" from "Celeron N5105".
    let pairs: Vec<String> = words.windows(2).map(|pair| format!("{}-{}", pair[0], pair[1])).collect();
    let begins = |mark: &str| words.iter().any(|word| fits(word, mark)) || pairs.iter().any(|pair| fits(pair, mark));
    let line = LINES.iter().find(|(marks, _)| marks.iter().any(|mark| begins(mark)));
    let family = line.map_or_else(|| first_word(name), |(_, line)| (*line).to_owned());
    match (words.contains(&"e-core"), maker(&family)) {
        (true, "Intel") => "Intel Atom".to_owned(),
        (true, "Apple") => "Apple small".to_owned(),
        _ => family,
    }
}

/// Whether a family is one of a known maker, and not the first word of a name that says nothing.
pub(crate) fn is_known(family: &str) -> bool {
    family == "Apple small" || LINES.iter().any(|(_, line)| *line == family)
}

/// Whether a word begins with a mark. A short mark is a whole word, and one that ends in a digit is not continued by
/// another digit: "cortex-a7" is not "cortex-a72".
fn fits(word: &str, mark: &str) -> bool {
    let Some(rest) = word.strip_prefix(mark) else { return false };
    let open = mark.ends_with(['-', 'g', 'n', 'j']) || !mark.chars().next_back().is_some_and(|c| c.is_ascii_digit());
    if mark == "cortex-a5" {
        // 5, 53, 55, 510 and 520 are small; 57 is not.
        return !rest.starts_with('7');
    }
    let whole = mark.ends_with("-m") || mark.ends_with("-d") || mark == "power" || mark.len() <= 3;
    if whole && open && !mark.ends_with('-') {
        return rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit());
    }
    open || !rest.starts_with(|c: char| c.is_ascii_digit())
}

fn first_word(name: &str) -> String {
    name.split_whitespace().next().unwrap_or("unknown").to_owned()
}

/// The maker of a family, its first word: families of one maker are more alike than others.
pub(crate) fn maker(family: &str) -> &str {
    family.split_whitespace().next().unwrap_or(family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_says_nothing_is_of_no_known_maker() {
        for (name, known) in [("AMD EPYC 7763", true), ("Apple M1 Icestorm", true), ("node-a", false), ("", false)] {
            assert_eq!(is_known(&cpu_family(name)), known, "{name}");
        }
    }

    #[test]
    fn families() {
        for (name, family) in [
            ("AMD EPYC 7763 64-Core Processor", "AMD EPYC"),
            ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel Xeon"),
            ("Intel Core Processor (Haswell, no TSX)", "Intel Core"),
            ("13th Gen Intel(R) Core(TM) i9-13900K (E-core)", "Intel Atom"),
            ("12th Gen Intel(R) Core(TM) i7-1270P", "Intel Core"),
            ("Intel(R) Pentium(R) G4600", "Intel Core"),
            ("Intel Celeron N5105", "Intel Atom"),
            ("Intel N100", "Intel Atom"),
            ("Intel Pentium 4", "Intel NetBurst"),
            ("Pentium III 1 GHz", "Intel P6"),
            ("Pentium II 400", "Intel P6"),
            ("Intel Pentium M725", "Intel P6"),
            ("Neoverse-N1", "Arm Neoverse"),
            ("Ampere Altra Q80-26", "Arm Neoverse"),
            ("AWS Graviton4", "Arm Neoverse"),
            ("Broadcom BCM2837 Cortex-A53", "Arm Cortex small"),
            ("AMD Opteron A1100 Cortex-A57", "Arm Cortex"),
            ("Broadcom BCM2711 Cortex-A72", "Arm Cortex"),
            ("Samsung Exynos 4412 Cortex-A9", "Arm Cortex"),
            ("Cortex-A7", "Arm Cortex small"),
            ("Apple M1", "Apple"),
            ("IBM POWER9", "POWER"),
            ("AMD Athlon 1.2 GHz", "AMD Athlon"),
            ("AMD Opteron 6272", "AMD Opteron"),
            ("VAX 11/780", "VAX"),
            ("Sun Ultra60", "SPARC"),
            ("", "unknown"),
        ] {
            assert_eq!(cpu_family(name), family, "{name}");
        }
    }
}
