//! All loops of counted instructions in this program.

use super::{arithmetic, operation};
use crate::{Error, Result};

pub use super::counted_loop::CountedLoop;

/// All loops of this program, the preferred instruction set of each name first.
pub fn all() -> impl Iterator<Item = &'static CountedLoop> {
    native()
        .chain(arithmetic::PORTABLE.iter())
        .chain(operation::PORTABLE.iter())
        .chain(super::portable::bits::LOOPS.iter())
}

/// The preferred loop of a name that can run here.
///
/// # Errors
/// If there is no such name, or this CPU lacks the instructions of all loops of that name.
pub fn find(name: &str) -> Result<&'static CountedLoop> {
    let mut last = Err(Error::refused(format!("run {name}"), "this program has no such loop for this architecture"));
    for one in all().filter(|one| one.name == name) {
        last = one.check().map(|()| one);
        if last.is_ok() {
            break;
        }
    }
    last
}

#[cfg(target_arch = "x86_64")]
fn native() -> impl Iterator<Item = &'static CountedLoop> {
    super::native::LOOPS.iter().flat_map(|family| family.iter())
}

#[cfg(not(target_arch = "x86_64"))]
fn native() -> impl Iterator<Item = &'static CountedLoop> {
    std::iter::empty()
}
