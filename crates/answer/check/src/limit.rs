//! What the parts of a machine can do, from its facts.

use model::{BenchmarkResult, ExpectedShare, Machine, PartLimit, Run};

use crate::result::{Basis, ExpectedRange};

/// Cores for each channel of memory from which they can ask for all that it transfers.
const CORES_PER_CHANNEL: f64 = 2.0;

/// Cycles of a load from the first and the second cache, by the design of the CPU: the makers' optimisation guides
/// (Intel 248966, AMD 56665, 57647 and 58455, Arm's of the Neoverse cores), and A. Fog, "The microarchitecture of Intel,
/// AMD and VIA CPUs".
const CACHES: &[(&[&str], f64, f64)] = &[
    (&["Zen"], 4.0, 17.0),
    (&["Zen 2", "Zen 3", "Zen 4", "Zen 5", "Skylake", "Cascade Lake", "Cooper Lake"], 4.0, 14.0),
    (&["Haswell", "Broadwell"], 4.0, 12.0),
    (&["Ice Lake"], 5.0, 14.0),
    (&["Sapphire Rapids", "Emerald Rapids", "Granite Rapids"], 5.0, 16.0),
    (&["Arm Neoverse N1", "Arm Neoverse V1", "Arm Neoverse V2"], 4.0, 11.0),
    (&["Arm Neoverse N2"], 4.0, 13.0),
];

/// The range of a result by the limit of a part; `None` if the facts do not tell it.
pub(crate) fn by_parts(run: &Run, result: &BenchmarkResult, share: &ExpectedShare) -> Option<ExpectedRange> {
    let (bound, basis, says) = match share.limit {
        PartLimit::DramBandwidth => {
            let (bound, says) = dram(&run.machine)?;
            (bound, Basis::Parts, says)
        }
        PartLimit::FirstCache => cache(run, result, 1)?,
        PartLimit::SecondCache => cache(run, result, 2)?,
    };
    Some(ExpectedRange { low: share.low * bound, high: share.high * bound, basis, says })
}

/// Bytes per second of all channels that the board has, at the rate that the modules are made for.
fn dram(machine: &Machine) -> Option<(f64, String)> {
    let fact = |name: &str| machine.number(name).filter(|number| *number > 0.0);
    let channels = fact("memory.board_channels").or_else(|| fact("memory.channels"))?;
    let (speed, width) =
        (fact("memory.rated_speed").or_else(|| fact("memory.speed"))?, fact("memory.width").unwrap_or(8.0));
    if machine.is_guest() || fact("cpu.cores")? < CORES_PER_CHANNEL * channels {
        return None;
    }
    let says = format!("{channels} channels of {:.0} MT/s and {width} bytes", speed * 1e-6);
    Some((channels * speed * width, says))
}

/// Seconds of a load from a cache, if the working set fits it.
fn cache(run: &Run, result: &BenchmarkResult, level: usize) -> Option<(f64, Basis, String)> {
    let design = run.machine.microarchitecture()?;
    let (_, first, second) = CACHES.iter().find(|(names, ..)| names.contains(&design))?;
    let (cycles, name) = if level == 1 { (*first, "cache.l1d.size") } else { (*second, "cache.l2.size") };
    let size = run.machine.number(name)?;
    // Pages fall on one another in a cache that is nearly full.
    let set = result.parameters.bytes("working_set").ok()? as f64;
    let clock = result.sensors.as_ref()?.clock?;
    let says = format!("{cycles} cycles on {design} at {:.2} GHz", clock * 1e-9);
    (set <= 0.5 * size).then(|| (cycles / clock, Basis::Microarchitecture, says))
}

/// The clock of a busy core: from the nominal one to the highest.
pub(crate) fn clock(machine: &Machine) -> Option<ExpectedRange> {
    let nominal = machine.number("cpu.clock")?;
    let most = machine.number("cpu.clock.max").filter(|most| *most >= nominal);
    // A guest may not see how far its host's clock goes.
    let high = most.unwrap_or(2.0 * nominal);
    let says = "the nominal clock to the highest".to_owned();
    Some(ExpectedRange { low: 0.97 * nominal, high: 1.03 * high, basis: Basis::Parts, says })
}
