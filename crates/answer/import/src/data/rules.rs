//! Formats as data: what a file of `formats/` may say.
//!
//! `docs/guide/add-a-format.md` tells how to write one, `docs/reference/format-rules.md` lists its keys.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use model::{Better, Definition};
use regex::Regex;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

/// A format, as its file describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataFormat {
    pub(crate) name: String,
    /// The program that writes it.
    pub(crate) tool: String,
    /// Which of its outputs are read, and how the spread is used.
    pub(crate) about: String,
    /// Sets of words: a source that has all of one set is in this format.
    #[serde(default)]
    pub(crate) sure: Vec<Vec<String>>,
    /// The same of words that no other tool prints, even where it quotes outputs of others.
    #[serde(default)]
    pub(crate) certain: Vec<Vec<String>>,
    /// The same of words that other tools may print too.
    #[serde(default)]
    pub(crate) likely: Vec<Vec<String>>,
    /// Lines that state nothing to keep.
    #[serde(default)]
    pub(crate) ignore: Vec<Pattern>,
    /// Notes on every run.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// A result that each source must have.
    pub(crate) required: Option<Required>,
    /// A block of lines that states a result again is of another process.
    #[serde(default)]
    pub(crate) again: bool,
    /// Signs of a quotation may stand before its lines.
    #[serde(default)]
    pub(crate) quoted: bool,
    /// Runs with the same version and the same facts are processes of one machine.
    #[serde(default)]
    pub(crate) same_machines: bool,
    /// Texts that several lines of one process make together.
    #[serde(default)]
    pub(crate) gather: BTreeMap<String, GatherRule>,
    /// Kept groups of a source that has these words anywhere.
    #[serde(default)]
    pub(crate) given: Vec<GivenRule>,
    /// Rules for lines, of which the first that matches is used.
    #[serde(default)]
    pub(crate) line: Vec<LineRule>,
    #[serde(default)]
    pub(crate) table: Vec<TableRule>,
    /// Rules for members of JSON, of which each is used for every item that it is for.
    #[serde(default)]
    pub(crate) item: Vec<ItemRule>,
    /// Several documents may stand in one file.
    #[serde(default)]
    pub(crate) documents: bool,
    /// Documents may be events, one a line, whose data are members of one document by the names of the events.
    #[serde(default)]
    pub(crate) events: bool,
    /// Pointers, or differences of two, of which a document and the next one state the same where both are states of
    /// one run; the last counts.
    #[serde(default)]
    pub(crate) states_of: Vec<Texts>,
}

/// What the members mean that a pointer (RFC 6901) names. Groups are parameters, as those of lines are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemRule {
    /// `*` stands for any name, `{group}` for one that is a group, `{group:pattern}` for one that is like this.
    pub(crate) each: String,
    /// Groups, each with a pointer from the item, from the document (`/a`), or from so many values further out (`1/a`);
    /// the first that names something counts.
    #[serde(default)]
    pub(crate) groups: Ordered<Texts>,
    /// Patterns of groups, of which each is what stands in the first brackets, or absent.
    #[serde(default)]
    pub(crate) patterns: BTreeMap<String, Pattern>,
    /// Objects whose members are groups. The first that has a name counts.
    pub(crate) parameters_of: Option<Texts>,
    /// An object whose members are quantiles of the last result, in percent and seconds of one unit.
    pub(crate) quantiles_of: Option<String>,
    /// Pointers, and the words of which each has to name one; without words, it has to name anything. Of those of
    /// `unless`, no group may be so.
    #[serde(default)]
    pub(crate) when: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) unless: Vec<BTreeMap<String, Vec<String>>>,
    #[serde(flatten)]
    pub(crate) common: Common,
    #[serde(default)]
    pub(crate) result: Vec<ResultRule>,
    /// The item is a fault of the source.
    pub(crate) error: Option<String>,
}

/// Members in the order in which a file has them, which is that of parameters.
pub(crate) struct Ordered<T>(pub(crate) Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Ordered<T>, A::Error> {
                let mut found = Vec::new();
                while let Some(member) = members.next_entry()? {
                    found.push(member);
                }
                Ok(Ordered(found))
            }
        }
        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// One text or several, such as pointers.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Texts {
    pub(crate) fn all(&self) -> &[String] {
        match self {
            Self::One(pointer) => std::slice::from_ref(pointer),
            Self::Several(pointers) => pointers,
        }
    }
}

/// What several readings of one result in one output become.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CombineRule {
    pub(crate) to: CombineTo,
    /// Only those that follow on each other are repetitions.
    #[serde(default)]
    pub(crate) adjacent: bool,
    pub(crate) note: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CombineTo {
    Mean,
    Median,
    Samples,
}

/// Groups that a source has if it has these words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenRule {
    pub(crate) words: String,
    pub(crate) keep: BTreeMap<String, String>,
}

/// A text that several lines of one process make together, which is a parameter of its name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GatherRule {
    pub(crate) separator: String,
    /// Lines that it needs, at least.
    #[serde(default)]
    pub(crate) least: usize,
    /// It counts only where processes of one source differ in it.
    #[serde(default)]
    pub(crate) apart: bool,
}

/// A result that each source must have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Required {
    pub(crate) id: String,
    /// The fault of a source without it.
    pub(crate) error: String,
}

/// What a line means that matches a pattern. Groups are parameters, unless a rule or a result uses them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineRule {
    #[serde(rename = "match")]
    pub(crate) pattern: Pattern,
    #[serde(flatten)]
    pub(crate) common: Common,
    /// Results that the line states.
    #[serde(default)]
    pub(crate) result: Vec<ResultRule>,
    /// The line is a fault of the source.
    pub(crate) error: Option<String>,
    /// A pattern inside the line: the rule is for each match of it.
    pub(crate) each: Option<Pattern>,
}

/// Options in the group `command`, which is the tool's own echo of its command.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptionRule {
    pub(crate) names: Vec<String>,
    /// What stands for it, where it takes no value.
    pub(crate) fixed: Option<String>,
}

/// What a rule for lines and the heading of a table have in common.
#[derive(Deserialize, Default)]
pub(crate) struct Common {
    /// Only in this section.
    pub(crate) within: Option<String>,
    /// Only where this group was kept, or was not.
    pub(crate) only: Option<String>,
    pub(crate) unless: Option<String>,
    /// A section begins here; an empty one ends the present section.
    pub(crate) section: Option<String>,
    /// Another output of the tool begins here.
    #[serde(default)]
    pub(crate) begin: bool,
    /// Another process begins here that the tool itself ran to repeat the one before.
    #[serde(default)]
    pub(crate) repeat: bool,
    /// Another process begins here, with the settings above.
    #[serde(default)]
    pub(crate) process: bool,
    /// Another part of the same process begins here; parameters of the whole are those of this part.
    #[serde(default)]
    pub(crate) block: bool,
    /// The settings above are no longer valid.
    #[serde(default)]
    pub(crate) clear: bool,
    /// The present output has stated what it needs.
    #[serde(default)]
    pub(crate) ends: bool,
    /// The results of the present part, above and below, are left out.
    pub(crate) drop: Option<DropRule>,
    /// What must be so; of a table, in each row.
    #[serde(default)]
    pub(crate) check: Vec<CheckRule>,
    /// Further groups, which follow from others; of a table, in each row.
    #[serde(default)]
    pub(crate) derive: BTreeMap<String, DeriveRule>,
    /// Another run begins here, of the machine that this names; without a name of one of its own.
    pub(crate) run: Option<String>,
    /// Groups that are options of a command.
    #[serde(default)]
    pub(crate) options: Ordered<OptionRule>,
    /// Parts of gathered texts.
    #[serde(default)]
    pub(crate) gather: BTreeMap<String, String>,
    /// The fault of an output that begins here and states no result.
    pub(crate) needs: Option<String>,
    /// This is a note where other outputs have results.
    #[serde(default)]
    pub(crate) lenient: bool,
    /// How groups become values of parameters.
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, ParameterRule>,
    /// Parameters with values of their own, which may have `{group}` in them.
    #[serde(default)]
    pub(crate) set: BTreeMap<String, String>,
    /// Parameters are those of the whole output, and of the results above too.
    #[serde(default)]
    pub(crate) whole: bool,
    /// Parameters count only where outputs of one source differ in them.
    #[serde(default)]
    pub(crate) apart: bool,
    /// Parameters count only where parts with the same results differ in them, and facts only where none do.
    #[serde(default)]
    pub(crate) differs: bool,
    /// Groups that are facts of the machine.
    #[serde(default)]
    pub(crate) facts: BTreeMap<String, FactRule>,
    /// A note with `{group}` in it, on the run.
    pub(crate) note: Option<String>,
    /// Groups that later templates may have too.
    #[serde(default)]
    pub(crate) keep: Vec<String>,
    /// The same, with names that may have `{group}` in them too.
    #[serde(default)]
    pub(crate) define: BTreeMap<String, String>,
    /// A note on the result before, or on the next one.
    pub(crate) note_last: Option<String>,
    pub(crate) note_next: Option<String>,
}

/// Results are left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DropRule {
    /// A note on the run, which says so.
    pub(crate) note: String,
    /// The fault of a source that has no others.
    pub(crate) error: Option<String>,
}

/// Bounds of what a formula gives, if it has a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckRule {
    pub(crate) value: String,
    pub(crate) least: Option<f64>,
    pub(crate) most: Option<f64>,
    /// The fault of a value beyond them.
    pub(crate) error: Option<String>,
    /// Or the results are left out.
    pub(crate) drop: Option<DropRule>,
}

/// A group that follows from others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeriveRule {
    /// A group, and what each of its words means.
    #[serde(default)]
    pub(crate) of: String,
    #[serde(default)]
    pub(crate) words: BTreeMap<String, String>,
    /// What of the group counts: what stands in the first brackets of a pattern that are there.
    #[serde(rename = "match")]
    pub(crate) pattern: Option<Pattern>,
    /// Parts of it, and what stands there instead.
    #[serde(default)]
    pub(crate) replace: BTreeMap<String, String>,
    /// It is written as a part of an id.
    #[serde(default)]
    pub(crate) snake: bool,
    /// Or a formula.
    pub(crate) formula: Option<String>,
    /// Or the first text of which all groups are there.
    #[serde(default)]
    pub(crate) text: Vec<String>,
    #[serde(default)]
    pub(crate) decimals: usize,
    /// As many decimals as it has.
    #[serde(default)]
    pub(crate) plain: bool,
    /// The value is written as a size in bytes.
    #[serde(default)]
    pub(crate) size: bool,
    /// The word where the others are not stated.
    pub(crate) default: Option<String>,
}

/// How a group becomes the value of a parameter.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParameterRule {
    /// A text with `{}` in it.
    #[serde(rename = "as")]
    pub(crate) spelt: Option<String>,
    /// The group is a size in units of so many bytes.
    pub(crate) bytes: Option<u64>,
    /// The value is written as a part of an id.
    #[serde(default)]
    pub(crate) snake: bool,
    /// What is set unless told otherwise, which is no value.
    pub(crate) usual: Option<String>,
    /// Parts of words, and what stands there instead.
    #[serde(default)]
    pub(crate) replace: BTreeMap<String, String>,
    /// Other words for some values.
    #[serde(default)]
    pub(crate) words: BTreeMap<String, String>,
}

/// A fact of the machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactRule {
    pub(crate) name: String,
    /// Unit of a number; otherwise the fact is a text.
    pub(crate) unit: Option<String>,
    #[serde(default = "one")]
    pub(crate) factor: f64,
}

const fn one() -> f64 {
    1.0
}

/// A result. Its id and title may have `{group}` in them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultRule {
    #[serde(default)]
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) title: String,
    /// Its unit, in base units or with a prefix.
    pub(crate) unit: Option<String>,
    /// Units by the word that the group `unit` has; a word that is not among them is a fault.
    #[serde(default)]
    pub(crate) units: BTreeMap<String, String>,
    /// What is counted or timed.
    pub(crate) per: Option<String>,
    pub(crate) better: Option<Better>,
    #[serde(default = "one")]
    pub(crate) factor: f64,
    /// Its value, from several groups, in its unit.
    pub(crate) formula: Option<String>,
    /// Formulas of the least and the greatest of it.
    pub(crate) low: Option<String>,
    pub(crate) high: Option<String>,
    /// Groups whose digits say how exact it is, instead of its own.
    #[serde(default)]
    pub(crate) exact: Vec<String>,
    /// How exact it is, relative to it, from several groups.
    pub(crate) rounding: Option<String>,
    /// What zero is less than, in base units.
    pub(crate) below: Option<f64>,
    /// The result where this one's formula has no value above zero.
    #[serde(rename = "or")]
    pub(crate) other: Option<Box<Self>>,
    /// The group that says how often it was repeated.
    #[serde(default = "count")]
    pub(crate) count: String,
    /// Each repetition is a process of its own.
    #[serde(default)]
    pub(crate) processes: bool,
    /// The group that is its value.
    #[serde(default = "value")]
    pub(crate) value: String,
    /// Groups that are quantiles of single operations.
    #[serde(default)]
    pub(crate) quantiles: BTreeMap<String, f64>,
    /// The group that lists values of executions in processes of their own.
    pub(crate) samples: Option<String>,
    /// The group that lists values of parts of one execution, whose least and greatest are the range.
    pub(crate) parts: Option<String>,
    pub(crate) range_note: Option<String>,
    /// It may be stated again in one output.
    pub(crate) combine: Option<CombineRule>,
    /// A result that is stated again in one output counts only if its rank is lower.
    #[serde(default)]
    pub(crate) rank: u8,
    /// It is only a note on the result of this id and these parameters.
    #[serde(default)]
    pub(crate) remark: bool,
    /// Words that stand for a value that was not measured.
    #[serde(default)]
    pub(crate) none: Vec<String>,
    /// Zero is no measurement.
    #[serde(default)]
    pub(crate) positive: bool,
    /// A note on the run that says so.
    pub(crate) zero_note: Option<String>,
    /// Whether the digits say how exact it is.
    #[serde(default = "yes")]
    pub(crate) digits: bool,
    /// The value is a quantile of the next result.
    #[serde(default)]
    pub(crate) next: bool,
    /// How many digits it has, of which zeros at the end are not printed.
    #[serde(default)]
    pub(crate) significant: i32,
    /// Whether it is what an output needs.
    #[serde(default = "yes")]
    pub(crate) ends: bool,
    /// The value is a quantile of the result before: the group `quantile` says which, in percent, or this number.
    #[serde(default)]
    pub(crate) quantile: bool,
    #[serde(default)]
    pub(crate) percent: f64,
    /// Notes where a parameter is not stated.
    #[serde(default)]
    pub(crate) without: BTreeMap<String, String>,
    pub(crate) note: Option<Texts>,
    /// Parameters of this result alone.
    #[serde(default)]
    pub(crate) set: BTreeMap<String, String>,
    /// Parameters that lines below may state. A size of zero or less says that it was not measured.
    #[serde(default)]
    pub(crate) later: BTreeMap<String, String>,
    /// How it stands to the definition of the benchmark that its id names.
    pub(crate) definition: Option<Definition>,
}

fn value() -> String {
    "value".to_owned()
}

fn count() -> String {
    "count".to_owned()
}

const fn yes() -> bool {
    true
}

/// A table below a heading of known columns. Another column is a fault.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableRule {
    pub(crate) heading: Pattern,
    #[serde(flatten)]
    pub(crate) common: Common,
    /// The group that is what stands before the columns, where names may have blanks.
    pub(crate) label: Option<String>,
    /// Further columns are values of this parameter, each with the first result of the row.
    pub(crate) across: Option<String>,
    /// Further columns that are like this are parameters, with the name that the group `name` has.
    pub(crate) parameter_columns: Option<Pattern>,
    /// Words of the heading and of rows that are in no column.
    pub(crate) skip: Option<Pattern>,
    /// Which lines below are rows; an empty line ends the table.
    pub(crate) row: Pattern,
    #[serde(default)]
    pub(crate) split: Split,
    /// Cells that state nothing.
    #[serde(default)]
    pub(crate) none: Vec<String>,
    /// The row with which the table is whole; results alone do not end what an output needs.
    pub(crate) last: Option<Pattern>,
    /// What the least and the greatest are of.
    pub(crate) range_note: Option<String>,
    pub(crate) columns: BTreeMap<String, ColumnRule>,
    /// Further columns are quantiles of the first result: the group says which, in percent.
    pub(crate) quantile: Option<QuantileColumns>,
    /// Results of a row, of which the columns are groups.
    #[serde(default)]
    pub(crate) result: Vec<ResultRule>,
}

/// Columns whose names say which quantile they are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuantileColumns {
    #[serde(rename = "match")]
    pub(crate) pattern: Pattern,
    pub(crate) factor: f64,
}

/// What stands between the cells of a table.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Split {
    /// Blanks.
    #[default]
    Words,
    /// Two blanks or a tab between names, blanks between cells.
    Wide,
    /// Blanks, which names have too: they are those of the columns.
    Names,
    Commas,
}

/// What a column states.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum ColumnRule {
    /// A value of this parameter.
    Parameter(String),
    /// A group of the row. Where several columns have one name, the second is this with `_2`.
    Group(String),
    /// A size in bytes, as a value of this parameter.
    Size(String),
    Result(Box<ResultRule>),
    /// The least of what the first result states.
    Least(f64),
    /// The greatest of it.
    Greatest(f64),
    /// A quantile of it, and base units in one.
    Quantile(f64, f64),
    /// Nothing to keep, and why.
    #[expect(dead_code, reason = "it is for who reads the file")]
    Ignore(String),
}

/// A regular expression. It is compiled when the format is used.
#[derive(Deserialize)]
#[serde(from = "String")]
pub(crate) struct Pattern {
    text: String,
    compiled: std::sync::OnceLock<Result<Regex, regex::Error>>,
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self { text, compiled: std::sync::OnceLock::new() }
    }
}

impl Pattern {
    pub(crate) fn regex(&self) -> Result<&Regex, String> {
        self.compiled.get_or_init(|| Regex::new(&self.text)).as_ref().map_err(ToString::to_string)
    }
}
