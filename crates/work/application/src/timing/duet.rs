//! Two commands at the same time: a sample is two halves, between which the commands change CPUs.

use measure::{Reply, Stopper, WorkerStep};
use model::{BenchmarkResult, Metric, Parameters, Sample, Unit};

use super::{AXIS, RESULTS, Timing, failed, padding};
use crate::Error;
use crate::campaign::side_by_side;
use crate::launch::{CopyReport, DuetHalf, apart, duet_half, is_swapped, ratio_sample, sample_of};

/// Benchmark of the time of one command over that of another at the same time.
pub const RATIO: &str = "command.ratio";
/// Index of the result of the ratio: behind those of both commands.
pub(super) const RATIO_RESULT: usize = 2 * RESULTS;

/// The result of the ratio of the second of two commands to the first.
pub(super) fn ratio_result(names: [&str; 2], cpus: [usize; 2]) -> BenchmarkResult {
    let parameters = Parameters::none().with(AXIS, names[1].to_owned());
    let metric = Metric::lower(Unit::Ratio, "execution");
    side_by_side(RATIO, parameters, "time ratio of commands run at the same time", metric, (names[0], cpus))
}

impl Timing<'_> {
    /// A sample of both commands and of their ratio.
    pub(super) fn launch_duet(
        &mut self,
        cpus: [usize; 2],
        step: &WorkerStep,
        stopper: &Stopper,
    ) -> Result<Vec<Reply>, Error> {
        let mut replies = Vec::new();
        for index in 0..2 {
            match self.warm_up(index, stopper)? {
                Ok(noted) => replies.extend(noted),
                Err((reason, report)) => return Ok(both_failed(index, &reason, Some(&report))),
            }
        }
        let mut halves = Vec::new();
        for half in 0..2 {
            let half = self.half(cpus, is_swapped(step.round, half), padding(step), stopper)?;
            let trouble = half.reports.iter().enumerate().find_map(|(at, report)| Some((at, self.refused(report)?)));
            if let Some((at, reason)) = trouble {
                return Ok(both_failed(at, &reason, Some(&half.reports[at])));
            }
            halves.push(half);
        }
        replies.extend(self.launched_duet(step.round, &halves));
        Ok(replies)
    }

    /// Both commands at once, with what runs before and after them.
    fn half(&self, cpus: [usize; 2], swapped: bool, padding: u64, stopper: &Stopper) -> Result<DuetHalf, Error> {
        let commands = &self.order.commands;
        for command in commands {
            command.prepare.as_ref().map_or(Ok(()), |line| self.aside("--prepare", line, stopper))?;
        }
        let sides = [&commands[0].line, &commands[1].line].map(|line| self.spec(line, padding));
        let cpus = if swapped { [cpus[1], cpus[0]] } else { cpus };
        let half = duet_half(self.starter, sides, cpus, stopper);
        let conclude = |line| self.undo("--conclude", line);
        let concluded = commands.iter().filter_map(|command| command.conclude.as_ref()).try_for_each(conclude);
        half.and_then(|half| concluded.map(|()| half))
    }

    fn launched_duet(&mut self, round: u32, halves: &[DuetHalf]) -> Vec<Reply> {
        let mut replies = Vec::new();
        for index in 0..2 {
            let reports: Vec<&CopyReport> = halves.iter().map(|half| &half.reports[index]).collect();
            let sample = sample_of(&reports, round);
            self.hidden = reports.iter().map(|report| report.own_resident).fold(self.hidden, u64::max);
            let memory = reports.iter().map(|report| report.peak_resident).max().unwrap_or(0) as f64;
            for (at, value) in [sample.value, memory].into_iter().enumerate() {
                let sample = Box::new(Sample { value, ..sample.clone() });
                replies.push(Reply::Launched { result: index * RESULTS + at, sample });
            }
            let left = reports.iter().find_map(|report| report.leftovers());
            replies.extend(left.map(|note| Reply::Noted { result: index * RESULTS, note }));
        }
        let ratios = halves.iter().map(|half| {
            let [first, second] = half.reports.each_ref().map(CopyReport::wall);
            second / first
        });
        let sample = Box::new(ratio_sample(halves, round, ratios));
        replies.push(Reply::Launched { result: RATIO_RESULT, sample });
        replies.extend(apart(halves).map(|note| Reply::Noted { result: RATIO_RESULT, note }));
        replies
    }
}

/// A failure of one command, which ends the duet.
pub(super) fn both_failed(index: usize, reason: &str, report: Option<&CopyReport>) -> Vec<Reply> {
    let ended = |result: usize, reason: &str| Reply::Failed { result, reason: reason.to_owned() };
    let mut replies = failed(index, reason, report);
    let other = (1 - index) * RESULTS;
    replies.extend((other..other + RESULTS).map(|result| ended(result, "the other command failed")));
    replies.push(ended(RATIO_RESULT, "one of the two commands failed"));
    replies
}
