//! Strips the released program: Cargo leaves `strip` of a profile out for a package whose level is set apart.
#![allow(clippy::print_stdout, reason = "build scripts talk to cargo on standard output")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
}
