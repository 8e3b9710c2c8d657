//! Reads a source by the rules of a format's file.

use std::collections::BTreeMap;

use model::{Point, format_size};
use regex::{Captures, Regex};

use super::rules::{AxisRule, ColumnRule, Common, DataFormat, FigureRule, LineRule, Pattern, Split, TableRule};
use crate::assemble::default_direction;
use crate::date;
use crate::format::{Parsed, SourceText};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, metric, number as number_fact, text as text_fact};
use crate::text::{SourceFault, axis_value, grouped, lines, name_value, need, shown, snake};
use crate::units::{NamedUnit, unit};

/// Groups that are no axes.
const RESERVED: [&str; 9] = ["unit", "version", "low", "high", "error", "count", "quantile", "started", "machine"];

/// Reads a source.
pub(crate) fn parse(format: &DataFormat, source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut reader = Reader::default();
    for (at, line) in lines(source.text) {
        if reader.line(format, line.trim(), at)? {
            source.took(at);
        }
    }
    reader.end()?;
    if let Some((at, needs)) = reader.lost.take().filter(|_| reader.sheet.readings.is_empty()) {
        return Err(SourceFault::new(needs, at));
    }
    if let Some(required) = &format.required
        && reader.sheet.readings.iter().all(|reading| reading.id != required.id)
    {
        return Err(SourceFault::new(&required.error, source.text.lines().count()));
    }
    for (axis, parts) in std::mem::take(&mut reader.parts) {
        reader.sheet.tell_apart(&axis, &parts);
    }
    reader.sheet.notes.extend(format.notes.iter().cloned());
    Ok(Parsed::Sheets(vec![reader.sheet]))
}

/// What the lines so far have said.
#[derive(Default)]
struct Reader<'a> {
    sheet: SourceSheet,
    section: &'a str,
    /// Axes of the figures that follow.
    axes: Point,
    /// Axes of the whole output.
    whole: Point,
    /// Values of axes that count where they differ, with the number of readings before each.
    parts: BTreeMap<String, Vec<(usize, String)>>,
    /// The line of the output that has no figure yet, and the fault that this is.
    open: Option<(usize, String)>,
    /// Whether that is a note, because other outputs have figures, and the first such.
    lenient: bool,
    lost: Option<(usize, String)>,
    /// Notes on the figure that follows.
    next: Vec<String>,
    table: Option<Table<'a>>,
    /// What earlier groups hold that later templates may have.
    kept: BTreeMap<String, String>,
}

/// A line that matched a pattern.
struct Groups<'t> {
    regex: &'t Regex,
    found: Captures<'t>,
}

impl<'t> Groups<'t> {
    fn of(pattern: &'t Pattern, line: &'t str, at: usize) -> Result<Option<Self>, SourceFault> {
        let regex = regex(pattern, at)?;
        Ok(regex.captures(line).map(|found| Self { regex, found }))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.regex.capture_names().flatten()
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.found.name(name).map(|found| found.as_str().trim())
    }
}

/// The table whose rows are read.
struct Table<'a> {
    rule: &'a TableRule,
    columns: Vec<&'a ColumnRule>,
}

impl<'a> Reader<'a> {
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
                self.table = Some(Table { rule, columns: columns(rule, line, at)? });
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
                self.matched(rule, &groups, at)?;
                return Ok(true);
            }
        }
        for pattern in &format.ignore {
            if regex(pattern, at)?.is_match(line) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn applies(&self, rule: &Common) -> bool {
        rule.within.as_ref().is_none_or(|section| section == self.section)
    }

    fn matched(&mut self, rule: &'a LineRule, groups: &Groups<'_>, at: usize) -> Result<(), SourceFault> {
        if let Some(error) = &rule.error {
            return Err(SourceFault::new(self.filled(error, groups, shown), at));
        }
        let own = self.common(&rule.common, &rule.figure, groups, at)?;
        for figure in &rule.figure {
            self.figure(figure, groups, &own, at)?;
        }
        Ok(())
    }

    /// What is not the figures of a rule; the axes of its groups.
    fn common(
        &mut self,
        rule: &'a Common,
        figures: &'a [FigureRule],
        groups: &Groups<'_>,
        at: usize,
    ) -> Result<Point, SourceFault> {
        if rule.begin || rule.repeat {
            self.end()?;
            (self.axes, self.section, self.table) = (Point::origin(), "", None);
            if rule.repeat { self.sheet.begin_repetition() } else { self.sheet.begin_process() }
        }
        if let Some(needs) = &rule.needs {
            self.open = Some((at, self.filled(needs, groups, shown)));
            self.lenient = rule.lenient;
        }
        for name in &rule.keep {
            self.kept.insert(name.clone(), groups.get(name).unwrap_or_default().to_owned());
        }
        if let Some(section) = &rule.section {
            self.section = section;
        }
        self.machine(rule, groups, at)?;
        let note = |template: &String| self.filled(template, groups, shown);
        let [of_run, next, last] = [&rule.note, &rule.note_next, &rule.note_last].map(|text| text.as_ref().map(note));
        let new = of_run.filter(|note| !self.sheet.notes.contains(note));
        self.sheet.notes.extend(new);
        self.next.extend(next);
        if let Some(reading) = self.sheet.readings.last_mut() {
            reading.notes.extend(last);
        }
        let own = self.axes_of(rule, figures, groups, at)?;
        if rule.whole {
            self.whole = joined(std::mem::take(&mut self.whole), &own);
        } else if rule.apart {
            for (axis, value) in own.iter() {
                self.parts.entry(axis.to_owned()).or_default().push((self.sheet.readings.len(), value.to_owned()));
            }
        } else if figures.is_empty() {
            // A part of the line that is not there ends what it said before.
            let absent = groups.names().filter(|name| own.get(name).is_none());
            let axes = absent.fold(std::mem::take(&mut self.axes), |axes, name| axes.without(name));
            self.axes = joined(axes, &own);
        } else {
            return Ok(own);
        }
        Ok(Point::origin())
    }

    /// What a line states of the tool and the machine.
    fn machine(&mut self, rule: &Common, groups: &Groups<'_>, at: usize) -> Result<(), SourceFault> {
        if let Some(version) = groups.get("version") {
            self.sheet.states_version(version.to_owned());
        }
        if let Some(machine) = groups.get("machine") {
            self.sheet.machine = name_value(machine);
        }
        if let Some(moment) = groups.get("started").filter(|_| self.sheet.started.is_empty()) {
            self.sheet.started = date::any(moment);
        }
        for (group, fact) in &rule.facts {
            let Some(found) = groups.get(group) else { continue };
            self.sheet.fact(match &fact.unit {
                Some(unit) => Some(number_fact(&fact.name, need(found, at)? * fact.factor, unit, "output", &[])),
                None => text_fact(&fact.name, &name_value(found), "output", &[]),
            });
        }
        Ok(())
    }

    fn axes_of(
        &self,
        rule: &Common,
        figures: &[FigureRule],
        groups: &Groups<'_>,
        at: usize,
    ) -> Result<Point, SourceFault> {
        let templates: Vec<&String> = figures
            .iter()
            .flat_map(|figure| [Some(&figure.id), Some(&figure.title), figure.note.as_ref(), figure.per.as_ref()])
            .chain([rule.note.as_ref(), rule.note_last.as_ref(), rule.note_next.as_ref()])
            .flatten()
            .chain(rule.set.values())
            .collect();
        let is_used = |name: &str| {
            RESERVED.contains(&name)
                || rule.facts.contains_key(name)
                || rule.keep.iter().any(|kept| kept == name)
                || name.ends_with("_unit")
                || figures.iter().any(|figure| figure.value == name || figure.quantiles.contains_key(name))
                || (templates.iter().any(|text| text.contains(&format!("{{{name}}}"))) && !rule.axes.contains_key(name))
        };
        let mut own = Point::origin();
        for name in groups.names().filter(|name| !is_used(name)) {
            let Some(word) = groups.get(name) else { continue };
            if let Some(value) = spelt(rule.axes.get(name), word, at)? {
                own = own.with(name, value);
            }
        }
        Ok(rule.set.iter().fold(own, |own, (axis, value)| own.with(axis, self.filled(value, groups, snake))))
    }

    fn figure(&mut self, rule: &FigureRule, groups: &Groups<'_>, own: &Point, at: usize) -> Result<(), SourceFault> {
        let Some(word) = groups.get(&rule.value) else { return Ok(()) };
        let group = |name: &str| groups.get(name);
        let (of, scale) = unit_of(rule, group("unit"), at)?;
        if rule.none.iter().any(|none| none == word) {
            if rule.ends {
                self.open = None;
            }
            return Ok(());
        }
        let digits = grouped(word).unwrap_or_else(|| word.to_owned());
        let value = need(&digits, at)? * scale;
        if rule.quantile {
            let quantile = group("quantile").map_or(Ok(rule.percent), |percent| need(percent, at))? / 100.0;
            if let Some(last) = self.sheet.readings.last_mut() {
                last.quantiles.push((quantile, value));
            }
            return Ok(());
        }
        if rule.ends {
            self.open = None;
        }
        if rule.positive && value <= 0.0 {
            return Ok(());
        }
        let per = rule.per.as_ref().map_or(of.per, |per| self.filled(per, groups, shown));
        let better = rule.better.or(of.better).unwrap_or_else(|| default_direction(of.unit));
        let (id, title) = (self.filled(&rule.id, groups, snake), self.filled(&rule.title, groups, str::to_owned));
        let mut reading = SourceReading::new(id, title, value, metric(of.unit, &per, better));
        if rule.digits {
            reading = reading.printed_in(&digits, scale);
        }
        reading.point = joined_words(joined(self.axes.clone(), own), &rule.set);
        if let (Some(low), Some(high)) = (group("low"), group("high")) {
            reading = reading.spread(SourceSpread::Range(need(low, at)? * scale, need(high, at)? * scale));
        }
        if let Some(error) = group("error") {
            let width = need(error, at)?.abs() * scale;
            reading = reading.spread(SourceSpread::Range(value - width, value + width));
        }
        if let Some(count) = group("count").and_then(|count| count.parse().ok()) {
            reading = reading.counts(1, count);
        }
        for (name, quantile) in &rule.quantiles {
            if let Some(word) = group(name) {
                let (_, scale) = unit_of(rule, group(&format!("{name}_unit")).or(group("unit")), at)?;
                reading.quantiles.push((*quantile, need(word, at)? * scale));
            }
        }
        // A note is of what the line states: a part that is not there has none.
        let noted = rule.note.as_ref().filter(|note| {
            groups.names().all(|name| !note.contains(&format!("{{{name}}}")) || groups.get(name).is_some())
        });
        reading.notes.extend(noted.map(|note| self.filled(note, groups, shown)));
        reading.notes.append(&mut self.next);
        let without = rule.without.iter().filter(|(axis, _)| reading.point.get(axis).is_none());
        reading.notes.extend(without.map(|(_, note)| note.clone()));
        reading.definition.clone_from(&rule.definition);
        self.sheet.readings.push(reading);
        Ok(())
    }

    /// A text with what groups hold in place of `{group}`.
    fn filled(&self, template: &str, groups: &Groups<'_>, spell: impl Fn(&str) -> String) -> String {
        let found = groups.names().filter_map(|name| Some((name, groups.get(name)?)));
        let kept = self.kept.iter().map(|(name, word)| (name.as_str(), word.as_str()));
        found
            .chain(kept)
            .fold(template.to_owned(), |text, (name, word)| text.replace(&format!("{{{name}}}"), &spell(word)))
    }

    /// The present output ends.
    fn end(&mut self) -> Result<(), SourceFault> {
        for (axis, value) in std::mem::take(&mut self.whole).iter() {
            self.sheet.process_at(axis, value);
        }
        self.next.clear();
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
        let cells: Vec<&str> = match table.rule.split {
            Split::Commas => line.split(',').map(str::trim).collect(),
            Split::Words | Split::Wide => line.split_whitespace().collect(),
        };
        if cells.len() != table.columns.len() {
            let (has, names) = (cells.len(), table.columns.len());
            return Err(SourceFault::new(format!("the row has {has} values and its heading {names}"), at));
        }
        let mut own = Point::origin();
        let (mut figures, mut range, mut quantiles) = (Vec::new(), [None, None], Vec::new());
        for (column, cell) in table.columns.iter().zip(&cells) {
            match column {
                ColumnRule::Axis(axis) => own = own.with(axis, axis_value(cell)),
                ColumnRule::Size(axis) => {
                    let size = AxisRule { bytes: Some(1), ..AxisRule::default() };
                    own = own.with(axis, spelt(Some(&size), cell, at)?.unwrap_or_default());
                }
                ColumnRule::Figure(figure) => figures.push((figure, *cell)),
                ColumnRule::Least(scale) => range[0] = Some(need(cell, at)? * scale),
                ColumnRule::Greatest(scale) => range[1] = Some(need(cell, at)? * scale),
                ColumnRule::Quantile(quantile, scale) => quantiles.push((*quantile, need(cell, at)? * scale)),
                ColumnRule::Ignore(_) => {}
            }
        }
        let first = self.sheet.readings.len();
        for (figure, cell) in figures {
            if let Some(groups) = Groups::of(&WHOLE, cell, at)? {
                self.figure(figure, &groups, &own, at)?;
            }
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

/// A cell is the value of its column's figure.
static WHOLE: std::sync::LazyLock<Pattern> = std::sync::LazyLock::new(|| Pattern::from("^(?<value>.*)$".to_owned()));

fn regex(pattern: &Pattern, at: usize) -> Result<&Regex, SourceFault> {
    pattern.regex().map_err(|error| SourceFault::new(error, at))
}

fn columns<'a>(rule: &'a TableRule, line: &str, at: usize) -> Result<Vec<&'a ColumnRule>, SourceFault> {
    let heading = line.trim_start_matches(['#', ' ']);
    let names: Vec<&str> = match rule.split {
        Split::Words => heading.split_whitespace().collect(),
        Split::Wide => heading.split("  ").flat_map(|part| part.split('\t')).collect(),
        Split::Commas => heading.split(',').collect(),
    };
    let known = |name: &str| {
        let column = rule.columns.get(name);
        column.ok_or_else(|| SourceFault::new(format!("its column '{}' is not known", shown(name)), at))
    };
    names.into_iter().map(str::trim).filter(|name| !name.is_empty()).map(known).collect()
}

/// The unit of a figure, and base units in one of what is printed.
fn unit_of(rule: &FigureRule, word: Option<&str>, at: usize) -> Result<(NamedUnit, f64), SourceFault> {
    let name = match word.filter(|_| !rule.units.is_empty()) {
        Some(word) => rule.units.get(word).map(String::as_str).ok_or(word),
        None => Ok(rule.unit.as_deref().unwrap_or_default()),
    };
    let found = name.and_then(|name| unit(name).ok_or(name));
    let unit = found.map_err(|word| SourceFault::new(format!("the unit '{}' is not known", shown(word)), at))?;
    let scale = unit.scale * rule.factor;
    Ok((unit, scale))
}

/// The value of an axis; none if it is the usual one.
fn spelt(rule: Option<&AxisRule>, word: &str, at: usize) -> Result<Option<String>, SourceFault> {
    let word = word.trim();
    let Some(rule) = rule else { return Ok(Some(axis_value(word))) };
    if rule.usual.as_deref() == Some(word) {
        return Ok(None);
    }
    if let Some(unit) = rule.bytes {
        let count: u64 = word.parse().map_err(|_| SourceFault::new("the size is not a whole number", at))?;
        return Ok(Some(format_size(count.saturating_mul(unit))));
    }
    let word = rule.words.get(word).map_or(word, String::as_str);
    let value = if rule.snake { snake(word) } else { axis_value(word) };
    Ok(Some(rule.spelt.as_ref().map_or_else(|| value.clone(), |spelt| spelt.replace("{}", &value))))
}

fn joined(point: Point, more: &Point) -> Point {
    more.iter().fold(point, |point, (axis, value)| point.with(axis, value))
}

fn joined_words(point: Point, more: &BTreeMap<String, String>) -> Point {
    more.iter().fold(point, |point, (axis, value)| point.with(axis, value))
}
