//! The same for the loops that are written for aarch64: they hold the loads, stores and arithmetic that they declare.

use kernels::stream::{self, Stores, StreamKind, Variant, Width};
use kernels::{branch, ring};

use crate::disassembly::{Instruction, count, function, inner_loops};

/// Keeps the kernels in this program.
fn linked() {
    if let Some(mut ring) = ring::ChaseRing::new(vec![0; 1024].into_boxed_slice(), ring::ChasePattern::Random, 1) {
        ring.chase(10);
    }
    std::hint::black_box(branch::count_odd(&[1, 2, 3], 1));
}

fn mnemonics(iteration: &[Instruction], wanted: &[&str]) -> u64 {
    count(iteration, |one| wanted.contains(&one.mnemonic()))
}

#[test]
fn streaming_loops_hold_what_they_declare() {
    for variant in StreamKind::ALL.into_iter().flat_map(stream::all).filter(|variant| variant.width != Width::Compiled)
    {
        let Some(code) = function(variant.symbol) else { return };
        assert_eq!(code.len(), 1, "{} is in the program {} times", variant.symbol, code.len());
        let loops = inner_loops(code[0]);
        assert_eq!(loops.len(), 1, "{} has loops {loops:#?}", variant.symbol);
        holds_what_it_declares(variant, loops[0]);
        // Before the loop a length is checked, which may panic in programs with such checks.
        let calls = |one: &Instruction| ["bl", "blr"].contains(&one.mnemonic()) && !one.text.contains("panic");
        assert_eq!(count(code[0], calls), 0, "{} calls", variant.symbol);
    }
}

fn holds_what_it_declares(variant: &Variant, iteration: &[Instruction]) {
    let name = variant.symbol;
    // Every access is of a pair of registers.
    assert_eq!(mnemonics(iteration, &["ldp"]), variant.iteration.loads, "loads of {name}: {iteration:#?}");
    let store = if variant.stores == Stores::Streaming { "stnp" } else { "stp" };
    assert_eq!(mnemonics(iteration, &[store]), variant.iteration.stores, "stores of {name}: {iteration:#?}");
    assert_eq!(
        count(iteration, Instruction::is_memory),
        variant.iteration.loads + variant.iteration.stores,
        "other accesses of {name}"
    );
    let register = match variant.width {
        Width::Double => 'd',
        Width::Integer => 'x',
        _ => 'q',
    };
    let sized = |one: &Instruction| {
        one.is_memory() && one.text.split(' ').nth(1).is_some_and(|word| word.starts_with(register))
    };
    assert_eq!(
        count(iteration, sized),
        variant.iteration.loads + variant.iteration.stores,
        "accesses by {register} in {name}"
    );
    let lanes = if variant.width == Width::Double { 1 } else { 2 };
    if variant.kind != StreamKind::Read {
        assert_eq!(mnemonics(iteration, &["fmul", "fadd"]) * lanes, variant.iteration.flops, "arithmetic of {name}");
    }
    assert_eq!(mnemonics(iteration, &["fmla", "fmadd"]), 0, "{name} fuses");
}

#[test]
fn a_chase_is_loads_that_need_each_other() {
    linked();
    let Some(code) = function("ring::chase_one") else { return };
    let iterations: Vec<_> = inner_loops(code[0]).into_iter().filter(|iteration| iteration.len() > 8).collect();
    assert_eq!(iterations.len(), 1, "the unrolled loop is gone: {:#?}", code[0]);
    let loads: Vec<_> = iterations[0].iter().filter(|one| one.is_memory()).collect();
    assert_eq!(loads.len() as u64, ring::ITERATION);
    for load in loads {
        let parts = load.text.strip_prefix("ldr ").and_then(|text| text.split_once(", "));
        let waits = parts.is_some_and(|(to, from)| from == format!("[{to}]"));
        assert!(waits, "a load that does not wait for the one before: {load:?}");
    }
    assert!(iterations[0].len() as u64 <= ring::ITERATION + 3, "more than loads: {:#?}", iterations[0]);
}

#[test]
fn the_data_dependent_branch_is_a_branch() {
    linked();
    let Some(code) = function("aarch64::branch::count_odd") else { return };
    let branches = ["tbz", "tbnz", "cbz", "cbnz", "b.eq", "b.ne"];
    let loops = inner_loops(code[0]);
    let iteration = loops.iter().find(|iteration| count(iteration, Instruction::is_memory) > 0);
    assert!(
        iteration.is_some_and(|iteration| mnemonics(iteration, &branches) == 2),
        "one for the datum, one for the loop: {loops:#?}"
    );
}
