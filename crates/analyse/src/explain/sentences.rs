//! An explanation in sentences whose arithmetic a reader can check.

use model::Primitive;

use super::result::{Cause, DifferenceKind, Explanation, Rival, RunDifference, UNTOLD, Unmeasured};
use super::rules::CPU_LIMIT;
use super::stream_line::StreamLine;
use super::text::{change, count, figures, plural, range};
use model::words::{list, seconds};

impl Explanation {
    /// The explanation, one thought for each string, without numbers in front: disturbances of the runs, causes in
    /// order, then what is unexplained, what is ruled out, and what to measure next.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let lines = self.lines.iter().map(StreamLine::sentence);
        let mut said: Vec<String> = Vec::new();
        if !self.disturbed.is_empty() {
            said.push(format!("{FIRST}: {}.", self.disturbed.join("; ")));
        }
        if !self.difference {
            let figures = self.tests + self.curve_points;
            let none = format!("No difference to explain: none of {figures} figures differs.");
            said.extend(if self.lines.is_empty() { vec![none] } else { lines.collect() });
            return said;
        }
        said.extend(self.common());
        said.extend(lines);
        said.extend(self.causes.iter().map(|cause| self.cause(cause)));
        said.extend(self.unmeasured.iter().map(|group| self.group(group)));
        said.extend(self.ruled());
        said.extend(self.untold());
        let open: Vec<String> = self
            .left_open
            .iter()
            .filter(|open| open.why != UNTOLD)
            .map(|open| format!("{} ({})", open.test, open.why))
            .collect();
        if !open.is_empty() {
            said.push(format!("Left open: {}.", list(&open)));
        }
        if let Some(next) = &self.next_experiment {
            said.push(format!("Next experiment: {}: {}.", list(&next.probes), next.why));
        }
        said
    }

    /// All arithmetic behind the sentences.
    #[must_use]
    pub fn arithmetic(&self) -> Vec<String> {
        let factor = &self.common_factor;
        let mut lines = Vec::new();
        if let Some(median) = factor.median {
            let interval = factor
                .low
                .zip(factor.high)
                .map_or_else(String::new, |(low, high)| format!(", interval {low:.4} to {high:.4}"));
            lines.push(format!(
                "common factor: median time ratio of {} user-mode tests = {median:.4}{interval}; removed: {:.4}",
                factor.from.len(),
                factor.value
            ));
        }
        lines.extend(self.residuals.iter().map(|residual| {
            let interval = residual
                .low
                .zip(residual.high)
                .map_or_else(String::new, |(low, high)| format!(" ({} to {})", change(low, 1), change(high, 1)));
            format!(
                "{}: {:.4}× as it stands, {}{interval} after the common factor, {} figures",
                residual.primitive,
                residual.slowdown,
                change(residual.residual, 1),
                residual.figures
            )
        }));
        lines.extend(self.causes.iter().flat_map(|cause| &cause.arithmetic).cloned());
        lines.extend(self.unmeasured.iter().flat_map(|group| &group.arithmetic).cloned());
        lines.extend(self.assumed.iter().map(|assumed| format!("assumed: {assumed}")));
        lines
    }

    fn common(&self) -> Option<String> {
        let factor = &self.common_factor;
        if (factor.value - 1.0).abs() < f64::EPSILON {
            return None;
        }
        if self
            .causes
            .first()
            .is_some_and(|cause| cause.primitives == [Primitive::CoreClock] && cause.title == CPU_LIMIT)
        {
            return Some(format!(
                "Everything in user mode takes {:.2} times as long, and the CPU time of the two runs was limited differently; {} more tests follow it.",
                factor.value,
                factor.follows.len()
            ));
        }
        let whose = if factor.clock_seen { "the clocks that the runs saw" } else { "the clocks" };
        let also = match factor.follows.len() {
            0 => String::new(),
            count => format!("; {count} more follow it"),
        };
        let of = format!("{} of {} tests", factor.explains.len(), self.tests);
        let by = change(factor.value, 2);
        let ratio = factor.clock_ratio.map(|ratio| change(ratio, 1));
        Some(match (factor.is_clock, ratio) {
            (true, Some(ratio)) => {
                let rivals = rivals(&factor.rivals, true);
                format!("The clock explains {of}: {by} in each, and {whose} say {ratio}{also}{rivals}.")
            }
            (_, ratio) => {
                let said = ratio
                    .map_or_else(|| "no clock is recorded for both".to_owned(), |ratio| format!("{whose} say {ratio}"));
                let rivals = rivals(&factor.rivals, false);
                format!(
                    "A common factor explains {of}: {by} in each, not known to be the clock ({said}){also}{rivals}."
                )
            }
        })
    }

    fn cause(&self, cause: &Cause) -> String {
        let (size, more) = (seconds(cause.excess.abs()), if cause.excess < 0.0 { "less" } else { "more" });
        let interval = cause.excess_low.zip(cause.excess_high).map_or_else(String::new, |(low, high)| {
            let (low, high) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
            format!(" ({})", range(low, high, seconds))
        });
        let interval = if cause.at_one_clock { format!("{interval} at one clock") } else { interval };
        let because = because(cause);
        let head = if because.is_empty() {
            format!("{}: {size} {more} per {}{interval}, {}", capital(&cause.title), cause.per, change(cause.factor, 0))
        } else {
            let named = cause.known_as.as_deref().unwrap_or(&cause.title);
            let by_fact = cause.because.iter().any(|d| d.kind != DifferenceKind::Axis) && cause.title != CPU_LIMIT;
            let because = if by_fact { format!(": {}", that_differ(&cause.because)) } else { because };
            let what = if named == cause.title { String::new() } else { format!("{}, by ", cause.title) };
            format!(
                "{}{because}: {size} {more} per {}{interval} in {}",
                capital(&format!("{what}{named}")),
                cause.per,
                cause.unit
            )
        };
        let others = || cause.pays_for.iter().filter(|payment| payment.test != cause.unit);
        let mut paid: Vec<String> = others()
            .filter(|payment| payment.uses.is_some())
            .map(|payment| format!("{} ({} {})", payment.test, count(payment.units), plural(&cause.per)))
            .collect();
        let alike: Vec<model::FigureKey> =
            others().filter(|payment| payment.uses.is_none()).map(|payment| payment.test.clone()).collect();
        if !alike.is_empty() {
            paid.push(figures(&alike));
        }
        let pays = if paid.is_empty() { String::new() } else { format!(". That pays for {} too", list(&paid)) };
        let rivals = rivals(&cause.rivals, !cause.because.is_empty());
        format!("{head}{pays}{}{rivals}.", self.own(cause))
    }

    /// Why a cause is not part of another: the number of units of causes with smaller operations that it would take.
    fn own(&self, cause: &Cause) -> String {
        let smaller = self.causes.iter().filter(|other| {
            other.title != cause.title
                && other.excess > 0.0
                && cause.excess > 10.0 * other.excess
                && other.per == "switch"
        });
        smaller
            .map(|other| {
                format!(
                    ". {} {}es would be needed to pay for it: a cause of its own",
                    count(cause.excess / other.excess),
                    other.per
                )
            })
            .collect()
    }

    fn group(&self, group: &Unmeasured) -> String {
        let slowest = group.slowest_measured.map_or_else(
            || "nothing here measures a primitive".to_owned(),
            |(primitive, slowdown)| format!("the slowest thing measured, {primitive}, is {slowdown:.1}× slower"),
        );
        let needs: Vec<String> = group
            .would_need
            .iter()
            .map(|need| format!("{} {}", range(need.least, need.most, count), plural(&need.per)))
            .collect();
        let needs = if needs.is_empty() { String::new() } else { format!("; it would take {}", needs.join(" or ")) };
        format!(
            "The tests {} cost {} more each. Nothing measured pays for it: they are {}× slower, {slowest}{needs}. An unmeasured resource, at least {} times slower.",
            figures(&group.tests),
            range(group.excess.0, group.excess.1, seconds),
            range(group.slowdown.0, group.slowdown.1, |x| format!("{x:.0}")),
            group.slowdown.1.floor()
        )
    }

    /// What differs of which nothing but what disturbed the runs is known to explain it.
    fn untold(&self) -> Option<String> {
        let open = || self.left_open.iter().filter(|open| open.why == UNTOLD);
        let tests: Vec<model::FigureKey> = open().map(|open| open.test.clone()).collect();
        let factors = || open().filter_map(|open| open.factor);
        let ends = (factors().fold(f64::INFINITY, f64::min), factors().fold(0.0, f64::max));
        let (take, it) = if tests.len() == 1 { ("takes", "it") } else { ("take", "them") };
        let times = range(ends.0, ends.1, |factor| format!("{factor:.2}"));
        (!tests.is_empty()).then(|| {
            format!(
                "{} {take} {times} times as long, and {UNTOLD}: no recorded fact that differs explains {it}.",
                figures(&tests)
            )
        })
    }

    fn ruled(&self) -> Vec<String> {
        let all: Vec<String> = self
            .ruled_out
            .iter()
            .filter(|out| out.of.is_empty())
            .map(|out| format!("{} (at most {:.2}×)", out.title, out.bound))
            .collect();
        let mut said = Vec::new();
        if !all.is_empty() {
            // A bound is one on slowdowns: what is faster may be faster by anything.
            let any = if self.causes.iter().any(|cause| cause.excess < 0.0) { "any slowdown" } else { "any" };
            said.push(format!("Ruled out as the main cause of {any}: {}.", list(&all)));
        }
        for out in self.ruled_out.iter().filter(|out| !out.of.is_empty()) {
            let not = self.not_ruled_out.iter().find(|not| not.title == out.title);
            let but = not.map_or_else(String::new, |not| {
                format!("; not ruled out for {}, since {}", figures(&not.tests), not.why)
            });
            said.push(format!("Ruled out for {}: {} (at most {:.2}×){but}.", list(&out.of), out.title, out.bound));
        }
        said
    }
}

/// Beginning of the sentence on disturbances.
const FIRST: &str = "What disturbed the runs";

/// Rivals and facts that are named in one sentence; the rest are counted.
const NAMED: usize = 4;

/// `; consistent with page-table isolation (kernel.page_table_isolation no against yes) or another kernel (...)`, with
/// what is missing for each; empty without rivals. `besides`: the cause has a name already.
fn rivals(rivals: &[Rival], besides: bool) -> String {
    if rivals.is_empty() {
        return String::new();
    }
    let one = |rival: &Rival| {
        let mut inside = differences(&rival.because);
        inside.extend(rival.but.iter().map(|but| format!("but {but}")));
        if inside.is_empty() { rival.title.clone() } else { format!("{} ({})", rival.title, inside.join("; ")) }
    };
    let mut named: Vec<String> = rivals.iter().take(NAMED).map(one).collect();
    if rivals.len() > NAMED {
        named.push(format!("{} more that differ", rivals.len() - NAMED));
    }
    let last = named.pop().unwrap_or_default();
    let all = if named.is_empty() { last } else { format!("{} or {last}", named.join(", ")) };
    let apart = if rivals.len() + usize::from(besides) > 1 { "; these figures cannot tell them apart" } else { "" };
    let with = if besides { "consistent with this as well" } else { "consistent with" };
    format!("; {with}{} {all}{apart}", if besides { ":" } else { "" })
}

/// The first two differences in words. What disturbed the runs has been said before all causes.
fn differences(because: &[RunDifference]) -> Vec<String> {
    let said = |d: &RunDifference| match d.kind {
        DifferenceKind::Note => d.a.clone(),
        _ => format!("{} {}", d.name, against(d)),
    };
    because.iter().filter(|d| d.kind != DifferenceKind::Condition).take(2).map(said).collect()
}

/// `kernel.page_table_isolation differs (no against yes), and everything measured that it touches moved`.
fn that_differ(because: &[RunDifference]) -> String {
    let one = |d: &RunDifference| format!("{} differs ({})", d.name, against(d));
    let mut said: Vec<String> = because.iter().take(2).map(one).collect();
    if because.len() > 2 {
        said.push(format!("{} more differ", because.len() - 2));
    }
    format!(
        "{}, and everything measured that {} touches moved",
        list(&said),
        if because.len() > 1 { "this" } else { "it" }
    )
}

/// `1 GiB against 512 MiB`.
fn against(difference: &RunDifference) -> String {
    let (a, b) = difference.in_words();
    format!("{} against {}", short(&a), short(&b))
}

/// Longest value that is printed whole, characters.
const LONG: usize = 60;

/// A value, truncated if it is long: lists of flags and command lines are.
fn short(text: &str) -> String {
    if text.chars().count() <= LONG {
        text.to_owned()
    } else {
        format!("{}...", text.chars().take(LONG).collect::<String>())
    }
}

/// ` (placement same_cpu against cross_cpu)`, or empty.
fn because(cause: &Cause) -> String {
    let named = differences(&cause.because);
    if named.is_empty() { String::new() } else { format!(" ({})", named.join("; ")) }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
