//! Settings that differ between two machines, as switches towards the values of the first.

use model::{Machine, PlanEntry, glob};

use crate::plan::{Chosen, Switch};
use crate::setting::{Setting, SettingFact, SettingKind};
use crate::system::System;

/// Every setting whose recorded fact differs between A and B, switched from its value here to that of A.
#[must_use]
pub fn towards(system: &System, [a, b]: [&Machine; 2], metric: &PlanEntry, allow_system: bool) -> Chosen {
    let mut chosen = Chosen::default();
    for setting in system.settings {
        let Some(value) = setting.fact.and_then(|fact| differing(fact, a, b)) else { continue };
        match switch(system, setting, value, metric, allow_system) {
            Ok(switch) => chosen.switches.push(switch),
            Err(reason) => chosen.not_tried.push((setting.title.to_owned(), reason)),
        }
    }
    chosen
}

/// A's value of a fact that B has with another value; of several facts of one kind, such as disks, the first.
fn differing(fact: SettingFact, a: &Machine, b: &Machine) -> Option<String> {
    let names = a.facts.iter().map(|one| one.name.as_str()).filter(|name| glob(fact.name, name));
    names.into_iter().find_map(|name| {
        let (in_a, in_b) = (a.text(name)?, b.text(name)?);
        let words = fact.words.iter().find(|(word, _)| *word == in_a);
        (in_a != in_b).then(|| words.map_or(in_a, |(_, value)| (*value).to_owned()))
    })
}

fn switch(
    system: &System,
    setting: &'static Setting,
    to: String,
    metric: &PlanEntry,
    allow_system: bool,
) -> Result<Switch, String> {
    if setting.kind == SettingKind::System && !allow_system {
        return Err("differs, and needs --allow system".to_owned());
    }
    let found = setting.find(system, &metric.benchmark, &metric.parameters);
    // A value may be the only other one, so what is tried by itself does not matter.
    let from = match found {
        Ok(found) => found.old,
        Err(reason) => return Err(format!("differs, and cannot be tried here: {reason}")),
    };
    if from == to {
        return Err(format!("differs, and is {to} here already"));
    }
    Ok(Switch { setting, from, to })
}
