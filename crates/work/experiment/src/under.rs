//! Sets settings in a fresh process, before it executes what measures.

use crate::setting::UNSET;
use crate::system::{self, System};
use crate::{Change, Setting};

/// A setting and its value on the command line of a fresh process: `id=value`.
#[must_use]
pub fn argument(setting: &Setting, value: &str) -> String {
    format!("{}={value}", setting.id)
}

/// A variable of the environment and its value; `None` removes it.
pub type Variable = (&'static str, Option<String>);

/// Sets everything that the arguments of a fresh process name, in this process. Returns the variables for what it
/// executes.
///
/// # Errors
/// When an argument names no setting, or the system refuses it.
pub fn set_all(arguments: impl Iterator<Item = String>) -> Result<Vec<Variable>, String> {
    let system = System::this();
    let mut variables = Vec::new();
    for argument in arguments {
        let (id, value) = argument.split_once('=').ok_or_else(|| format!("{argument} is no setting and value"))?;
        let setting = system.setting(id).ok_or_else(|| format!("there is no setting {id}"))?;
        let set = match setting.change {
            Change::Process { set, .. } => set(value),
            Change::Group => enter_group(&system, value),
            Change::Environment(name) => {
                variables.push((name, (value != UNSET).then(|| value.to_owned())));
                Ok(())
            }
            Change::Nothing | Change::Parameter(_) | Change::Files(_) => Ok(()),
        };
        set.map_err(|reason| format!("could not set {} to {value}: {reason}", setting.title))?;
    }
    Ok(variables)
}

/// Enters the group of this weight that the parent made; the usual group has no number.
fn enter_group(system: &System, value: &str) -> Result<(), String> {
    if value.parse::<u32>().is_err() {
        return Ok(());
    }
    let (_, parent) = system::own_group(system)?;
    let group = system::group_of(&parent, os::process::parent_pid(), value);
    std::fs::write(group.join("cgroup.procs"), "0").map_err(|error| error.to_string())
}
