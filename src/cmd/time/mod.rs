//! `prony time`: command lines, timed in turns.

mod gate;
mod parameters;
mod view;

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use application::{
    BURST_SPACING, BURSTS, BurstRule, CommandLine, ShellChoice, TIME, TimedCommand, Timing, TimingOrder, timed_pairs,
};
use clap::Args;
use model::Run;
use report::view::RunContext;
use report::{Block, Document};

use self::gate::{GateOptions, GateStory};
use self::parameters::{all_used, combinations, filled, parameters};
use super::app::starter;
use super::duet::{DUET_BAND, DuetWish, duet_cpus};
use super::resume;
use super::session::LocalSession;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;
use crate::run_options::{ExecutionSpacing, MeasureOptions};
use crate::value_parsers::{percent, seconds_or_none};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony time 'sort a.txt' 'sort -n a.txt'
  prony time -L jobs 1,2,4 --prepare 'make clean' 'make -j {jobs}'
  prony time -- ./program --option    one command, without a shell
  prony time './base' './head' --gate   fails if the second is slower")]
pub(crate) struct Arguments {
    /// Commands, quoted
    #[arg(required_unless_present = "program", value_name = "COMMAND")]
    commands: Vec<String>,
    /// One command as words, without a shell
    #[arg(last = true, value_name = "PROGRAM [ARGUMENT]", conflicts_with_all = ["commands", "shell"])]
    program: Vec<String>,
    /// Run every command exactly this many times
    #[arg(long, short = 'r', value_name = "N", conflicts_with_all = ["max_samples", "target", "time_limit"],
          value_parser = clap::value_parser!(u32).range(2..=10_000))]
    runs: Option<u32>,
    /// Discard the first runs of every command
    #[arg(long, short = 'w', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=1000))]
    warmup: u32,
    /// Run this before every execution, untimed; repeat it for each command
    #[arg(long, short = 'p', value_name = "COMMAND")]
    prepare: Vec<String>,
    /// Run this after every execution, untimed; repeat it for each command
    #[arg(long, help_heading = "Commands", value_name = "COMMAND")]
    conclude: Vec<String>,
    /// Run this before the first execution of every command
    #[arg(long, help_heading = "Commands", short = 's', value_name = "COMMAND")]
    setup: Option<String>,
    /// Run this after the last execution of every command
    #[arg(long, help_heading = "Commands", short = 'c', value_name = "COMMAND")]
    cleanup: Option<String>,
    /// Replace {NAME} in commands by each of these values; repeatable
    #[arg(long, help_heading = "Commands", short = 'L', num_args = 2, value_names = ["NAME", "VALUES"], action = clap::ArgAction::Append)]
    parameter_list: Vec<String>,
    /// Use this shell, or none [default: /bin/sh for commands that need one]
    #[arg(long, help_heading = "Commands", short = 'S', value_name = "SHELL")]
    shell: Option<String>,
    /// Count failed executions too
    #[arg(long, help_heading = "Commands", short = 'i')]
    ignore_failure: bool,
    /// Name a command, in the order of the commands; repeatable
    #[arg(long, help_heading = "Commands", short = 'n', value_name = "NAME")]
    command_name: Vec<String>,
    /// Treat differences below this percentage as no change [default: 2, with --duet 1]
    #[arg(long, help_heading = "Sampling", value_name = "PERCENT", value_parser = percent)]
    margin: Option<f64>,
    /// Run two commands at once on two cores; =force: also on two threads of one core
    #[arg(long, help_heading = "Sampling", value_name = "WHEN", num_args = 0..=1, default_missing_value = "yes", require_equals = true)]
    duet: Option<DuetWish>,
    /// Wait at least this long between executions [default: bursts of executions]
    #[arg(long, help_heading = "Sampling", value_name = "TIME", value_parser = seconds_or_none, env = "PRONY_SPACING", hide_env_values = true)]
    spacing: Option<f64>,
    #[command(flatten)]
    gate: GateOptions,
    #[command(flatten)]
    measure: MeasureOptions,
}

impl Arguments {
    /// Whether the executions of a command follow one another in bursts.
    fn bursts(&self) -> bool {
        self.spacing.is_none() && self.duet.is_none()
    }

    /// How many executions a sample has.
    fn burst(&self) -> BurstRule {
        match self.runs {
            _ if !self.bursts() => BurstRule::Single,
            Some(runs) => BurstRule::counted(runs, BURSTS),
            None => BurstRule::Usual,
        }
    }

    fn shell(&self) -> Result<ShellChoice> {
        match self.shell.as_deref() {
            None | Some("default") => Ok(ShellChoice::WhereNeeded),
            Some("none" | "") => Ok(ShellChoice::None),
            Some(shell) => {
                let words: Vec<String> = shell.split_whitespace().map(str::to_owned).collect();
                ensure!(!words.is_empty(), "the name of the shell is empty; name one, or none");
                Ok(ShellChoice::Program(words))
            }
        }
    }
}

/// Time after which a command is ended.
const LIMIT: Duration = Duration::from_secs(3600);

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let options = &arguments.measure;
    let resumed = options.resume.as_ref().map(|name| resume::find(name, "time", common)).transpose()?;
    let order = TimingOrder {
        commands: commands(arguments)?,
        directory: std::env::current_dir().context("could not find the current directory")?,
        warmup: arguments.warmup,
        ignore_failure: arguments.ignore_failure,
        limit: LIMIT,
        burst: arguments.burst(),
        duet: None,
    };
    gate::check(arguments.gate.gate, order.commands.len())?;
    for command in &order.commands {
        // What is set up or prepared may make the program.
        if command.setup.is_none() && command.prepare.is_none() {
            command.line.check_program()?;
        }
    }
    let starter = starter()?;
    let mut session = LocalSession::open("time", options, common)?;
    let cpus = arguments.duet.map(|wish| duet_cpus(wish, order.commands.len(), &session.stopper)).transpose()?;
    let order = TimingOrder { duet: cpus, ..order };
    let mut more = order.clone();
    let (mut engine, fresh) = Timing::new(document(arguments, options, &order), order, &starter);
    if let Some(run) = &resumed {
        engine.recall(run, &fresh)?;
    }
    let order = session.order(fresh, resumed)?;
    let result = session.measure(order, &mut engine)?;
    for trouble in engine.clean_up() {
        output::remark(&trouble);
    }
    let failed = result.run.results.iter().any(|result| matches!(result.outcome, model::Outcome::Failed(_)));
    let mut measure_again = |order: TimingOrder, why: &str| -> Result<Run> {
        let (mut engine, fresh) = Timing::new(document(arguments, options, &order), order, &starter);
        let label = options.saving.label.as_ref().map(|label| format!("{label}-{why}"));
        let again = session.order(fresh, None)?.labelled(label);
        let result = session.measure(again, &mut engine)?;
        engine.clean_up().iter().for_each(|trouble| output::remark(trouble));
        Ok(result.run)
    };
    let stopped = matches!(result.ending, measure::EndReason::Stopped | measure::EndReason::NotSaved(_));
    let story = match arguments.gate.gate.filter(|_| !failed && !stopped) {
        Some(limit) => {
            let mut story = GateStory::of(&result.run, limit, || measure_again(more.clone(), "confirmation"))?;
            if arguments.gate.self_test {
                let planted = story.to_plant();
                more.commands = gate::slowed(&more.commands, &result.run, planted)?;
                story.tested(planted, &measure_again(more, "self-test")?);
            }
            Some(story)
        }
        None => None,
    };
    let draw = |run: &Run, context: &RunContext| {
        let mut document = view::document(run, &timed_pairs(run, band(run, arguments.margin).ln_1p()), context);
        if let Some(story) = &story {
            story.add_to(&mut document);
        }
        Ok(document)
    };
    let exit = session.keep_nothing_without_samples().conclude(result, draw, |_| !failed)?;
    let Some(story) = story.filter(|_| exit == ExitStatus::Fine) else { return Ok(exit) };
    if let Some(path) = &arguments.gate.junit {
        crate::junit::write(path, &story.junit())?;
    }
    Ok(story.exit())
}

/// The run without results.
fn document(arguments: &Arguments, options: &MeasureOptions, order: &TimingOrder) -> Run {
    let rounds = &options.rounds;
    // A number of executions leaves no decision to the intervals: one look, at its end.
    let target = if arguments.runs.is_some() { f64::MIN_POSITIVE } else { rounds.target() };
    let mut run = application::document("time", rounds.seed(), target, rounds.time_limit, order.directory.clone());
    let bursts = arguments.bursts();
    run.plan.spacing = match rounds.time_limit {
        _ if !bursts => ExecutionSpacing { spacing: arguments.spacing }.seconds(arguments.runs, rounds.time_limit),
        Some(limit) => BURST_SPACING.min(limit / f64::from(BURSTS)),
        None => BURST_SPACING,
    };
    // What runs before or after every execution leaves one for each sample.
    let single = !arguments.prepare.is_empty() || !arguments.conclude.is_empty();
    match arguments.runs {
        // A sample of a duet executes each command twice.
        Some(runs) if order.duet.is_some() => run.plan.checkpoints = vec![runs.div_ceil(2)],
        Some(runs) if bursts && !single => run.plan.checkpoints = vec![runs.min(BURSTS)],
        Some(runs) => run.plan.checkpoints = vec![runs],
        None if bursts && rounds.time_limit.is_none() => run.plan.checkpoints = model::checkpoints(BURSTS),
        None => {}
    }
    run
}

/// Difference that counts as none in a run.
fn band(run: &Run, asked: Option<f64>) -> f64 {
    let duet = run.results.iter().any(|result| result.benchmark == application::RATIO);
    asked.unwrap_or(if duet { DUET_BAND } else { stats::BAND })
}

fn commands(arguments: &Arguments) -> Result<Vec<TimedCommand>> {
    if !arguments.program.is_empty() {
        let line = CommandLine::of_words(arguments.program.clone());
        let name = name(arguments.command_name.first().unwrap_or(&line.text));
        return Ok(vec![TimedCommand { name, line, setup: None, prepare: None, conclude: None, cleanup: None }]);
    }
    let shell = arguments.shell()?;
    let parameters = parameters(&arguments.parameter_list)?;
    let beside = [&arguments.prepare, &arguments.conclude].into_iter().flatten();
    let texts = arguments.commands.iter().chain(beside).chain(&arguments.setup).chain(&arguments.cleanup);
    all_used(&parameters, texts)?;
    let combinations = combinations(&parameters)?;
    let total = arguments.commands.len();
    for (option, given) in [("--prepare", &arguments.prepare), ("--conclude", &arguments.conclude)] {
        ensure!(
            given.len() <= 1 || given.len() == total,
            "{option} is given {} times for {total} commands; give it once, or once for each command",
            given.len()
        );
    }
    let mut commands = Vec::new();
    for (index, text) in arguments.commands.iter().enumerate() {
        for values in &combinations {
            // What runs beside the clock may always need a shell.
            let aside = |text: &String| {
                let through = if shell == ShellChoice::None { &ShellChoice::WhereNeeded } else { &shell };
                CommandLine::new(&filled(text, values), through)
            };
            let of_command =
                |given: &[String]| given.get(index.min(given.len().saturating_sub(1))).map(aside).transpose();
            let position = commands.len();
            let line = CommandLine::new(&filled(text, values), &shell)?;
            commands.push(TimedCommand {
                name: name(arguments.command_name.get(position).unwrap_or(&line.text)),
                setup: arguments.setup.as_ref().map(aside).transpose()?,
                prepare: of_command(&arguments.prepare)?,
                conclude: of_command(&arguments.conclude)?,
                cleanup: arguments.cleanup.as_ref().map(aside).transpose()?,
                line,
            });
        }
    }
    ensure!(
        arguments.command_name.len() <= commands.len(),
        "there are {} names for {} commands",
        arguments.command_name.len(),
        commands.len()
    );
    tell_apart(&mut commands);
    Ok(commands)
}

/// A command as a value of an axis: in one line, without the comma that separates axes.
fn name(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(',', ";")
}

/// Numbers commands of the same name.
fn tell_apart(commands: &mut [TimedCommand]) {
    let mut seen = HashSet::new();
    for command in commands {
        let (own, mut times) = (command.name.clone(), 1);
        while !seen.insert(command.name.clone()) {
            times += 1;
            command.name = format!("{own} ({times})");
        }
    }
}

/// The report of a stored run, if it is one of timed commands.
pub(super) fn stored(run: &Run, context: &RunContext) -> Option<Document> {
    is_timed(run).then(|| view::document(run, &timed_pairs(run, band(run, None).ln_1p()), context))
}

/// The verdicts, the table and the samples of that report.
pub(super) fn answer(run: &Run) -> Vec<Block> {
    let Some(document) = stored(run, &RunContext::default()) else { return Vec::new() };
    let pairs = timed_pairs(run, band(run, None).ln_1p());
    let mut blocks: Vec<Block> = view::verdicts(&pairs).into_iter().collect();
    blocks.extend(document.sections.into_iter().flat_map(|section| section.blocks));
    blocks.extend(document.summary.into_iter().map(Block::Text));
    let chart = report::view::samples_of(run, TIME, |result| view::name(result).to_owned());
    blocks.extend(chart.map(Block::Chart));
    blocks
}

/// Whether a run is one of timed commands.
fn is_timed(run: &Run) -> bool {
    run.results.iter().any(|result| result.benchmark == TIME)
}
