//! The synthetic programs run as published: their procedures are called, their loops exist.

use crate::disassembly::{Instruction, count, function, inner_loops};
use kernels::dhrystone::{CALLS, Dhrystone};
use kernels::whetstone;

fn calls(code: &[Instruction], name: &str) -> u64 {
    let mangled = format!("{}{name}", name.len());
    count(code, |one| ["call", "bl", "jmp", "b"].contains(&one.mnemonic()) && one.text.contains(&mangled))
}

#[test]
fn a_dhrystone_makes_the_published_calls() {
    assert_eq!(Dhrystone::runs(10), Dhrystone::expected(10));
    let of = |path: &str, callees: &[&str]| -> Option<u64> {
        let code = function(&format!("dhrystone::{path}"))?;
        assert_eq!(code.len(), 1, "{path} is in the program {} times", code.len());
        for callee in callees {
            assert!(calls(code[0], callee) >= 1, "{path} does not call {callee}: {:#?}", code[0]);
        }
        Some(callees.len() as u64)
    };
    let Some(run) = of("run", &["reset", "letters", "is_later", "plus_two", "arrays", "record", "same", "settle"])
    else {
        return;
    };
    let record = of("record", &["follow", "choose", "plus_two"]).unwrap();
    let others = of("is_later", &["same"]).unwrap()
        + of("follow", &["plus_two"]).unwrap()
        + of("choose", &["is_third"]).unwrap();
    // The loop over the letters calls its function twice.
    assert_eq!(run + record + others + 1, CALLS);
    let compare = function("dhrystone::is_later").unwrap();
    let library =
        |one: &Instruction| one.text.contains("memcmp") || one.text.contains("bcmp") || one.text.contains("rip");
    assert!(count(compare[0], library) >= 1, "no comparison of strings: {:#?}", compare[0]);
}

/// A module: its function, the instruction of its work, and the number of these if a compiler unrolls its loop.
type LoopModule = (&'static str, fn(&Instruction) -> bool, u64);

#[test]
fn every_module_of_the_whetstone_is_a_loop_that_works() {
    assert_eq!(whetstone::loops(3), whetstone::expected(3));
    if !cfg!(target_arch = "x86_64") {
        testing::lacks!("only the instructions of x86-64 are told apart");
        return;
    }
    let multiplies = |one: &Instruction| one.mnemonic().contains("mulsd") || one.mnemonic().contains("mulpd");
    let call = |one: &Instruction| one.mnemonic() == "call";
    let modules: [LoopModule; 9] = [
        ("array", multiplies, 12 * 4),
        ("parameter", call, 14),
        ("six_times", multiplies, 6 * 3),
        ("jumps", |one| one.mnemonic() == "cmp", 345),
        ("integers", |one| one.mnemonic() == "imul", 210),
        ("trigonometry", call, 32),
        ("calls", call, 899),
        ("sensors", call, 616),
        ("functions", call, 93),
    ];
    for (name, works, unrolled) in modules {
        let Some(code) = function(&format!("whetstone::{name}")) else { return };
        let code = code[0];
        let in_loop = inner_loops(code).into_iter().any(|iteration| count(iteration, works) >= 1);
        assert!(in_loop || count(code, works) >= unrolled, "{name} has no loop that works: {code:#?}");
    }
    let swap = function("whetstone::swap").unwrap()[0];
    let stores = count(swap, |one| one.is_store() && one.mnemonic().starts_with("mov"));
    assert!(count(swap, Instruction::is_load) >= 3 && stores == 3, "{swap:#?}");
}
