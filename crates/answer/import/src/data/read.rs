//! Reads a source by the rules of a format's file.

use std::collections::{BTreeMap, HashMap};

use model::{Fact, Parameters, Primitive, format_size};
use regex::Regex;

use super::formula::{evaluate, names};
use super::items;
use super::rules::{
    CheckRule, ColumnRule, CombineRule, CombineTo, Common, DataFormat, DeriveRule, DropRule, GatherRule, OptionRule,
    ParameterRule, Pattern, QuantileColumns, ResultRule, Split, TableRule, Texts,
};
use crate::assemble::default_direction;
use crate::date;
use crate::differing::{Settings, differing};
use crate::format::{Parsed, SourceText};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, metric, number as number_fact, text as text_fact};
use crate::text::{MOST_NAMES, SourceFault, grouped, lines, name_value, need, number, parameter_value, shown, snake};
use crate::units::{NamedUnit, unit};

/// Groups that are no parameters.
const RESERVED: [&str; 12] = [
    "columns",
    "line",
    "command_line",
    "unit",
    "version",
    "low",
    "high",
    "error",
    "count",
    "quantile",
    "started",
    "machine",
];

/// Reads a source.
pub(crate) fn parse(format: &DataFormat, source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut reader = Reader { format: Some(format), ..Reader::default() };
    let given = format.given.iter().filter(|given| source.text.contains(&given.words));
    reader.given = given.flat_map(|given| given.keep.clone()).collect();
    reader.kept = reader.given.clone();
    if !format.item.is_empty() && (format.line.is_empty() || items::is_json(source.text)) {
        items::parse(&mut reader, format, source)?;
    } else {
        reader.lines(format, source)?;
    }
    reader.end()?;
    if let Some((at, needs)) =
        reader.lost.take().filter(|_| reader.sheet.readings.is_empty() && reader.others.is_empty())
    {
        return Err(SourceFault::new(needs, at));
    }
    if let Some(required) = &format.required
        && reader.sheet.readings.iter().all(|reading| reading.id != required.id)
    {
        return Err(SourceFault::new(&required.error, source.text.lines().count()));
    }
    reader.settle_parts();
    // Results of several machines are not of the first one.
    if reader.machines.len() > 1 && reader.others.is_empty() {
        reader.sheet.machine.clear();
        reader.sheet.facts.clear();
    }
    let mut sheets: Vec<SourceSheet> = reader.others.into_iter().map(|(_, sheet)| sheet).collect();
    if sheets.is_empty() || !reader.sheet.readings.is_empty() {
        sheets.push(reader.sheet);
    }
    if format.same_machines {
        sheets = SourceSheet::merged(sheets);
    }
    for sheet in &mut sheets {
        sheet.notes.extend(format.notes.iter().cloned());
    }
    Ok(Parsed::Sheets(sheets))
}

/// What the lines so far have said.
#[derive(Default)]
pub(super) struct Reader<'a> {
    format: Option<&'a DataFormat>,
    sheet: SourceSheet,
    /// The machine of the present run, and runs of others.
    of: String,
    others: Vec<(String, SourceSheet)>,
    /// Readings before the present part.
    block: usize,
    /// The line on which the present part began.
    part_at: usize,
    /// The results of the present part are left out.
    dropped: bool,
    gathered: BTreeMap<String, Vec<String>>,
    /// Notes on results of the present part that lack a parameter.
    without: Vec<(usize, &'a BTreeMap<String, String>)>,
    /// Machines that it names.
    machines: std::collections::BTreeSet<String>,
    /// Quantiles of the result that follows.
    pub(super) quantiles: Vec<(f64, f64)>,
    /// Titles and places of readings with parameters that lines below may state.
    later: Vec<(String, usize, &'a BTreeMap<String, String>)>,
    /// Parameters of the last reading.
    last: Parameters,
    /// Places of readings that may be repeated or replace others, and values that are repeated.
    places: HashMap<(String, Parameters), (usize, u8)>,
    repeated: BTreeMap<usize, (&'a CombineRule, Vec<f64>)>,
    section: &'a str,
    /// Parameters of the results that follow.
    parameters: Parameters,
    /// Parameters of the whole output.
    whole: Parameters,
    /// Values of parameters that count where they differ, with the number of readings before each.
    parts: BTreeMap<String, Vec<(usize, String)>>,
    /// Settings of each part that count where parts with the same results differ in them, with the number of readings
    /// before it.
    settings: Vec<(usize, Settings)>,
    /// Facts that parts state differently.
    disputed: Vec<String>,
    /// The line on which the output begins.
    begun: Option<usize>,
    /// The line of the output that has no result yet, and the fault that this is.
    open: Option<(usize, String)>,
    /// Whether that is a note, because other outputs have results, and the first such.
    lenient: bool,
    lost: Option<(usize, String)>,
    /// Notes on the result that follows.
    next: Vec<String>,
    table: Option<Table<'a>>,
    /// What earlier groups hold that later templates may have.
    kept: BTreeMap<String, String>,
    /// What the whole source says of itself.
    given: BTreeMap<String, String>,
}

/// Groups of a line or cells of a row, by name.
#[derive(Default)]
pub(super) struct Groups {
    words: Vec<(String, Option<String>)>,
}

impl Groups {
    fn of(pattern: &Pattern, line: &str, at: usize) -> Result<Option<Self>, SourceFault> {
        let regex = regex(pattern, at)?;
        let Some(found) = regex.captures(line) else { return Ok(None) };
        let word = |name: &str| found.name(name).map(|word| word.as_str().trim().to_owned());
        let words = regex.capture_names().flatten().map(|name| (name.to_owned(), word(name))).collect();
        Ok(Some(Self { words }))
    }

    /// The groups with those of each match of a pattern inside the line; as they are without one.
    fn each(self, pattern: Option<&Pattern>, line: &str, at: usize) -> Result<Vec<Self>, SourceFault> {
        let Some(pattern) = pattern else { return Ok(vec![self]) };
        let regex = regex(pattern, at)?;
        let with = |found: regex::Captures<'_>| {
            let own = regex.capture_names().flatten();
            let own = own.map(|name| (name.to_owned(), found.name(name).map(|word| word.as_str().to_owned())));
            Self { words: self.words.iter().cloned().chain(own).collect() }
        };
        Ok(regex.captures_iter(line).map(with).collect())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|(name, _)| name.as_str())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.words.iter().find(|(known, _)| known == name).and_then(|(_, word)| word.as_deref())
    }

    pub(super) fn set(&mut self, name: &str, word: String) {
        self.put(name, Some(word));
    }

    /// A group that is there without a word takes it in its place.
    pub(super) fn put(&mut self, name: &str, word: Option<String>) {
        match self.words.iter_mut().find(|(known, known_word)| known == name && known_word.is_none()) {
            Some((_, absent)) => *absent = word,
            None => self.words.push((name.to_owned(), word)),
        }
    }
}

/// The table whose rows are read.
struct Table<'a> {
    rule: &'a TableRule,
    columns: Vec<Column<'a>>,
}

/// A column, and how many of its name stand before it.
enum Column<'a> {
    Parameter(String),
    Across(String),
    Known(&'a ColumnRule, usize),
    Quantile(f64, f64),
}

impl<'a> Reader<'a> {
    /// Reads a source line by line.
    fn lines(&mut self, format: &'a DataFormat, source: &SourceText<'_>) -> Result<(), SourceFault> {
        for (at, whole) in lines(source.text) {
            // Progress is written over with carriage returns.
            let line = whole.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default();
            let line = if format.quoted { line.trim_start_matches(['>', '~', ' ', '\t']) } else { line };
            if self.line(format, line.trim(), at)? {
                source.took(at);
            }
        }
        Ok(())
    }

    /// Whether the line was understood.
    fn line(&mut self, format: &'a DataFormat, line: &str, at: usize) -> Result<bool, SourceFault> {
        if line.is_empty() {
            self.table = None;
        }
        for rule in &format.table {
            if self.applies(&rule.common)
                && let Some(groups) = Groups::of(&rule.heading, line, at)?
            {
                self.common(&rule.common, &[], &groups, at)?;
                self.table = Some(Table { rule, columns: columns(rule, groups.get("columns").unwrap_or(line), at)? });
                return Ok(true);
            }
        }
        if let Some(table) = self.table.take() {
            let is_row = regex(&table.rule.row, at)?.is_match(line);
            if is_row {
                self.row(&table, line, at)?;
            }
            self.table = Some(table);
            if is_row {
                return Ok(true);
            }
        }
        for rule in &format.line {
            if self.applies(&rule.common)
                && let Some(groups) = Groups::of(&rule.pattern, line, at)?
            {
                for mut groups in groups.each(rule.each.as_ref(), line, at)? {
                    groups.set("line", at.to_string());
                    self.apply(&rule.common, &rule.result, rule.error.as_deref(), groups, at)?;
                }
                return Ok(true);
            }
        }
        for pattern in &format.ignore {
            if regex(pattern, at)?.is_match(line) {
                return Ok(true);
            }
        }
        Ok(line.is_empty())
    }

    fn applies(&self, rule: &Common) -> bool {
        let is_kept = |name: &String| self.kept.get(name).is_some_and(|word| !word.is_empty());
        rule.within.as_ref().is_none_or(|section| section == self.section)
            && rule.only.as_ref().is_none_or(is_kept)
            && !rule.unless.as_ref().is_some_and(is_kept)
    }

    /// A line or an item is what a rule is for.
    pub(super) fn apply(
        &mut self,
        rule: &'a Common,
        results: &'a [ResultRule],
        error: Option<&str>,
        mut groups: Groups,
        at: usize,
    ) -> Result<(), SourceFault> {
        let command = groups.get("command").filter(|_| !rule.options.0.is_empty()).map(str::to_owned);
        for (parameter, option) in command.iter().flat_map(|_| &rule.options.0) {
            groups.put(parameter, option_of(option, command.as_deref().unwrap_or_default()));
        }
        self.derive(rule, &mut groups, at)?;
        let groups = &groups;
        if let Some(error) = error {
            return Err(SourceFault::new(self.filled(error, groups, shown), at));
        }
        let own = self.common(rule, results, groups, at)?;
        self.check(&rule.check, groups, at)?;
        for result in results {
            self.result(result, groups, &own, at)?;
        }
        Ok(())
    }

    /// Quantiles of the last result of a rule, if it has one.
    pub(super) fn add_quantiles(&mut self, before: usize, quantiles: Vec<(f64, f64)>) {
        if let Some(last) = self.sheet.readings.iter_mut().skip(before).next_back() {
            last.quantiles.extend(quantiles);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.sheet.readings.len()
    }

    /// What is not the results of a rule; the parameters of its groups.
    fn common(
        &mut self,
        rule: &'a Common,
        results: &'a [ResultRule],
        groups: &Groups,
        at: usize,
    ) -> Result<Parameters, SourceFault> {
        if rule.ends {
            self.open = None;
        }
        if let Some(run) = &rule.run {
            self.run(self.filled(run, groups, shown), at)?;
        }
        if rule.clear {
            self.kept = self.given.clone();
            self.begun = None;
        }
        if rule.begin || rule.repeat || rule.clear {
            self.end()?;
            (self.parameters, self.section, self.table) = (Parameters::none(), "", None);
        } else if rule.process || rule.block {
            self.part();
        }
        if rule.begin || rule.repeat || rule.clear || rule.process || rule.block {
            self.part_at = at;
        }
        if rule.repeat {
            self.sheet.begin_repetition();
        } else if rule.begin || rule.process {
            self.sheet.begin_process();
        }
        if rule.begin {
            self.begun = Some(at);
        }
        if let Some(left_out) = &rule.drop {
            self.leave_out(left_out, at);
        }
        if let Some(needs) = &rule.needs {
            if rule.block {
                self.closed()?;
            }
            self.open = Some((self.begun.unwrap_or(at), self.filled(needs, groups, shown)));
            self.lenient = rule.lenient;
        }
        for name in &rule.keep {
            self.kept.insert(name.clone(), groups.get(name).unwrap_or_default().to_owned());
        }
        for (name, template) in &rule.gather {
            let part = self.filled(template, groups, shown);
            if !part.contains('{') {
                self.gathered.entry(name.clone()).or_default().push(part);
            }
        }
        if let Some(section) = &rule.section {
            self.section = section;
        }
        self.machine(rule, groups);
        let note = |template: &String| self.filled(template, groups, shown);
        let [of_run, next, last] = [&rule.note, &rule.note_next, &rule.note_last].map(|text| text.as_ref().map(note));
        self.note(of_run);
        self.next.extend(next.filter(|note| !note.contains('{')));
        if let Some(reading) = self.sheet.readings.last_mut() {
            reading.notes.extend(last);
        }
        for (name, template) in &rule.define {
            let [name, word] = [name, template].map(|text| self.filled(text, groups, str::to_owned));
            if !name.contains('{') && !word.contains('{') {
                self.kept.insert(name, word);
            }
        }
        let own = self.parameters_of(rule, results, groups, at)?;
        if rule.differs {
            if self.settings.last().is_none_or(|(start, _)| *start != self.block) {
                self.settings.push((self.block, Settings::new()));
            }
            if let Some((_, settings)) = self.settings.last_mut() {
                settings.extend(own.iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
        } else if rule.whole {
            self.whole = joined(std::mem::take(&mut self.whole), &own);
        } else if rule.apart {
            for (parameter, value) in own.iter() {
                let (parts, before) = (self.parts.entry(parameter.to_owned()).or_default(), self.sheet.readings.len());
                parts.retain(|(start, _)| *start < before);
                parts.push((before, value.to_owned()));
            }
        } else if results.is_empty() {
            // A part of the line that is not there ends what it said before.
            let absent = groups.names().filter(|name| own.get(name).is_none());
            let parameters =
                absent.fold(std::mem::take(&mut self.parameters), |parameters, name| parameters.without(name));
            self.parameters = joined(parameters, &own);
        } else {
            return Ok(own);
        }
        Ok(Parameters::none())
    }

    /// What a line states of the tool and the machine.
    fn machine(&mut self, rule: &Common, groups: &Groups) {
        if let Some(version) = groups.get("version") {
            self.sheet.states_version(version.to_owned());
        }
        if let Some(machine) = groups.get("machine") {
            self.sheet.machine = name_value(machine);
            self.machines.insert(machine.to_owned());
        }
        if let Some(program) = groups.get("command_line") {
            self.sheet.command = vec![parameter_value(program)];
        }
        if let Some(moment) = groups.get("started").filter(|_| self.sheet.started.is_empty()) {
            self.sheet.started = number(moment).map_or_else(|| date::any(moment), date::unix);
        }
        for (group, fact) in &rule.facts {
            let Some(found) = groups.get(group) else { continue };
            let affects: &[Primitive] = match fact.name.as_str() {
                "cpu.model" | "cpu.clock" | "cpu.clock.max" | "cpu.governor" => &[Primitive::CoreClock],
                _ => &[],
            };
            let stated = match &fact.unit {
                Some(unit) => {
                    number(found).map(|found| number_fact(&fact.name, found * fact.factor, unit, "output", affects))
                }
                None => text_fact(&fact.name, &name_value(found), "output", affects),
            };
            let other =
                |known: &Fact| known.name == fact.name && stated.as_ref().is_some_and(|new| new.value != known.value);
            if rule.differs && self.sheet.facts.iter().any(other) {
                self.disputed.push(fact.name.clone());
            }
            self.sheet.fact(stated);
        }
    }

    fn parameters_of(
        &self,
        rule: &Common,
        results: &[ResultRule],
        groups: &Groups,
        at: usize,
    ) -> Result<Parameters, SourceFault> {
        let all =
            || results.iter().flat_map(|result| std::iter::successors(Some(result), |rule| rule.other.as_deref()));
        let templates: Vec<&String> = all()
            .flat_map(|result| {
                let texts = [Some(&result.id), Some(&result.title), result.range_note.as_ref(), result.per.as_ref()];
                texts.into_iter().chain(result.note.iter().flat_map(Texts::all).map(Some))
            })
            .chain([rule.note.as_ref(), rule.note_last.as_ref(), rule.note_next.as_ref()])
            .flatten()
            .chain(rule.set.values().chain(rule.gather.values()))
            .chain(rule.define.keys().chain(rule.define.values()))
            .chain(all().flat_map(|result| result.set.values()))
            .chain(rule.derive.values().flat_map(|derived| &derived.text))
            .collect();
        let formulas: Vec<&String> = all()
            .flat_map(|result| [&result.formula, &result.low, &result.high, &result.rounding])
            .chain(rule.derive.values().map(|derived| &derived.formula))
            .flatten()
            .chain(rule.check.iter().map(|check| &check.value))
            .collect();
        let is_used = |name: &str| {
            RESERVED.contains(&name)
                || (rule.facts.contains_key(name) && !rule.parameters.contains_key(name))
                || rule.keep.iter().any(|kept| kept == name)
                || (name == "command" && !rule.options.0.is_empty())
                || name.ends_with("_unit")
                || rule.derive.values().any(|derived| derived.of == name)
                || all().any(|result| {
                    let lists = [result.samples.as_deref(), result.parts.as_deref()];
                    result.value == name
                        || result.count == name
                        || result.quantiles.contains_key(name)
                        || result.exact.iter().any(|exact| exact == name)
                        || lists.contains(&Some(name))
                })
                || (formulas.iter().any(|formula| names(formula).any(|used| used == name))
                    && !rule.parameters.contains_key(name))
                || (templates.iter().any(|text| text.contains(&format!("{{{name}}}")))
                    && !rule.parameters.contains_key(name))
        };
        let mut own = Parameters::none();
        for name in groups.names().filter(|name| !is_used(name)) {
            let Some(word) = groups.get(name) else { continue };
            if let Some(value) = spelt(rule.parameters.get(name), word, at)? {
                own = own.with(name, value);
            }
        }
        Ok(self.set(own, &rule.set, groups, snake))
    }

    /// The parameters with parameters whose values may have `{group}` in them; none where that is not known.
    fn set(
        &self,
        parameters: Parameters,
        set: &BTreeMap<String, String>,
        groups: &Groups,
        spell: fn(&str) -> String,
    ) -> Parameters {
        let values = set.iter().map(|(parameter, value)| (parameter, self.filled(value, groups, spell)));
        values
            .filter(|(_, value)| !value.contains('{'))
            .fold(parameters, |parameters, (parameter, value)| parameters.with(parameter, value))
    }

    /// Adds the groups that follow from others.
    fn derive(&self, rule: &Common, groups: &mut Groups, at: usize) -> Result<(), SourceFault> {
        // One may follow from another.
        for (name, rule) in rule.derive.iter().chain(&rule.derive) {
            if groups.get(name).is_some() {
                continue;
            }
            let DeriveRule { of, words, pattern, replace, snake: as_id, formula, text, decimals, plain, size, default } =
                rule;
            let spelt = |value: f64| match () {
                () if *size => format_size(value as u64),
                () if *plain => value.to_string(),
                () => format!("{value:.decimals$}"),
            };
            let word = match formula {
                _ if !text.is_empty() => {
                    let mut texts = text.iter().map(|text| self.filled(text, groups, str::to_owned));
                    texts.find(|text| !text.contains('{'))
                }
                Some(formula) => self.compute(formula, groups, at)?.filter(|value| *value < 1e18).map(spelt),
                None => {
                    let found = self.word(groups, of).and_then(|word| match pattern {
                        Some(pattern) => {
                            let found = pattern.regex().ok()?.captures(word)?;
                            Some(found.iter().skip(1).flatten().next()?.as_str())
                        }
                        None => Some(word),
                    });
                    let found = found.and_then(|word| match (words.get(word), words.is_empty()) {
                        (None, false) => None,
                        (known, _) => Some(known.map_or(word, String::as_str)),
                    });
                    let found = found.map(|word| if *as_id { snake(word) } else { word.to_owned() });
                    found.map(|word| replace.iter().fold(word, |word, (from, to)| word.replace(from, to)))
                }
            };
            if let Some(word) = word.or_else(|| default.clone()) {
                groups.set(name, word);
            }
        }
        Ok(())
    }

    /// What a group holds, or an earlier one of the name that was kept.
    fn word<'g>(&'g self, groups: &'g Groups, name: &str) -> Option<&'g str> {
        groups.get(name).or_else(|| self.kept.get(name).map(String::as_str)).filter(|word| !word.is_empty())
    }

    /// The value of a formula whose names all have one.
    fn compute(&self, formula: &str, groups: &Groups, at: usize) -> Result<Option<f64>, SourceFault> {
        for word in names(formula).filter_map(|name| self.word(groups, name)) {
            operand(word, at)?;
        }
        Ok(evaluate(formula, &|name| operand(self.word(groups, name)?, at).ok()))
    }

    fn check(&mut self, rules: &[CheckRule], groups: &Groups, at: usize) -> Result<(), SourceFault> {
        for rule in rules {
            let Some(value) = self.compute(&rule.value, groups, at)? else { continue };
            if rule.least.is_none_or(|least| value >= least) && rule.most.is_none_or(|most| value <= most) {
                continue;
            }
            if let Some(error) = &rule.error {
                return Err(SourceFault::new(error, at));
            }
            if let Some(left_out) = &rule.drop {
                self.leave_out(left_out, at);
            }
        }
        Ok(())
    }

    /// Leaves out the present part; a note may name the `{line}` on which it began.
    fn leave_out(&mut self, rule: &DropRule, at: usize) {
        if self.dropped {
            return;
        }
        self.sheet.readings.truncate(self.block);
        (self.dropped, self.open) = (true, None);
        if let Some(error) = &rule.error {
            self.lost.get_or_insert_with(|| (at, error.clone()));
        }
        let note = self.filled(&rule.note, &Groups::default(), shown).replace("{line}", &self.part_at.to_string());
        if !self.sheet.notes.contains(&note) {
            self.sheet.notes.push(note);
        }
    }

    fn result(
        &mut self,
        rule: &'a ResultRule,
        groups: &Groups,
        own: &Parameters,
        at: usize,
    ) -> Result<(), SourceFault> {
        let group = |name: &str| groups.get(name);
        let word = group(&rule.value).or_else(|| rule.formula.as_deref().map(|_| ""));
        let Some(word) = word.filter(|_| !self.dropped) else { return Ok(()) };
        let own_unit = format!("{}_unit", rule.value);
        let (of, scale) = unit_of(rule, group(&own_unit).or_else(|| self.word(groups, "unit")), at)?;
        if rule.none.iter().any(|none| none == word) {
            if rule.ends {
                self.open = None;
            }
            return Ok(());
        }
        let digits = grouped(word).unwrap_or_else(|| word.to_owned());
        let spread = match (&rule.low, &rule.high) {
            (Some(low), Some(high)) => self.compute(low, groups, at)?.zip(self.compute(high, groups, at)?),
            _ => None,
        };
        if let Some(other) = rule.other.as_deref().filter(|_| rule.low.is_some() && spread.is_none()) {
            return self.result(other, groups, own, at);
        }
        let value = match &rule.formula {
            Some(formula) => match (self.compute(formula, groups, at)?, &rule.other) {
                (Some(value), _) if value > 0.0 => value * scale,
                (_, Some(other)) => return self.result(other, groups, own, at),
                (Some(value), None) => value * scale,
                (None, None) => return Ok(()),
            },
            None => need(&digits, at)? * scale,
        };
        if rule.quantile {
            let quantile = group("quantile").map_or(Ok(rule.percent), |percent| need(percent, at))? / 100.0;
            match self.sheet.readings[self.block..].last_mut().filter(|_| !rule.next) {
                Some(last) => last.quantiles.push((quantile, value)),
                None => self.quantiles.push((quantile, value)),
            }
            return Ok(());
        }
        if rule.ends {
            self.open = None;
        }
        if rule.positive && (value <= 0.0 || !(value / scale).is_normal()) {
            let note = rule.zero_note.as_ref().map(|note| self.filled(note, groups, shown));
            self.note(note);
            return Ok(());
        }
        let per = rule.per.as_ref().map_or(of.per, |per| self.filled(per, groups, shown));
        let better = rule.better.or(of.better).unwrap_or_else(|| default_direction(of.unit));
        let (id, title) = (self.filled(&rule.id, groups, snake), self.filled(&rule.title, groups, str::to_owned));
        let mut reading = SourceReading::new(id, title, value, metric(of.unit, &per, better));
        if rule.digits && rule.formula.is_none() {
            reading = reading.printed_in(&digits, scale);
        }
        if rule.significant > 0 {
            let printed = digits.contains(['e', 'E']);
            reading =
                if printed { reading.printed(&digits) } else { reading.rounded(5.0 * 10_f64.powi(-rule.significant)) };
        }
        let exact = |name: &String| {
            let word = self.word(groups, name)?;
            SourceReading::new("", "", value, reading.metric.clone()).printed(word).rounding
        };
        if let Some(rounding) = rule.exact.iter().filter_map(exact).reduce(f64::max) {
            reading = reading.rounded(rounding);
        }
        if let Some(rounding) = &rule.rounding
            && let Some(rounding) = self.compute(rounding, groups, at)?
        {
            reading = reading.rounded(rounding);
        }
        reading.below = rule.below.filter(|_| value == 0.0).or(reading.below);
        reading.parameters = self.set(joined(self.parameters.clone(), own), &rule.set, groups, parameter_value);
        if let (Some(low), Some(high)) = (group("low"), group("high")) {
            reading = reading.spread(SourceSpread::Range(operand(low, at)? * scale, operand(high, at)? * scale));
        }
        if let Some(error) = group("error") {
            let width = need(error, at)?.abs() * scale;
            reading = reading.spread(SourceSpread::Range(value - width, value + width));
        }
        if let Some((low, high)) = spread.filter(|(low, high)| low < high || rule.range_note.is_none()) {
            reading = reading.spread(SourceSpread::Range(low * scale, high * scale));
        }
        if let Some(count) = self.word(groups, &rule.count).and_then(|count| count.parse().ok()) {
            // One value has no range.
            let spread = if count == 1 { SourceSpread::None } else { reading.spread.clone() };
            reading = if rule.processes { reading.counts(count, 1) } else { reading.counts(1, count) }.spread(spread);
        }
        if matches!(reading.spread, SourceSpread::Range(..)) {
            reading.notes.extend(rule.range_note.as_ref().map(|note| self.filled(note, groups, shown)));
        }
        for (name, quantile) in &rule.quantiles {
            if let Some(word) = self.word(groups, name) {
                let (_, scale) = unit_of(rule, group(&format!("{name}_unit")).or(group("unit")), at)?;
                reading.quantiles.push((*quantile, need(word, at)? * scale));
            }
        }
        reading.quantiles.append(&mut self.quantiles);
        // A note is of what the line states: a part that is not there has none.
        let noted = rule.note.iter().flat_map(Texts::all).map(|note| self.filled(note, groups, shown));
        reading.notes.extend(noted.filter(|note| !note.contains('{')));
        reading.notes.append(&mut self.next);
        self.without.push((self.sheet.readings.len(), &rule.without));
        reading.definition.clone_from(&rule.definition);
        if !rule.later.is_empty() {
            self.later.push((reading.title.clone(), self.sheet.readings.len(), &rule.later));
        }
        self.spread_of_list(rule, groups, &mut reading, scale, at)?;
        self.add(rule, reading);
        Ok(())
    }

    /// The spread of values that a group lists: of executions, or of parts of one.
    fn spread_of_list(
        &self,
        rule: &ResultRule,
        groups: &Groups,
        reading: &mut SourceReading,
        scale: f64,
        at: usize,
    ) -> Result<(), SourceFault> {
        let list = |name: &Option<String>| {
            let words = name.as_deref().and_then(|name| self.word(groups, name)).unwrap_or_default();
            let values = words.split(',').filter(|word| !word.is_empty()).map(|word| Ok(need(word, at)? * scale));
            values.collect::<Result<Vec<f64>, SourceFault>>()
        };
        let samples = list(&rule.samples)?;
        if !samples.is_empty() {
            reading.spread = SourceSpread::Samples(samples);
        }
        let parts = list(&rule.parts)?;
        if let [first, _, ..] = parts[..] {
            let (low, high) =
                parts.iter().fold((first, first), |(low, high), value| (low.min(*value), high.max(*value)));
            reading.spread = SourceSpread::Range(low.min(reading.value), high.max(reading.value));
            reading.batches = u32::try_from(parts.len()).unwrap_or(u32::MAX);
            reading.notes.extend(rule.range_note.as_ref().map(|note| self.filled(note, groups, shown)));
        }
        Ok(())
    }

    /// Adds a reading, unless it repeats one or another of the same result counts.
    fn add(&mut self, rule: &'a ResultRule, mut reading: SourceReading) {
        let key = (reading.id.clone(), reading.parameters.clone());
        let adjacent = rule.combine.as_ref().is_some_and(|combine| combine.adjacent);
        let follows = std::mem::replace(&mut self.last, key.1.clone()) == key.1;
        let known = self.places.get(&key).copied().filter(|_| !adjacent || follows);
        if rule.remark {
            if let Some(known) = known.and_then(|(place, _)| self.sheet.readings.get_mut(place)) {
                known.notes.append(&mut reading.notes);
            }
            return;
        }
        let place = match known {
            Some((_, rank)) if rank < rule.rank || (rank == rule.rank && rank > 0) => return,
            Some((place, rank)) if rank > rule.rank => {
                self.repeated.remove(&place);
                self.sheet.readings[place] = reading.clone();
                place
            }
            Some((place, _)) if rule.combine.is_some() => {
                if let Some((_, values)) = self.repeated.get_mut(&place) {
                    values.push(reading.value);
                }
                return;
            }
            _ => {
                self.sheet.readings.push(reading.clone());
                self.sheet.readings.len() - 1
            }
        };
        if let Some(combine) = &rule.combine {
            self.repeated.insert(place, (combine, vec![reading.value]));
        }
        self.places.insert(key, (place, rule.rank));
    }

    /// Repetitions of one result become its median, its mean or its samples.
    fn combine(&mut self) {
        self.places.clear();
        self.last = Parameters::none();
        for (place, (rule, mut values)) in std::mem::take(&mut self.repeated) {
            let Some(reading) = self.sheet.readings.get_mut(place) else { continue };
            if rule.to == CombineTo::Samples {
                reading.spread = SourceSpread::Samples(values);
                continue;
            }
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.sort_by(f64::total_cmp);
            let [least, .., greatest] = values[..] else { continue };
            reading.value = if rule.to == CombineTo::Mean { mean } else { stats::median(&values).unwrap_or(mean) };
            reading.spread = SourceSpread::Range(least, greatest);
            reading.batches = u32::try_from(values.len()).unwrap_or(u32::MAX);
            reading.notes.extend(rule.note.clone());
        }
    }

    /// A text with what groups hold in place of `{group}`.
    fn filled(&self, template: &str, groups: &Groups, spell: impl Fn(&str) -> String) -> String {
        let found = groups.names().filter_map(|name| Some((name, groups.get(name)?)));
        let kept = self.kept.iter().filter(|(_, word)| !word.is_empty());
        let kept = kept.map(|(name, word)| (name.as_str(), word.as_str()));
        found
            .chain(kept)
            .fold(template.to_owned(), |text, (name, word)| text.replace(&format!("{{{name}}}"), &spell(word)))
    }

    /// A note on the run, once.
    fn note(&mut self, note: Option<String>) {
        let new = note.filter(|note| !note.contains('{') && !self.sheet.notes.contains(note));
        self.sheet.notes.extend(new);
    }

    /// Sets parameters that lines below have stated. A result of a size of zero or less was not measured.
    fn settle_later(&mut self) {
        for (title, place, later) in std::mem::take(&mut self.later).into_iter().rev() {
            let none = Groups::default();
            let own = self.set(Parameters::none(), later, &none, parameter_value);
            if own.iter().any(|(_, value)| number(value).is_some_and(|size| size <= 0.0))
                && place < self.sheet.readings.len()
            {
                self.sheet.readings.remove(place);
                self.note(Some(format!("{title} is left out: that test did not run, or it failed")));
            } else if let Some(reading) = self.sheet.readings.get_mut(place) {
                reading.parameters = joined(std::mem::take(&mut reading.parameters), &own);
            }
        }
    }

    /// The present part ends.
    fn part(&mut self) {
        self.combine();
        self.settle_later();
        for (name, parts) in std::mem::take(&mut self.gathered) {
            let Some(rule) = self.format.and_then(|format| format.gather.get(&name)) else { continue };
            let GatherRule { separator, least, apart } = rule;
            let value = parameter_value(&parts.join(separator));
            if *apart {
                self.parts.entry(name).or_default().push((self.block, value));
            } else if parts.len() >= *least {
                self.whole = std::mem::take(&mut self.whole).with(name, value);
            }
        }
        let whole = std::mem::take(&mut self.whole);
        let end = self.sheet.readings.len();
        for reading in &mut self.sheet.readings[self.block..] {
            reading.parameters = joined(std::mem::take(&mut reading.parameters), &whole);
            settle(&mut reading.quantiles, self.format.is_some_and(|format| format.item.is_empty()));
        }
        for (at, notes) in std::mem::take(&mut self.without) {
            let Some(reading) = self.sheet.readings.get_mut(at) else { continue };
            let absent = notes.iter().filter(|(parameter, _)| reading.parameters.get(parameter).is_none());
            reading.notes.extend(absent.map(|(_, note)| note.clone()));
        }
        let first = self.sheet.processes.last().copied().unwrap_or_default();
        if self.format.is_some_and(|format| format.again) && first < self.block {
            let (before, present) = self.sheet.readings[first..].split_at(self.block - first);
            let stated = |reading: &SourceReading| {
                before.iter().any(|known| known.id == reading.id && known.parameters == reading.parameters)
            };
            if present.iter().any(stated) {
                self.sheet.processes.push(self.block);
            }
        }
        (self.block, self.dropped) = (end, false);
        self.next.clear();
        self.quantiles.clear();
    }

    /// Another run begins, or one goes on.
    fn run(&mut self, machine: String, at: usize) -> Result<(), SourceFault> {
        self.end()?;
        if self.sheet.readings.is_empty() || (self.of == machine && !machine.is_empty()) {
            self.of = machine;
            return Ok(());
        }
        self.settle_parts();
        self.others.push((std::mem::take(&mut self.of), std::mem::take(&mut self.sheet)));
        if self.others.len() > MOST_NAMES {
            return Err(SourceFault::new(format!("it has more than {MOST_NAMES} machines"), at));
        }
        let same = self.others.iter().position(|(known, _)| *known == machine && !machine.is_empty());
        if let Some((_, known)) = same.map(|place| self.others.remove(place)) {
            self.sheet = known;
        }
        (self.of, self.block) = (machine, self.sheet.readings.len());
        Ok(())
    }

    /// Sets parameters that count where parts of the run differ in them.
    fn settle_parts(&mut self) {
        self.settle_settings();
        for (parameter, parts) in std::mem::take(&mut self.parts) {
            if self.sheet.tell_apart(&parameter, &parts) {
                // What differs is no fact of the whole.
                let lines = self.format.iter().flat_map(|format| &format.line).filter(|rule| rule.common.apart);
                let names: Vec<&String> =
                    lines.flat_map(|rule| rule.common.facts.values()).map(|fact| &fact.name).collect();
                self.sheet.facts.retain(|fact| !names.contains(&&fact.name));
            }
        }
    }

    /// Sets settings as parameters where parts with the same results differ in them.
    fn settle_settings(&mut self) {
        let settings = std::mem::take(&mut self.settings);
        let ends: Vec<usize> =
            settings.iter().skip(1).map(|(next, _)| *next).chain([self.sheet.readings.len()]).collect();
        let group = |start: usize, end: usize| {
            let first = self.sheet.readings.get(start..end)?.first()?;
            Some(format!("{} {}", first.id, first.parameters))
        };
        let groups: Vec<Option<String>> =
            settings.iter().zip(&ends).map(|((start, _), end)| group(*start, *end)).collect();
        let stated =
            || groups.iter().zip(&settings).filter_map(|(group, (_, settings))| Some((group.clone()?, settings)));
        let mut found = differing(stated());
        // An excerpt may lack some of them.
        for (group, settings) in stated() {
            if let Some(names) = found.get_mut(&group) {
                names.retain(|name| settings.contains_key(name));
            }
        }
        for (((start, settings), end), group) in settings.iter().zip(ends).zip(&groups) {
            let Some(names) = group.as_ref().and_then(|group| found.get(group)) else { continue };
            for reading in self.sheet.readings.get_mut(*start..end).into_iter().flatten() {
                for (name, value) in settings.iter().filter(|(name, _)| names.contains(*name)) {
                    reading.parameters = std::mem::take(&mut reading.parameters).with(name, value);
                }
            }
        }
        let disputed = std::mem::take(&mut self.disputed);
        self.sheet.facts.retain(|fact| !disputed.contains(&fact.name));
    }

    /// The present output ends.
    fn end(&mut self) -> Result<(), SourceFault> {
        if self.open.is_some() && self.lenient {
            self.sheet.readings.truncate(self.block);
        }
        self.part();
        self.closed()
    }

    /// What needs a result has one.
    fn closed(&mut self) -> Result<(), SourceFault> {
        match self.open.take() {
            Some((at, needs)) if self.lenient => {
                self.sheet.notes.push(format!("{needs} (line {at})"));
                self.lost.get_or_insert((at, needs));
                Ok(())
            }
            Some((at, needs)) => Err(SourceFault::new(needs, at)),
            None => Ok(()),
        }
    }

    fn row(&mut self, table: &Table<'a>, line: &str, at: usize) -> Result<(), SourceFault> {
        let skipped = |cell: &&str| {
            table.rule.skip.as_ref().is_some_and(|skip| skip.regex().is_ok_and(|skip| skip.is_match(cell)))
        };
        let separated = separated(line, table.rule.split);
        let mut cells: Vec<&str> = match table.rule.split {
            Split::Commas => separated.iter().map(String::as_str).collect(),
            Split::Words | Split::Wide | Split::Names => {
                line.split_whitespace().filter(|cell| !skipped(cell)).collect()
            }
        };
        let mut groups = Groups::default();
        if let Some(label) = &table.rule.label
            && let Some(before) = cells.len().checked_sub(table.columns.len()).filter(|before| *before > 0)
        {
            let end = cells[before].as_ptr() as usize - line.as_ptr() as usize;
            groups.set(label, line[..end].trim_end().trim_end_matches(':').trim_end().to_owned());
            cells.drain(..before);
        }
        if cells.len() != table.columns.len() {
            let (has, names) = (cells.len(), table.columns.len());
            return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
        }
        if table.rule.common.block {
            self.part();
        }
        let mut own = Parameters::none();
        let (mut results, mut range, mut quantiles) = (Vec::new(), [None, None], Vec::new());
        let mut across = Vec::new();
        for (column, cell) in table.columns.iter().zip(&cells) {
            let (column, before) = match column {
                Column::Parameter(parameter) => {
                    own = own.with(parameter, parameter_value(cell));
                    continue;
                }
                Column::Across(value) => {
                    across.push((value, *cell));
                    continue;
                }
                Column::Known(column, before) => (column, before),
                Column::Quantile(quantile, scale) => {
                    if number(cell).is_some() {
                        quantiles.push((*quantile, need(cell, at)? * scale));
                    }
                    continue;
                }
            };
            if table.rule.none.iter().any(|none| none == cell) {
                continue;
            }
            match column {
                ColumnRule::Group(name) if *before == 0 => groups.set(name, (*cell).to_owned()),
                ColumnRule::Group(name) => groups.set(&format!("{name}_{}", before + 1), (*cell).to_owned()),
                ColumnRule::Parameter(parameter) => own = own.with(parameter, parameter_value(cell)),
                ColumnRule::Size(parameter) => {
                    let size = ParameterRule { bytes: Some(1), ..ParameterRule::default() };
                    own = own.with(parameter, spelt(Some(&size), cell, at)?.unwrap_or_default());
                }
                ColumnRule::Result(result) => results.push((result, *cell)),
                ColumnRule::Least(scale) => range[0] = Some(need(cell, at)? * scale),
                ColumnRule::Greatest(scale) => range[1] = Some(need(cell, at)? * scale),
                ColumnRule::Quantile(quantile, scale) => quantiles.push((*quantile, need(cell, at)? * scale)),
                ColumnRule::Ignore(_) => {}
            }
        }
        let first = self.sheet.readings.len();
        for (result, cell) in results {
            self.result(result, &cell_of(cell), &own, at)?;
        }
        for (name, parameter) in &table.rule.common.parameters {
            if let Some(value) = groups.get(name).map(|word| spelt(Some(parameter), word, at)).transpose()?.flatten() {
                own = own.with(name, value);
            }
        }
        self.derive(&table.rule.common, &mut groups, at)?;
        self.check(&table.rule.common.check, &groups, at)?;
        if let (Some(parameter), Some(result)) = (&table.rule.across, table.rule.result.first()) {
            let label = table.rule.label.as_ref().and_then(|label| Some((label, groups.get(label)?)));
            let own =
                label.into_iter().fold(own, |own, (parameter, value)| own.with(parameter, parameter_value(value)));
            for (value, cell) in across {
                self.result(result, &cell_of(cell), &own.clone().with(parameter, parameter_value(value)), at)?;
            }
            return Ok(());
        }
        let open = self.open.clone();
        for result in &table.rule.result {
            self.result(result, &groups, &own, at)?;
        }
        if let Some(last) = &table.rule.last
            && !regex(last, at)?.is_match(line)
        {
            self.open = open;
        }
        if let Some(main) = self.sheet.readings.get_mut(first) {
            if let [Some(least), Some(greatest)] = range {
                main.spread = SourceSpread::Range(least, greatest);
                main.notes.extend(table.rule.range_note.clone());
            }
            main.quantiles.extend(quantiles);
        }
        Ok(())
    }
}

/// The cells of a line of comma-separated values, which may be quoted.
fn separated(line: &str, split: Split) -> Vec<String> {
    if !matches!(split, Split::Commas) {
        return Vec::new();
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The value of an option of a command.
fn option_of(rule: &OptionRule, command: &str) -> Option<String> {
    let quotes = ['"', '\''];
    let words: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches(quotes)).collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let (name, inside) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        let value = rule.fixed.as_deref().or(inside).or_else(|| words.get(at + 1).copied());
        value
            .filter(|_| rule.names.iter().any(|known| known == name))
            .map(|value| value.trim_matches(quotes).to_owned())
    })
}

/// A cell is the value of its column's result.
fn cell_of(word: &str) -> Groups {
    Groups { words: vec![("value".to_owned(), Some(word.to_owned()))] }
}

fn regex(pattern: &Pattern, at: usize) -> Result<&Regex, SourceFault> {
    pattern.regex().map_err(|error| SourceFault::new(error, at))
}

/// A number, in base units where its unit stands behind it.
fn operand(text: &str, at: usize) -> Result<f64, SourceFault> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.,".contains(c))).unwrap_or(text.len());
    let (digits, behind) = text.split_at(end);
    if behind.starts_with(['e', 'E']) || behind.is_empty() {
        return need(&grouped(text).unwrap_or_else(|| text.to_owned()), at);
    }
    let fault = || SourceFault::new(format!("the unit '{}' is not known", shown(behind.trim())), at);
    let name = if behind == "m" { "min" } else { behind.trim() };
    Ok(need(&grouped(digits).unwrap_or_else(|| digits.to_owned()), at)? * unit(name).ok_or_else(fault)?.scale)
}

/// Quantiles in their order. A tool marks one that it does not know by a value beyond the greatest.
fn settle(quantiles: &mut Vec<(f64, f64)>, bounded: bool) {
    quantiles.sort_by(|one, other| one.0.total_cmp(&other.0));
    let greatest = quantiles.iter().find(|(quantile, _)| bounded && *quantile == 1.0).map(|(_, value)| *value);
    quantiles.retain(|(_, value)| greatest.is_none_or(|greatest| *value <= greatest));
}

fn columns<'a>(rule: &'a TableRule, line: &str, at: usize) -> Result<Vec<Column<'a>>, SourceFault> {
    let heading = line.trim_start_matches(['#', ' ']);
    let names: Vec<&str> = match rule.split {
        Split::Words => heading.split_whitespace().collect(),
        Split::Wide => heading.split("  ").flat_map(|part| part.split('\t')).collect(),
        Split::Commas => heading.split(',').collect(),
        Split::Names => {
            let (mut names, mut rest) = (Vec::new(), heading.trim());
            while !rest.is_empty() {
                // The longest that it may be; what is none is refused below.
                let known =
                    rule.columns.keys().filter(|name| rest.starts_with(name.as_str())).max_by_key(|name| name.len());
                let (name, behind) = rest.split_at(known.map_or(rest.len(), String::len));
                names.push(name);
                rest = behind.trim_start();
            }
            names
        }
    };
    let mut seen: Vec<&str> = Vec::new();
    let known = |name: &str, seen: &[&str]| {
        if let Some(column) = rule.columns.get(name) {
            return Ok(Column::Known(column, seen.iter().filter(|known| **known == name).count()));
        }
        if let Some(QuantileColumns { pattern, factor }) = &rule.quantile
            && let Some(groups) = Groups::of(pattern, name, at)?
        {
            return Ok(Column::Quantile(need(groups.get("quantile").unwrap_or_default(), at)? / 100.0, *factor));
        }
        if rule.across.is_some() {
            return Ok(Column::Across(name.to_owned()));
        }
        if let Some(pattern) = &rule.parameter_columns
            && let Some(groups) = Groups::of(pattern, name, at)?
        {
            return Ok(Column::Parameter(parameter_value(groups.get("name").unwrap_or_default()).replace('=', ":")));
        }
        Err(SourceFault::new(format!("its column '{}' is not known", shown(name)), at))
    };
    let mut columns = Vec::new();
    let skipped =
        |name: &&str| rule.skip.as_ref().is_some_and(|skip| skip.regex().is_ok_and(|skip| skip.is_match(name)));
    let names = names.into_iter().map(|name| name.trim().trim_matches('"'));
    for name in names.filter(|name| !name.is_empty() && !skipped(name)) {
        columns.push(known(name, &seen)?);
        seen.push(name);
    }
    Ok(columns)
}

/// The unit of a result, and base units in one of what is printed.
pub(super) fn unit_of(rule: &ResultRule, word: Option<&str>, at: usize) -> Result<(NamedUnit, f64), SourceFault> {
    let name = match word.filter(|_| !rule.units.is_empty()) {
        Some(word) => rule.units.get(word).map(String::as_str).ok_or(word),
        None => Ok(rule.unit.as_deref().unwrap_or_default()),
    };
    let found = name.and_then(|name| unit(name).ok_or(name));
    let unit = found.map_err(|word| SourceFault::new(format!("the unit '{}' is not known", shown(word)), at))?;
    let scale = unit.scale * rule.factor;
    Ok((unit, scale))
}

/// The value of a parameter; none if it is the usual one.
fn spelt(rule: Option<&ParameterRule>, word: &str, at: usize) -> Result<Option<String>, SourceFault> {
    let word = word.trim();
    let Some(rule) = rule else { return Ok(Some(parameter_value(word))) };
    let word = rule.words.get(word).map_or(word, String::as_str);
    if rule.usual.as_deref() == Some(word) {
        return Ok(None);
    }
    if let Some(unit) = rule.bytes {
        let count: u64 =
            word.replace(',', "").parse().map_err(|_| SourceFault::new("the size is not a whole number", at))?;
        return Ok(Some(format_size(count.saturating_mul(unit))));
    }
    let replaced = rule.replace.iter().fold(word.to_owned(), |word, (from, to)| word.replace(from, to));
    let word = rule.words.get(word).unwrap_or(&replaced);
    let value = if rule.snake { snake(word) } else { parameter_value(word) };
    Ok(Some(rule.spelt.as_ref().map_or_else(|| value.clone(), |spelt| spelt.replace("{}", &value))))
}

fn joined(parameters: Parameters, more: &Parameters) -> Parameters {
    more.iter().fold(parameters, |parameters, (parameter, value)| parameters.with(parameter, value))
}
