//! The processor.

use model::{FactValue, Primitive};

use crate::affinity;
use crate::facts::collector::{Collector, Found, why};
use crate::text;

const CPUINFO: &str = "/proc/cpuinfo";
const ALL_CPU: &[Primitive] = &[
    Primitive::CoreClock,
    Primitive::IntegerAlu,
    Primitive::FloatingPoint,
    Primitive::Divide,
    Primitive::Vector,
    Primitive::Branch,
    Primitive::L1,
    Primitive::L2,
    Primitive::CacheLatency,
    Primitive::Tlb,
];

pub(super) fn collect(facts: &mut Collector) {
    let info = facts.read(CPUINFO);
    let field = |names: &[&str]| -> Found<String> {
        let text = info.as_deref().map_err(ToString::to_string)?;
        let found = names.iter().find_map(|name| text::field(text, name)).filter(|value| !value.is_empty());
        found.map(str::to_owned).ok_or_else(|| format!("{CPUINFO} has no line {:?}", names[0]))
    };
    facts.words("cpu.model", model(&field), CPUINFO, ALL_CPU);
    facts.words("cpu.vendor", field(&["vendor_id", "CPU implementer"]), CPUINFO, &[]);
    facts.words("cpu.family", field(&["cpu family", "CPU architecture"]), CPUINFO, &[]);
    facts.words("cpu.model_number", field(&["model", "CPU part"]), CPUINFO, &[]);
    facts.words("cpu.stepping", field(&["stepping", "CPU revision"]), CPUINFO, &[]);
    facts.words("cpu.microcode", field(&["microcode"]), CPUINFO, &[Primitive::Branch, Primitive::SyscallEntry]);
    let flags = field(&["flags", "Features"]).map(|line| {
        let mut flags: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        flags.sort_unstable();
        flags.dedup();
        FactValue::List(flags)
    });
    let special = [Primitive::Vector, Primitive::Aes, Primitive::Sha, Primitive::IntMatrix, Primitive::BitCounting];
    facts.add("cpu.flags", flags, None, CPUINFO, &special);
    let bugs = field(&["bugs"]).map(|line| FactValue::List(line.split_whitespace().map(str::to_owned).collect()));
    facts.add("cpu.bugs", bugs, None, CPUINFO, &[]);
    let allowed =
        if facts.is_here() { why(affinity::allowed()) } else { Err("these files are of another machine".to_owned()) };
    facts.number("cpu.count", allowed.map(|cpus| cpus.len() as f64), "1", "sched_getaffinity", &[]);
    facts.words("cpu.architecture", Ok(std::env::consts::ARCH), "this program's target", &[]);
}

fn model(field: &impl Fn(&[&str]) -> Found<String>) -> Found<String> {
    field(&["model name"]).or_else(|reason| {
        let (maker, part) = (field(&["CPU implementer"]).map_err(|_| reason)?, field(&["CPU part"])?);
        Ok(arm(&maker, &part).map_or_else(|| format!("implementer {maker} part {part}"), str::to_owned))
    })
}

/// Names of Arm cores found in servers, by the numbers of their main ID register (Arm technical reference manuals).
fn arm(maker: &str, part: &str) -> Option<&'static str> {
    Some(match (maker, part) {
        ("0x41", "0xd03") => "Arm Cortex-A53",
        ("0x41", "0xd07") => "Arm Cortex-A57",
        ("0x41", "0xd08") => "Arm Cortex-A72",
        ("0x41", "0xd0b") => "Arm Cortex-A76",
        ("0x41", "0xd0c") => "Arm Neoverse N1",
        ("0x41", "0xd40") => "Arm Neoverse V1",
        ("0x41", "0xd49") => "Arm Neoverse N2",
        ("0x41", "0xd4f") => "Arm Neoverse V2",
        ("0x41", "0xd84") => "Arm Neoverse V3",
        ("0x41", "0xd8e") => "Arm Neoverse N3",
        ("0xc0", "0xac3") => "Ampere-1",
        ("0xc0", "0xac4") => "Ampere-1A",
        ("0x46", "0x001") => "Fujitsu A64FX",
        _ => return None,
    })
}
