//! The answer in plain sentences: what differs, how much of it is explained, and what to measure next. Results have
//! their titles here; ids, facts and arithmetic are in the details.

use model::ResultKey;
use model::words::{capital, digits, list};

use super::result::{Cause, Decided, DifferenceKind, Explanation, RunDifference, UNTOLD, Unmeasured};
use super::rules::DISTURBED;
use super::stream_line::StreamLine;
use super::text::{slower, slower_range};

/// Findings that are printed; the rest are counted.
const FINDINGS: usize = 5;
/// Results, primitives or possible causes that one sentence names; the rest are counted.
const NAMED: usize = 3;
/// Longest value of a fact in a sentence, characters.
const SHORT: usize = 40;
/// A factor closer to 1 than this is no change.
const UNCHANGED: f64 = stats::BAND;

impl Explanation {
    /// The explanation, one thought for each string, without numbers in front: the runs, the causes in order, the
    /// unexplained and excluded parts, and the next measurement.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        [self.answer(), self.findings(), self.remarks()].concat()
    }

    /// What differs and how much of it is explained, in one paragraph; then the interference.
    #[must_use]
    pub fn answer(&self) -> Vec<String> {
        let mut said = vec![match &self.cpus {
            Some([a, b]) => format!("The CPUs differ: {a} against {b}."),
            None if self.same_machine => "Same machine.".to_owned(),
            None => "Different machines.".to_owned(),
        }];
        if self.difference {
            said.extend(self.overall());
            said.extend(self.explained());
        } else if self.lines.is_empty() || self.decided.results > 0 {
            said.extend(self.no_difference());
        }
        let interference =
            (!self.interference.is_empty()).then(|| format!("Interference in {}.", self.interference.join("; in ")));
        std::iter::once(said.join(" ")).chain(interference).collect()
    }

    /// What changed, a sentence each: streams, causes, and what nothing measured explains.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let lines = self.lines.iter().map(StreamLine::sentence);
        let causes = self.causes.iter().map(|cause| self.cause(cause));
        let groups = self.unmeasured.iter().map(|group| self.group(group));
        let mut found: Vec<String> = lines.chain(causes).chain(groups).collect();
        // What nothing measured explains is worth more than the smallest causes.
        let last = self.unmeasured.len().min(1);
        if found.len() > FINDINGS {
            let groups = found.split_off(found.len() - last);
            found.truncate(FINDINGS - last);
            found.extend(groups);
        }
        found
    }

    /// What is left without an explanation, what is ruled out, and what to measure next.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut said = Vec::new();
        let all = self.lines.len() + self.causes.len() + self.unmeasured.len();
        if all > FINDINGS {
            said.push(format!("{} more by smaller changes: see the details.", all - FINDINGS));
        }
        let (untold, open): (Vec<_>, Vec<_>) = self.left_open.iter().partition(|open| open.why == UNTOLD);
        if !untold.is_empty() && !self.is_interference_alone() {
            let keys: Vec<ResultKey> = untold.iter().map(|open| open.test.clone()).collect();
            said.push(format!("Interference alone may explain {}.", self.named(&keys)));
        }
        if !open.is_empty() {
            let keys: Vec<ResultKey> = open.iter().map(|open| open.test.clone()).collect();
            said.push(format!("Not explained: {}.", self.named(&keys)));
        }
        let out: Vec<&str> =
            self.ruled_out.iter().filter(|out| out.of.is_empty()).map(|out| out.title.as_str()).collect();
        if !out.is_empty() {
            // A bound is one on slowdowns: what is faster may be faster by anything.
            let any = if self.causes.iter().any(|cause| cause.excess < 0.0) { " of any slowdown" } else { "" };
            said.push(format!("Ruled out as the main cause{any}: {}.", list(&out)));
        }
        said.extend(self.next_experiment.as_ref().map(|next| {
            let what_to_do = ["repeat", "change"].iter().any(|verb| next.why.starts_with(verb));
            if what_to_do { format!("{}.", capital(&next.why)) } else { format!("Measure next: {}.", next.why) }
        }));
        said
    }

    /// That nothing differs, or that nothing is known to, with what would decide it.
    fn no_difference(&self) -> Vec<String> {
        let Decided { results, inconclusive, by_samples, samples, by_sessions, sessions, too_close, .. } = self.decided;
        if inconclusive == 0 {
            return vec![format!("No result differs: all {results} are the same within the margin.")];
        }
        let need = |many: usize| if many == 1 { "needs" } else { "need" };
        let are = |many: usize| if many == 1 { "is" } else { "are" };
        let mut would = Vec::new();
        if by_samples > 0 {
            let many = if samples == 1 { "1 more sample".to_owned() } else { format!("up to {samples} more samples") };
            would.push(format!("{by_samples} {} {many}", need(by_samples)));
        }
        if by_sessions > 0 {
            would.push(format!("{by_sessions} {} up to {sessions} runs of each machine", need(by_sessions)));
        }
        if too_close > 0 {
            would.push(format!("{too_close} {} too noisy, or too close to the margin", are(too_close)));
        }
        let rest = inconclusive - by_samples - by_sessions - too_close;
        if rest > 0 {
            would.push(format!("{rest} {} no interval to test", if rest == 1 { "has" } else { "have" }));
        }
        vec![
            format!(
                "No difference is certain: {inconclusive} of {results} results {} inconclusive.",
                are(inconclusive)
            ),
            format!("{}.", capital(&list(&would))),
        ]
    }

    /// By how much B is slower, and how much of that the clock or another common factor is.
    fn overall(&self) -> Option<String> {
        if self.is_interference_alone() {
            let keys: Vec<ResultKey> = self.left_open.iter().map(|open| open.test.clone()).collect();
            let factors: Vec<f64> = self.left_open.iter().filter_map(|open| open.factor).collect();
            let verb = if keys.len() == 1 { "is" } else { "are" };
            return Some(format!("{} {verb} {}.", capital(&self.named(&keys)), slower_range(&factors)));
        }
        let factor = &self.common_factor;
        let (b, whole) = (&self.b, self.slowdown.filter(|whole| whole.ln().abs() > UNCHANGED));
        if (factor.value - 1.0).abs() < f64::EPSILON {
            return Some(match whole {
                Some(whole) => format!("{b} is {} overall.", slower(whole)),
                None => {
                    format!("{} of {} results differ.", self.differing().len(), self.tests.max(self.differing().len()))
                }
            });
        }
        let name = match (factor.is_clock, factor.clock_ratio) {
            (true, _) => "the clock",
            (false, Some(_)) => "a common factor other than the clock",
            (false, None) => "a common factor of CPU-bound work",
        };
        let alone = slower(factor.value);
        Some(match whole {
            Some(whole) if whole.ln() * factor.value.ln() < 0.0 => {
                format!("{b} is {} overall, although {name} alone would make it {alone}.", slower(whole))
            }
            Some(whole) if (whole / factor.value).ln().abs() <= UNCHANGED => {
                format!("{b} is {} overall; {name} accounts for all of it.", slower(whole))
            }
            Some(whole) if factor.value.ln().abs() > whole.ln().abs() => {
                format!("{b} is {} overall; {name} alone would make it {alone}.", slower(whole))
            }
            Some(whole) => {
                let part = digits(factor.value.max(1.0 / factor.value));
                format!("{b} is {} overall; {name} accounts for {part}x of that.", slower(whole))
            }
            None => {
                let shown = factor.explains.len() + factor.follows.len();
                let by = if shown == 0 {
                    "no result changed by just that".to_owned()
                } else {
                    format!("{shown} of {} results changed by that", self.tests)
                };
                format!("{} would make {b} {alone}; {by}.", capital(name))
            }
        })
    }

    /// Which causes are known; else that interference may be all of it, or that none is certain.
    fn explained(&self) -> Option<String> {
        if self.is_interference_alone() {
            return Some("Interference alone may explain this; no recorded difference does.".to_owned());
        }
        let known = |cause: &Cause| match (&cause.known_as, parameter(cause)) {
            (Some(known), _) => Some(known.clone()),
            (None, Some(parameter)) => Some(format!("another {}", parameter.name)).filter(|_| cause.rivals.is_empty()),
            (None, None) => None,
        };
        let titles: Vec<String> = self.causes.iter().filter_map(known).collect();
        if !titles.is_empty() {
            let causes = self.causes.iter().filter(|cause| known(cause).is_some());
            let paid: usize = causes.map(|cause| cause.pays_for.len()).sum();
            let of = self.differing().len();
            let explains = if titles.len() == 1 { "explains" } else { "explain" };
            let which = if paid >= of { "this".to_owned() } else { format!("{paid} of {of} results that differ") };
            return Some(format!("{} {explains} {which}.", capital(&list(&titles))));
        }
        if self.causes.is_empty() {
            return None;
        }
        let rest = if (self.common_factor.value - 1.0).abs() < f64::EPSILON { "" } else { " of the rest" };
        let may = |cause: &Cause| cause.rivals.first().is_some_and(|rival| rival.title == DISTURBED);
        if self.causes.iter().all(may) {
            let what = if rest.is_empty() { "this" } else { "the rest" };
            return Some(format!("Interference may explain {what} too."));
        }
        Some(format!("No cause{rest} is certain."))
    }

    /// Whether interference is all that is known of whatever differs.
    fn is_interference_alone(&self) -> bool {
        let nothing = self.causes.is_empty() && self.unmeasured.is_empty() && self.lines.is_empty();
        let alone = self.left_open.iter().all(|open| open.why == UNTOLD) && !self.left_open.is_empty();
        self.difference && nothing && alone && (self.common_factor.value - 1.0).abs() < f64::EPSILON
    }

    /// The results that differ by more than a common factor.
    fn differing(&self) -> Vec<&ResultKey> {
        let paid = self.causes.iter().flat_map(|cause| cause.pays_for.iter().map(|payment| &payment.test));
        let groups = self.unmeasured.iter().flat_map(|group| &group.tests);
        let mut found: Vec<&ResultKey> = Vec::new();
        for key in paid.chain(groups).chain(self.left_open.iter().map(|open| &open.test)) {
            if !found.contains(&key) {
                found.push(key);
            }
        }
        found
    }

    /// `Exec: 4.84x slower (start a program). No recorded difference explains it.`
    fn cause(&self, cause: &Cause) -> String {
        let values = cause.because.iter().find_map(short_values).unwrap_or_default();
        let (known, parameter) = (cause.known_as.as_deref(), parameter(cause));
        let own = known == Some(cause.title.as_str());
        let primitives: Vec<&str> = cause.primitives.iter().map(|primitive| primitive.title()).collect();
        let title = match own {
            true => format!("{}{values}", cause.title),
            false if cause.title == list(&primitives) => few_of(&primitives, "and"),
            false => cause.title.clone(),
        };
        let unit = Some(self.label(&cause.unit)).filter(|label| label.chars().count() <= SHORT);
        let unit = unit.unwrap_or_else(|| self.title(&cause.unit));
        let results = match cause.pays_for.len() {
            0 | 1 => unit,
            many => format!("{many} results, such as {unit}"),
        };
        let others: Vec<&str> = cause.rivals.iter().map(|rival| rival.title.as_str()).collect();
        let others: Vec<&str> = others.into_iter().filter(|title| *title != DISTURBED).collect();
        let why = match (known, parameter) {
            _ if own => String::new(),
            (Some(known), _) => format!(" Cause: {known}{values}."),
            (None, Some(parameter)) => {
                format!(" Measured at {} {} against {}.", parameter.name, parameter.a, parameter.b)
            }
            (None, None) if !others.is_empty() => format!(" Possible causes: {}.", few_of(&others, "or")),
            (None, None) if cause.rivals.is_empty() => " No recorded difference explains it.".to_owned(),
            (None, None) => String::new(),
        };
        format!("{}: {} ({results}).{why}", capital(&title), self.change(cause))
    }

    /// `2.38x slower, 1.61x of it not due to the clock`.
    fn change(&self, cause: &Cause) -> String {
        let (whole, rest) = (cause.slowdown, cause.factor);
        let removed = whole / rest;
        if removed.ln().abs() <= 1e-3 || cause.at_one_clock {
            let at = if cause.at_one_clock { " at the same clock" } else { "" };
            return format!("{}{at}", slower(rest));
        }
        let what = if self.common_factor.is_clock { "the clock" } else { "the common factor" };
        match whole.ln() {
            log if log.abs() <= UNCHANGED => {
                format!("no change, although {what} alone would make it {}", slower(removed))
            }
            log if log * rest.ln() > 0.0 && rest.ln().abs() <= log.abs() => {
                format!("{}, {}x of it not due to {what}", slower(whole), digits(rest.max(1.0 / rest)))
            }
            _ => format!("{}, although {what} alone would make it {}", slower(whole), slower(removed)),
        }
    }

    /// `Not explained: shell scripts (4 results): 7.33x to 11.1x slower. ...`
    fn group(&self, group: &Unmeasured) -> String {
        format!(
            "Not explained: {}: {}. Something not measured here is at least {:.0}x slower.",
            self.named(&group.tests),
            slower_range(&[group.slowdown.0, group.slowdown.1]),
            group.slowdown.1.floor()
        )
    }

    fn label(&self, key: &ResultKey) -> String {
        self.names.get(&key.to_string()).map_or_else(|| key.to_string(), |name| name.label.clone())
    }

    fn title(&self, key: &ResultKey) -> String {
        self.names.get(&key.to_string()).map_or_else(|| key.benchmark.clone(), |name| name.title.clone())
    }

    /// Results by their titles, with those of one benchmark together.
    fn named(&self, keys: &[ResultKey]) -> String {
        let mut benchmarks: Vec<(&str, Vec<&ResultKey>)> = Vec::new();
        for key in keys {
            match benchmarks.iter_mut().find(|(benchmark, _)| *benchmark == key.benchmark) {
                Some((_, those)) => those.push(key),
                None => benchmarks.push((&key.benchmark, vec![key])),
            }
        }
        let named = benchmarks.iter().map(|(_, those)| match those.as_slice() {
            [one] => self.label(one),
            many => format!("{} ({} results)", self.title(many[0]), many.len()),
        });
        few(named.collect::<Vec<_>>().iter().map(String::as_str))
    }
}

fn few<'a>(names: impl Iterator<Item = &'a str>) -> String {
    few_of(&names.collect::<Vec<_>>(), "and")
}

/// The first names, joined by this word, and the number of the rest.
fn few_of(names: &[&str], word: &str) -> String {
    let mut shown: Vec<String> = names.iter().take(NAMED).map(|name| (*name).to_owned()).collect();
    if names.len() > NAMED {
        shown.push(format!("{} more", names.len() - NAMED));
    }
    let last = shown.pop().unwrap_or_default();
    if shown.is_empty() { last } else { format!("{} {word} {last}", shown.join(", ")) }
}

/// The parameter on which the results of a cause differ.
fn parameter(cause: &Cause) -> Option<&RunDifference> {
    cause.because.iter().find(|difference| difference.kind == DifferenceKind::Parameter)
}

/// ` (none against 0.5)`, if both values are short.
fn short_values(difference: &RunDifference) -> Option<String> {
    let (a, b) = difference.in_words();
    let short = a.chars().count().max(b.chars().count()) <= SHORT;
    (difference.kind != DifferenceKind::Condition && short).then(|| format!(" ({a} against {b})"))
}
