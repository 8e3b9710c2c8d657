//! Compiling and linking a program.

use std::fs;
use std::path::PathBuf;

use super::tool;
use crate::Scratch;
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "shell.compile",
    title: "C compiler",
    about: "Compiles and links a generated C program of 64 functions with optimisation (-O2). Afterwards it is run, and must give the \
            number that the functions are known to give. Which compiler stands in the notes.",
    metric: ProbeMetric::higher(Unit::PerSecond, "programs"),
    class: Class::Process,
    stresses: &[Primitive::Compiler, Primitive::IntegerAlu, Primitive::Branch, Primitive::Exec],
    sources: &[DefinitionSource::new("BYTE", "C Compiler Throughput", "UnixBench, pgms/cctest.c")],
    parties: Parties::Free,
    // A compilation takes so long that a launch has one: what varies is the launch.
    batch: BatchRule { batches: Some(1), ..BatchRule::at_most(16) },
    prepare,
    ..Probe::BLANK
};

const FUNCTIONS: u32 = 64;

struct Compile {
    compiler: PathBuf,
    files: Rc<Scratch>,
}

fn prepare(_: &Point, context: &mut ProbeContext) -> Result<Trial, Unsupported> {
    let compiler = tool::find(&["cc", "gcc", "clang"])?;
    context.note(format!("compiler: {} is {}", compiler.display(), tool::version(&compiler, "--version")));
    let files = context.scratch()?;
    fs::write(files.path().join("program.c"), source())?;
    let mut compile = Compile { compiler, files };
    if context.calibrating() {
        // A compiler that fails is a reason not to measure, and no failure.
        let done = compile.batch(1)?;
        compile.check(&done)?;
    }
    Ok(Trial::one(compile))
}

/// Each function mixes a number, loops and branches, and calls the one before it.
fn source() -> String {
    let mut text = String::from("#include <stdio.h>\n\nstatic unsigned f0(unsigned x) { return x + 1; }\n");
    for number in 1..FUNCTIONS {
        text.push_str(&format!(
            "static unsigned f{number}(unsigned x)\n{{\n    unsigned table[8], sum = 0, i;\n    \
             for (i = 0; i < 8; i++)\n        table[i] = x * (i + {number}u) ^ (x >> (i & 3));\n    \
             for (i = 0; i < 8; i++)\n        sum += table[i] % {modulus}u > {half}u ? table[i] : i + x;\n    \
             return sum + f{previous}(x ^ {number}u);\n}}\n",
            modulus = number * 3 + 7,
            half = number + 3,
            previous = number - 1,
        ));
    }
    text.push_str(&format!(
        "int main(void)\n{{\n    printf(\"%u\\n\", f{}(1998u));\n    return 0;\n}}\n",
        FUNCTIONS - 1
    ));
    text
}

/// The number that the program must print.
fn result() -> u32 {
    fn f(number: u32, x: u32) -> u32 {
        if number == 0 {
            return x.wrapping_add(1);
        }
        let table: [u32; 8] = std::array::from_fn(|i| x.wrapping_mul(i as u32 + number) ^ x >> (i & 3));
        let pick = |(i, word): (usize, &u32)| {
            if word % (number * 3 + 7) > number + 3 { *word } else { x.wrapping_add(i as u32) }
        };
        table.iter().enumerate().map(pick).fold(f(number - 1, x ^ number), u32::wrapping_add)
    }
    f(FUNCTIONS - 1, 1998)
}

impl Kernel for Compile {
    fn ready(&mut self, _: u64) -> Result<(), ProbeError> {
        // The file does not exist before the first compilation.
        let _ = fs::remove_file(self.files.path().join("program"));
        Ok(())
    }

    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        let mut compiled = 0;
        for _ in 0..ops {
            let mut command = tool::command(&self.compiler, self.files.path());
            tool::output(command.args(["-O2", "-o", "program", "program.c"]))?;
            compiled += 1;
        }
        Ok(BatchWork { ops, token: compiled })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        let printed = tool::output(&mut tool::command(&self.files.path().join("program"), self.files.path()))?;
        ProbeError::unless_equal(String::from_utf8_lossy(&printed).trim(), result().to_string().as_str())?;
        ProbeError::unless_equal(done.token, done.ops)
    }
}
