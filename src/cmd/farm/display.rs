//! Progress of a farm on standard error, on a terminal.

use model::percent;
use std::time::{Duration, Instant};

use ::farm::{FarmJob, FarmSnapshot};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Interval of updates.
const EVERY: Duration = Duration::from_secs(1);
/// Most nodes with a line each.
const LINES: usize = 20;

/// Shows snapshots: a line for all and one for each node.
pub(super) struct Display {
    all: ProgressBar,
    nodes: Vec<ProgressBar>,
    multi: MultiProgress,
    last: Option<Instant>,
}

impl Display {
    pub(super) fn new(quiet: bool, job: &FarmJob) -> Self {
        let visible = !quiet && crate::progress::draws();
        let to = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let multi = MultiProgress::with_draw_target(to);
        let all = multi.add(ProgressBar::new(job.chunks()));
        if let Ok(style) = ProgressStyle::with_template("[{wide_bar}] {pos}/{len} chunks {msg}") {
            all.set_style(style.progress_chars("=> "));
        }
        Self { all, nodes: Vec::new(), multi, last: None }
    }

    pub(super) fn show(&mut self, snapshot: &FarmSnapshot) {
        if self.last.is_some_and(|last| last.elapsed() < EVERY) {
            return;
        }
        self.last = Some(Instant::now());
        self.all.set_position(snapshot.counted);
        self.all.set_message(line(snapshot));
        while self.nodes.len() < snapshot.nodes.len().min(LINES) {
            let bar = self.multi.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("  {msg}") {
                bar.set_style(style);
            }
            self.nodes.push(bar);
        }
        for (bar, node) in self.nodes.iter().zip(&snapshot.nodes) {
            let silent = node.silent.filter(|silent| *silent > 3.0);
            let silent = silent.map_or_else(String::new, |silent| format!(", no heartbeat for {silent:.0} s"));
            let failed = if node.failed > 0 { format!(", {} FAILED", node.failed) } else { String::new() };
            bar.set_message(format!(
                "{}: {} events/s, {} chunks, CPU efficiency {}, {} slots, {} duplicates{failed}{silent}",
                node.node,
                rate(node.rate_now),
                node.chunks,
                share(node.efficiency),
                node.slots,
                node.refused
            ));
        }
    }

    pub(super) fn end(&self) {
        drop(self.multi.clear());
    }
}

fn share(efficiency: Option<f64>) -> String {
    efficiency.map_or_else(|| "-".to_owned(), percent)
}

/// A rate that may not be known yet.
fn rate(found: Option<f64>) -> String {
    found.map_or_else(|| "?".to_owned(), |found| format!("{found:.1}"))
}

fn line(snapshot: &FarmSnapshot) -> String {
    let eta = snapshot.eta.map_or_else(
        || "?".to_owned(),
        |eta| indicatif::HumanDuration(Duration::from_secs_f64(eta.min(1e9))).to_string(),
    );
    format!(
        "{} events/s now, {:.1} on average, CPU efficiency {}, {eta} left, {} duplicates ({:.1} s of CPU time)",
        rate(snapshot.rate_now),
        snapshot.rate_so_far,
        share(snapshot.efficiency),
        snapshot.refused,
        snapshot.wasted
    )
}
