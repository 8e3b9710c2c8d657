//! Measuring applications: rounds of launches of every build and number of copies, in a seeded random order.

mod document;
mod judge;
mod reading;

use measure::{ConditionsWatch, Ending, Event, Listener, Saver, Stopper};
use model::{Figure, Flag, Invalid, Launch, Outcome, RECORD, Run};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

pub(crate) use document::figure;
pub use document::{close, document};

use self::reading::{Digests, Reading, read};
use crate::build::{Builder, Built, matrix};
use crate::launch::{Order, Report, Starter};
use crate::manifest::{Application, fill_all};
use crate::{Build, Error};

/// Attempts at a launch that outside evidence speaks against.
const ATTEMPTS: u32 = 3;

/// One build of one application with a number of copies: what a figure is of.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Which application.
    pub application: usize,
    /// Which of its builds.
    pub build: usize,
    /// Copies started together.
    pub copies: u32,
    /// Its figures in the run: rate, memory, and start-up where the application tells it.
    pub figures: Vec<usize>,
    /// Rounds in which no launch of it counted, and why the last did not.
    attempts: u32,
    disturbed: Option<Invalid>,
}

/// Everything that a campaign needs.
#[derive(Debug)]
pub struct CampaignOrder {
    /// The document, without figures yet.
    pub run: Run,
    /// The applications.
    pub applications: Vec<Application>,
    /// Numbers of copies for those that do not say.
    pub copies: Vec<u32>,
    /// Where builds go.
    pub root: std::path::PathBuf,
}

/// A campaign that is measured.
pub struct Campaign<'a> {
    run: Run,
    applications: Vec<Application>,
    builds: Vec<Vec<(Build, Built)>>,
    subjects: Vec<Subject>,
    open: Vec<bool>,
    digests: Digests,
    /// Most that a helper was resident with, bytes.
    hidden: u64,
    starter: &'a Starter,
    listener: &'a mut dyn Listener,
    saver: &'a mut dyn Saver,
    stopper: Stopper,
    conditions: ConditionsWatch,
    began: std::time::Instant,
}

impl<'a> Campaign<'a> {
    /// Builds and measures everything.
    ///
    /// # Errors
    /// When no process can be started at all; what goes wrong with one build or launch is its figure's outcome.
    pub fn measure(
        order: CampaignOrder,
        starter: &'a Starter,
        listener: &'a mut dyn Listener,
        saver: &'a mut dyn Saver,
        stopper: Stopper,
    ) -> Result<measure::Ended, Error> {
        let CampaignOrder { run, applications, copies, root } = order;
        let allowed = sys::affinity::allowed().unwrap_or_default();
        let mut campaign = Self {
            conditions: ConditionsWatch::begin(&run.session.conditions, &allowed),
            run,
            applications,
            builds: Vec::new(),
            subjects: Vec::new(),
            open: Vec::new(),
            digests: Digests::default(),
            hidden: 0,
            starter,
            listener,
            saver,
            stopper,
            began: std::time::Instant::now(),
        };
        let ending = match campaign.build_all(&root, &copies) {
            Ok(()) => campaign.rounds(),
            Err(Error::Stopped) => Ok(Ending::Stopped),
            Err(error) => Err(error),
        };
        let ending = match ending {
            Ok(ending) => ending,
            Err(Error::Stopped) => Ending::Stopped,
            Err(error) => return Err(error),
        };
        Ok(campaign.finish(ending))
    }

    fn build_all(&mut self, root: &std::path::Path, copies: &[u32]) -> Result<(), Error> {
        let builder = Builder { starter: self.starter, root, stopper: &self.stopper };
        for application in &self.applications {
            let mut builds = Vec::new();
            for (index, build) in matrix(application).into_iter().enumerate() {
                let built = builder.build(application, &build, index)?;
                builds.push((build, built));
            }
            self.builds.push(builds);
        }
        let copies = |application: &Application| match application.copies.as_slice() {
            [] => copies.to_vec(),
            own => own.to_vec(),
        };
        for (index, application) in self.applications.iter().enumerate() {
            for (place, (build, built)) in self.builds[index].iter().enumerate() {
                for count in copies(application) {
                    let figures = document::figures(&mut self.run, application, build, built, count);
                    self.subjects.push(Subject {
                        application: index,
                        build: place,
                        copies: count,
                        figures,
                        attempts: 0,
                        disturbed: None,
                    });
                    self.open.push(built.failed.is_none());
                }
                document::built(&mut self.run, application, build, built);
            }
        }
        self.listener.hear(&Event::Began(&self.run));
        Ok(())
    }

    fn rounds(&mut self) -> Result<Ending, Error> {
        self.discard_first()?;
        let mut round = 0;
        while self.open.iter().any(|open| *open) {
            if self.run.plan.time_limit.is_some_and(|limit| self.elapsed() >= limit) {
                return Ok(Ending::TimeLimit);
            }
            let mut order: Vec<usize> = (0..self.subjects.len()).filter(|index| self.open[*index]).collect();
            order.shuffle(&mut ChaCha8Rng::seed_from_u64(self.run.plan.seed.wrapping_add(u64::from(round))));
            self.listener.hear(&Event::Round { number: round + 1, active: order.len() });
            for index in order {
                if self.stopper.asked() {
                    return Ok(Ending::Stopped);
                }
                self.launch_counted(index, round)?;
            }
            round += 1;
            self.run.session.rounds = round;
            self.run.session.seconds = self.elapsed();
            if let Err(reason) = self.saver.save(&self.run) {
                return Ok(Ending::NotSaved(reason));
            }
            let converged = self.open.iter().filter(|open| !**open).count();
            let (of, elapsed) = (self.subjects.len(), self.elapsed());
            self.listener.hear(&Event::Saved { converged, of, elapsed, left: 0.0 });
        }
        Ok(Ending::Complete)
    }

    /// The first run of every build is cold, and discarded by rule rather than by eye; it is the first to be verified.
    fn discard_first(&mut self) -> Result<(), Error> {
        for index in 0..self.subjects.len() {
            let subject = &self.subjects[index];
            let first = self.subjects[..index]
                .iter()
                .all(|other| (other.application, other.build) != (subject.application, subject.build));
            if !first || !self.open[index] {
                continue;
            }
            let report = self.launch(index, 1)?;
            let (application, build) = (subject.application, subject.build);
            match self.read(index, &report) {
                Ok(_) => self.note(index, format!("{RECORD}first run discarded by rule: {:.3} s", report.wall())),
                Err(reason) => {
                    let same = |other: &Subject| (other.application, other.build) == (application, build);
                    let all: Vec<usize> = (0..self.subjects.len()).filter(|at| same(&self.subjects[*at])).collect();
                    all.into_iter().for_each(|at| self.fail(at, &reason, &report));
                }
            }
        }
        Ok(())
    }

    fn launch(&self, index: usize, copies: u32) -> Result<Report, Error> {
        let subject = &self.subjects[index];
        let application = &self.applications[subject.application];
        let mut values = self.builds[subject.application][subject.build].1.values.clone();
        let commands = (0..copies)
            .map(|copy| {
                values.insert("copy".to_owned(), copy.to_string());
                fill_all(&application.run, &values)
            })
            .collect();
        let order = Order {
            commands,
            directory: application.directory.clone(),
            environment: application.environment.clone(),
            patience: application.patience.as_secs_f64(),
        };
        self.starter.launch(&order, &self.stopper)
    }

    fn read(&mut self, index: usize, report: &Report) -> Result<Reading, String> {
        let subject = &self.subjects[index];
        read(&self.applications[subject.application], (subject.application, subject.build), report, &mut self.digests)
    }

    fn launch_counted(&mut self, index: usize, round: u32) -> Result<(), Error> {
        let keys = [self.run.figures[self.subjects[index].figures[0]].key()];
        let done = self.run.figures[self.subjects[index].figures[0]].values().len();
        let launch = u32::try_from(done).unwrap_or(u32::MAX) + 1;
        let look = self.run.plan.looks.iter().copied().find(|look| *look >= launch).unwrap_or(launch);
        self.listener.hear(&Event::Launching { keys: &keys, launch, look });
        for _ in 0..ATTEMPTS {
            if self.stopper.asked() {
                return Err(Error::Stopped);
            }
            let began = self.elapsed();
            let report = self.launch(index, self.subjects[index].copies)?;
            match self.read(index, &report) {
                Err(reason) => {
                    self.fail(index, &reason, &report);
                    return Ok(());
                }
                Ok(reading) => {
                    let first_look = self.run.plan.looks.first().copied().unwrap_or(0);
                    let figure = &self.run.figures[self.subjects[index].figures[0]];
                    let invalid = evidence(&report, figure, first_look);
                    self.keep(index, round, began, &report, &reading, invalid.clone());
                    let Some(invalid) = invalid else {
                        self.look(index);
                        return Ok(());
                    };
                    self.listener.hear(&Event::Repeated { key: &keys[0], reason: invalid.to_string() });
                    self.subjects[index].disturbed = Some(invalid);
                }
            }
        }
        self.lose_patience(index);
        Ok(())
    }

    /// A machine that spoils every launch would keep the campaign going for ever.
    fn lose_patience(&mut self, index: usize) {
        let subject = &mut self.subjects[index];
        subject.attempts += 1;
        let most = self.run.plan.looks.first().copied().unwrap_or(10);
        if subject.attempts < most {
            return;
        }
        let why = subject.disturbed.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string);
        let outcome = Outcome::Failed(format!("launch after launch did not count: {why}"));
        self.end_figures(index, &outcome);
        self.close(index);
    }

    fn end_figures(&mut self, index: usize, outcome: &Outcome) {
        for figure in &self.subjects[index].figures {
            let figure: &mut Figure = &mut self.run.figures[*figure];
            figure.outcome = outcome.clone();
            figure.flags.retain(|flag| *flag != Flag::Unfinished);
        }
    }

    fn keep(
        &mut self,
        index: usize,
        round: u32,
        began: f64,
        report: &Report,
        reading: &Reading,
        invalid: Option<Invalid>,
    ) {
        let wall = report.wall();
        self.hidden = self.hidden.max(report.own_resident);
        let values = [Some(reading.rate), Some(reading.memory), reading.startup];
        for (figure, value) in self.subjects[index].figures.iter().zip(values.into_iter().flatten()) {
            self.run.figures[*figure].launches.push(Launch {
                round,
                began,
                wall,
                value,
                nanos: vec![(wall * 1e9) as u64],
                steady: true,
                stolen: report.stolen,
                throttled: report.throttled,
                footprint: report.footprint(),
                invalid: invalid.clone(),
                ..Launch::default()
            });
        }
    }

    fn look(&mut self, index: usize) {
        let figures = self.subjects[index].figures.clone();
        if judge::settled(&mut self.run, &figures) {
            self.close(index);
        }
    }

    fn note(&mut self, index: usize, note: String) {
        let figure = self.subjects[index].figures[0];
        self.run.figures[figure].notes.push(note);
    }

    fn fail(&mut self, index: usize, reason: &str, report: &Report) {
        let failing = report.copies.iter().find(|copy| copy.how != crate::Ended::Code(0)).or(report.copies.first());
        let said = failing.map(|copy| crate::build::outputs(&copy.stdout, &copy.stderr)).unwrap_or_default();
        self.end_figures(index, &Outcome::Failed(reason.to_owned()));
        self.run.figures[self.subjects[index].figures[0]].notes.extend(said);
        self.close(index);
    }

    fn close(&mut self, index: usize) {
        self.open[index] = false;
        let key = self.run.figures[self.subjects[index].figures[0]].key();
        let done = self.open.iter().filter(|open| !**open).count();
        self.listener.hear(&Event::Finished { key: &key, done, of: self.open.len() });
    }

    fn elapsed(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn finish(mut self, ending: Ending) -> measure::Ended {
        self.conditions.record(&mut self.run);
        judge::hidden_memory(&mut self.run, &self.subjects, self.hidden as f64);
        judge::efficiencies(&mut self.run, &self.applications, &self.subjects);
        close(&mut self.run, self.began.elapsed().as_secs_f64(), ending == Ending::Complete);
        self.listener.hear(&Event::Ended(&self.run));
        measure::Ended { run: self.run, ending }
    }
}

/// Why a launch should not count: outside evidence, never its value. A reason that spoils more than a fifth of the launches is the
/// machine, and excludes no more.
fn evidence(report: &Report, figure: &Figure, first_look: u32) -> Option<Invalid> {
    let stopped = report.throttled.filter(measure::throttled_too_much).map(Invalid::Throttled);
    let stolen = report.stolen.filter(measure::stolen_too_much).map(Invalid::Stolen);
    let reasons = [report.suspended.map(Invalid::Suspended), stolen, stopped];
    reasons.into_iter().flatten().find(|reason| measure::may_exclude(figure, reason, first_look))
}
