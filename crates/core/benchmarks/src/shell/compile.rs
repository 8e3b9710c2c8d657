//! Compiling and linking a program.

use std::fs;
use std::path::PathBuf;

use super::WHERE;
use crate::Scratch;
use crate::prelude::*;
use crate::tool;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "shell.compile",
    title: "C compiler",
    about: "Compiles and links a generated C program. The small one has about 150 lines and no optimisation, as in \
            BYTE. The large one has 64 functions and -O2. Afterwards the program is run and must give the known \
            number. The notes name the compiler. Its programs share one CPU, or run where the scheduler puts them.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "programs"),
    class: Class::Process,
    stresses: &[Primitive::Compiler, Primitive::IntegerAlu, Primitive::Branch, Primitive::Exec],
    operation: Some(Operation::mixture(
        "compilation",
        &[(Primitive::Exec, 6.0), (Primitive::Fork, 6.0), (Primitive::ContextSwitch, 50.0)],
        super::FILES,
    )),
    program: "cc",
    sources: &[
        DefinitionSource::new("BYTE", "C Compiler Throughput", "UnixBench, pgms/cctest.c")
            .at("program=small")
            .near(PROGRAM),
        DefinitionSource::new("BYTE", "C Compiler Throughput", "UnixBench, pgms/cctest.c").other(LARGE),
        DefinitionSource::new("CyberLife", "C Compiler Throughput", "CyberLife Labs notes, 2004")
            .at("program=small")
            .near(PROGRAM),
        DefinitionSource::new("CyberLife", "C Compiler Throughput", "CyberLife Labs notes, 2004").other(LARGE),
    ],
    parameters: &[
        Parameter::choice("program", &["small", "large"], &["small"]),
        Parameter::placed(WHERE, &["same_cpu"]),
    ],
    parties: Parties::Placed,
    // A compilation takes so long that a sample has one: what varies is the sample.
    batch: BatchRule { batches: Some(1), ..BatchRule::at_most(16) },
    prepare,
    ..Benchmark::BLANK
};

const PROGRAM: &str = "another program, generated, as long as the source's";
const LARGE: &str = "a program several times as long, with optimisation";

struct Compile {
    compiler: PathBuf,
    files: Rc<Scratch>,
    functions: u32,
    flags: &'static [&'static str],
}

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let compiler = tool::find(&["cc", "gcc", "clang"])?;
    context.note(format!("{}{} is {}", model::COMPILER, compiler.display(), tool::version(&compiler, "--version")));
    let files = context.scratch()?;
    let (functions, flags): (u32, &'static [&'static str]) = match at.choice("program")? {
        "large" => (64, &["-O2"]),
        _ => (SMALL, &[]),
    };
    fs::write(files.path().join("program.c"), source(functions))?;
    let mut compile = Compile { compiler, files, functions, flags };
    if context.calibrating() {
        // A compiler that fails is a reason not to measure, and no failure.
        let done = compile.batch(1)?;
        compile.check(&done)?;
    }
    Ok(Trial::one(compile))
}

/// Functions of a program of about 150 lines.
const SMALL: u32 = 16;

/// Each function mixes a number, loops and branches, and calls the one before it.
fn source(functions: u32) -> String {
    // The small program has the headers of BYTE's, which take a compiler longer than so few lines.
    let headers: &[&str] =
        if functions == SMALL { &["stdio", "stdlib", "unistd", "fcntl", "time"] } else { &["stdio"] };
    let mut text: String = headers.iter().map(|header| format!("#include <{header}.h>\n")).collect();
    text.push_str("\nstatic unsigned f0(unsigned x) { return x + 1; }\n");
    for number in 1..functions {
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
        functions - 1
    ));
    text
}

/// The number that the program must print.
fn result(functions: u32) -> u32 {
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
    f(functions - 1, 1998)
}

impl Kernel for Compile {
    fn ready(&mut self, _: u64) -> Result<(), BenchmarkError> {
        // The file does not exist before the first compilation.
        let _ = fs::remove_file(self.files.path().join("program"));
        Ok(())
    }

    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut compiled = 0;
        for _ in 0..ops {
            let mut command = tool::command(&self.compiler, self.files.path());
            tool::output(command.args(self.flags).args(["-o", "program", "program.c"]))?;
            compiled += 1;
        }
        Ok(BatchWork { ops, token: compiled })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let printed = tool::output(&mut tool::command(&self.files.path().join("program"), self.files.path()))?;
        let expected = result(self.functions).to_string();
        BenchmarkError::unless_equal(String::from_utf8_lossy(&printed).trim(), expected.as_str())?;
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_program_is_as_long_as_that_of_the_source() {
        let lines = source(SMALL).lines().count();
        assert!((130..=170).contains(&lines), "{lines} lines");
        let large = source(64).lines().count();
        assert!(large > 2 * lines, "{large} lines");
    }
}
