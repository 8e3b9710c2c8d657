//! The words in which a table is described.

use model::Unit;
use report::view::PrintedUnit;

/// An evaluation and its tables.
pub(super) struct Description {
    /// The suite that measures it.
    pub(super) suite: &'static str,
    /// Name among the published evaluations; empty where only its definitions are continued.
    pub(super) published: &'static str,
    pub(super) title: &'static str,
    /// Where the definitions are from, when nothing of it is published here.
    pub(super) definition: &'static str,
    pub(super) tables: &'static [Table],
}

pub(super) struct Table {
    pub(super) title: &'static str,
    /// Name of the printed table; empty where only today's machine is in it.
    pub(super) source: &'static str,
    pub(super) note: &'static str,
    pub(super) columns: &'static [Column],
    pub(super) rows: Rows,
    /// Column from 0, whether the largest stands first, and which rows are sorted.
    pub(super) sort: Option<(usize, bool, Sorted)>,
}

/// What a row is.
#[derive(Clone, Copy)]
pub(super) enum Rows {
    /// A machine; the run's machine gets a row for each of these keys.
    Machines { today: &'static [&'static str] },
    /// A test, by the printed columns that together name it; the run's machine gets columns.
    Tests { columns: &'static [&'static str] },
    /// The keys themselves: nothing is printed.
    Given(&'static [&'static str]),
}

/// Which rows are sorted.
#[derive(Clone, Copy)]
pub(super) enum Sorted {
    All,
    /// The first ones, while a printed column says this.
    Where(&'static str, &'static str),
}

pub(super) struct Column {
    pub(super) heading: &'static str,
    /// Name of the printed column; empty for a column of the run's machine.
    pub(super) source: &'static str,
    pub(super) numbers: bool,
    pub(super) today: Today,
}

/// What stands there for the machine of the run.
#[derive(Clone, Copy)]
pub(super) enum Today {
    Machine,
    Fact(&'static str),
    /// A fact that is a number, in units of so many base units.
    Number(&'static str, f64),
    /// The row's key.
    Key,
    Words(&'static str),
    Absent(&'static str),
    /// Id, point and unit.
    Figure(&'static str, &'static str, PrintedUnit),
    Interval(&'static str, &'static str, PrintedUnit),
    /// By the beginning of the row's key.
    Each {
        of: &'static [(&'static str, Today)],
        interval: bool,
    },
}

/// A column of words.
pub(super) const fn words(heading: &'static str, source: &'static str, today: Today) -> Column {
    Column { heading, source, numbers: false, today }
}

/// A column of numbers.
pub(super) const fn numbers(heading: &'static str, source: &'static str, today: Today) -> Column {
    Column { heading, source, numbers: true, today }
}

pub(super) const MEGABYTES: PrintedUnit = PrintedUnit::new("MB/s", Unit::BytesPerSecond, 1e6);
pub(super) const KILOBYTES: PrintedUnit = PrintedUnit::new("KBps", Unit::BytesPerSecond, 1e3);
pub(super) const MILLISECONDS: PrintedUnit = PrintedUnit::new("ms", Unit::Seconds, 1e-3);
pub(super) const MICROSECONDS: PrintedUnit = PrintedUnit::new("us", Unit::Seconds, 1e-6);
pub(super) const NANOSECONDS: PrintedUnit = PrintedUnit::new("ns", Unit::Seconds, 1e-9);
pub(super) const A_SECOND: PrintedUnit = PrintedUnit::new("per s", Unit::PerSecond, 1.0);
pub(super) const LOOPS: PrintedUnit = PrintedUnit::new("lps", Unit::PerSecond, 1.0);
pub(super) const LOOPS_A_MINUTE: PrintedUnit = PrintedUnit::new("lpm", Unit::PerSecond, 1.0 / 60.0);
pub(super) const KIBIBYTES: PrintedUnit = PrintedUnit::new("KiB", Unit::Bytes, 1024.0);
