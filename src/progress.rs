//! Progress of a run: on a terminal the key results so far above one live line, elsewhere a line now and then.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use measure::{MeasureEvent, Observer};
use model::{Outcome, PlanEntry, ResultKey, Run, percent};
use report::words::duration;
use report::{Document, PrintedQuantity, ReportFormat, Terminal};

use crate::{columns, locale, output};

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressMode {
    /// A bar that is drawn over: standard error is a terminal that can do that.
    Bar,
    /// A line every half a minute.
    Lines,
    /// Nothing.
    Silent,
}

impl ProgressMode {
    /// The mode for this standard error.
    pub(crate) fn new(quiet: bool) -> Self {
        match () {
            () if quiet => Self::Silent,
            () if draws() => Self::Bar,
            () => Self::Lines,
        }
    }
}

/// Whether standard error is a terminal on which lines can be drawn over.
pub(crate) fn draws() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Time between lines without a terminal.
const LINE: Duration = Duration::from_secs(30);

/// Steps of the bar.
const STEPS: u64 = 1000;

/// The key results, and the live line below them.
const TEMPLATE: &str = "{msg}  {bar:20}  {percent:>3}%  {prefix}";
/// Columns of the live line before its text.
const BEFORE_TEXT: usize = 30;

/// A sample that lasts longer than this is drawn again while it runs, once a [`TICK`]: what that costs is nothing
/// beside it, and shorter ones are left alone.
const LONG: Duration = Duration::from_secs(2);
/// Time between two looks at whether a sample is long.
const TICK: Duration = Duration::from_secs(1);

/// Shows progress on standard error: between samples, and inside those that take seconds. Drawing inside short ones
/// would disturb what is measured.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    state: Arc<Mutex<ShownState>>,
    /// Its end ends the thread that draws during long samples.
    _ticking: Sender<()>,
}

/// What is shown.
struct ShownState {
    mode: ProgressMode,
    began: Instant,
    /// When the last line was printed.
    told: Instant,
    /// When it was drawn last; none before the first sample and after the end.
    drawn: Option<Instant>,
    /// Results that have a value.
    measured: usize,
    /// Results within their target, or ended without.
    done: usize,
    of: usize,
    /// The key results so far, one line each.
    values: Vec<String>,
    /// Seconds left when they were estimated, and the moment.
    left: (f64, Instant),
    doing: String,
}

/// What is left, or what has passed where that is not known: a run that takes longer than estimated does not end now.
fn about(elapsed: f64, left: f64) -> String {
    if left < 1.0 { format!("{} elapsed", duration(elapsed)) } else { format!("about {} left", duration(left)) }
}

/// As many whole words as fit into so many columns.
fn cut(text: &str, columns: usize) -> String {
    let mut fitting = String::new();
    for word in text.split(' ') {
        if fitting.chars().count() + 1 + word.chars().count() > columns {
            break;
        }
        if !fitting.is_empty() {
            fitting.push(' ');
        }
        fitting.push_str(word);
    }
    fitting.trim_end_matches([',', ';', ':']).to_owned()
}

/// The key results of a run so far: `memory latency  94.2 ns ±1.2%`.
fn key_lines(run: &Run) -> Vec<String> {
    let keys = report::view::key_results(run, benchmarks::catalogue());
    let commands = run.results.iter().filter(|result| result.benchmark == application::TIME);
    let commands = commands.map(|result| (named(&result.key()), result));
    let valued = keys.into_iter().chain(commands).chain(network(run)).filter_map(|(title, result)| {
        let Outcome::Measured(estimate) = &result.outcome else { return None };
        let value = PrintedQuantity::of(estimate, result.metric.unit).in_metric(&result.metric).short();
        let half = estimate.relative_half_width();
        let width = if half > 0.0 && half.is_finite() { format!(" ±{}", percent(half)) } else { String::new() };
        Some((title, format!("{value}{width}").replace('\u{a0}', " ")))
    });
    let valued: Vec<(String, String)> = valued.collect();
    let room = valued.iter().map(|(title, _)| title.chars().count()).max().unwrap_or(0);
    valued.iter().map(|(title, value)| format!("{title:room$}  {value}")).collect()
}

/// Lines of a network run, at most: those of a sweep of writes.
const NETWORK_LINES: usize = 11;

/// The first results of a network run, named by what distinguishes them.
fn network(run: &Run) -> impl Iterator<Item = (String, &model::BenchmarkResult)> {
    let of_network = || run.results.iter().filter(|result| result.benchmark.starts_with("network."));
    let shared = move |name, value| of_network().all(|other| other.parameters.get(name) == Some(value));
    of_network().take(NETWORK_LINES).map(move |result| {
        let own = result.parameters.iter().filter(|(name, value)| !shared(name, value));
        let words = own.map(|(name, value)| report::words::parameter_value(name, value));
        (std::iter::once(result.title.clone()).chain(words).collect::<Vec<_>>().join(", "), result)
    })
}

impl ShownState {
    /// How far it is, in words.
    fn text(&self) -> String {
        let (elapsed, left) = self.times();
        let Self { measured, done, of, doing, .. } = self;
        format!("{}, {measured} of {of} results measured, {done} done: {doing}", about(elapsed, left))
    }

    /// Seconds passed and seconds left.
    fn times(&self) -> (f64, f64) {
        let left = self.left.0 - self.left.1.elapsed().as_secs_f64();
        (self.began.elapsed().as_secs_f64(), left.max(0.0))
    }

    fn draw(&mut self, bar: &ProgressBar) {
        self.drawn = Some(Instant::now());
        if self.mode == ProgressMode::Lines {
            if self.told.elapsed() >= LINE {
                self.told = Instant::now();
                output::remark(&self.text());
            }
            return;
        }
        let (elapsed, left) = self.times();
        let share = elapsed / (elapsed + left).max(f64::MIN_POSITIVE);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the steps")]
        let place = ((share * STEPS as f64) as u64).min(STEPS - 1);
        // The estimate may grow, and the bar does not go back.
        bar.set_position(place.max(bar.position()));
        let columns = columns::of_progress();
        let mut above = String::new();
        for line in &self.values {
            above.push_str(&format!("  {}\n", cut(&locale::shown(line), columns.saturating_sub(3))));
        }
        bar.set_message(above);
        bar.set_prefix(cut(&locale::shown(&self.text()), columns.saturating_sub(BEFORE_TEXT)));
        bar.tick();
    }

    /// Draws again if the present sample is a long one.
    fn draw_if_long(&mut self, bar: &ProgressBar) {
        if self.drawn.is_some_and(|drawn| drawn.elapsed() >= LONG) {
            let began_drawing = self.drawn;
            self.draw(bar);
            // A sample stays long: the next look draws it too.
            self.drawn = began_drawing;
        }
    }
}

impl ProgressLine {
    /// Shows nothing until the run begins.
    pub(crate) fn new(mode: ProgressMode) -> Self {
        let to = if mode == ProgressMode::Bar {
            ProgressDrawTarget::stderr_with_hz(4)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(STEPS), to);
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style.progress_chars(&locale::shown("██░")));
        }
        let now = Instant::now();
        let state = Arc::new(Mutex::new(ShownState {
            mode,
            began: now,
            told: now,
            drawn: None,
            measured: 0,
            done: 0,
            of: 0,
            values: Vec::new(),
            left: (0.0, now),
            doing: String::new(),
        }));
        let (ticking, ended) = channel();
        if mode != ProgressMode::Silent {
            let (state, bar) = (Arc::clone(&state), bar.clone());
            let tick = move || {
                while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    locked(&state).draw_if_long(&bar);
                }
            };
            // Without it, long samples are drawn at their beginning only.
            let _ = std::thread::Builder::new().name("progress".to_owned()).spawn(tick);
        }
        Self { bar, state, _ticking: ticking }
    }

    fn show(&mut self, doing: String) {
        let mut state = locked(&self.state);
        state.doing = doing;
        state.draw(&self.bar);
    }

    fn learn(&self, run: &Run) {
        let mut state = locked(&self.state);
        let valued = |result: &&model::BenchmarkResult| {
            !result.is_condition() && matches!(result.outcome, Outcome::Measured(_) | Outcome::Modes(_))
        };
        state.measured = run.results.iter().filter(valued).count();
        state.values = if state.mode == ProgressMode::Bar { key_lines(run) } else { Vec::new() };
    }
}

/// A text in lines of at most the width of the terminal, broken between words.
fn wrapped(text: String) -> String {
    let mut lines = Vec::new();
    let page = Terminal { width: columns::of_progress(), colour: false };
    let written =
        page.render(&Document::new(text.clone()), &mut lines).ok().and_then(|()| String::from_utf8(lines).ok());
    written.map_or(text, |lines| lines.trim_end().to_owned())
}

/// A result as the user knows it: the commands of `prony time` by their own words.
fn named(key: &ResultKey) -> String {
    key.parameters.get(application::AXIS).map_or_else(|| key.to_string(), str::to_owned)
}

/// Seconds that a run takes to its first look, by its plan.
fn planned(run: &Run) -> f64 {
    let first = run.plan.checkpoints.first().copied().unwrap_or(1);
    let cpus = run.session.conditions.cpus.map_or(1, |cpus| cpus as usize);
    let round: f64 = run.plan.entries.iter().map(|entry: &PlanEntry| measure::expected_seconds(entry, cpus)).sum();
    let planned = round * f64::from(first);
    run.plan.time_limit.map_or(planned, |limit| planned.min(limit))
}

/// The state, also after a thread that held it has panicked: it is only shown.
fn locked(state: &Mutex<ShownState>) -> MutexGuard<'_, ShownState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for ProgressLine {
    fn on_event(&mut self, event: &MeasureEvent<'_>) {
        match event {
            MeasureEvent::Began(run) => {
                self.bar.println(locale::shown(&wrapped(format!("Measuring this machine: {}", run.machine.summary))));
                self.learn(run);
                let mut state = locked(&self.state);
                state.of = run.results.len();
                state.left = (planned(run), Instant::now());
            }
            MeasureEvent::Calibrating { key, done, of } => {
                locked(&self.state).of = *of;
                self.show(format!("calibrating {} of {of}: {key}", done + 1));
            }
            MeasureEvent::Launching { keys, sample, look } => {
                let more = if keys.len() > 1 { format!(" and {} more", keys.len() - 1) } else { String::new() };
                let name = keys.first().map(named).unwrap_or_default();
                self.show(format!("{name}{more}, sample {sample} of {look}"));
            }
            // The number of repeated samples and the reasons stand in the answer, once.
            MeasureEvent::Round { .. } | MeasureEvent::Repeated { .. } => {}
            MeasureEvent::Finished { done, .. } => locked(&self.state).done = *done,
            MeasureEvent::Saved { run, converged, left, .. } => {
                self.learn(run);
                let mut state = locked(&self.state);
                state.done = *converged;
                state.left = (*left, Instant::now());
            }
            MeasureEvent::Ended(_) => {
                locked(&self.state).drawn = None;
                self.bar.finish_and_clear();
            }
        }
    }
}

/// A spinner for work without samples that may take longer than a second.
pub(crate) fn spinner(text: &str, visible: bool) -> ProgressBar {
    if !visible {
        return ProgressBar::hidden();
    }
    let mut bar = ProgressBar::new_spinner().with_message(text.to_owned());
    if locale::is_ascii() {
        bar = bar.with_style(ProgressStyle::default_spinner().tick_chars("|/-\\ "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sample_is_drawn_while_it_runs_and_a_short_one_is_not() {
        let line = ProgressLine::new(ProgressMode::Bar);
        let mut state = locked(&line.state);
        state.left = (100.0, Instant::now());
        state.drawn = Some(Instant::now());
        state.draw_if_long(&line.bar);
        assert_eq!(line.bar.prefix(), "", "it has just begun");
        let Some(earlier) = Instant::now().checked_sub(LONG) else { return };
        (state.began, state.drawn) = (earlier, Some(earlier));
        state.draw_if_long(&line.bar);
        assert!(line.bar.prefix().starts_with("about "), "{}", line.bar.prefix());
        assert!(state.drawn == Some(earlier) && line.bar.position() > 0, "the next look draws it too");
        state.drawn = None;
        state.doing = "after the end".to_owned();
        state.draw_if_long(&line.bar);
        assert!(!line.bar.prefix().contains("after the end"));
    }
}
