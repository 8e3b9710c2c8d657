//! A short reading of the sensors: the clock of the cores, and how often another thread was on them.

use std::time::Duration;

use kernels::core_sensor::CoreSensors;
use model::{ExclusiveCore, ExclusiveSource, Machine, Run, SessionSensors, Share, percent};

use super::Check;
use crate::quality::{
    KnownRatio, RatioHistogram, from_issue, from_runs, from_table, issue_width, learn, shared_share, shared_throughout,
};
use crate::{Error, facts};

/// Time for which they are read, and time between two rows of readings.
const WINDOW: Duration = Duration::from_millis(1000);
const EVERY: Duration = Duration::from_millis(20);
/// Most CPUs that are read; each adds a reading to every row.
const MOST_CPUS: usize = 4;
/// Readings per row: their middle is not affected by one interrupt.
const ROW: usize = 3;
/// Share of the time with another thread on the core from which measuring is disturbed.
const DISTURBED: f64 = 0.05;

/// The clock of these CPUs, and the share of the time in which another thread was on their cores.
pub(super) fn checks(machine: &Machine, earlier: &[Run]) -> Vec<Check> {
    match read(machine) {
        Ok(mut sensors) => {
            learn_core(machine, earlier, &mut sensors);
            let moments = sensors.moments(WINDOW.as_secs_f64());
            let clocks: Vec<f64> = moments.iter().map(|moment| moment.clock).collect();
            vec![clock(&clocks, sensors.exclusive[0].cpus.len()), neighbours(shared_share(&moments))]
        }
        Err(reason) => vec![Check::unknown("core clock", reason.to_string())],
    }
}

fn clock(clocks: &[f64], cpus: usize) -> Check {
    let at = |share: f64| stats::quantile::quantile(clocks, share).unwrap_or(f64::NAN) * 1e-9;
    let cpus = if cpus == 1 { "one CPU".to_owned() } else { format!("{cpus} CPUs") };
    let says =
        format!("{:.2} GHz on {cpus} in one second; 90% of readings {:.2} to {:.2}", at(0.5), at(0.05), at(0.95));
    Check::fine("core clock", says)
}

fn neighbours(shared: Option<Share>) -> Check {
    match shared {
        Some(share) => {
            let says = format!("another hyperthread used the core for {} of one second", percent(share.get()));
            if share.get() < DISTURBED {
                return Check::fine("sibling hyperthread", says);
            }
            Check::busy(
                "sibling hyperthread",
                says,
                "Stop other work on this core or VM host, or measure later. Prony repeats disturbed samples, so that a run takes longer.",
            )
        }
        None => Check::unknown(
            "sibling hyperthread",
            "the readings do not show the speed of a core whose sibling is idle; a stored run of this machine may help",
        ),
    }
}

/// Reads the sensors on some CPUs of one class, which `exclusive` of the result names.
fn read(machine: &Machine) -> Result<SessionSensors, Error> {
    let allowed = kernels::affinity::allowed()?;
    let found = read_on(&spread(machine, &allowed));
    kernels::affinity::pin(&allowed)?;
    found
}

/// CPUs of the class of the first one, evenly spread.
fn spread(machine: &Machine, allowed: &[usize]) -> Vec<usize> {
    let class = |cpu: usize| machine.topology.as_ref().map_or(0, |topology| topology.class(cpu));
    let alike: Vec<usize> = allowed.iter().copied().filter(|cpu| class(*cpu) == class(allowed[0])).collect();
    let count = alike.len().min(MOST_CPUS);
    (0..count).map(|at| alike[at * alike.len() / count]).collect()
}

fn read_on(cpus: &[usize]) -> Result<SessionSensors, Error> {
    kernels::affinity::pin(&cpus[..1])?;
    let sensors = CoreSensors::calibrate()?;
    let numbers: Vec<u32> = cpus.iter().map(|cpu| u32::try_from(*cpu).unwrap_or(u32::MAX)).collect();
    let mut found = SessionSensors { lengths: sensors.lengths(), ..SessionSensors::default() };
    let began = kernels::clock::now();
    let since = || Duration::from_nanos(kernels::clock::now() - began);
    while since() < WINDOW {
        for (cpu, number) in cpus.iter().zip(&numbers) {
            kernels::affinity::pin(&[*cpu])?;
            for _ in 0..ROW {
                found.samples.push(since().as_millis() as u32, *number, sensors.read_all()?);
            }
        }
        kernels::timer::sleep(EVERY);
    }
    found.exclusive = vec![ExclusiveCore { cpus: numbers, ..ExclusiveCore::default() }];
    Ok(found)
}

/// Determines the exclusive core of these CPUs.
fn learn_core(machine: &Machine, earlier: &[Run], sensors: &mut SessionSensors) {
    let cpus = sensors.exclusive[0].cpus.clone();
    let mut ratios = RatioHistogram::default();
    for (_, reading) in sensors.samples.readings() {
        ratios.add(sensors.lengths.ratio(reading.clock, reading.contention));
    }
    // Known ratios apply to machines with one class of cores.
    let classes = machine.topology.as_ref().map_or(1, |topology| topology.classes.len());
    let earlier = from_runs(machine, earlier.iter());
    let earlier = earlier.map(|ratio| KnownRatio { ratio, source: ExclusiveSource::EarlierRuns });
    let known = earlier.into_iter().chain(from_table(machine)).filter(|_| classes <= 1);
    let known: Vec<KnownRatio> = known.chain(from_issue(issue_width(machine), sensors, &cpus)).collect();
    let alone = kernels::affinity::allowed().is_ok_and(|allowed| facts::cores_are_alone(machine, &allowed));
    let learnt = learn(&ratios, &known, alone);
    let learnt = if learnt.ratio.is_none() { shared_throughout(&ratios, &known).unwrap_or(learnt) } else { learnt };
    sensors.exclusive = vec![ExclusiveCore { cpus, ..learnt }];
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn the_state_of_the_core_is_told_only_if_it_is_known() {
        let state = |share| neighbours(share).state;
        assert_eq!(state(None), Health::Unknown);
        assert_eq!(state(Some(Share::NONE)), Health::Fine);
        let busy = neighbours(Share::of(0.3, 1.0));
        assert_eq!(busy.state, Health::Attention);
        assert!(busy.says.contains("30%"), "{}", busy.says);
    }

    #[test]
    fn the_clock_is_told_with_its_range() {
        let clocks: Vec<f64> = (0..=100).map(|at| 2e9 + 1e7 * f64::from(at)).collect();
        assert_eq!(clock(&clocks, 2).says, "2.50 GHz on 2 CPUs in one second; 90% of readings 2.05 to 2.95");
    }
}
