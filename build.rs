//! Strips the released program, since Cargo ignores `strip` of a profile for a package with its own level. It also has
//! all address tables filled in at the start and then made read-only, which `-Crelro-level=partial` omits.
#![allow(clippy::print_stdout, reason = "build scripts talk to cargo on standard output")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
