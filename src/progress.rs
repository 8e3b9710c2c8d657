//! Progress of a run on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use measure::{MeasureEvent, Observer};

/// Draws one line on standard error, between launches and never inside one.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    round: u32,
    converged: usize,
    of: usize,
    target: f64,
    left: Option<f64>,
}

impl ProgressLine {
    /// A line for a run with intervals of `target`; drawn only if visible.
    pub(crate) fn new(target: f64, visible: bool) -> Self {
        let goes_to = if visible { ProgressDrawTarget::stderr_with_hz(4) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(1), goes_to);
        if let Ok(style) = ProgressStyle::with_template("  {prefix}  {bar:30}  {wide_msg}") {
            bar.set_style(style.progress_chars("██░"));
        }
        Self { bar, round: 0, converged: 0, of: 0, target, left: None }
    }

    fn show(&self, doing: &str) {
        let elapsed = report::words::duration(self.bar.elapsed().as_secs_f64());
        let left = self.left.map(|left| format!(", about {} left", report::words::duration(left))).unwrap_or_default();
        let target = self.target * 100.0;
        self.bar.set_message(format!(
            "{} of {} figures converged (±{target}%)   {elapsed} elapsed{left}   {doing}",
            self.converged, self.of
        ));
        self.bar.tick();
    }
}

impl Observer for ProgressLine {
    fn on_event(&mut self, event: &MeasureEvent<'_>) {
        match event {
            MeasureEvent::Began(run) => {
                self.of = run.figures.len();
                self.bar.println(format!("Measuring this machine: {}", run.machine.summary));
                self.bar.set_length(self.of as u64);
                self.bar.set_prefix("starting");
            }
            MeasureEvent::Calibrating { key, done, of } => {
                self.bar.set_prefix("calibrating");
                self.bar.set_position(*done as u64);
                self.of = *of;
                self.show(&key.to_string());
            }
            MeasureEvent::Round { number, .. } => {
                self.round = *number;
                self.bar.set_prefix(format!("round {number}"));
                self.bar.set_position(self.converged as u64);
            }
            MeasureEvent::Launching { keys, launch, look } => {
                let more = if keys.len() > 1 { format!(" and {} more", keys.len() - 1) } else { String::new() };
                let name = keys.first().map(ToString::to_string).unwrap_or_default();
                self.show(&format!("{name}{more}, launch {launch} of {look}"));
            }
            MeasureEvent::Repeated { key, reason } => self.bar.println(format!("  repeating {key}: {reason}")),
            MeasureEvent::Finished { done, .. } => {
                self.converged = *done;
                self.bar.set_position(*done as u64);
            }
            MeasureEvent::Saved { converged, left, .. } => {
                self.converged = *converged;
                self.left = Some(*left);
            }
            MeasureEvent::Ended(_) => self.bar.finish_and_clear(),
        }
    }
}

/// A spinner for work without launches that may take longer than a second.
pub(crate) fn spinner(text: &str, visible: bool) -> ProgressBar {
    if !visible {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message(text.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
