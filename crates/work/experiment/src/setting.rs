//! What a setting is: one literal, which says how it is read, set and restored.

use model::{Parameters, Primitive};

use crate::system::{self, System};

/// Value of a variable of the environment that is not there.
pub(crate) const UNSET: &str = "unset";

/// Whose behaviour a setting changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// That of the processes that measure.
    Process,
    /// That of the whole machine.
    System,
}

/// How a setting is changed.
#[derive(Clone, Copy)]
pub enum Change {
    /// Nothing is changed: the setting that shows what the experiment calls different without a reason.
    Nothing,
    /// Another value of this parameter of the benchmark.
    Parameter(&'static str),
    /// The fresh process changes itself before it measures, so there is nothing to restore.
    Process {
        /// The present value.
        read: fn() -> Result<String, String>,
        /// Sets a value in the calling process.
        set: fn(&str) -> Result<(), String>,
    },
    /// A variable of the environment of the fresh process; it is "unset" where there is none.
    Environment(&'static str),
    /// The fresh process enters a control group of its own, which is removed in the end.
    Group,
    /// These files, in which `*` is any one name, hold the value. So do addresses such as `offload:eth0/tso`.
    Files(&'static [&'static str]),
}

/// Name of the recorded fact that a setting is, and its words for values of the setting.
#[derive(Debug, Clone, Copy)]
pub struct SettingFact {
    /// Such as `memory.transparent_huge_pages`; `*` is any one name.
    pub name: &'static str,
    /// Words of the fact and the values that they mean; none where both are the same.
    pub words: &'static [(&'static str, &'static str)],
}

/// A setting of a machine or a process.
pub struct Setting {
    /// Its name on the command line.
    pub id: &'static str,
    /// Its name for readers.
    pub title: &'static str,
    /// Whose it is.
    pub kind: SettingKind,
    /// How it is changed.
    pub change: Change,
    /// The values to try; those of a parameter are the benchmark's own.
    pub values: &'static [&'static str],
    /// The primitives that it may touch; none means all.
    pub touches: &'static [Primitive],
    /// Whether it needs root.
    pub root: bool,
    /// Whether it can cut a network connection. Then only its name selects it.
    pub cuts: bool,
    /// The fact of run documents that records it.
    pub fact: Option<SettingFact>,
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Setting {}

/// The value of a setting as it was found, and the values to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The present value; of several files with different ones, each once.
    pub old: String,
    /// The others.
    pub others: Vec<String>,
}

impl Setting {
    /// A setting of the processes that measure.
    #[must_use]
    pub const fn process(
        id: &'static str,
        title: &'static str,
        change: Change,
        values: &'static [&'static str],
    ) -> Self {
        let kind = SettingKind::Process;
        Self { id, title, kind, change, values, touches: &[], root: false, cuts: false, fact: None }
    }

    /// A setting of the machine, in these files.
    #[must_use]
    pub const fn system(
        id: &'static str,
        title: &'static str,
        files: &'static [&'static str],
        values: &'static [&'static str],
    ) -> Self {
        Self::process(id, title, Change::Files(files), values).of_machine()
    }

    /// The same as a setting of the machine, which needs root.
    pub(crate) const fn of_machine(self) -> Self {
        Self { kind: SettingKind::System, root: true, ..self }
    }

    /// The same where only root may change it.
    pub(crate) const fn by_root(self) -> Self {
        Self { root: true, ..self }
    }

    /// The same with the primitives that it may touch.
    pub(crate) const fn touching(self, touches: &'static [Primitive]) -> Self {
        Self { touches, ..self }
    }

    /// The same where it may cut a network connection.
    pub(crate) const fn cutting(self) -> Self {
        Self { cuts: true, ..self }
    }

    /// The same with the fact of run documents that records it, and the words of the fact.
    pub(crate) const fn recorded(self, name: &'static str, words: &'static [(&'static str, &'static str)]) -> Self {
        Self { fact: Some(SettingFact { name, words }), ..self }
    }

    /// Whether it may touch any of these primitives.
    #[must_use]
    pub fn may_touch(&self, primitives: &[Primitive]) -> bool {
        self.touches.is_empty() || self.touches.iter().any(|touched| primitives.contains(touched))
    }

    /// Its value here and the values to try, for a benchmark at these parameters.
    ///
    /// # Errors
    /// Why it cannot be tried, as a clause.
    pub fn find(&self, system: &System, benchmark: &str, parameters: &Parameters) -> Result<Found, String> {
        if self.root && !system.privileged {
            return Err("needs root".to_owned());
        }
        let old = match self.change {
            Change::Nothing => return Ok(Found { old: "as found".to_owned(), others: vec!["as found".to_owned()] }),
            Change::Parameter(name) => {
                let old = parameters.get(name).ok_or("the benchmark has no such parameter")?;
                // The document states the relation of two CPUs, the command line asks for any crossing.
                if model::CROSSINGS.contains(&old) { model::ANY_CROSSING.to_owned() } else { old.to_owned() }
            }
            Change::Process { read, .. } => read()?,
            Change::Environment(name) => std::env::var(name).unwrap_or_else(|_| UNSET.to_owned()),
            Change::Group => system::own_group(system).map(|_| "shared".to_owned())?,
            Change::Files(patterns) => self.of_files(system, patterns)?,
        };
        let others = match self.change {
            Change::Parameter(name) => parameter_values(benchmark, name),
            _ => self.values.iter().map(|value| (*value).to_owned()).collect(),
        };
        let others: Vec<String> = others.into_iter().filter(|value| *value != old).collect();
        if others.is_empty() {
            Err(format!("it is {old}, and there is no other value"))
        } else {
            Ok(Found { old, others })
        }
    }

    fn of_files(&self, system: &System, patterns: &[&str]) -> Result<String, String> {
        let found = system.addresses(patterns);
        // A container shows the controls of its host, and refuses to open them.
        if let Some(Err(reason)) = found.first().map(|address| system.may_write(address)) {
            return Err(format!("cannot be changed here: {reason}"));
        }
        let mut values: Vec<String> = found.iter().filter_map(|address| system.read(address).ok()).collect();
        values.sort();
        values.dedup();
        match values.len() {
            0 => Err("this system has no control for it".to_owned()),
            1..=3 => Ok(values.join(", ")),
            several => Ok(format!("{several} values")),
        }
    }
}

fn parameter_values(benchmark: &str, name: &str) -> Vec<String> {
    let found = benchmarks::find(benchmark).and_then(|found| found.parameters.iter().find(|one| one.name == name));
    match found.map(|parameter| parameter.values) {
        Some(benchmarks::Values::Choice(words)) => words.iter().map(|word| (*word).to_owned()).collect(),
        _ => Vec::new(),
    }
}
