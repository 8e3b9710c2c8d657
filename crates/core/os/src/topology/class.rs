//! Classes of cores: big and little, performance and efficiency.
//!
//! Sources: `cpu_capacity` (`Documentation/scheduler/sched-capacity.rst`), the lists of CPUs of the hybrid processors'
//! counter units, the main ID register of Arm cores (`Documentation/arch/arm64/cpu-feature-registers.rst`), and
//! cpufreq.

use model::{CoreClass, CpuSet};

use super::{CPUS, SysFiles};

/// Counter units of hybrid x86 processors, the fastest cores first; each lists its CPUs.
const UNITS: [&str; 3] = ["core", "atom", "lowpower"];
/// Cores of one kind whose capacity or clock differ by less are of one class: makers let a few cores of each clock a
/// little higher.
const ALIKE: f64 = 1.1;

/// Data of one CPU.
#[derive(Debug, Clone)]
struct CoreFacts {
    cpu: usize,
    /// Place in [`UNITS`]; their number where the processor is not hybrid.
    unit: usize,
    /// Maker and part number of an Arm core.
    part: Option<(u32, u32)>,
    capacity: Option<u32>,
    /// Hertz.
    clock: Option<f64>,
}

/// Classes of the CPUs that are online, the fastest first; at least one.
pub(super) fn read(files: &SysFiles, online: &CpuSet) -> Vec<CoreClass> {
    let list = |unit: &&str| files.list(&format!("sys/devices/cpu_{unit}/cpus")).unwrap_or_default();
    let units: Vec<CpuSet> = UNITS.iter().map(list).collect();
    let facts = online.iter().map(|cpu| {
        let name = |name: &str| format!("{CPUS}/cpu{cpu}/{name}");
        let register = files.text(&name("regs/identification/midr_el1"));
        let register = register.and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok());
        let clock: Option<f64> = files.number(&name("cpufreq/cpuinfo_max_freq"));
        CoreFacts {
            cpu,
            unit: units.iter().position(|unit| unit.contains(cpu)).unwrap_or(UNITS.len()),
            part: register.map(|midr| ((midr >> 24) as u32 & 0xff, (midr >> 4) as u32 & 0xfff)),
            capacity: files.number(&name("cpu_capacity")),
            clock: clock.map(|khz| khz * 1e3),
        }
    });
    classes(facts.collect())
}

fn classes(mut cores: Vec<CoreFacts>) -> Vec<CoreClass> {
    let by_capacity = cores.iter().all(|core| core.capacity.is_some());
    let speed = |core: &CoreFacts| if by_capacity { core.capacity.map(f64::from) } else { core.clock };
    // Kinds first, then their steps of speed.
    cores.sort_by(|a, b| {
        (a.unit, a.part).cmp(&(b.unit, b.part)).then(compare(speed(b), speed(a))).then(a.cpu.cmp(&b.cpu))
    });
    let mut classes: Vec<Vec<CoreFacts>> = Vec::new();
    for core in cores {
        let joins = |class: &&mut Vec<CoreFacts>| {
            class.last().is_some_and(|before| {
                let close = match (speed(before), speed(&core)) {
                    (Some(a), Some(b)) => a <= b * ALIKE,
                    (a, b) => a == b,
                };
                (before.unit, before.part) == (core.unit, core.part) && close
            })
        };
        match classes.last_mut().filter(joins) {
            Some(class) => class.push(core),
            None => classes.push(vec![core]),
        }
    }
    // The counter units come in order of speed where capacities are not told.
    let rank = |class: &[CoreFacts]| if by_capacity { 0 } else { class[0].unit };
    classes.sort_by(|a, b| rank(a).cmp(&rank(b)).then(compare(speed(&b[0]), speed(&a[0]))));
    if classes.is_empty() {
        return vec![CoreClass::default()];
    }
    classes.into_iter().map(|class| named(&class)).collect()
}

fn compare(a: Option<f64>, b: Option<f64>) -> std::cmp::Ordering {
    a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0))
}

fn named(class: &[CoreFacts]) -> CoreClass {
    let unit = UNITS.get(class[0].unit).map(|unit| (*unit).to_owned());
    let part = class[0].part.map(|(maker, part)| {
        model::arm_core(maker, part).map_or_else(|| format!("implementer {maker:#04x} part {part:#05x}"), str::to_owned)
    });
    CoreClass {
        name: unit.or(part).unwrap_or_default(),
        cpus: class.iter().map(|core| core.cpu).collect(),
        capacity: class.iter().filter_map(|core| core.capacity).max(),
        clock: class.iter().filter_map(|core| core.clock).max_by(f64::total_cmp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(cpu: usize, unit: usize, capacity: Option<u32>, mhz: f64) -> CoreFacts {
        CoreFacts { cpu, unit, part: None, capacity, clock: Some(mhz * 1e6) }
    }

    fn sets(classes: &[CoreClass]) -> Vec<String> {
        classes.iter().map(|class| class.cpus.to_string()).collect()
    }

    #[test]
    fn favoured_cores_make_no_class_and_a_prime_core_does() {
        let favoured = [5200.0, 5200.0, 5100.0, 4900.0];
        let favoured = favoured.iter().enumerate().map(|(cpu, mhz)| core(cpu, UNITS.len(), None, *mhz));
        assert_eq!(sets(&classes(favoured.collect())), ["0-3"]);
        let phone = [(0, 325), (1, 325), (2, 828), (3, 828), (4, 1024)];
        let phone = phone.iter().map(|(cpu, capacity)| core(*cpu, UNITS.len(), Some(*capacity), 2000.0));
        assert_eq!(sets(&classes(phone.collect())), ["4", "2-3", "0-1"]);
    }

    #[test]
    fn hybrid_cores_are_told_apart_by_their_units_first() {
        let cores = vec![core(0, 0, None, 3000.0), core(1, 0, None, 3000.0), core(2, 1, None, 3600.0)];
        let found = classes(cores);
        assert_eq!((sets(&found), found[0].name.as_str()), (vec!["0-1".to_owned(), "2".to_owned()], "core"));
        assert_eq!(classes(Vec::new()).len(), 1);
    }
}
