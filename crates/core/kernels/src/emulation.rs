//! Whether an emulator executes the machine's instructions, or translates those of this program.

use crate::{cpuid, text};

/// The emulator of this machine, if it reports one, or of this program, if it is built for another architecture than
/// the machine's.
#[must_use]
pub fn emulator() -> Option<String> {
    let whole = cpuid::hypervisor().filter(|name| name.contains("emulation"));
    whole.or_else(translator)
}

/// The emulator in whose process this program runs.
pub(crate) fn translator() -> Option<String> {
    between(&text::read("/proc/cpuinfo").ok()?, std::env::consts::ARCH)
}

/// The emulator of a program whose architecture differs from that of `/proc/cpuinfo`.
fn between(cpuinfo: &str, program: &str) -> Option<String> {
    let marks = [("vendor_id", "x86_64"), ("CPU implementer", "aarch64")];
    let (_, machine) = marks.into_iter().find(|(field, _)| text::field(cpuinfo, field).is_some())?;
    let known = marks.iter().any(|(_, architecture)| *architecture == program);
    (known && machine != program).then(|| format!("an emulator of {program} on {machine}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_another_architecture_is_emulated() {
        let intel = "processor\t: 0\nvendor_id\t: GenuineIntel\n";
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\n";
        assert_eq!(between(intel, "aarch64").as_deref(), Some("an emulator of aarch64 on x86_64"));
        assert_eq!(between(arm, "x86_64").as_deref(), Some("an emulator of x86_64 on aarch64"));
        assert_eq!((between(intel, "x86_64"), between(arm, "aarch64"), between("", "aarch64")), (None, None, None));
        assert_eq!(between(intel, "riscv64"), None, "what such a machine says is not known");
    }
}
