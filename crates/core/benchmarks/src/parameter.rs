//! The parameters along which a benchmark is measured.

use std::str::FromStr;

use model::{ANY_CROSSING, CROSSINGS, ParameterDescription, format_size};

/// Every value that the machine has: every number of threads of a curve (1, 2, 4 and so on to all cores, then hardware
/// threads, close together and far apart), every NUMA node, or one CPU of every core.
pub const EACH: &str = "each";

/// How many threads a kernel runs on, and where: the values of the parameter `threads`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadCount {
    /// `1`: one core of the fastest class.
    One,
    /// `cores`: one thread of every core, of all classes.
    Cores,
    /// `all`: every hardware thread.
    All,
    /// `8`: eight threads, close together.
    Compact(usize),
    /// `8_scatter`: eight threads, far apart.
    Scatter(usize),
}

impl FromStr for ThreadCount {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let count = |word: &str| word.parse::<usize>().ok().filter(|count| *count > 1 && word == count.to_string());
        match text {
            "1" => Ok(Self::One),
            "cores" => Ok(Self::Cores),
            "all" => Ok(Self::All),
            _ => match text.strip_suffix("_scatter") {
                Some(word) => count(word).map(Self::Scatter).ok_or(()),
                None => count(text).map(Self::Compact).ok_or(()),
            },
        }
    }
}

/// One parameter: its name in sets of parameters, its values in the full suite and those in the default suite.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Name in sets of parameters, such as `working_set`.
    pub name: &'static str,
    /// Every value that the full suite measures.
    pub values: Values,
    /// The representative values, which the default suite measures.
    pub defaults: &'static [&'static str],
    /// Further allowed values, which not every machine has, such as eight cores.
    pub besides: fn(&str) -> bool,
}

/// Values of a parameter.
#[derive(Debug, Clone, Copy)]
pub enum Values {
    /// Sizes in bytes from the first to the last, a number of sets of parameters per doubling, rounded to 64 bytes.
    Sizes {
        /// First, bytes.
        from: u64,
        /// Last, bytes.
        to: u64,
        /// Sets of parameters per doubling.
        per_octave: u32,
    },
    /// Words.
    Choice(&'static [&'static str]),
}

impl Parameter {
    /// Sizes that double.
    #[must_use]
    pub const fn doubling(name: &'static str, from: u64, to: u64, defaults: &'static [&'static str]) -> Self {
        Self { name, values: Values::Sizes { from, to, per_octave: 1 }, defaults, besides: |_| false }
    }

    /// The same for sizes that count as memory: users may ask for larger ones, since some caches hold these.
    #[must_use]
    pub const fn of_memory(self) -> Self {
        Self {
            besides: |word| model::parse_size(word).is_ok_and(|size| (model::GIB..=1024 * model::GIB).contains(&size)),
            ..self
        }
    }

    /// A NUMA node or a CPU by its number, such as the first; `each` means all of the machine.
    #[must_use]
    pub const fn numbered(name: &'static str, first: &'static [&'static str]) -> Self {
        let number = |word: &str| word == EACH || word.parse::<usize>().is_ok_and(|node| node.to_string() == word);
        Self { besides: number, ..Self::choice(name, first, &[EACH]) }
    }

    /// A NUMA node by its number.
    #[must_use]
    pub const fn node(name: &'static str) -> Self {
        Self::numbered(name, &["0"])
    }

    /// Sizes with several sets of parameters per doubling.
    #[must_use]
    pub const fn sizes(
        name: &'static str,
        from: u64,
        to: u64,
        per_octave: u32,
        defaults: &'static [&'static str],
    ) -> Self {
        Self { name, values: Values::Sizes { from, to, per_octave }, defaults, besides: |_| false }
    }

    /// Words to choose from.
    #[must_use]
    pub const fn choice(
        name: &'static str,
        values: &'static [&'static str],
        defaults: &'static [&'static str],
    ) -> Self {
        Self { name, values: Values::Choice(values), defaults, besides: |_| false }
    }

    /// The parameter of all benchmarks with two parties: both pinned to one CPU, pinned to two, or not pinned.
    #[must_use]
    pub const fn placement(defaults: &'static [&'static str]) -> Self {
        Self::placed(&["same_cpu", ANY_CROSSING, "free"], defaults)
    }

    /// The same where some of these make no sense.
    #[must_use]
    pub const fn placed(values: &'static [&'static str], defaults: &'static [&'static str]) -> Self {
        Self { besides: |word| CROSSINGS.contains(&word), ..Self::choice("placement", values, defaults) }
    }

    /// The parameter of kernels that run on one CPU or on all.
    #[must_use]
    pub const fn threads(defaults: &'static [&'static str]) -> Self {
        let besides = |word: &str| word == EACH || word.parse::<ThreadCount>().is_ok();
        Self { besides, ..Self::choice("threads", &["1", "all"], defaults) }
    }

    /// Every value in order.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        match self.values {
            Values::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            Values::Sizes { from, to, per_octave } => sizes(from, to, per_octave),
        }
    }

    /// Whether a value is valid in a set of parameters: one of the words, or any size within the range.
    #[must_use]
    pub fn accepts(&self, value: &str) -> bool {
        match self.values {
            _ if (self.besides)(value) => true,
            Values::Choice(words) => words.contains(&value),
            Values::Sizes { from, to, .. } => model::parse_size(value).is_ok_and(|size| (from..=to).contains(&size)),
        }
    }

    /// The parameter as data.
    #[must_use]
    pub fn describe(&self) -> ParameterDescription {
        ParameterDescription {
            name: self.name.to_owned(),
            values: self.all(),
            usual: self.defaults.iter().map(|value| (*value).to_owned()).collect(),
        }
    }
}

fn sizes(from: u64, to: u64, per_octave: u32) -> Vec<String> {
    let mut list = Vec::new();
    for step in 0.. {
        let octave = step / per_octave;
        let exact = from as f64 * 2f64.powf(f64::from(step % per_octave) / f64::from(per_octave));
        // Whole cache lines if sizes are large enough.
        let grain = if from >= 64 { 64.0 } else { 1.0 };
        let size = ((exact / grain).round() * grain) as u64;
        let Some(size) = size.checked_shl(octave).filter(|size| *size <= to) else { break };
        list.push(format_size(size));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_step_evenly_and_end_at_the_last() {
        let parameter = Parameter::doubling("working_set", 4096, 16384, &["4KiB"]);
        assert_eq!(parameter.all(), ["4KiB", "8KiB", "16KiB"]);
        let fine = Parameter::sizes("working_set", 4096, 8192, 4, &["4KiB"]);
        assert_eq!(fine.all(), ["4KiB", "4864B", "5824B", "6912B", "8KiB"].map(str::to_owned));
        assert!(Parameter::threads(&["1"]).accepts("8_scatter") && !Parameter::threads(&["1"]).accepts("08"));
        assert!(
            Parameter::placement(&["free"]).accepts("other_node") && !Parameter::placed(&[], &[]).accepts("same_cpu")
        );
        assert!(parameter.accepts("12KiB") && !parameter.accepts("32KiB") && !parameter.accepts("x"));
    }
}
