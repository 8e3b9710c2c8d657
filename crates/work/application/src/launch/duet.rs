//! Two launches at the same time on two CPUs: one half of a duet's sample.
//!
//! Effects of the host on both CPUs at once (its clock, its other guests) are then the same for both sides, and cancel
//! in their ratio. Effects on one of them cancel in the mean of two halves between which the sides change places:
//! Bulej, Horky, Tuma, Farquet and Prokopec, "Duet benchmarking: improving measurement accuracy in the cloud" (ICPE
//! 2020).

use std::time::Duration;

use measure::Stopper;
use model::{RECORD, Sample};

use super::{CopyReport, LaunchSpec, Starter};
use crate::Error;

/// Time for both helpers to start before the sides begin.
const LEAD: Duration = Duration::from_millis(40);

/// Share of a half in which both sides ran, below which it is noted.
const APART: f64 = 0.8;
/// Both sides of a half.
#[derive(Debug)]
pub(crate) struct DuetHalf {
    /// The reports of the first and of the second side.
    pub(crate) reports: [CopyReport; 2],
    /// Share of the time of the longer side in which both ran, 0 to 1.
    pub(crate) together: f64,
}

/// Runs two launches at the same time, each with all of its processes on a separate CPU.
pub(crate) fn duet_half(
    starter: &Starter,
    sides: [LaunchSpec; 2],
    cpus: [usize; 2],
    stopper: &Stopper,
) -> Result<DuetHalf, Error> {
    let begin = kernels::clock::now() + u64::try_from(LEAD.as_nanos()).unwrap_or(u64::MAX);
    let [first, second] = sides;
    let first = LaunchSpec { cpus: vec![cpus[0]], begin: Some(begin), ..first };
    let second = LaunchSpec { cpus: vec![cpus[1]], begin: Some(begin), ..second };
    let (first, second) = std::thread::scope(|scope| {
        let other = std::thread::Builder::new().spawn_scoped(scope, || starter.launch(&second, stopper));
        let first = starter.launch(&first, stopper);
        let second = other.map_or_else(
            |error| Err(Error::Helper(format!("a thread beside it: {error}"))),
            |other| other.join().unwrap_or_else(|_| Err(Error::Helper("the thread beside it panicked".to_owned()))),
        );
        (first, second)
    });
    let reports = [first?, second?];
    let together = together(&reports);
    Ok(DuetHalf { reports, together })
}

/// Share of the longer side's time in which both ran.
fn together(reports: &[CopyReport; 2]) -> f64 {
    let spans = reports.each_ref().map(CopyReport::span);
    let both = spans[0].1.min(spans[1].1) - spans[0].0.max(spans[1].0);
    let longest = (spans[0].1 - spans[0].0).max(spans[1].1 - spans[1].0);
    if longest > 0.0 { (both / longest).clamp(0.0, 1.0) } else { 0.0 }
}

/// The mean of the executions of a side in a launch, with their mean time as its value.
pub(crate) fn sample_of(reports: &[&CopyReport], round: u32) -> Sample {
    let walls: Vec<f64> = reports.iter().map(|report| report.wall()).collect();
    let each = reports.iter().map(|report| report.as_sample(round));
    let sum = each.reduce(|sum, one| Sample {
        wall: sum.wall + one.wall,
        nanos: [sum.nanos, one.nanos].concat(),
        stolen: sum.stolen.zip(one.stolen).map(|(sum, one)| sum.plus(&one)),
        throttled: sum.throttled.zip(one.throttled).map(|(sum, one)| sum.plus(&one)),
        footprint: sum.footprint.plus(&one.footprint),
        invalid: sum.invalid.or(one.invalid),
        ..sum
    });
    let value = walls.iter().sum::<f64>() / walls.len().max(1) as f64;
    Sample { value, ..sum.unwrap_or_default() }
}

/// A launch of the ratio of the sides: the geometric mean over the halves. Its batches are the times of the first and
/// of the second side in each half.
pub(crate) fn ratio_sample(halves: &[DuetHalf], round: u32, ratios: impl Iterator<Item = f64>) -> Sample {
    let walls: Vec<[f64; 2]> = halves.iter().map(|half| half.reports.each_ref().map(CopyReport::wall)).collect();
    let logs: Vec<f64> = ratios.map(f64::ln).collect();
    Sample {
        round,
        wall: walls.iter().map(|[first, second]| first.max(*second)).sum(),
        value: (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp(),
        nanos: walls.iter().flatten().map(|wall| (wall * 1e9) as u64).collect(),
        steady: true,
        invalid: halves.iter().flat_map(|half| &half.reports).find_map(CopyReport::disturbed),
        ..Sample::default()
    }
}

/// The note on halves whose sides hardly overlapped.
pub(crate) fn apart(halves: &[DuetHalf]) -> Option<String> {
    let together = halves.iter().map(|half| half.together).fold(1.0, f64::min);
    let note = || format!("{RECORD}in at least one half both ran for {:.0}% of its time only", together * 100.0);
    (together < APART).then(note)
}

/// Whether the sides have changed CPUs in a half. The first half of every other launch begins on the other CPU, so that
/// a drift affects both alike.
pub(crate) const fn is_swapped(round: u32, half: u32) -> bool {
    (round % 2 + half) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::{CopyOutput, ProcessEnd};

    fn report(began: f64, seconds: f64) -> CopyReport {
        let copy = CopyOutput {
            started: 0.0,
            ended: seconds,
            how: ProcessEnd::Code(0),
            stdout: String::new(),
            stderr: String::new(),
        };
        CopyReport { copies: vec![copy], began, ..CopyReport::default() }
    }

    #[test]
    fn sides_are_together_for_what_their_times_have_in_common() {
        let share = |one: CopyReport, other: CopyReport| together(&[one, other]);
        assert!((share(report(100.0, 1.0), report(100.0, 1.0)) - 1.0).abs() < 1e-9);
        assert!((share(report(100.0, 1.0), report(100.5, 1.0)) - 0.5).abs() < 1e-9);
        assert!((share(report(100.0, 2.0), report(100.0, 1.0)) - 0.5).abs() < 1e-9);
        assert!(share(report(100.0, 1.0), report(102.0, 1.0)).abs() < 1e-9, "one after the other");
    }
}
