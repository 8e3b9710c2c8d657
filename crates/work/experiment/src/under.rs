//! Sets settings in a fresh process, before it executes what measures.

use std::ffi::OsStr;
use std::process::Stdio;

use crate::setting::UNSET;
use crate::system::{self, System};
use crate::{Change, Setting};

/// A setting and its value on the command line of a fresh process: `id=value`.
#[must_use]
pub fn argument(setting: &Setting, value: &str) -> String {
    format!("{}={value}", setting.id)
}

/// First argument of a fresh process that only tries one setting: it prints why it cannot set it, and ends.
pub const CHECK: &str = "--check";

/// Why a fresh process of `program` cannot set this value, if so. Only what a process sets itself is tried.
pub(crate) fn refusal(program: &OsStr, setting: &Setting, value: &str) -> Option<String> {
    let Change::Process { .. } = setting.change else { return None };
    let mut fresh = os::process::command_of(program);
    fresh.args(["under", CHECK, &argument(setting, value)]).stdin(Stdio::null()).stderr(Stdio::null());
    let said = fresh.output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    said.map_or_else(|error| Some(error.to_string()), |said| (!said.is_empty()).then_some(said))
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
        let (setting, value) = parsed(&system, &argument)?;
        if let Change::Environment(name) = setting.change {
            variables.push((name, (value != UNSET).then(|| value.to_owned())));
        }
        set(&system, setting, value)
            .map_err(|reason| format!("could not set {} to {value}: {reason}", setting.title))?;
    }
    Ok(variables)
}

/// Sets what one argument names, and says why that cannot be, if so.
///
/// # Errors
/// The reason.
pub fn check(argument: &str) -> Result<(), String> {
    let system = System::this();
    let (setting, value) = parsed(&system, argument)?;
    set(&system, setting, value)
}

fn parsed<'a>(system: &System, argument: &'a str) -> Result<(&'static Setting, &'a str), String> {
    let (id, value) = argument.split_once('=').ok_or_else(|| format!("{argument} is no setting and value"))?;
    Ok((system.setting(id).ok_or_else(|| format!("there is no setting {id}"))?, value))
}

fn set(system: &System, setting: &Setting, value: &str) -> Result<(), String> {
    match setting.change {
        Change::Process { set, .. } => set(value),
        Change::Group => enter_group(system, value),
        Change::Nothing | Change::Environment(_) | Change::Parameter(_) | Change::Files(_) => Ok(()),
    }
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
