//! The processor.

use kernels::affinity;
use kernels::text;
use model::{FactValue, Primitive};

use crate::facts::collector::{Collector, Found, why};

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

/// The name of an Arm core, from the numbers that `/proc/cpuinfo` prints.
fn arm(maker: &str, part: &str) -> Option<&'static str> {
    let number = |text: &str| u32::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    model::arm_core(number(maker)?, number(part)?)
}
