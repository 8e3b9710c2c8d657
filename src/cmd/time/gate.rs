//! `prony time BASE HEAD --gate`: fails if the second command is slower, and checks that it would notice.

use std::path::PathBuf;

use anyhow::{Result, anyhow, ensure};
use application::{CommandLine, FOUND, ShellChoice, TIME, TimedCommand, TimedGate, confirmed, timed_gate};
use clap::Args;
use model::{GateAnswer, Run, Unit, percent};
use report::words::factor;
use report::{Badge, Block, Document, DocumentSection, PrintedQuantity, Tone};

use crate::ExitStatus;
use crate::junit::JunitCase;
use crate::value_parsers::percent as percentage;

/// Options of the gate.
#[derive(Debug, Args)]
pub(super) struct GateOptions {
    /// Exit with 1 if the second command is slower than the first by this percentage [default: 2]
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, default_missing_value = "2",
          value_parser = percentage, conflicts_with_all = ["margin", "resume"])]
    pub(super) gate: Option<f64>,
    /// Slow the first command down and check that the gate fails
    #[arg(long, help_heading = "Gate", requires = "gate")]
    pub(super) self_test: bool,
    /// Write the answer of the gate to this file as JUnit
    #[arg(long, help_heading = "Gate", value_name = "FILE", requires = "gate")]
    pub(super) junit: Option<PathBuf>,
}

/// Refuses other than two commands.
pub(super) fn check(limit: Option<f64>, commands: usize) -> Result<()> {
    ensure!(
        limit.is_none() || commands == 2,
        "--gate compares two commands, base and head, and {commands} were given; name the two"
    );
    Ok(())
}

/// What a gate found, with what repeated it.
pub(super) struct GateStory {
    /// The decision.
    gate: TimedGate,
    /// The gate of new samples, where the first ones failed.
    confirmation: Option<TimedGate>,
    /// Of a self-test: the planted slowdown and the answer to it.
    planted: Option<(f64, GateAnswer)>,
}

impl GateStory {
    /// The gate of a run; if it fails, `again` measures anew, and only what fails twice fails.
    pub(super) fn of(run: &Run, limit: f64, mut again: impl FnMut() -> Result<Run>) -> Result<Self> {
        let gate = timed_gate(run, limit).map_err(|error| anyhow!(error))?;
        let confirmation = match gate.answer {
            GateAnswer::Fail => {
                let again = timed_gate(&again()?, limit).map_err(|error| anyhow!(error))?;
                Some(TimedGate { answer: confirmed(&again), ..again })
            }
            GateAnswer::Pass | GateAnswer::Inconclusive => None,
        };
        Ok(Self { gate, confirmation, planted: None })
    }

    fn answer(&self) -> GateAnswer {
        self.confirmation.as_ref().map_or(self.gate.answer, |confirmation| confirmation.answer)
    }

    /// The slowdown of the self-test: one that the gate should see, twice the limit at least.
    pub(super) fn to_plant(&self) -> f64 {
        (2.0 * self.gate.limit).max(2.0 * self.gate.visible.unwrap_or(0.0)).max(0.05)
    }

    /// Keeps what the self-test found.
    pub(super) fn tested(&mut self, planted: f64, run: &Run) {
        let answer = timed_gate(run, self.gate.limit).map_or(GateAnswer::Inconclusive, |gate| gate.answer);
        self.planted = Some((planted, answer));
    }

    /// The exit code: a self-test that finds nothing is a failed check.
    pub(super) fn exit(&self) -> ExitStatus {
        match (self.answer(), self.planted) {
            (GateAnswer::Fail, _) | (_, Some((_, GateAnswer::Pass))) => ExitStatus::Found,
            (GateAnswer::Pass, None | Some((_, GateAnswer::Fail))) => ExitStatus::Fine,
            (GateAnswer::Pass | GateAnswer::Inconclusive, _) => ExitStatus::Inconclusive,
        }
    }

    /// `'head' is 1.08x slower than 'base' (1.06 – 1.10), confirmed by new samples.`
    fn sentence(&self) -> String {
        let gate = self.confirmation.as_ref().unwrap_or(&self.gate);
        let (base, head, limit) = (&gate.base, &gate.head, percent(gate.limit));
        let Some((value, low, high)) = gate.slower else {
            return gate.reason.clone().unwrap_or_default() + ".";
        };
        let ratio = PrintedQuantity::ratio(1.0 / value, 1.0 / high, 1.0 / low);
        let ratio = factor(ratio, Unit::Seconds).text_with_interval();
        match (gate.answer, &self.confirmation) {
            (GateAnswer::Fail, _) => {
                format!("'{head}' is {ratio} than '{base}', more than {limit}; new samples confirm it.")
            }
            (answer, Some(_)) => {
                let said = if answer == GateAnswer::Pass { "do not confirm it" } else { "do not say" };
                format!(
                    "The first samples of '{head}' were slower than '{base}' by more than {limit}; new ones {said}: {ratio}."
                )
            }
            (GateAnswer::Pass, None) => format!("'{head}' is not slower than '{base}' by more than {limit}: {ratio}."),
            (GateAnswer::Inconclusive, None) => {
                format!("'{head}' may be slower than '{base}' by more than {limit}: {ratio}. Add --time-limit 2m.")
            }
        }
    }

    /// The smallest change that it could have seen, and what the self-test says.
    fn power(&self) -> Vec<String> {
        let gate = self.confirmation.as_ref().unwrap_or(&self.gate);
        let visible = gate.visible.map(|visible| {
            format!(
                "Slowdowns above {} would have been found, with a probability of {}.",
                percent(visible),
                percent(FOUND)
            )
        });
        let planted = self.planted.map(|(planted, found)| match found {
            GateAnswer::Fail => format!("Self-test: a planted slowdown of {} fails, as it should.", percent(planted)),
            GateAnswer::Pass => format!("Self-test FAILED: a planted slowdown of {} passes unseen.", percent(planted)),
            GateAnswer::Inconclusive => {
                format!("Self-test inconclusive: noise hides a planted slowdown of {}.", percent(planted))
            }
        });
        visible.into_iter().chain(planted).collect()
    }

    /// Adds the answer to the report of the run.
    pub(super) fn add_to(&self, document: &mut Document) {
        let (value, tone) = match self.answer() {
            GateAnswer::Pass => ("PASS", Tone::Good),
            GateAnswer::Fail => ("FAIL", Tone::Bad),
            GateAnswer::Inconclusive => ("INCONCLUSIVE", Tone::Caution),
        };
        let text = [vec![self.sentence()], self.power()].concat().join(" ");
        let badge = Badge { name: "Gate".to_owned(), value: value.to_owned(), tone, text };
        document.sections.push(DocumentSection::of("", Block::Badge(badge)));
    }

    /// The same for a CI system.
    pub(super) fn junit(&self) -> Vec<JunitCase> {
        let case = |name: String, answer, text| JunitCase { class: "prony.time".to_owned(), name, answer, text };
        let text = [vec![self.sentence()], self.power()].concat().join(" ");
        let name = format!("{} against {}", self.gate.head, self.gate.base);
        let mut cases = vec![case(name, self.answer(), text.clone())];
        cases.extend(self.planted.map(|(_, found)| {
            let answer = match found {
                GateAnswer::Fail => GateAnswer::Pass,
                GateAnswer::Pass => GateAnswer::Fail,
                GateAnswer::Inconclusive => GateAnswer::Inconclusive,
            };
            case("self-test".to_owned(), answer, text)
        }));
        cases
    }
}

/// The base against itself with a slowdown: a pause after it.
pub(super) fn slowed(commands: &[TimedCommand], run: &Run, planted: f64) -> Result<Vec<TimedCommand>> {
    let base = commands[0].clone();
    let time = run.results.iter().find(|result| result.benchmark == TIME).and_then(|result| result.outcome.estimate());
    let seconds = time.map_or(0.0, |estimate| estimate.value) * planted;
    // Both sides begin the pause's program, so that only the pause is between them.
    let with = |pause: f64, name: &str| -> Result<TimedCommand> {
        let text = format!("{}\nsleep {pause:.6}", base.line.text);
        let line = CommandLine::new(&text, &ShellChoice::Program(vec!["/bin/sh".to_owned()]))?;
        Ok(TimedCommand { line, name: name.to_owned(), ..base.clone() })
    };
    Ok(vec![with(0.0, "base")?, with(seconds, "slowed")?])
}
