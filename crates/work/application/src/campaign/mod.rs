//! Measures applications: samples of every build and number of copies, in the same rounds as any run.

mod document;
mod duet;
mod judge;
mod reading;

use std::collections::{BTreeMap, BTreeSet};

use measure::{Host, Reply, SampleError, Stopper, WorkerStep};
use model::{RECORD, Run, Sample};

pub use document::document;
pub(crate) use document::{AGAINST, command_of, note_of_command, result, side_by_side};
pub(crate) use judge::smallest_seen;

use self::duet::{BuildDuet, pair_builds};
use self::reading::{Digests, SampleReading, read};
use crate::build::{Builder, Built, matrix};
use crate::launch::{CopyReport, LaunchSpec, Starter};
use crate::manifest::{Application, fill_all};
use crate::{Build, Error};

/// One build of one application with a number of copies: the subject of its results.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Index of the application.
    pub application: usize,
    /// Index of its build.
    pub build: usize,
    /// Copies started together.
    pub copies: u32,
    /// Indices of its results in the run: rate, memory, start-up if the application prints it, CPU time, and energy if
    /// there is a counter.
    pub results: Vec<usize>,
}

/// Input of a campaign.
pub struct CampaignOrder {
    /// The document, without results.
    pub run: Run,
    /// The applications.
    pub applications: Vec<Application>,
    /// Numbers of copies for applications that do not set them.
    pub copies: Vec<u32>,
    /// Directory of the builds.
    pub root: std::path::PathBuf,
    /// CPUs on which the builds of applications that have two run at the same time; else all builds alternate.
    pub duet: Option<[usize; 2]>,
    /// Joules of the machine's processors so far, where there is a counter.
    pub energy: Option<EnergyReader>,
}

/// Reads a counter of energy, joules since some moment.
pub type EnergyReader = Box<dyn Fn() -> f64>;

/// Applications as an engine that a [`measure::MeasureSession`] samples.
pub struct Campaign<'a> {
    applications: Vec<Application>,
    builds: Vec<Vec<(Build, Built)>>,
    subjects: Vec<Subject>,
    duets: Vec<BuildDuet>,
    /// Builds, by application, whose first run is done.
    warm: BTreeSet<(usize, usize)>,
    /// Their first runs, where these were made before the first sample.
    first: BTreeMap<(usize, usize), CopyReport>,
    digests: Digests,
    /// Largest resident memory of a helper, bytes.
    hidden: u64,
    starter: &'a Starter,
    energy: Option<EnergyReader>,
}

impl<'a> Campaign<'a> {
    /// Builds all programs and creates the results of the run.
    ///
    /// # Errors
    /// When no program could be built, or the user requested a stop. The error of a single build is the outcome of its
    /// results.
    pub fn build(order: CampaignOrder, starter: &'a Starter, stopper: &Stopper) -> Result<(Self, Run), Error> {
        let CampaignOrder { mut run, applications, copies, root, duet, energy } = order;
        let builds = build_all(&applications, &Builder { starter, root: &root, stopper })?;
        let mut subjects = Vec::new();
        for (application, of) in applications.iter().enumerate() {
            let copies = if of.copies.is_empty() { &copies } else { &of.copies };
            for (build, (named, built)) in builds[application].iter().enumerate() {
                for copies in copies.iter().copied() {
                    let results = document::results(&mut run, of, named, built, (copies, energy.is_some()));
                    subjects.push(Subject { application, build, copies, results });
                }
            }
        }
        let names = |subject: &Subject| {
            let (build, _) = &builds[subject.application][subject.build];
            (applications[subject.application].name.clone(), build.name.clone())
        };
        let duets = duet.map(|cpus| pair_builds(&mut run, &subjects, names, cpus)).unwrap_or_default();
        let (warm, first, digests) = (BTreeSet::new(), BTreeMap::new(), Digests::default());
        Ok((Self { applications, builds, subjects, duets, warm, first, digests, hidden: 0, starter, energy }, run))
    }

    /// Runs every build for the first time, which is never a sample. Returns the seconds of one round of all samples,
    /// roughly.
    ///
    /// # Errors
    /// When the user requested a stop. A build that cannot run says so in its results.
    pub fn first_runs(&mut self, stopper: &Stopper) -> Result<f64, Error> {
        for index in 0..self.subjects.len() {
            let place = self.place(index);
            if self.first.contains_key(&place) {
                continue;
            }
            match self.start(index, 1, stopper) {
                Ok(report) => drop(self.first.insert(place, report)),
                Err(Error::Stopped) => return Err(Error::Stopped),
                Err(_) => {}
            }
        }
        let seconds = |index| self.first.get(&self.place(index)).map_or(0.0, CopyReport::wall);
        Ok((0..self.subjects.len()).map(seconds).sum())
    }

    /// The application and the build of a subject.
    fn place(&self, index: usize) -> (usize, usize) {
        (self.subjects[index].application, self.subjects[index].build)
    }

    /// Copies the results of an earlier session of the same campaign, so that its run can be resumed: the digests that
    /// further samples must print. `fresh` is the run that [`Campaign::build`] has just created.
    ///
    /// # Errors
    /// When the command line of a program has changed.
    pub fn recall(&mut self, earlier: &Run, fresh: &Run) -> Result<(), Error> {
        for subject in &self.subjects {
            let Some(result) = subject.results.first().copied() else { continue };
            let (Some(then), Some(now)) = (earlier.results.get(result), fresh.results.get(result)) else { continue };
            if command_of(then) != command_of(now) {
                let name = self.applications[subject.application].name.clone();
                return Err(Error::Changed { run: earlier.name().to_owned(), application: name });
            }
            let place = (subject.application, subject.build);
            self.digests.recall(&self.applications[subject.application], place, &then.notes);
        }
        Ok(())
    }

    /// Copies of a subject as a sample.
    fn spec(&self, index: usize, copies: u32) -> LaunchSpec {
        let subject = &self.subjects[index];
        let application = &self.applications[subject.application];
        let mut values = self.builds[subject.application][subject.build].1.values.clone();
        let commands = (0..copies)
            .map(|copy| {
                values.insert("copy".to_owned(), copy.to_string());
                fill_all(&application.run, &values)
            })
            .collect();
        LaunchSpec {
            commands,
            directory: application.directory.clone(),
            environment: application.environment.clone(),
            patience: application.patience.as_secs_f64(),
            ..LaunchSpec::default()
        }
    }

    /// Runs copies of a subject once.
    fn start(&self, index: usize, copies: u32, stopper: &Stopper) -> Result<CopyReport, Error> {
        self.starter.launch(&self.spec(index, copies), stopper)
    }

    fn read(&mut self, index: usize, report: &CopyReport) -> Result<SampleReading, String> {
        let subject = &self.subjects[index];
        read(&self.applications[subject.application], (subject.application, subject.build), report, &mut self.digests)
    }

    /// Runs a build for the first time, if that is not done. This run is cold and always discarded; it is also the
    /// first run to be verified. Returns notes on it, or failures of all results of the build.
    fn warm_up(&mut self, index: usize, stopper: &Stopper) -> Result<Result<Vec<Reply>, Vec<Reply>>, Error> {
        let (application, build) = self.place(index);
        let mut replies = Vec::new();
        if self.warm.contains(&(application, build)) {
            return Ok(Ok(replies));
        }
        let report = match self.first.remove(&(application, build)) {
            Some(report) => report,
            None => self.start(index, 1, stopper)?,
        };
        self.warm.insert((application, build));
        let same = |other: &Subject| (other.application, other.build) == (application, build);
        let of_build: Vec<usize> = (0..self.subjects.len()).filter(|at| same(&self.subjects[*at])).collect();
        if let Err(reason) = self.read(index, &report) {
            return Ok(Err(of_build.into_iter().flat_map(|at| self.failed(at, &reason, Some(&report))).collect()));
        }
        let note = format!("{RECORD}first run discarded by rule: {:.3} s", report.wall());
        let result = self.subjects[of_build[0]].results[0];
        replies.push(Reply::Noted { result, note });
        let digest = self.digests.note(&self.applications[application], (application, build));
        replies.extend(digest.map(|note| Reply::Noted { result, note }));
        Ok(Ok(replies))
    }

    fn launch_subject(&mut self, index: usize, round: u32, stopper: &Stopper) -> Result<Vec<Reply>, Error> {
        let copies = self.subjects[index].copies;
        let mut replies = match self.warm_up(index, stopper)? {
            Ok(replies) => replies,
            Err(failed) => return Ok(failed),
        };
        let before = self.energy.as_ref().map(|joules| joules());
        let report = self.start(index, copies, stopper)?;
        let joules = self.energy.as_ref().zip(before).map(|(joules, before)| joules() - before);
        match self.read(index, &report) {
            Ok(reading) => replies.extend(self.launched((index, round), &report, &reading, joules)),
            Err(reason) => replies.extend(self.failed(index, &reason, Some(&report))),
        }
        Ok(replies)
    }

    /// A sample of every result of a subject.
    fn launched(
        &mut self,
        (index, round): (usize, u32),
        report: &CopyReport,
        reading: &SampleReading,
        joules: Option<f64>,
    ) -> Vec<Reply> {
        self.hidden = self.hidden.max(report.own_resident);
        let subject = &self.subjects[index];
        let work = self.applications[subject.application].work.amount * f64::from(subject.copies);
        let mut values = vec![reading.rate, reading.memory];
        values.extend(reading.startup);
        values.push(reading.cpu_time);
        values.extend(joules.map(|joules| joules / work));
        let sample = |value: f64| Sample { value, ..report.as_sample(round) };
        let results = subject.results.iter().zip(values);
        let launched =
            results.map(|(result, value)| Reply::Launched { result: *result, sample: Box::new(sample(value)) });
        launched.chain(self.leftovers(index, report)).collect()
    }

    /// Notes on processes that outlived a sample, at the rate and at the CPU time.
    fn leftovers(&self, index: usize, report: &CopyReport) -> Vec<Reply> {
        let subject = &self.subjects[index];
        let started = usize::from(self.applications[subject.application].startup.is_some());
        let results = [subject.results[0], subject.results[2 + started]];
        let note = |result: usize| report.leftovers().map(|note| Reply::Noted { result, note });
        results.into_iter().filter_map(note).collect()
    }

    /// A failure of every result of a subject, with the program's output.
    fn failed(&self, index: usize, reason: &str, report: Option<&CopyReport>) -> Vec<Reply> {
        let failing = |report: &CopyReport| {
            let copy =
                report.copies.iter().find(|copy| copy.how != crate::ProcessEnd::Code(0)).or(report.copies.first());
            copy.map(|copy| crate::build::outputs(&copy.stdout, &copy.stderr))
        };
        let results = &self.subjects[index].results;
        let said = report.and_then(failing).unwrap_or_default();
        let notes = said.into_iter().map(|note| Reply::Noted { result: results[0], note });
        let ends = results.iter().map(|result| Reply::Failed { result: *result, reason: reason.to_owned() });
        notes.chain(ends).collect()
    }

    fn subject_of(&self, result: usize) -> Option<usize> {
        self.subjects.iter().position(|subject| subject.results.contains(&result))
    }
}

impl Host for Campaign<'_> {}

impl measure::Subject for Campaign<'_> {
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        let Some(result) = step.tasks.first().map(|task| task.result) else { return Ok(vec![Reply::Done]) };
        let duet = self.duet_of(result);
        let made = match (duet, self.subject_of(result)) {
            (Some(duet), _) => self.launch_duet(duet, step.round, stopper),
            (None, Some(index)) => self.launch_subject(index, step.round, stopper),
            (None, None) => return Ok(vec![Reply::Done]),
        };
        let mut replies = match (made, duet) {
            (Ok(replies), _) => replies,
            (Err(Error::Stopped), _) => return Err(SampleError::Stopped),
            (Err(error), Some(duet)) => {
                let first = self.failed(duet.subjects[0], &error.to_string(), None).into_iter();
                first.chain(self.duet_failed(duet, Some(duet.subjects[0]))).collect()
            }
            (Err(error), None) => {
                self.subject_of(result).map(|index| self.failed(index, &error.to_string(), None)).unwrap_or_default()
            }
        };
        replies.push(Reply::Done);
        Ok(replies)
    }

    /// Samples are made for the rate, and for the ratio of builds side by side.
    fn leader(&self, result: usize) -> Option<usize> {
        let rate = || self.subject_of(result).map(|index| self.subjects[index].results[0]);
        let leader = self.duet_of(result).map(|duet| duet.ratio).or_else(rate)?;
        (leader != result).then_some(leader)
    }

    fn conclude(&mut self, run: &mut Run) {
        for subject in &self.subjects {
            smallest_seen(&mut run.results[subject.results[1]], self.hidden as f64);
        }
        for (application, builds) in self.applications.iter().zip(&self.builds) {
            builds.iter().for_each(|(build, built)| document::built(run, application, build, built));
        }
        judge::efficiencies(run, &self.applications, &self.subjects);
    }
}

fn build_all(applications: &[Application], builder: &Builder<'_>) -> Result<Vec<Vec<(Build, Built)>>, Error> {
    let of = |application: &Application| {
        let builds = matrix(application).into_iter().enumerate();
        builds.map(|(index, build)| Ok((build.clone(), builder.build(application, &build, index)?))).collect()
    };
    applications.iter().map(of).collect()
}
