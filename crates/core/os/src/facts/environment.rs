//! Variables of the environment by which the dynamic linker and the C library work otherwise than by default: programs
//! that are measured inherit them.

use std::ffi::OsString;

use model::Primitive;

use super::collector::Collector;

/// Most letters that are kept of a value.
const KEPT: usize = 200;

pub(super) fn collect(facts: &mut Collector) {
    if !facts.is_here() {
        return;
    }
    for (name, value) in changing(std::env::vars_os()) {
        facts.words(format!("environment.{name}"), Ok(value), "environment", affected(&name));
    }
}

/// Names of the variables that change results. The search path of the dynamic linker is not among them: samples of
/// benchmarks start without it.
fn changing(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<(String, String)> {
    let linker = |name: &str| name.starts_with("LD_") && name != "LD_LIBRARY_PATH";
    let library = |name: &str| name == "GLIBC_TUNABLES" || name.starts_with("MALLOC_");
    let mut found: Vec<(String, String)> = variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().trim().to_owned())))
        .filter(|(name, value)| (linker(name) || library(name)) && !value.is_empty())
        .map(|(name, value)| (name, value.chars().take(KEPT).collect()))
        .collect();
    found.sort_unstable();
    found
}

fn affected(name: &str) -> &'static [Primitive] {
    if name.starts_with("LD_") {
        &[Primitive::Exec, Primitive::DynamicLink, Primitive::Shell, Primitive::Compiler]
    } else {
        &[Primitive::AddressSpace, Primitive::PageFault, Primitive::Compiler]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_programs_is_told_from_the_rest() {
        let set = [
            ("PATH", "/bin"),
            ("LD_PRELOAD", " /lib/x.so "),
            ("LD_AUDIT", ""),
            ("LD_LIBRARY_PATH", "/lib"),
            ("MALLOC_ARENA_MAX", "1"),
            ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"),
            ("OMP_NUM_THREADS", "2"),
        ];
        let found = changing(set.into_iter().map(|(name, value)| (name.into(), value.into())));
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["GLIBC_TUNABLES", "LD_PRELOAD", "MALLOC_ARENA_MAX"]);
        assert_eq!(found[1].1, "/lib/x.so");
    }
}
