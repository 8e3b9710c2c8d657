//! Embeds the runs of `published/reference`: a new one needs no line of code. Strips the released program, since Cargo ignores `strip` of a profile for a package with its own level. It also has
//! all address tables filled in at the start and then made read-only, which `-Crelro-level=partial` omits.
#![allow(clippy::print_stdout, reason = "build scripts talk to cargo on standard output")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    reference_runs();
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if !is("CARGO_CFG_TARGET_OS", "linux") {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-Wl,-z,relro,-z,now");
    // Documents of runs name the build; not every linker writes its hash unasked.
    println!("cargo::rustc-link-arg-bins=-Wl,--build-id=sha1");
    if is("PROFILE", "release") {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
}

/// Writes the list of all documents of `published/reference`, with their bytes.
fn reference_runs() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("published/reference");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "zst")).collect();
    files.sort();
    let each = files.iter().map(|file| format!("include_bytes!({:?}), ", file.display().to_string()));
    let code = format!("&[{}]", each.collect::<String>());
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    if let Err(error) = std::fs::write(std::path::Path::new(&out).join("reference_runs.rs"), code) {
        println!("cargo::error=could not list the reference runs: {error}");
    }
}
