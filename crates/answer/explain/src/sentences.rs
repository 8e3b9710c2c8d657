//! An explanation in sentences whose arithmetic a reader can check.

use model::Primitive;

use super::result::{
    Cause, Decided, DifferenceKind, Explanation, Rival, RunDifference, SlowestMeasured, UNTOLD, Unmeasured,
};
use super::rules::CPU_LIMIT;
use super::stream_line::StreamLine;
use super::text::{change, count, plural, range, results};
use model::words::{list, seconds};

impl Explanation {
    /// The explanation, one thought for each string, without numbers in front: the runs, the causes in order, the
    /// unexplained and excluded parts, and the next measurement.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let lines = self.lines.iter().map(StreamLine::sentence);
        let mut said = self.runs();
        if !self.difference {
            said.extend(lines);
            if self.lines.is_empty() || self.decided.results > 0 {
                said.push(self.no_difference());
            }
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
            said.push(format!("Next experiment: {}: {}.", list(&next.benchmarks), next.why));
        }
        said
    }

    /// The runs, before any explanation: their CPUs if these differ, and their disturbances.
    #[must_use]
    pub fn runs(&self) -> Vec<String> {
        let cpus = self.cpus.iter().map(|[a, b]| format!("The CPUs differ: {a} against {b}."));
        let disturbed = (!self.disturbed.is_empty()).then(|| format!("{FIRST}: {}.", self.disturbed.join("; ")));
        cpus.chain(disturbed).collect()
    }

    /// That nothing differs, or that nothing is known to, with what would decide it.
    fn no_difference(&self) -> String {
        let Decided { results, inconclusive, by_samples, samples, by_sessions, sessions, too_close } = self.decided;
        if inconclusive == 0 {
            return format!("No difference to explain: all of {results} results are the same.");
        }
        let mut would = Vec::new();
        if by_samples > 0 {
            let many = if samples == 1 { "1 more sample".to_owned() } else { format!("up to {samples} more samples") };
            would.push(format!("{many} would probably decide {by_samples}"));
        }
        if by_sessions > 0 {
            would.push(format!("up to {sessions} sessions of each machine would decide {by_sessions}"));
        }
        if too_close > 0 {
            would.push(format!("{too_close} scatter too much, or lie too close to the edge of the same"));
        }
        let rest = inconclusive - by_samples - by_sessions - too_close;
        if rest > 0 {
            would.push(format!("{rest} {} no interval to test", if rest == 1 { "has" } else { "have" }));
        }
        let are = if inconclusive == 1 { "is" } else { "are" };
        format!("0 of {results} results differ for certain; {inconclusive} {are} inconclusive: {}.", list(&would))
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
                "{}: {:.4}× as it stands, {}{interval} after the common factor, {} results",
                residual.primitive,
                residual.slowdown,
                change(residual.residual, 1),
                residual.results
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
        // If no test in user mode shows it, the following ones do.
        let (explains, follows) = match (factor.explains.len(), factor.follows.len()) {
            (0, follows) => (follows, 0),
            found => found,
        };
        let also = if follows == 0 { String::new() } else { format!("; {follows} more follow it") };
        let of = format!("{explains} of {} tests", self.tests);
        let by = change(factor.value, 2);
        let ratio = factor.clock_ratio.map(|ratio| change(ratio, 1));
        Some(match (factor.is_clock, ratio) {
            (true, Some(ratio)) if explains == 0 => {
                let rivals = rivals(&factor.rivals, true);
                format!("{} say {ratio}, but no test changed by just that{rivals}.", capital(whose))
            }
            (true, Some(ratio)) => {
                let rivals = rivals(&factor.rivals, true);
                format!("The clock explains {of}: {by} in each, and {whose} say {ratio}{also}{rivals}.")
            }
            (_, ratio) => {
                let said = ratio
                    .map_or_else(|| "no clock is recorded for both".to_owned(), |ratio| format!("{whose} say {ratio}"));
                let rivals = rivals(&factor.rivals, false);
                if explains == 0 {
                    return Some(format!(
                        "The tests in user mode changed by {by} in the median, but none by just that; not known to be the clock ({said}){rivals}."
                    ));
                }
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
            let by_fact = cause.because.iter().any(|d| d.kind != DifferenceKind::Parameter) && cause.title != CPU_LIMIT;
            let because = if by_fact { format!(": {}", that_differ(cause)) } else { because };
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
        let alike: Vec<model::ResultKey> =
            others().filter(|payment| payment.uses.is_none()).map(|payment| payment.test.clone()).collect();
        if !alike.is_empty() {
            paid.push(results(&alike));
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
            |SlowestMeasured { primitive, slowdown, at_most }| {
                let (times, most) = (format!("{slowdown:.1}"), format!("{at_most:.1}"));
                if times == most {
                    format!("the slowest thing measured, {primitive}, is {times}× slower")
                } else {
                    format!("nothing measured is more than {most}× slower ({primitive}: {times}×, with its interval)")
                }
            },
        );
        let needs: Vec<String> = group
            .would_need
            .iter()
            .map(|need| format!("{} {}", range(need.least, need.most, count), plural(&need.per)))
            .collect();
        let needs = if needs.is_empty() { String::new() } else { format!("; it would take {}", needs.join(" or ")) };
        format!(
            "The tests {} cost {} more each. Nothing measured pays for it: they are {}× slower, {slowest}{needs}. An unmeasured resource, at least {} times slower.",
            results(&group.tests),
            range(group.excess.0, group.excess.1, seconds),
            range(group.slowdown.0, group.slowdown.1, |x| format!("{x:.0}")),
            group.slowdown.1.floor()
        )
    }

    /// Differences that only disturbances of the runs can explain.
    fn untold(&self) -> Option<String> {
        let open = || self.left_open.iter().filter(|open| open.why == UNTOLD);
        let tests: Vec<model::ResultKey> = open().map(|open| open.test.clone()).collect();
        let factors = || open().filter_map(|open| open.factor);
        let ends = (factors().fold(f64::INFINITY, f64::min), factors().fold(0.0, f64::max));
        let (take, it) = if tests.len() == 1 { ("takes", "it") } else { ("take", "them") };
        let times = range(ends.0, ends.1, |factor| format!("{factor:.2}"));
        (!tests.is_empty()).then(|| {
            format!(
                "{} {take} {times} times as long, and {UNTOLD}: no recorded fact that differs explains {it}.",
                results(&tests)
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
            // A bound limits slowdowns: a faster result may be faster by any factor.
            let any = if self.causes.iter().any(|cause| cause.excess < 0.0) { "any slowdown" } else { "any" };
            said.push(format!("Ruled out as the main cause of {any}: {}.", list(&all)));
        }
        for out in self.ruled_out.iter().filter(|out| !out.of.is_empty()) {
            let not = self.not_ruled_out.iter().find(|not| not.title == out.title);
            let but = not.map_or_else(String::new, |not| {
                format!("; not ruled out for {}, since {}", results(&not.tests), not.why)
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
    let apart = if rivals.len() + usize::from(besides) > 1 { "; these results cannot tell them apart" } else { "" };
    let with = if besides { "consistent with this as well" } else { "consistent with" };
    format!("; {with}{} {all}{apart}", if besides { ":" } else { "" })
}

/// The first two differences in words. Disturbances of the runs come before all causes.
fn differences(because: &[RunDifference]) -> Vec<String> {
    let said = |d: &RunDifference| match d.kind {
        DifferenceKind::Note => d.a.clone(),
        _ => format!("{} {}", d.name, against(d)),
    };
    because.iter().filter(|d| d.kind != DifferenceKind::Condition).take(2).map(said).collect()
}

/// `kernel.page_table_isolation differs (no against yes), and everything measured that it touches moved`.
fn that_differ(cause: &Cause) -> String {
    let because = &cause.because;
    let one = |d: &RunDifference| format!("{} differs ({})", d.name, against(d));
    let mut said: Vec<String> = because.iter().take(2).map(one).collect();
    if because.len() > 2 {
        said.push(format!("{} more differ", because.len() - 2));
    }
    let open = &cause.inconclusive;
    let open = if open.is_empty() { String::new() } else { format!(" or is inconclusive ({})", results(open)) };
    format!(
        "{}, and everything measured that {} touches moved{open}",
        list(&said),
        if because.len() > 1 { "this" } else { "it" }
    )
}

/// `1 GiB against 512 MiB`.
fn against(difference: &RunDifference) -> String {
    let (a, b) = difference.in_words();
    let (a, b) = apart(&a, &b);
    format!("{a} against {b}")
}

/// Longest value that is printed whole, characters.
const LONG: usize = 60;
/// Characters that both values have in common and that are printed before the place where they differ, at most.
const LEAD: usize = 20;

/// Two values, each shortened around the place where they begin to differ if it is long: lists of flags and command
/// lines are.
fn apart(a: &str, b: &str) -> (String, String) {
    let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    // Cut at a word: the text before the difference is the same in both.
    let lead = a.chars().take(common).collect::<Vec<_>>();
    let word = lead.iter().rposition(|letter| letter.is_whitespace()).map_or(0, |space| space + 1);
    let start = if common < LONG - LEAD { 0 } else { word.max(common - LEAD) };
    let short = |text: &str| {
        if text.chars().count() <= LONG {
            return text.to_owned();
        }
        let shown: String = text.chars().skip(start).take(LONG).collect();
        let (before, after) = (start > 0, text.chars().count() > start + LONG);
        format!("{}{shown}{}", if before { "..." } else { "" }, if after { "..." } else { "" })
    };
    (short(a), short(b))
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

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn long_values_are_cut_around_the_place_where_they_differ() {
        let line =
            |end: &str| format!("BOOT_IMAGE=/boot/vmlinuz root=UUID=0b0b0b0b-1111-2222 ro quiet console=ttyS0 {end}");
        let (a, b) = apart(&line("mitigations=auto"), &line("mitigations=off"));
        assert!(a != b && a.ends_with("mitigations=auto") && b.ends_with("mitigations=off"), "{a} | {b}");
        // They differ at once, in one long word, or by what only one of them has.
        let (a, b) = apart(&format!("x {}", "y ".repeat(60)), &format!("z {}", "y ".repeat(60)));
        assert!(a.starts_with("x y") && b.starts_with("z y") && a.ends_with("...") && a.len() < 70, "{a} | {b}");
        let (a, b) = apart(&"a".repeat(200), &format!("{}b{}", "a".repeat(150), "a".repeat(49)));
        assert!(a != b && a.len() < 70 && b.len() < 70, "{a} | {b}");
        let (a, b) = apart(&line(""), &line("nosmt"));
        assert!(a != b && b.contains("nosmt"), "{a} | {b}");
        assert_eq!(apart("none", "2"), ("none".to_owned(), "2".to_owned()));
    }
}
