//! Models of CPU: machines with the same model predict each other better than any new machine.

/// A model of CPU by its own name, without trademarks, case, core counts and clocks. A name without a model number (a
/// cloud's "Xeon CPU @ 2.20GHz") keeps its clock, its only distinction.
#[must_use]
pub fn cpu_model(name: &str) -> String {
    let lower = name.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
    let is_number = |word: &str| word.chars().filter(char::is_ascii_digit).count() >= 3;
    let mut words: Vec<&str> = Vec::new();
    for word in lower.split_whitespace() {
        match word {
            "cpu" | "processor" => {}
            // A clock follows; some clouds write "T" for the turbo clock.
            "@" | "t" if words.iter().any(|word| is_number(word)) => break,
            _ if word.ends_with("-core") => {}
            _ => words.push(word),
        }
    }
    words.join(" ")
}

/// A family of CPUs: maker and line if the name contains them; else its first word.
#[must_use]
pub fn cpu_family(name: &str) -> String {
    const LINES: [(&str, &str); 18] = [
        ("epyc", "AMD EPYC"),
        ("ryzen", "AMD Ryzen"),
        ("athlon", "AMD Athlon"),
        ("opteron", "AMD Opteron"),
        ("amd", "AMD"),
        ("xeon", "Intel Xeon"),
        ("core", "Intel Core"),
        ("intel", "Intel"),
        ("neoverse", "Arm"),
        ("cortex", "Arm"),
        ("graviton", "Arm"),
        ("ampere", "Arm"),
        ("apple", "Apple"),
        ("power", "POWER"),
        ("alpha", "Alpha"),
        ("sparc", "SPARC"),
        ("sun", "SPARC"),
        ("pentium", "Intel Pentium"),
    ];
    let lower = name.to_lowercase();
    // "Cortex" does not contain "core", but "64-Core Processor" does.
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty() && !word.ends_with("-core"))
        .collect();
    let line = LINES.iter().find(|(mark, _)| words.iter().any(|word| word.contains(mark)));
    line.map_or_else(|| name.split_whitespace().next().unwrap_or("unknown").to_owned(), |(_, line)| (*line).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_model_has_many_names() {
        for (a, b) in [
            ("AMD EPYC 9R14", "AMD EPYC 9R14 96-Core Processor"),
            ("Intel(R) Xeon(R) Platinum 8559C", "INTEL(R) XEON(R) PLATINUM 8559C"),
            ("Intel(R) Xeon(R) Platinum 8269CY CPU @ 2.50GHz", "Intel(R) Xeon(R) Platinum 8269CY CPU T 3.10GHz"),
        ] {
            assert_eq!(cpu_model(a), cpu_model(b));
        }
        assert_ne!(cpu_model("Intel(R) Xeon(R) CPU @ 2.20GHz"), cpu_model("Intel(R) Xeon(R) CPU @ 3.10GHz"));
        assert_ne!(cpu_model("AMD EPYC 7R32"), cpu_model("AMD EPYC 7R13"));
    }

    #[test]
    fn families() {
        assert_eq!(cpu_family("AMD EPYC 7763 64-Core Processor"), "AMD EPYC");
        assert_eq!(cpu_family("Intel(R) Xeon(R) CPU @ 2.20GHz"), "Intel Xeon");
        assert_eq!(cpu_family("Intel Core Processor (Haswell, no TSX)"), "Intel Core");
        assert_eq!(cpu_family("Neoverse-N1"), "Arm");
        assert_eq!(cpu_family("VAX 11/780"), "VAX");
        assert_eq!(cpu_family(""), "unknown");
    }
}
