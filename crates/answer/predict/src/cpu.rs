//! Models of CPU: machines with the same model predict each other better than any new machine.

/// A model of CPU by its own name, without trademarks, case, core counts and clocks. A name without a model number (a
/// cloud's "Xeon CPU @ 2.20GHz") keeps its clock, its only distinction. A word for one class of cores of a hybrid chip
/// stays, in one spelling: "p-core" and "e-core" of one chip are two models.
#[must_use]
pub fn cpu_model(name: &str) -> String {
    // Importers write a comma as a semicolon.
    let lower = name.to_lowercase().replace("(r)", " ").replace("(tm)", " ").replace([',', ';'], " ");
    let class = core_class(&lower);
    let is_number = |word: &str| word.chars().filter(char::is_ascii_digit).count() >= 3;
    let mut words: Vec<&str> = Vec::new();
    for word in lower.split_whitespace() {
        match word {
            "cpu" | "processor" => {}
            // A clock follows; some clouds write "T" for the turbo clock.
            "@" | "t" if words.iter().any(|word| is_number(word)) => break,
            _ if is_class_word(word) || word.ends_with("-core") => {}
            _ => words.push(word),
        }
    }
    words.extend(class);
    words.join(" ")
}

/// Words for the fast cores of a hybrid chip, and for the small ones: makers' terms and names of kernels' classes.
const FAST: [&str; 7] =
    ["p-core", "p-cores", "pcore", "performance-core", "performance-cores", "cpu_core", "firestorm"];
const SMALL: [&str; 7] = ["e-core", "e-cores", "ecore", "efficiency-core", "efficiency-cores", "cpu_atom", "icestorm"];

/// The class of cores that a lower-case name states: `p-core` or `e-core`.
fn core_class(lower: &str) -> Option<&'static str> {
    let said = |marks: &[&str]| lower.split_whitespace().any(|word| marks.contains(&bare(word)));
    if said(&SMALL) {
        Some("e-core")
    } else if said(&FAST) {
        Some("p-core")
    } else {
        None
    }
}

fn is_class_word(word: &str) -> bool {
    FAST.contains(&bare(word)) || SMALL.contains(&bare(word))
}

fn bare(word: &str) -> &str {
    word.trim_matches(['(', ')', '[', ']', ','])
}

/// The model of CPU of one class of its cores.
pub(crate) fn with_class(cpu: &str, class: &str) -> String {
    let lower = cpu.to_lowercase();
    if core_class(&lower).is_some() || class.is_empty() { cpu.to_owned() } else { format!("{cpu} ({class})") }
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
            ("Intel Core Processor (Haswell, no TSX)", "Intel Core Processor (Haswell; no TSX)"),
            ("Intel Core i9-13900K (E-core)", "Intel(R) Core(TM) i9-13900K efficiency-cores"),
        ] {
            assert_eq!(cpu_model(a), cpu_model(b));
        }
        assert_ne!(cpu_model("Intel(R) Xeon(R) CPU @ 2.20GHz"), cpu_model("Intel(R) Xeon(R) CPU @ 3.10GHz"));
        assert_ne!(cpu_model("AMD EPYC 7R32"), cpu_model("AMD EPYC 7R13"));
    }

    #[test]
    fn classes_of_cores_are_models_of_their_own() {
        let chip = "13th Gen Intel(R) Core(TM) i9-13900K";
        let (fast, small) = (with_class(chip, "P-core"), with_class(chip, "E-core"));
        assert_ne!(cpu_model(&fast), cpu_model(&small));
        assert_ne!(cpu_model(&fast), cpu_model(chip));
        assert_eq!(with_class(&fast, "E-core"), fast);
        assert_ne!(cpu_model("Intel Core i9-13900K P-core"), cpu_model("Intel Core i9-13900K E-core @ 2.20GHz"));
    }
}
