//! BYTE magazine's Unix benchmarks as CyberLife Labs printed them: a test a row, a machine a column.

use super::super::describe::{Description, KILOBYTES, LOOPS, LOOPS_A_MINUTE, Rows, Table, Today, numbers, words};

pub(super) static EVALUATION: Description = Description {
    suite: "byte",
    published: "cyberlife-2004",
    title: "BYTE's Unix benchmarks on two near-identical machines",
    definition: "",
    tables: &[Table {
        title: "BYTE benchmark (more is better), in the printed order",
        source: "byte_benchmark",
        note: "A loop of the arithmetic tests is a sum of 100 terms; a KB is 1000 bytes. Pipe-based context switching runs on one CPU.",
        columns: &[
            words("test", "test", Today::Key),
            words("unit", "unit", Today::Words("")),
            numbers("appserver.geo", "appserver.geo", Today::Words("")),
            numbers("beastie.lab", "beastie.lab", Today::Words("")),
            numbers("this run", "", Today::Each { of: TESTS, interval: false }),
            numbers("its interval", "", Today::Each { of: TESTS, interval: true }),
        ],
        rows: Rows::Tests { columns: &["test"] },
        sort: None,
    }],
};

const fn loops(id: &'static str, point: &'static str) -> Today {
    Today::Figure(id, point, LOOPS)
}

const fn a_minute(id: &'static str, point: &'static str) -> Today {
    Today::Figure(id, point, LOOPS_A_MINUTE)
}

const fn kilobytes(id: &'static str) -> Today {
    Today::Figure(id, "buffer=1KiB,place=target", KILOBYTES)
}

const LONGER: Today = Today::Absent(
    "file tests of 30 seconds: what a figure is measured for does not change it; see the rows of 10 seconds",
);

/// Beginning of a test's printed name, and what continues it.
const TESTS: &[(&str, Today)] = &[
    ("Dhrystone 2 without register", loops("cpu.dhrystone", "")),
    (
        "Dhrystone 2 using register",
        Today::Absent(
            "Dhrystone using register variables: the word means nothing to today's compilers; see the row without",
        ),
    ),
    ("Arithmetic Test (type = arithoh)", loops("cpu.arithmetic", "type=overhead")),
    (
        "Arithmetic Test (type = register)",
        Today::Absent("arithmetic on register variables: today's compilers keep any int in a register; see type = int"),
    ),
    ("Arithmetic Test (type = short)", loops("cpu.arithmetic", "type=short")),
    ("Arithmetic Test (type = int)", loops("cpu.arithmetic", "type=int")),
    ("Arithmetic Test (type = long)", loops("cpu.arithmetic", "type=long")),
    ("Arithmetic Test (type = float)", loops("cpu.arithmetic", "type=float")),
    ("Arithmetic Test (type = double)", loops("cpu.arithmetic", "type=double")),
    ("System Call Overhead", loops("os.syscall_mix", "")),
    ("Pipe Throughput", loops("ipc.pipe_throughput", "")),
    ("Pipe-based Context Switching", loops("os.pipe_switch", "placement=same_cpu")),
    ("Process Creation", loops("os.fork_exit", "resident=2MiB")),
    ("Execl Throughput", loops("os.exec", "")),
    ("File Read (10 seconds)", kilobytes("file.read")),
    ("File Write (10 seconds)", kilobytes("file.write")),
    ("File Copy (10 seconds)", kilobytes("file.copy")),
    ("File Read (30 seconds)", LONGER),
    ("File Write (30 seconds)", LONGER),
    ("File Copy (30 seconds)", LONGER),
    ("C Compiler", a_minute("shell.compile", "")),
    ("Shell scripts (1 ", a_minute("shell.script", "concurrent=1")),
    ("Shell scripts (2 ", a_minute("shell.script", "concurrent=2")),
    ("Shell scripts (4 ", a_minute("shell.script", "concurrent=4")),
    ("Shell scripts (8 ", a_minute("shell.script", "concurrent=8")),
    ("Dc: sqrt(2)", a_minute("shell.dc", "")),
    ("Recursion Test", loops("cpu.hanoi", "")),
];
