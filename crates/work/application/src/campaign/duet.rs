//! Two builds of an application at the same time: a sample is two halves, between which the builds change CPUs.

use measure::{Reply, Stopper};
use model::{BenchmarkResult, Metric, Parameters, PlanEntry, Run, Sample, Unit};

use super::document::side_by_side;
use super::reading::SampleReading;
use super::{Campaign, Subject};
use crate::Error;
use crate::launch::{CopyReport, DuetHalf, apart, duet_half, is_swapped, ratio_sample, sample_of};

/// Two subjects that run side by side.
#[derive(Debug, Clone, Copy)]
pub(super) struct BuildDuet {
    /// Indices of the subjects.
    pub(super) subjects: [usize; 2],
    /// Index of the result of their ratio.
    pub(super) ratio: usize,
    cpus: [usize; 2],
}

/// Pairs the single copies of applications of exactly two builds, and adds the result of each pair's ratio.
pub(super) fn pair_builds(
    run: &mut Run,
    subjects: &[Subject],
    names: impl Fn(&Subject) -> (String, String),
    cpus: [usize; 2],
) -> Vec<BuildDuet> {
    let mut duets = Vec::new();
    for (at, first) in subjects.iter().enumerate().filter(|(_, subject)| subject.build == 0 && subject.copies == 1) {
        let of_application = || subjects.iter().enumerate().filter(|(_, other)| other.application == first.application);
        let more = of_application().any(|(_, other)| other.build > 1);
        let second = of_application().find(|(_, other)| other.build == 1 && other.copies == 1);
        let built = |subject: &Subject| {
            run.results[subject.results[0]].outcome == model::Outcome::NotMeasured(model::NOT_REACHED.to_owned())
        };
        let Some((other, second)) = second.filter(|(_, second)| !more && built(first) && built(second)) else {
            continue;
        };
        let ((application, against), (_, build)) = (names(first), names(second));
        let ratio = ratio_result(&application, &against, &build, cpus);
        let shares = format!("{application} at the same time");
        for result in first.results.iter().chain(&second.results) {
            run.plan.entries[*result].shares = Some(shares.clone());
        }
        let (benchmark, parameters, target) = (ratio.benchmark.clone(), ratio.parameters.clone(), run.plan.target);
        run.plan.entries.push(PlanEntry { benchmark, parameters, target, shares: Some(shares) });
        duets.push(BuildDuet { subjects: [at, other], ratio: run.results.len(), cpus });
        run.results.push(ratio);
    }
    duets
}

fn ratio_result(application: &str, against: &str, build: &str, cpus: [usize; 2]) -> BenchmarkResult {
    let parameters = Parameters::none().with("build", build.to_owned());
    let metric = Metric::higher(Unit::Ratio, "build");
    let title = format!("{application}, at the same time");
    side_by_side(&format!("application.{application}_ratio"), parameters, &title, metric, (against, cpus))
}

impl Campaign<'_> {
    pub(super) fn duet_of(&self, result: usize) -> Option<BuildDuet> {
        let of = |duet: &&BuildDuet| {
            duet.ratio == result || duet.subjects.iter().any(|at| self.subjects[*at].results.contains(&result))
        };
        self.duets.iter().find(of).copied()
    }

    /// A sample of both builds and of their ratio.
    pub(super) fn launch_duet(&mut self, duet: BuildDuet, round: u32, stopper: &Stopper) -> Result<Vec<Reply>, Error> {
        let mut replies = Vec::new();
        for index in duet.subjects {
            match self.warm_up(index, stopper)? {
                Ok(noted) => replies.extend(noted),
                Err(failed) => return Ok(failed.into_iter().chain(self.duet_failed(duet, Some(index))).collect()),
            }
        }
        let (mut halves, mut readings): (Vec<DuetHalf>, Vec<[SampleReading; 2]>) = Default::default();
        for half in 0..2 {
            let [first, second] = duet.cpus;
            let cpus = if is_swapped(round, half) { [second, first] } else { [first, second] };
            let sides = duet.subjects.map(|index| self.spec(index, 1));
            let half = duet_half(self.starter, sides, cpus, stopper)?;
            let mut read = Vec::new();
            for (index, report) in duet.subjects.into_iter().zip(&half.reports) {
                match self.read(index, report) {
                    Ok(reading) => read.push(reading),
                    Err(reason) => {
                        let failed = self.failed(index, &reason, Some(report)).into_iter();
                        return Ok(failed.chain(self.duet_failed(duet, Some(index))).collect());
                    }
                }
            }
            readings.extend(<[SampleReading; 2]>::try_from(read));
            halves.push(half);
        }
        for (side, index) in duet.subjects.into_iter().enumerate() {
            let reports: Vec<&CopyReport> = halves.iter().map(|half| &half.reports[side]).collect();
            let of_side: Vec<&SampleReading> = readings.iter().map(|both| &both[side]).collect();
            replies.extend(self.launched_side(index, round, &reports, &of_side));
        }
        let ratios = readings.iter().map(|[first, second]| second.rate / first.rate);
        let sample = Box::new(ratio_sample(&halves, round, ratios));
        replies.push(Reply::Launched { result: duet.ratio, sample });
        replies.extend(apart(&halves).map(|note| Reply::Noted { result: duet.ratio, note }));
        Ok(replies)
    }

    fn launched_side(
        &mut self,
        index: usize,
        round: u32,
        reports: &[&CopyReport],
        read: &[&SampleReading],
    ) -> Vec<Reply> {
        self.hidden = reports.iter().map(|report| report.own_resident).fold(self.hidden, u64::max);
        let mean = |of: &dyn Fn(&SampleReading) -> Option<f64>| {
            let values: Option<Vec<f64>> = read.iter().map(|reading| of(reading)).collect();
            values.map(|values| values.iter().sum::<f64>() / values.len().max(1) as f64)
        };
        let memory = read.iter().map(|reading| reading.memory).fold(0.0, f64::max);
        let (rate, startup) = (mean(&|reading| Some(reading.rate)), mean(&|reading| reading.startup));
        let cpu_time = mean(&|reading| Some(reading.cpu_time));
        let values: Vec<f64> = [rate, Some(memory), startup, cpu_time].into_iter().flatten().collect();
        let sample = sample_of(reports, round);
        let (measured, others) = self.subjects[index].results.split_at(values.len());
        let launched = measured.iter().zip(values).map(|(result, value)| Reply::Launched {
            result: *result,
            sample: Box::new(Sample { value, ..sample.clone() }),
        });
        // The counter is that of the processors on which both builds run.
        let reason = "the build beside it uses the same energy";
        let not_measured =
            others.iter().map(|result| Reply::NotMeasured { result: *result, reason: reason.to_owned() });
        let leftovers = reports.iter().flat_map(|report| self.leftovers(index, report));
        launched.chain(not_measured).chain(leftovers).collect()
    }

    /// A failure of the ratio, and of the build that ran with the failed one (of both if the failed one is unknown).
    pub(super) fn duet_failed(&self, duet: BuildDuet, failed: Option<usize>) -> Vec<Reply> {
        let others = duet.subjects.into_iter().filter(|index| Some(*index) != failed);
        let results = others.flat_map(|index| self.subjects[index].results.clone()).chain([duet.ratio]);
        let ended = |result: usize| Reply::Failed { result, reason: "the other build failed".to_owned() };
        results.map(ended).collect()
    }
}
