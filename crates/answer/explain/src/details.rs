//! What is behind the sentences: every result by its id, every fact, every possible cause, every bound, and the
//! arithmetic that a reader can check.

use model::Primitive;

use super::result::{Cause, DifferenceKind, Explanation, Rival, RunDifference, SlowestMeasured, UNTOLD, Unmeasured};
use super::rules::CPU_LIMIT;
use super::text::{change, count, plural, range, results, slower, slower_range};
use model::words::{capital, list, seconds};

impl Explanation {
    /// The evidence, one thought for each string: the disturbances, the common factor, causes in order, then what is
    /// unexplained, what is ruled out, and what is left open.
    #[must_use]
    pub fn evidence(&self) -> Vec<String> {
        let mut said: Vec<String> = (!self.disturbed.is_empty())
            .then(|| format!("Interference: {}.", self.disturbed.join("; ")))
            .into_iter()
            .collect();
        if !self.difference {
            return said;
        }
        said.extend(self.common());
        said.extend(self.causes.iter().map(|cause| self.cause_in_full(cause)));
        said.extend(self.unmeasured.iter().map(group_in_full));
        said.extend(self.ruled());
        said.extend(self.untold());
        let open = self.left_open.iter().filter(|open| open.why != UNTOLD);
        said.extend(open.map(|open| format!("Not explained: {}: {}.", open.test, open.why)));
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
                "{}: {}, {}{interval} after the common factor, {}",
                residual.primitive,
                slower(residual.slowdown),
                change(residual.residual, 1),
                if residual.results == 1 { "1 result".to_owned() } else { format!("{} results", residual.results) }
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
                "All CPU-bound work is {}, and the CPU time of the two runs was limited differently; {} more results scale with it.",
                slower(factor.value),
                factor.follows.len()
            ));
        }
        let whose = if factor.clock_seen { "the measured clocks" } else { "the nominal clocks" };
        // Where no test in user mode shows it, those that follow it do.
        let (explains, follows) = match (factor.explains.len(), factor.follows.len()) {
            (0, follows) => (follows, 0),
            found => found,
        };
        let also = if follows == 0 { String::new() } else { format!(", and {follows} more scale with it") };
        let of = format!("{explains} of {} results", self.tests);
        let by = change(factor.value, 2);
        let ratio = factor.clock_ratio.map(|ratio| change(ratio, 1));
        let said = match ratio {
            Some(ratio) if factor.is_clock && explains == 0 => {
                format!("{} give {ratio}, but no result changed by just that", capital(whose))
            }
            Some(ratio) if factor.is_clock => {
                format!("The clock explains {of}: {by} in each{also}; {whose} give {ratio}")
            }
            ratio => {
                let clocks = ratio.map_or_else(
                    || "no clock is recorded for both".to_owned(),
                    |ratio| format!("{whose} give {ratio}"),
                );
                if explains == 0 {
                    format!(
                        "CPU-bound work changed by {by} in the median, but no result by just that; not known to be the clock ({clocks})"
                    )
                } else {
                    format!("A common factor explains {of}: {by} in each{also}; not known to be the clock ({clocks})")
                }
            }
        };
        Some(format!("{said}.{}", rivals(&factor.rivals, factor.is_clock)))
    }

    fn cause_in_full(&self, cause: &Cause) -> String {
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
            .map(|payment| format!("{} ({} {} each)", payment.test, count(payment.units), plural(&cause.per)))
            .collect();
        let alike: Vec<model::ResultKey> =
            others().filter(|payment| payment.uses.is_none()).map(|payment| payment.test.clone()).collect();
        if !alike.is_empty() {
            paid.push(results(&alike));
        }
        let pays = if paid.is_empty() { String::new() } else { format!(" That also accounts for {}.", list(&paid)) };
        let rivals = rivals(&cause.rivals, !cause.because.is_empty());
        format!("{head}.{pays}{}{rivals}", self.own(cause))
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
                    " Slower context switches cannot explain this ({} per {} would be needed): a separate cause.",
                    count(cause.excess / other.excess),
                    cause.per
                )
            })
            .collect()
    }

    /// What differs of which nothing but what disturbed the runs is known to explain it.
    fn untold(&self) -> Option<String> {
        let open = || self.left_open.iter().filter(|open| open.why == UNTOLD);
        let tests: Vec<model::ResultKey> = open().map(|open| open.test.clone()).collect();
        let factors = || open().filter_map(|open| open.factor);
        let ends = (factors().fold(f64::INFINITY, f64::min), factors().fold(0.0, f64::max));
        let (is, it) = if tests.len() == 1 { ("is", "it") } else { ("are", "them") };
        let times = slower_range(&[ends.0, ends.1]);
        (!tests.is_empty()).then(|| {
            format!(
                "{} {is} {times}. Interference alone may explain {it}; no recorded difference does.",
                results(&tests)
            )
        })
    }

    fn ruled(&self) -> Vec<String> {
        let all: Vec<String> = self
            .ruled_out
            .iter()
            .filter(|out| out.of.is_empty())
            .map(|out| format!("{} (at most {:.2}x)", out.title, out.bound))
            .collect();
        let mut said = Vec::new();
        if !all.is_empty() {
            // A bound is one on slowdowns: what is faster may be faster by anything.
            let any = if self.causes.iter().any(|cause| cause.excess < 0.0) { " of any slowdown" } else { "" };
            said.push(format!("Ruled out as the main cause{any}: {}.", list(&all)));
        }
        for out in self.ruled_out.iter().filter(|out| !out.of.is_empty()) {
            let not = self.not_ruled_out.iter().find(|not| not.title == out.title);
            let but =
                not.map_or_else(String::new, |not| format!("; not ruled out for {}: {}", results(&not.tests), not.why));
            said.push(format!("Ruled out for {}: {} (at most {:.2}x){but}.", list(&out.of), out.title, out.bound));
        }
        said
    }
}

/// Rivals and facts that are named in one sentence; the rest are counted.
const NAMED: usize = 4;

/// ` Possible causes: page-table isolation (kernel.page_table_isolation no against yes) or another kernel (...). These
/// results cannot separate them.`, with what is missing for each; empty without rivals. `besides`: the cause has a name
/// already.
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
    let apart =
        if rivals.len() > 1 { "These results cannot separate them." } else { "These results cannot separate the two." };
    match (besides, rivals.len()) {
        (true, _) => format!(" The same could come from {all}. {apart}"),
        (false, 1) => format!(" Possible cause: {all}."),
        (false, _) => format!(" Possible causes: {all}. {apart}"),
    }
}

/// The first two differences in words. Interference has been described before all causes.
fn differences(because: &[RunDifference]) -> Vec<String> {
    let said = |d: &RunDifference| match d.kind {
        DifferenceKind::Note => d.a.clone(),
        _ => format!("{} {}", d.name, against(d)),
    };
    because.iter().filter(|d| d.kind != DifferenceKind::Condition).take(2).map(said).collect()
}

/// `kernel.page_table_isolation differs (no against yes), and every result that depends on it changed`.
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
        "{}, and every result that depends on {} changed{open}",
        list(&said),
        if because.len() > 1 { "them" } else { "it" }
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
    // Cut at a word: what comes before the place where they differ is the same in both.
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

/// What nothing measured explains, with what would be needed.
fn group_in_full(group: &Unmeasured) -> String {
    let slowest = group.slowest_measured.map_or_else(
        || "nothing here measures a primitive".to_owned(),
        |SlowestMeasured { primitive, slowdown, at_most }| {
            let (times, most) = (format!("{slowdown:.1}"), format!("{at_most:.1}"));
            if times == most {
                format!("the slowest thing measured, {primitive}, is {times}x slower")
            } else {
                format!("nothing measured is more than {most}x slower ({primitive}: {times}x, with its interval)")
            }
        },
    );
    let needs: Vec<String> = group
        .would_need
        .iter()
        .map(|need| format!("{} {}", range(need.least, need.most, count), plural(&need.per)))
        .collect();
    let needs = if needs.is_empty() { String::new() } else { format!(" It would take {}.", needs.join(" or ")) };
    format!(
        "{} cost {} more each, and nothing measured accounts for it: they are {}x slower, {slowest}.{needs} Something not measured here is at least {}x slower.",
        results(&group.tests),
        range(group.excess.0, group.excess.1, seconds),
        range(group.slowdown.0, group.slowdown.1, |x| format!("{x:.0}")),
        group.slowdown.1.floor()
    )
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
