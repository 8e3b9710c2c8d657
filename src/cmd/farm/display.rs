//! Progress of a farm on standard error, for a terminal or for a program.

use model::percent;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use ::farm::{FarmJob, FarmSnapshot};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Interval of updates.
const EVERY: Duration = Duration::from_secs(1);
/// Most nodes with a line each.
const LINES: usize = 20;

/// Options of what is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// What is said on standard error meanwhile: auto (lines on a terminal), json (one line a second) or none
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = ["auto", "json", "none"])]
    progress: String,
}

enum How {
    Lines { all: ProgressBar, nodes: Vec<ProgressBar>, multi: MultiProgress },
    Json,
    Silent,
}

/// Shows snapshots.
pub(super) struct Display {
    how: How,
    last: Option<Instant>,
}

impl Display {
    pub(super) fn new(show: &Show, job: &FarmJob) -> Self {
        let how = match show.progress.as_str() {
            "json" => How::Json,
            "auto" if std::io::stderr().is_terminal() => {
                let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
                let all = multi.add(ProgressBar::new(job.chunks()));
                if let Ok(style) = ProgressStyle::with_template("[{wide_bar}] {pos}/{len} chunks {msg}") {
                    all.set_style(style.progress_chars("=> "));
                }
                How::Lines { all, nodes: Vec::new(), multi }
            }
            _ => How::Silent,
        };
        Self { how, last: None }
    }

    pub(super) fn show(&mut self, snapshot: &FarmSnapshot) {
        if self.last.is_some_and(|last| last.elapsed() < EVERY) {
            return;
        }
        self.last = Some(Instant::now());
        match &mut self.how {
            How::Silent => {}
            How::Json => write_json(snapshot),
            How::Lines { all, nodes, multi } => {
                all.set_position(snapshot.counted);
                all.set_message(line(snapshot));
                while nodes.len() < snapshot.nodes.len().min(LINES) {
                    let bar = multi.add(ProgressBar::new_spinner());
                    if let Ok(style) = ProgressStyle::with_template("  {msg}") {
                        bar.set_style(style);
                    }
                    nodes.push(bar);
                }
                for (bar, node) in nodes.iter().zip(&snapshot.nodes) {
                    let silent = node.silent.filter(|silent| *silent > 3.0);
                    let silent = silent.map_or_else(String::new, |silent| format!(", silent for {silent:.0} s"));
                    let failed = if node.failed > 0 { format!(", {} FAILED", node.failed) } else { String::new() };
                    bar.set_message(format!(
                        "{}: {} events/s, {} chunks, efficiency {}, {} slots, {} refused{failed}{silent}",
                        node.node,
                        rate(node.rate_now),
                        node.chunks,
                        share(node.efficiency),
                        node.slots,
                        node.refused
                    ));
                }
            }
        }
    }

    pub(super) fn end(&mut self, snapshot: &FarmSnapshot) {
        match &self.how {
            How::Json => write_json(snapshot),
            How::Lines { multi, .. } => drop(multi.clear()),
            How::Silent => {}
        }
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
        "{} events/s now, {:.1} so far, efficiency {}, {eta} left, {} refused ({:.1} s of CPU time)",
        rate(snapshot.rate_now),
        snapshot.rate_so_far,
        share(snapshot.efficiency),
        snapshot.refused,
        snapshot.wasted
    )
}

fn write_json(snapshot: &FarmSnapshot) {
    let mut text = serde_json::to_vec(snapshot).unwrap_or_default();
    text.push(b'\n');
    // A reader that has ended does not stop the farm.
    let _ = std::io::stderr().lock().write_all(&text);
}
