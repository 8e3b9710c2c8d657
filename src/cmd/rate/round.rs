//! Rounds of launches of all components. A round's geometric mean is one value of a set; its median over rounds, with the
//! interval of order statistics, is the rating.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Result;
use application::{Order, Report, Starter, document};
use measure::{ConditionsWatch, Event, Listener, Saver, Stopper};
use model::{Flag, Outcome, Run};
use rating::{Component, Set};

use super::document::{figures, push};
use super::measured::Request;
use crate::cmd::app::starter;
use crate::cmd::run::claim;
use crate::keeping::Keeper;
use crate::wishes::draw_seed;

/// Seconds after which a component counts as hung; the reference takes less than one.
const PATIENCE: f64 = 120.0;

/// One set with a number of copies.
struct Part {
    set: Set,
    copies: u32,
    /// Place of the geometric mean among the figures; the components follow it.
    figure: usize,
    open: bool,
}

/// What came out.
pub(super) struct Ended {
    pub(super) run: Run,
    /// Whether the components were built for use.
    pub(super) optimised: bool,
}

/// What a launch of a component said.
struct Said {
    ratio: f64,
    build: String,
    optimised: bool,
}

struct Rating<'a> {
    run: Run,
    parts: Vec<Part>,
    program: &'a str,
    starter: Starter,
    stopper: &'a Stopper,
    listener: &'a mut dyn Listener,
    began: Instant,
    optimised: bool,
}

/// Measures every set that was asked for, saving after every round.
pub(super) fn measure(
    request: &Request,
    keeper: &mut Keeper,
    listener: &mut dyn Listener,
    stopper: &Stopper,
) -> Result<Ended> {
    let claim = claim("rate");
    let mut run = document("rating", draw_seed(), request.target, request.time_limit, std::env::temp_dir());
    run.session.conditions.beside.clone_from(&claim.beside);
    let conditions = ConditionsWatch::begin(&run.session.conditions, &sys::affinity::allowed()?);
    run.label.clone_from(&request.label);
    let mut parts = Vec::new();
    for set in &request.sets {
        for (copies, mode) in request.copies.iter().zip(["speed", "rate"]) {
            parts.push(Part { set: *set, copies: *copies, figure: run.figures.len(), open: true });
            figures(&mut run, *set, mode, *copies);
        }
    }
    listener.hear(&Event::Began(&run));
    let program = request.program.as_str();
    let (starter, began) = (starter()?, Instant::now());
    let mut rating = Rating { run, parts, program, starter, stopper, listener, began, optimised: true };
    let mut round = 0;
    while rating.parts.iter().any(|part| part.open) && !stopper.asked() {
        if round > 0 && request.time_limit.is_some_and(|limit| rating.elapsed() >= limit) {
            break;
        }
        rating.round(round)?;
        round += 1;
        rating.run.session.rounds = round;
        rating.run.session.seconds = rating.elapsed();
        conditions.record(&mut rating.run);
        keeper.save(&rating.run).map_err(anyhow::Error::msg)?;
    }
    let complete = rating.parts.iter().all(|part| !part.open);
    let seconds = rating.elapsed();
    conditions.record(&mut rating.run);
    application::close(&mut rating.run, seconds, complete);
    rating.listener.hear(&Event::Ended(&rating.run));
    Ok(Ended { run: rating.run, optimised: rating.optimised })
}

impl Rating<'_> {
    fn elapsed(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn round(&mut self, round: u32) -> Result<()> {
        let active = self.parts.iter().filter(|part| part.open).count();
        self.listener.hear(&Event::Round { number: round + 1, active });
        for place in (0..self.parts.len()).filter(|place| self.parts[*place].open).collect::<Vec<_>>() {
            if !self.part(place, round)? {
                return Ok(());
            }
            let key = self.run.figures[self.parts[place].figure].key();
            let done = self.parts.iter().filter(|part| !part.open).count();
            if !self.parts[place].open {
                self.listener.hear(&Event::Finished { key: &key, done, of: self.parts.len() });
            }
        }
        let converged = self.parts.iter().filter(|part| !part.open).count();
        let elapsed = self.elapsed();
        self.listener.hear(&Event::Saved { converged, of: self.parts.len(), elapsed, left: self.left(round + 1) });
        Ok(())
    }

    /// Seconds until the next look.
    fn left(&self, rounds: u32) -> f64 {
        let look = self.run.plan.looks.iter().find(|look| **look >= rounds).copied().unwrap_or(rounds);
        self.elapsed() / f64::from(rounds) * f64::from(look - rounds)
    }

    /// One launch of every component of a part, and the mean of their ratios. False when somebody asked to stop.
    fn part(&mut self, place: usize, round: u32) -> Result<bool> {
        let Part { set, copies, figure, .. } = self.parts[place];
        let (mut logs, mut wall, mut values) = (0.0, 0.0, Vec::new());
        for component in set.components() {
            let report = match self.launch(component, copies, figure, round) {
                Err(application::Error::Stopped) => return Ok(false),
                other => other?,
            };
            match said(component, &report) {
                Ok(said) => {
                    logs += said.ratio.ln();
                    wall += report.wall();
                    self.optimised &= said.optimised;
                    values.push((said, report));
                }
                Err(reason) => {
                    self.invalid(place, values.len(), &reason, &report);
                    return Ok(true);
                }
            }
        }
        // A part's round counts whole or not at all.
        let mean = (logs / values.len() as f64).exp();
        let began = self.elapsed();
        push(&mut self.run.figures[figure], round, began, wall, mean, None);
        for (at, (said, report)) in values.iter().enumerate() {
            let component = &mut self.run.figures[figure + 1 + at];
            push(component, round, began, report.wall(), said.ratio, Some(report));
        }
        if round == 0 {
            let build = values.first().map(|(said, _)| format!("built by {}", said.build));
            self.run.figures[figure..=figure + values.len()]
                .iter_mut()
                .for_each(|figure| figure.notes.extend(build.clone()));
        }
        self.judge(place);
        Ok(true)
    }

    fn launch(
        &mut self,
        component: &Component,
        copies: u32,
        figure: usize,
        round: u32,
    ) -> Result<Report, application::Error> {
        let look = self.run.plan.looks.iter().find(|look| **look > round).copied().unwrap_or(round + 1);
        let at = self.run.figures[figure + 1..].iter().find(|f| f.title.ends_with(&format!(", {}", component.name)));
        let keys = at.map(|figure| vec![figure.key()]).unwrap_or_default();
        self.listener.hear(&Event::Launching { keys: &keys, launch: round + 1, look });
        let command = [self.program, "rate", "work", component.name].map(str::to_owned).to_vec();
        let order = Order {
            commands: vec![command; copies as usize],
            directory: std::env::temp_dir(),
            environment: BTreeMap::new(),
            patience: PATIENCE,
        };
        self.starter.launch(&order, self.stopper)
    }

    fn judge(&mut self, place: usize) {
        let Part { set, figure, .. } = self.parts[place];
        let plan = self.run.plan.clone();
        let settled = measure::judge(&mut self.run.figures[figure], &plan, plan.target, sys::clock::tick());
        for at in 1..=set.components().count() {
            let figure = &mut self.run.figures[figure + at];
            measure::judge(figure, &plan, plan.target, sys::clock::tick());
            // Rounds are made for the mean; a component has the interval that it has.
            measure::end_follower(figure, plan.target);
        }
        self.parts[place].open = !settled;
    }

    /// A component that went wrong leaves no rating of its set; what it said is kept, and the other parts go on.
    fn invalid(&mut self, place: usize, component: usize, reason: &str, report: &Report) {
        let Part { set, figure, .. } = self.parts[place];
        let name = set.components().nth(component).map_or("", |component| component.name);
        let failed = &mut self.run.figures[figure + 1 + component];
        failed.outcome = Outcome::Failed(reason.to_owned());
        failed.notes.extend(report.copies.first().map(application::said).unwrap_or_default());
        self.run.figures[figure].outcome = Outcome::Failed(format!("the rating is invalid: {name} {reason}"));
        for figure in &mut self.run.figures[figure..=figure + set.components().count()] {
            figure.flags.clear();
            if matches!(figure.outcome, Outcome::Unfit(_)) {
                figure.outcome = Outcome::Unfit(format!("the rating ended early: {name} is invalid"));
            }
        }
        self.parts[place].open = false;
    }
}

/// Reference time over time, summed over the copies: what one copy does, or all together.
fn said(component: &Component, report: &Report) -> Result<Said, String> {
    let mut said = Said { ratio: 0.0, build: String::new(), optimised: true };
    for copy in &report.copies {
        if let Some(trouble) = copy.how.trouble(PATIENCE) {
            return Err(trouble);
        }
        let field = |name: &str| copy.stdout.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        let checksum = field("checksum").unwrap_or("nothing");
        let wanted = format!("{:016x}", component.checksum);
        if checksum != wanted {
            return Err(format!("came to the checksum {checksum} where {wanted} is right"));
        }
        let seconds = field("seconds").and_then(|text| text.parse::<f64>().ok()).filter(|seconds| *seconds > 0.0);
        said.ratio += component.reference / seconds.ok_or("said no time")?;
        said.build = field("build").unwrap_or("unknown").to_owned();
        said.optimised &= field("optimised") == Some("true");
    }
    Ok(said)
}
