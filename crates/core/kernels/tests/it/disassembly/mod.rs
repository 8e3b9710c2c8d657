//! The machine code of this test program, by function, from binutils' `objdump`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::process::Command;
use std::sync::OnceLock;

/// One instruction: its address, and its text with single spaces.
#[derive(Debug, Clone)]
pub(crate) struct Instruction {
    pub(crate) address: u64,
    pub(crate) text: String,
}

impl Instruction {
    pub(crate) fn mnemonic(&self) -> &str {
        self.text.split(' ').next().unwrap_or_default()
    }

    /// The target of a jump inside the function.
    fn target(&self) -> Option<u64> {
        let (jump, rest) = self.text.split_once(' ')?;
        let branches = jump.starts_with('j') || jump.starts_with("b.") || jump == "b" || jump.starts_with("cb");
        let place = rest.split(' ').find_map(|word| u64::from_str_radix(word, 16).ok())?;
        branches.then_some(place)
    }

    /// The operands in memory, in order; an address computed by `lea` is not one.
    fn memory(&self) -> Option<usize> {
        let operands = self.text.split_once(' ')?.1;
        (!self.mnemonic().starts_with("lea") && !self.mnemonic().starts_with("nop"))
            .then(|| operands.split(',').position(|operand| operand.contains('[')))?
    }

    /// Whether it accesses memory, of either kind.
    #[cfg(target_arch = "aarch64")]
    pub(crate) fn is_memory(&self) -> bool {
        self.memory().is_some()
    }

    /// A store has memory as its first operand, unless it only compares.
    pub(crate) fn is_store(&self) -> bool {
        self.memory() == Some(0) && !self.compares()
    }

    pub(crate) fn is_load(&self) -> bool {
        self.memory().is_some_and(|place| place > 0 || self.compares())
    }

    fn compares(&self) -> bool {
        ["cmp", "test"].contains(&self.mnemonic())
    }
}

/// The functions of this program, by raw symbol; `None`, with a message on stderr, if there is no `objdump`.
pub(crate) fn functions() -> Option<&'static HashMap<String, Vec<Instruction>>> {
    static FUNCTIONS: OnceLock<Option<HashMap<String, Vec<Instruction>>>> = OnceLock::new();
    FUNCTIONS.get_or_init(read).as_ref()
}

fn read() -> Option<HashMap<String, Vec<Instruction>>> {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("objdump");
    command.args(["--disassemble", "--no-show-raw-insn", "--section=.text"]);
    if cfg!(target_arch = "x86_64") {
        command.arg("--disassembler-options=intel");
    }
    let output = match command.arg(program).output() {
        Ok(output) if output.status.success() => output,
        other => {
            testing::skip!("objdump (binutils) is needed to look at machine code: {other:?}");
            return None;
        }
    };
    let mut functions = HashMap::new();
    let mut current: &mut Vec<Instruction> = &mut Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            current = functions.entry(name.1.to_owned()).or_default();
        } else if let Some((address, text)) = line.split_once(":\t")
            && let Ok(address) = u64::from_str_radix(address.trim(), 16)
        {
            current.push(Instruction { address, text: text.split_whitespace().collect::<Vec<_>>().join(" ") });
        }
    }
    Some(functions)
}

/// The instructions of a function given by its path inside the crate, such as `ring::chase_one`: mangled names contain
/// each part of the path after its length.
pub(crate) fn function(path: &str) -> Option<Vec<&'static [Instruction]>> {
    let mangled: String = path.split("::").map(|part| format!("{}{part}", part.len())).collect();
    let mangled = format!("7kernels{mangled}");
    let found: Vec<_> =
        functions()?.iter().filter(|(name, _)| name.contains(&mangled)).map(|(_, code)| code.as_slice()).collect();
    assert!(!found.is_empty(), "no function {path} in this program");
    Some(found)
}

/// The innermost loops of a function, as the instructions from the target of a jump back to that jump.
pub(crate) fn inner_loops(code: &[Instruction]) -> Vec<&[Instruction]> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (end, jump) in code.iter().enumerate() {
        let start = jump.target().and_then(|to| code[..=end].iter().position(|one| one.address == to));
        spans.extend(start.map(|start| (start, end)));
    }
    let inner =
        |span: &&(usize, usize)| !spans.iter().any(|other| other != *span && span.0 <= other.0 && other.1 <= span.1);
    spans.iter().filter(inner).map(|(start, end)| &code[*start..=*end]).collect()
}

pub(crate) fn count(code: &[Instruction], wanted: impl Fn(&Instruction) -> bool) -> u64 {
    code.iter().filter(|one| wanted(one)).count() as u64
}
