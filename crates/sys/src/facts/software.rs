//! Programs and libraries that affect figures.

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
}

/// The C library of this program.
fn c_library() -> (Found<String>, &'static str) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: takes no arguments and returns a string that lives as long as the program.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        (Ok(format!("glibc {}", version.to_string_lossy())), "gnu_get_libc_version()")
    }
    #[cfg(all(target_os = "linux", target_env = "musl"))]
    {
        (Ok("musl".to_owned()), "this program's target")
    }
    #[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
    {
        (Err("the C library of this operating system does not report its version".to_owned()), "this program's target")
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

/// Options of this program's compilation that can affect figures.
fn build() -> String {
    let kind = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!("{}-{} {kind}", std::env::consts::ARCH, std::env::consts::OS)
}
