//! Every counted loop of this CPU returns the result of plain code.

use kernels::counted::{self, CountedLoop};

const ITERATION: [u64; 8] = [0, 1, 2, 3, 7, 16, 99, 1000];

fn available() -> impl Iterator<Item = &'static CountedLoop> {
    counted::all().filter(|one| match one.check() {
        Ok(()) => true,
        Err(error) => {
            testing::lacks!("{error}");
            false
        }
    })
}

#[test]
fn every_loop_returns_what_plain_code_does() {
    for one in available() {
        for iterations in ITERATION {
            let (found, expected) = (one.run(iterations).unwrap(), one.expected(iterations));
            assert_eq!(found, expected, "{} with {}, {iterations} iterations", one.name, one.isa);
        }
    }
}

#[test]
fn an_iteration_too_few_is_noticed() {
    for one in available() {
        for iterations in [1, 50, 1000] {
            assert_ne!(one.run(iterations - 1).unwrap(), one.expected(iterations), "{} with {}", one.name, one.isa);
        }
    }
}

#[test]
fn long_runs_agree_too() {
    for one in available().filter(|one| one.name.starts_with("fma") || one.name.starts_with("multiply")) {
        // Above 2^24 a float no longer grows by 1.
        let iterations = if one.name == "fma_f32" { (1 << 24) + 1000 } else { 100_000 };
        assert_eq!(one.run(iterations).unwrap(), one.expected(iterations), "{} with {}", one.name, one.isa);
    }
}

#[test]
fn the_table_is_consistent() {
    let mut seen = std::collections::HashSet::new();
    for one in counted::all() {
        assert!(seen.insert((one.name, one.isa)), "{} with {} is there twice", one.name, one.isa);
        assert!(one.iteration.ops > 0 && one.iteration.elements > 0, "{} declares nothing", one.name);
        assert!(one.iteration.ops.is_multiple_of(one.each), "{} with {}", one.name, one.isa);
        if one.isa != "portable" {
            assert!(!one.instruction.is_empty());
        }
    }
    let portable = |name| counted::all().any(|one| one.name == name && one.isa == "portable");
    for name in seen.iter().map(|(name, _)| *name) {
        let class = ["fma", "int8", "aes", "sha", "crc"].iter().any(|class| name.starts_with(class));
        assert!(class || portable(name), "{name} has no portable form");
        assert!(counted::find(name).is_ok_and(|one| one.name == name) || class, "{name} cannot be found");
    }
}

/// Some CPUs have vector AES rounds but no AVX-512, which gives only half of their peak rate.
#[test]
#[cfg(target_arch = "x86_64")]
fn vectors_of_aes_rounds_are_used_where_they_are() {
    if !(is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx2")) {
        return testing::lacks!("this CPU lacks VAES");
    }
    assert!(available().any(|one| one.name == "aes_throughput" && one.each > 1));
}

#[test]
fn what_is_missing_says_so() {
    let error = counted::find("turnip_f64").unwrap_err().to_string();
    assert!(error.starts_with("could not run turnip_f64: "), "{error}");
    for one in counted::all().filter(|one| one.check().is_err()) {
        assert!(one.run(1).unwrap_err().to_string().contains("this CPU lacks"), "{}", one.name);
    }
}
