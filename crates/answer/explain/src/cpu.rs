//! Names of the CPUs of two machines.

use model::{Machine, Run};

/// The CPUs of both runs in words, if both recorded theirs and these are different ones.
pub(crate) fn cpus(a: &Run, b: &Run) -> Option<[String; 2]> {
    let (a, b) = (&a.machine, &b.machine);
    let model = |machine: &Machine| machine.text("cpu.model");
    let renamed = model(a).zip(model(b)).is_some_and(|(x, y)| x != y);
    let ids = ["cpu.vendor", "cpu.family", "cpu.model_number"];
    let other = ids.iter().any(|id| a.text(id).zip(b.text(id)).is_some_and(|(x, y)| x != y));
    let generations = generation(a).zip(generation(b)).filter(|(x, y)| x != y);
    let name = |machine: &Machine, generation: Option<&str>| match (model(machine), generation) {
        (Some(model), Some(generation)) if renamed => format!("{model} ({generation})"),
        (_, Some(generation)) => generation.to_owned(),
        (Some(model), None) if renamed => model,
        (model, None) => numbered(machine, model.as_deref()),
    };
    (renamed || other).then(|| [name(a, generations.map(|g| g.0)), name(b, generations.map(|g| g.1))])
}

/// `AMD EPYC, family 27 model 2`.
fn numbered(machine: &Machine, model: Option<&str>) -> String {
    let number = |word: &str, id: &str| machine.text(id).map(|number| format!("{word} {number}"));
    let numbers: Vec<String> =
        [number("family", "cpu.family"), number("model", "cpu.model_number")].into_iter().flatten().collect();
    let maker = model.map(str::to_owned).or_else(|| machine.text("cpu.vendor"));
    maker.into_iter().chain([numbers.join(" ")]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The generation of an x86 CPU, by the families and models that the Linux kernel names (`amd.c`, `intel-family.h`);
/// `None` if uncertain.
fn generation(machine: &Machine) -> Option<&'static str> {
    let number = |id: &str| machine.text(id)?.parse::<u32>().ok();
    let (family, model) = (number("cpu.family")?, number("cpu.model_number")?);
    match (machine.text("cpu.vendor")?.as_str(), family) {
        ("AuthenticAMD", _) => amd(family, model),
        ("GenuineIntel", 6) => intel(model, number("cpu.stepping")),
        _ => None,
    }
}

const fn amd(family: u32, model: u32) -> Option<&'static str> {
    Some(match (family, model) {
        (0x15, 0x00..=0x01) => "Bulldozer",
        (0x15, 0x02 | 0x10..=0x1f) => "Piledriver",
        (0x15, 0x30..=0x3f) => "Steamroller",
        (0x15, 0x60..=0x7f) => "Excavator",
        (0x17, 0x00..=0x2f | 0x50..=0x5f) => "Zen",
        (0x17, 0x30..=0x4f | 0x60..=0x7f | 0x90..=0x91 | 0xa0..=0xaf) => "Zen 2",
        (0x19, 0x00..=0x0f | 0x20..=0x5f) => "Zen 3",
        (0x19, 0x10..=0x1f | 0x60..=0xaf) => "Zen 4",
        (0x1a, 0x00..=0x2f | 0x40..=0x4f | 0x60..=0x7f) => "Zen 5",
        _ => return None,
    })
}

const fn intel(model: u32, stepping: Option<u32>) -> Option<&'static str> {
    Some(match (model, stepping) {
        (0x1a | 0x1e | 0x2e, _) => "Nehalem",
        (0x25 | 0x2c | 0x2f, _) => "Westmere",
        (0x2a | 0x2d, _) => "Sandy Bridge",
        (0x3a | 0x3e, _) => "Ivy Bridge",
        (0x3c | 0x3f | 0x45 | 0x46, _) => "Haswell",
        (0x3d | 0x47 | 0x4f | 0x56, _) => "Broadwell",
        (0x4e | 0x5e, _) | (0x55, Some(0..=4)) => "Skylake",
        (0x55, Some(5..=7)) => "Cascade Lake",
        (0x55, Some(10..=11)) => "Cooper Lake",
        (0x6a | 0x6c | 0x7d | 0x7e, _) => "Ice Lake",
        (0x8c | 0x8d, _) => "Tiger Lake",
        (0xa7, _) => "Rocket Lake",
        (0x97 | 0x9a, _) => "Alder Lake",
        (0xb7 | 0xba | 0xbf, _) => "Raptor Lake",
        (0x8f, _) => "Sapphire Rapids",
        (0xcf, _) => "Emerald Rapids",
        (0xad | 0xae, _) => "Granite Rapids",
        (0xaf, _) => "Sierra Forest",
        (0xaa | 0xac, _) => "Meteor Lake",
        (0xbd, _) => "Lunar Lake",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use model::{Fact, FactValue};

    use super::*;

    fn machine(facts: &[(&str, &str)]) -> Machine {
        let fact = |(name, value): &(&str, &str)| Fact {
            name: (*name).to_owned(),
            value: FactValue::Text((*value).to_owned()),
            unit: None,
            source: String::new(),
            affects: Vec::new(),
        };
        Machine { facts: facts.iter().map(fact).collect(), ..Machine::default() }
    }

    fn numbers(vendor: &str, family: u32, model: u32, stepping: u32) -> Machine {
        let [family, model, stepping] = [family, model, stepping].map(|number| number.to_string());
        machine(&[
            ("cpu.vendor", vendor),
            ("cpu.family", &family),
            ("cpu.model_number", &model),
            ("cpu.stepping", &stepping),
        ])
    }

    #[test]
    fn generations_follow_from_vendor_family_and_model() {
        for (vendor, family, model, stepping, expected) in [
            ("AuthenticAMD", 23, 1, 2, Some("Zen")),
            ("AuthenticAMD", 23, 49, 0, Some("Zen 2")),
            ("AuthenticAMD", 25, 1, 1, Some("Zen 3")),
            ("AuthenticAMD", 25, 17, 1, Some("Zen 4")),
            ("AuthenticAMD", 26, 2, 1, Some("Zen 5")),
            ("AuthenticAMD", 99, 2, 1, None),
            ("GenuineIntel", 6, 85, 4, Some("Skylake")),
            ("GenuineIntel", 6, 85, 7, Some("Cascade Lake")),
            ("GenuineIntel", 6, 106, 6, Some("Ice Lake")),
            ("GenuineIntel", 6, 143, 8, Some("Sapphire Rapids")),
            ("GenuineIntel", 6, 207, 2, Some("Emerald Rapids")),
            ("GenuineIntel", 6, 142, 10, None),
            ("GenuineIntel", 19, 1, 0, None),
            ("Somebody", 25, 1, 1, None),
        ] {
            assert_eq!(generation(&numbers(vendor, family, model, stepping)), expected, "{vendor} {family} {model}");
        }
    }
}
