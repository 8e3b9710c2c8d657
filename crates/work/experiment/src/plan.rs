//! What an experiment tries: rows of settings and values, and the run document that holds their results.

use std::ffi::OsStr;
use std::path::PathBuf;

use model::{BenchmarkResult, Class, Metric, Parameters, PlanEntry, Primitive, ResultKey, Run, Unit};

use crate::journal::JournalItem;
use crate::system::{self, System};
use crate::{Change, Error, Found, NOTHING, Setting, SettingKind, under};

/// Benchmark of the time with a setting changed over the time as found.
pub const RATIO: &str = compare::experiment::RATIO;
/// The metric and the row of nothing come from the same samples.
const SHARED: &str = "as found";

/// A setting and the values between which it is switched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The setting.
    pub setting: &'static Setting,
    /// Its value as it was found.
    pub from: String,
    /// Its other value.
    pub to: String,
}

/// What one row of an experiment finds out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// What all of these do together; mostly it is one.
    Effect(Vec<Switch>),
    /// By how much two together do more than both alone.
    Interaction([Switch; 2]),
}

impl Row {
    /// Its settings.
    #[must_use]
    pub fn switches(&self) -> &[Switch] {
        match self {
            Self::Effect(switches) => switches,
            Self::Interaction(switches) => switches,
        }
    }

    fn result(&self, touched: &[Primitive]) -> BenchmarkResult {
        let joined =
            |of: &dyn Fn(&Switch) -> String, with: &str| self.switches().iter().map(of).collect::<Vec<_>>().join(with);
        // A comma separates parameters.
        let plain = |text: &str| text.replace(',', ";");
        let mut parameters = Parameters::none()
            .with("setting", joined(&|one| one.setting.id.to_owned(), "+"))
            .with("from", plain(&joined(&|one| one.from.clone(), " + ")))
            .with("to", plain(&joined(&|one| one.to.clone(), " + ")));
        if matches!(self, Self::Interaction(_)) {
            parameters = parameters.with("kind", "interaction");
        }
        let title = joined(&|one| one.setting.title.to_owned(), " and ");
        let metric = Metric::lower(Unit::Ratio, "operation");
        BenchmarkResult::unmeasured(ResultKey::new(RATIO, parameters), title, metric, Class::Application)
            .stressing(touched)
    }
}

/// A request to try settings.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Ids, or `id=value`, or `all`; none means what may touch the metric.
    pub names: Vec<String>,
    /// Whether settings of the system are allowed.
    pub system: bool,
}

/// What is tried, and what is not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Each setting with each value.
    pub switches: Vec<Switch>,
    /// Titles of other settings, and why they are not tried.
    pub not_tried: Vec<(String, String)>,
}

/// Chooses settings for a metric.
///
/// # Errors
/// When a named setting does not exist, cannot be tried, or needs a permission.
pub fn choose(system: &System, wanted: &Wanted, metric: &PlanEntry) -> Result<Chosen, Error> {
    let primitives = benchmarks::find(&metric.benchmark).map_or(&[][..], |found| found.stresses);
    let all = wanted.names.iter().any(|name| name == "all");
    let mut chosen = Chosen::default();
    for name in wanted.names.iter().filter(|name| *name != "all") {
        let (id, value) = name.split_once('=').map_or((name.as_str(), None), |(id, value)| (id, Some(value)));
        let setting = system.setting(id).ok_or_else(|| unknown(system, id))?;
        if setting.kind == SettingKind::System && !wanted.system {
            return Err(Error::Request(format!("{id} changes the whole machine; allow that with --allow system")));
        }
        let found = setting.find(system, &metric.benchmark, &metric.parameters);
        let found = found.map_err(|reason| Error::Request(format!("could not try {id}: {reason}")))?;
        let others = value.map_or_else(|| found.others.clone(), |value| vec![value.to_owned()]);
        if others.contains(&found.old) {
            return Err(Error::Request(format!("could not try {name}: it is {} already", found.old)));
        }
        chosen.add(setting, Found { others, ..found });
    }
    if all || wanted.names.is_empty() {
        for setting in system.settings {
            let known = chosen.switches.iter().any(|switch| switch.setting == setting);
            if known || !all && !setting.may_touch(primitives) {
                continue;
            }
            let refused = match setting.kind {
                SettingKind::System if !wanted.system => Err("needs --allow system".to_owned()),
                _ if setting.cuts => Err(format!("may cut connections; --try {} asks for it", setting.id)),
                _ => setting.find(system, &metric.benchmark, &metric.parameters),
            };
            match refused {
                Ok(found) => chosen.add(setting, found),
                // A parameter that the benchmark does not have is not a setting of it.
                Err(_) if matches!(setting.change, Change::Parameter(_)) => {}
                Err(reason) => chosen.not_tried.push((setting.title.to_owned(), reason)),
            }
        }
    }
    Ok(chosen)
}

impl Chosen {
    fn add(&mut self, setting: &'static Setting, Found { old, others }: Found) {
        let switch = |to| Switch { setting, from: old.clone(), to };
        self.switches.extend(others.into_iter().map(switch));
    }

    /// Leaves out what the kernel refuses to a fresh process of `program`. A container may refuse what root may do.
    pub fn leave_out_refused(&mut self, program: &OsStr) {
        for switch in std::mem::take(&mut self.switches) {
            match under::refusal(program, switch.setting, &switch.to) {
                None => self.switches.push(switch),
                Some(reason) => self.not_tried.push((format!("{}, {}", switch.setting.title, switch.to), reason)),
            }
        }
    }
}

fn unknown(system: &System, id: &str) -> Error {
    let ids = || system.settings.iter().map(|setting| setting.id);
    let near = model::nearest(id, ids());
    let (word, names) =
        if near.is_empty() { ("there are", ids().map(str::to_owned).collect()) } else { ("similar:", near) };
    Error::Request(format!("there is no setting {id}; {word} {}", names.join(", ")))
}

/// The rows of an experiment: that of nothing first, then each setting by itself.
#[must_use]
pub fn rows(switches: &[Switch]) -> Vec<Row> {
    let nothing = Switch { setting: &NOTHING, from: SHARED.to_owned(), to: SHARED.to_owned() };
    let single = switches.iter().filter(|switch| *switch.setting != NOTHING).cloned();
    std::iter::once(nothing).chain(single).map(|switch| Row::Effect(vec![switch])).collect()
}

/// The results of an experiment in its document: the metric as found, then each row.
pub fn fill(run: &mut Run, metric: &PlanEntry, rows: &[Row]) {
    let Some(benchmark) = benchmarks::find(&metric.benchmark) else { return };
    let key = ResultKey::new(metric.benchmark.clone(), metric.parameters.clone());
    let as_found = BenchmarkResult::unmeasured(key, benchmark.title, benchmark.metric.model(), benchmark.class)
        .stressing(benchmark.stresses);
    run.results = std::iter::once(as_found).chain(rows.iter().map(|row| row.result(benchmark.stresses))).collect();
    let entry = |(at, result): (usize, &BenchmarkResult)| PlanEntry {
        benchmark: result.benchmark.clone(),
        parameters: result.parameters.clone(),
        target: run.plan.target,
        shares: (at < 2).then(|| SHARED.to_owned()),
    };
    run.plan.entries = run.results.iter().enumerate().map(entry).collect();
}

/// What the journal must hold before any of these is switched: values, and control groups of this process.
///
/// # Errors
/// When a value cannot be read.
pub fn journalled(system: &System, switches: &[Switch]) -> Result<(Vec<JournalItem>, Vec<PathBuf>), Error> {
    let (mut items, mut groups) = (Vec::<JournalItem>::new(), Vec::new());
    for setting in system.settings {
        let of_setting = switches.iter().filter(|switch| switch.setting == setting);
        let new: Vec<String> = of_setting.map(|switch| switch.to.clone()).collect();
        let refuse = |reason| Error::NotSet { title: setting.title.to_owned(), reason };
        match setting.change {
            _ if new.is_empty() => {}
            Change::Files(patterns) => {
                for address in system.addresses(patterns) {
                    let old = system.read(&address).map_err(refuse)?;
                    items.push(JournalItem { setting: setting.id.to_owned(), address, old, new: new.clone() });
                }
            }
            Change::Group => {
                let (_, parent) = system::own_group(system).map_err(refuse)?;
                let group = |weight: &String| system::group_of(&parent, os::process::own_pid(), weight);
                groups.extend(new.iter().map(group));
            }
            _ => {}
        }
    }
    Ok((items, groups))
}
