//! The machine code agrees with the declarations: the loops exist, and contain the declared loads, stores and
//! arithmetic.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and says why it cannot run")]

use crate::disassembly::{Instruction, count, function, inner_loops};
use kernels::stream::{self, Stores, StreamKind, Variant, Width};
#[cfg(target_arch = "x86_64")]
use kernels::{arithmetic, counted};
use kernels::{branch, copy, core_sensor, hanoi, ring};

/// Keeps the kernels in this program.
fn linked() {
    std::hint::black_box((copy::memcpy_library as fn(_, _, _), copy::memcpy_unrolled as fn(_, _, _)));
    let mut ring = ring::ChaseRing::new(vec![0; 1024].into_boxed_slice(), ring::ChasePattern::Random, 1).unwrap();
    ring.chase(10);
    ring.chase_parallel(&mut ring.starts(8), 10);
    std::hint::black_box(core_sensor::CoreSensors::calibrate().is_ok());
    std::hint::black_box((branch::count_odd(&[1, 2, 3], 1), hanoi::solve(3, 1, &mut 0)));
}

/// The only loop of the function, or the one that `holds` selects.
fn only_loop(code: &'static [Instruction], name: &str, holds: impl Fn(&Instruction) -> bool) -> &'static [Instruction] {
    let mut loops = inner_loops(code);
    loops.retain(|iteration| iteration.iter().any(&holds));
    assert_eq!(loops.len(), 1, "{name} has loops {loops:#?}");
    loops[0]
}

#[cfg(target_arch = "x86_64")]
#[test]
fn streaming_loops_hold_what_they_declare() {
    for variant in StreamKind::ALL.into_iter().flat_map(stream::all).filter(|variant| variant.width != Width::Compiled)
    {
        let Some(code) = function(variant.symbol) else { return };
        assert_eq!(code.len(), 1, "{} is in the program {} times", variant.symbol, code.len());
        holds_what_it_declares(variant, only_loop(code[0], variant.symbol, |_| true));
        let fences = count(code[0], |one| one.mnemonic() == "sfence");
        assert_eq!(fences, u64::from(variant.stores == Stores::Streaming), "{}", variant.symbol);
        assert_eq!(count(code[0], |one| one.mnemonic() == "call"), 0, "{} calls", variant.symbol);
    }
}

#[cfg(target_arch = "x86_64")]
fn holds_what_it_declares(variant: &Variant, iteration: &[Instruction]) {
    let name = variant.symbol;
    assert_eq!(count(iteration, Instruction::is_load), variant.iteration.loads, "loads of {name}: {iteration:#?}");
    assert_eq!(count(iteration, Instruction::is_store), variant.iteration.stores, "stores of {name}: {iteration:#?}");
    let past_the_caches = |one: &Instruction| one.mnemonic().trim_start_matches('v').starts_with("movnt");
    let streaming = if variant.stores == Stores::Streaming { variant.iteration.stores } else { 0 };
    assert_eq!(count(iteration, past_the_caches), streaming, "streaming stores of {name}");
    let size = match variant.width {
        Width::Vector512 => "ZMMWORD",
        Width::Vector256 => "YMMWORD",
        Width::Vector128 => "XMMWORD",
        Width::Integer | Width::Double | Width::Compiled => "QWORD",
    };
    let sized = count(iteration, |one| one.text.contains(size));
    assert_eq!(sized, variant.iteration.loads + variant.iteration.stores, "accesses of {size} in {name}");
    let lanes =
        if variant.width == Width::Double { 1 } else { variant.iteration.elements / variant.iteration.stores.max(1) };
    let arithmetic = |one: &Instruction| {
        let name = one.mnemonic().trim_start_matches('v');
        ["mulpd", "mulsd", "addpd", "addsd"].contains(&name)
    };
    if variant.kind != StreamKind::Read {
        assert_eq!(count(iteration, arithmetic) * lanes, variant.iteration.flops, "arithmetic of {name}");
    }
    assert_eq!(count(iteration, |one| one.mnemonic().contains("fmadd")), 0, "{name} fuses");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_chase_is_loads_that_need_each_other() {
    linked();
    let Some(code) = function("ring::chase_one") else { return };
    let iterations: Vec<_> = inner_loops(code[0]).into_iter().filter(|iteration| iteration.len() > 8).collect();
    assert_eq!(iterations.len(), 1, "the unrolled loop is gone: {:#?}", code[0]);
    let loads: Vec<_> = iterations[0].iter().filter(|one| one.is_load()).collect();
    assert_eq!(loads.len() as u64, ring::ITERATION);
    for load in loads {
        let (to, from) = load.text.strip_prefix("mov ").and_then(|text| text.split_once(",QWORD PTR ")).unwrap();
        assert_eq!(from, format!("[{to}]"), "a load that does not wait for the one before: {load:?}");
    }
    assert!(iterations[0].len() as u64 <= ring::ITERATION + 2, "more than loads: {:#?}", iterations[0]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn parallel_chases_keep_their_pointers_in_registers() {
    linked();
    for chains in [2, 8, 12] {
        let found = function("ring::chase_many").into_iter().flatten().any(|code| {
            inner_loops(code).into_iter().any(|iteration| {
                let own = |one: &Instruction| {
                    let parts = one.text.strip_prefix("mov ").and_then(|text| text.split_once(",QWORD PTR "));
                    parts.is_some_and(|(to, from)| from.replace("+0x0]", "]") == format!("[{to}]"))
                };
                count(iteration, own).is_multiple_of(chains) && count(iteration, own) + 3 >= iteration.len() as u64
            })
        });
        assert!(found || crate::disassembly::functions().is_none(), "no loop follows {chains} chains from registers");
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn sensors_are_register_adds_and_nothing_else() {
    use std::collections::BTreeSet;
    linked();
    for (symbol, adds, chains) in [
        ("clock_sensor::run", core_sensor::CLOCK_ITERATION, 1),
        ("contention_sensor::run", core_sensor::CONTENTION_ITERATION, core_sensor::CHAINS),
    ] {
        let Some(code) = function(&format!("{}::{symbol}", std::env::consts::ARCH)) else { return };
        let iteration = only_loop(code[0], symbol, |one| one.mnemonic() == "add");
        let added: Vec<&str> =
            iteration.iter().filter_map(|one| one.text.strip_prefix("add ")?.split(',').next()).collect();
        assert_eq!((added.len(), iteration.len()), (adds as usize, adds as usize + 2), "{iteration:#?}");
        let registers: BTreeSet<&str> = added.iter().copied().collect();
        assert_eq!(registers.len(), chains as usize, "{registers:?}");
        let immediate = |one: &Instruction| {
            one.mnemonic() == "add" && (one.text.contains(['#', '$', '[']) || one.text.contains(",0x"))
        };
        assert_eq!(count(iteration, immediate), 0, "an immediate is folded at rename on some cores: {iteration:#?}");
        // One chain only: successive adds of one chain have the other chains' adds between them.
        let alternating = added.iter().zip(added.iter().skip(chains as usize)).all(|(one, next)| one == next);
        assert!(alternating, "the chains do not alternate: {iteration:#?}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_issue_reference_is_instructions_that_do_nothing() {
    linked();
    let Some(code) = function("x86_64::issue_sensor::run") else { return };
    let iteration = only_loop(code[0], "issue_sensor::run", |one| one.mnemonic() == "nop");
    let nops = count(iteration, |one| one.text.trim() == "nop");
    assert_eq!(
        (nops, iteration.len()),
        (u64::from(core_sensor::ISSUE_ITERATION) - 2, core_sensor::ISSUE_ITERATION as usize)
    );
}

#[test]
fn copying_calls_the_library_or_does_not() {
    linked();
    let Some(library) = function("copy::memcpy_library") else { return };
    let calls = |one: &Instruction| ["call", "bl", "blr"].contains(&one.mnemonic()) && !one.text.contains("panic");
    assert!(count(library[0], calls) >= 1, "no call of memcpy: {:#?}", library[0]);
    let Some(unrolled) = function("copy::memcpy_unrolled") else { return };
    assert_eq!(count(unrolled[0], |one| one.text.contains("memcpy@") || one.text.contains("<memcpy")), 0);
    if cfg!(target_arch = "x86_64") {
        let wide =
            |one: &Instruction| one.text.contains("xmm") || one.text.contains("ymm") || one.text.contains("rep ");
        assert_eq!(count(unrolled[0], wide), 0, "not 64-bit words: {:#?}", unrolled[0]);
        let loops = inner_loops(unrolled[0]);
        let iteration = loops.iter().find(|iteration| count(iteration, Instruction::is_store) == copy::UNROLL as u64);
        assert_eq!(iteration.map(|iteration| count(iteration, Instruction::is_load)), Some(copy::UNROLL as u64));
        assert!(
            iteration.is_some_and(|iteration| iteration.len() <= 2 * copy::UNROLL + 5),
            "more than loads and stores: {iteration:#?}"
        );
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn counted_loops_hold_what_they_declare() {
    for one in counted::all().filter(|one| one.isa != "portable") {
        let Some(code) = function(one.symbol) else { return };
        let name = format!("{} with {}", one.name, one.isa);
        assert_eq!(code.len(), 1, "{name} is in the program {} times", code.len());
        let works = |instruction: &Instruction| {
            instruction.text.split(' ').find(|word| *word != "{vex}") == Some(one.instruction)
        };
        let iteration = only_loop(code[0], &name, works);
        // The sums of the arithmetic tests are loops inside the iteration.
        let times = if one.name.starts_with("arithmetic") { arithmetic::TERMS } else { 1 };
        assert_eq!(
            count(iteration, works) * one.each * times,
            one.iteration.ops,
            "operations of {name}: {iteration:#?}"
        );
        if one.iteration.loads > 0 {
            assert_eq!(count(iteration, Instruction::is_load), one.iteration.loads, "loads of {name}: {iteration:#?}");
        }
        assert_eq!(count(iteration, Instruction::is_store), 0, "stores of {name}: {iteration:#?}");
        assert_eq!(count(iteration, |one| one.mnemonic() == "call"), 0, "{name} calls");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn chains_are_as_many_as_declared() {
    let written = |one: &Instruction| {
        one.text.split_once(' ').and_then(|(_, operands)| operands.split(',').next()).map(str::to_owned)
    };
    for one in
        counted::all().filter(|one| one.isa == "x86-64" && one.name.contains("_i") && !one.name.starts_with("arith"))
    {
        let Some(code) = function(one.symbol) else { return };
        let iteration = only_loop(code[0], one.name, |instruction| instruction.mnemonic() == one.instruction);
        let mut chains: Vec<_> = iteration
            .iter()
            .filter(|instruction| instruction.mnemonic() == one.instruction)
            .filter_map(written)
            .collect();
        chains.sort_unstable();
        chains.dedup();
        assert_eq!(chains.len(), if one.name.contains("latency") { 1 } else { 8 }, "chains of {}", one.name);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_data_dependent_branch_is_a_branch() {
    linked();
    let Some(code) = function("x86_64::branch::count_odd") else { return };
    let iteration = only_loop(code[0], "branch::count_odd", Instruction::is_load);
    let names: Vec<_> = iteration.iter().map(Instruction::mnemonic).collect();
    assert_eq!(names, ["test", "je", "inc", "inc", "cmp", "jne"]);
}

#[test]
fn the_recursion_calls_itself_three_times() {
    linked();
    let Some(code) = function("hanoi::shift") else { return };
    let calls = |one: &Instruction| ["call", "bl"].contains(&one.mnemonic()) && one.text.contains("shift");
    assert_eq!(count(code[0], calls), 3, "{:#?}", code[0]);
}
