//! Programs and libraries that affect results.

use std::io::Read as _;

use model::Primitive;

use crate::facts::collector::{Collector, Found};
use crate::facts::identity::assigned;

pub(super) fn collect(facts: &mut Collector) {
    let release = "/etc/os-release";
    let text = facts.read(release);
    let get = |key: &str| {
        text.clone()
            .and_then(|text| assigned(&text, key).map(str::to_owned).ok_or_else(|| format!("{release} has no {key}")))
    };
    facts.words("software.distribution", get("PRETTY_NAME").or_else(|_| get("NAME")), release, &[]);
    let libc = [Primitive::Exec, Primitive::DynamicLink, Primitive::ThreadCreate, Primitive::Fork];
    let (name, source) = c_library();
    facts.words("software.libc", name, source, &libc);
    let shell = "/bin/sh";
    let resolved = std::fs::canonicalize(facts.path(shell)).map_err(|_| format!("there is no {shell}"));
    facts.words(
        "software.shell",
        resolved.map(|path| path.display().to_string()),
        shell,
        &[Primitive::Shell, Primitive::Exec],
    );
    let loader = loaders().into_iter().find(|path| facts.path(path).exists());
    let loader = loader.ok_or_else(|| "none at the usual places".to_owned());
    facts.words("software.dynamic_loader", loader, "/lib, /lib64", &[Primitive::DynamicLink]);
    facts.words("software.build", Ok(build()), "this program", &[]);
    facts.words("software.build_id", build_id(), "this program's ELF note", &[]);
}

/// The C library of this program.
fn c_library() -> (Found<String>, &'static str) {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: takes no arguments and returns a string that lives as long as the program.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        (Ok(format!("glibc {}", version.to_string_lossy())), "gnu_get_libc_version()")
    }
    #[cfg(not(target_env = "gnu"))]
    {
        (Ok("musl".to_owned()), "this program's target")
    }
}

fn loaders() -> [&'static str; 4] {
    [
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/ld-linux-aarch64.so.1",
        "/lib/ld-musl-x86_64.so.1",
        "/lib/ld-musl-aarch64.so.1",
    ]
}

/// The linker's hash of this program, which shows whether two runs used one build: another build has its kernels at
/// other addresses.
fn build_id() -> Found<String> {
    let mut head = [0; 4096];
    let read = std::fs::File::open("/proc/self/exe").and_then(|mut program| program.read(&mut head));
    let head = read.map(|count| &head[..count]).map_err(|error| format!("/proc/self/exe: {error}"))?;
    noted(head).ok_or_else(|| "this program has no build id in its first page".to_owned())
}

/// The description of the ELF note `NT_GNU_BUILD_ID` (type 3 of owner GNU) among these bytes, in hexadecimal.
fn noted(bytes: &[u8]) -> Option<String> {
    const OWNER_AND_TYPE: &[u8] = b"\x03\0\0\0GNU\0";
    let at = bytes.windows(OWNER_AND_TYPE.len()).position(|window| window == OWNER_AND_TYPE)?;
    let length = u32::from_ne_bytes(bytes.get(at.checked_sub(4)?..at)?.try_into().ok()?);
    let from = at + OWNER_AND_TYPE.len();
    let id = bytes.get(from..from.checked_add(length as usize)?).filter(|id| (8..=64).contains(&id.len()))?;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Options of this program's compilation that can affect results.
fn build() -> String {
    let kind = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!("{}-{} {kind}", std::env::consts::ARCH, std::env::consts::OS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_is_read_from_its_note_alone() {
        let note = |length: u32, id: &[u8]| {
            let mut bytes = b"\x7fELF and more".to_vec();
            bytes.extend([4, 0, 0, 0]);
            bytes.extend(length.to_ne_bytes());
            bytes.extend(b"\x03\0\0\0GNU\0");
            bytes.extend(id);
            bytes
        };
        let id: Vec<u8> = (0..20).collect();
        assert_eq!(noted(&note(20, &id)).as_deref(), Some("000102030405060708090a0b0c0d0e0f10111213"));
        for hostile in [note(20, &id[..19]), note(u32::MAX, &id), note(0, &id), b"\x03\0\0\0GNU\0".to_vec(), Vec::new()]
        {
            assert_eq!(noted(&hostile), None);
        }
    }
}
