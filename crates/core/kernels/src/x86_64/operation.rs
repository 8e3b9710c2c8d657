//! Add, multiply and divide, one chain or eight.

use super::counted::counted;
use crate::counted_loop::CountedLoop;
use crate::operation::{self as reference, ITERATION, ITERATION_FLOAT, start};

/// Latency and throughput of an operation on general registers: `$step` works on the register `\r`, and may use `rsi`,
/// which contains s, `rax` and `rdx`. `$eight` are the registers of the chains. `$sum` adds chain 0 to `rcx` once per
/// iteration, for operations that alternate.
macro_rules! integer {
    ($module:ident, $one:literal, $eight:literal, $s:expr, $step:literal, $sum:literal) => {
        pub(super) mod $module {
            use super::*;
            counted!(
                latency,
                "xor ecx, ecx\n mov r8, {first}\n mov rsi, {s}",
                concat!(".rept 16\n .irp r, ", $one, "\n", $step, "\n .endr\n .endr\n ", $sum),
                "lea rax, [rcx + r8]",
                first = const start::INTEGER, s = const $s
            );
            counted!(
                throughput,
                "xor ecx, ecx\n mov r8, {first}\n mov rsi, {s}\n lea r9, [r8 + 1]\n lea r10, [r8 + 2]\n lea r11, [r8 + 3]\n lea r12, [r8 + 4]\n \
                 lea r13, [r8 + 5]\n lea r14, [r8 + 6]\n lea r15, [r8 + 7]",
                concat!(".rept 2\n .irp r, ", $eight, "\n", $step, "\n .endr\n .endr\n ", $sum),
                "mov rax, rcx\n .irp r, r8, r9, r10, r11, r12, r13, r14, r15\n add rax, \\r\n .endr",
                first = const start::INTEGER, s = const $s
            );
        }
    };
}

integer!(add_i32, "r8d", "r8d, r9d, r10d, r11d, r12d, r13d, r14d, r15d", start::ADD, "add \\r, esi", "");
integer!(add_i64, "r8", "r8, r9, r10, r11, r12, r13, r14, r15", start::ADD, "add \\r, rsi", "");
integer!(multiply_i32, "r8d", "r8d, r9d, r10d, r11d, r12d, r13d, r14d, r15d", start::MULTIPLY, "imul \\r, esi", "");
integer!(multiply_i64, "r8", "r8, r9, r10, r11, r12, r13, r14, r15", start::MULTIPLY, "imul \\r, rsi", "");
integer!(
    divide_i32,
    "r8d",
    "r8d, r9d, r10d, r11d, r12d, r13d, r14d, r15d",
    start::DIVIDE_I32,
    "mov eax, esi\n cdq\n idiv \\r\n mov \\r, eax",
    "add rcx, r8"
);
integer!(
    divide_i64,
    "r8",
    "r8, r9, r10, r11, r12, r13, r14, r15",
    start::DIVIDE_I64,
    "mov rax, rsi\n cqo\n idiv \\r\n mov \\r, rax",
    "add rcx, r8"
);

/// The same for floating point in `xmm0` to `xmm7`, s in `xmm15`, of which `xmm\r` is the chain and `xmm8` free.
macro_rules! float {
    ($module:ident, $convert:literal, $join:literal, $s:literal, $constant:expr, $step:literal, $sum:literal) => {
        pub(super) mod $module {
            use super::*;
            counted!(
                latency,
                concat!("xor ecx, ecx\n mov eax, 1\n ", $convert, " xmm0, eax\n mov rax, {s}\n ", $s),
                concat!(".rept 16\n .irp r, 0\n ", $step, "\n .endr\n .endr\n ", $sum),
                concat!($join, ", xmm0\n add rax, rcx"),
                s = const $constant
            );
            counted!(
                throughput,
                concat!("xor ecx, ecx\n .irp r, 0, 1, 2, 3, 4, 5, 6, 7\n mov eax, \\r + 1\n ", $convert, " xmm\\r, eax\n .endr\n mov rax, {s}\n ", $s),
                concat!(".rept 2\n .irp r, 0, 1, 2, 3, 4, 5, 6, 7\n ", $step, "\n .endr\n .endr\n ", $sum),
                concat!(".irp r, 0, 1, 2, 3, 4, 5, 6, 7\n ", $join, ", xmm\\r\n add rcx, rax\n .endr\n mov rax, rcx"),
                s = const $constant
            );
        }
    };
}

float!(add_f32, "cvtsi2ss", "movd eax", "cvtsi2ss xmm15, rax", start::FLOAT_ADD, "addss xmm\\r, xmm15", "");
float!(add_f64, "cvtsi2sd", "movq rax", "cvtsi2sd xmm15, rax", start::FLOAT_ADD, "addsd xmm\\r, xmm15", "");
float!(multiply_f32, "cvtsi2ss", "movd eax", "movd xmm15, eax", start::F32_MULTIPLY, "mulss xmm\\r, xmm15", "");
float!(multiply_f64, "cvtsi2sd", "movq rax", "movq xmm15, rax", start::F64_MULTIPLY, "mulsd xmm\\r, xmm15", "");
float!(
    divide_f32,
    "cvtsi2ss",
    "movd eax",
    "cvtsi2ss xmm15, rax",
    start::FLOAT_DIVIDE,
    "movaps xmm8, xmm15\n divss xmm8, xmm\\r\n movaps xmm\\r, xmm8",
    "movd eax, xmm0\n add rcx, rax"
);
float!(
    divide_f64,
    "cvtsi2sd",
    "movq rax",
    "cvtsi2sd xmm15, rax",
    start::FLOAT_DIVIDE,
    "movaps xmm8, xmm15\n divsd xmm8, xmm\\r\n movaps xmm\\r, xmm8",
    "movq rax, xmm0\n add rcx, rax"
);

/// Both rows of a type and an operation.
macro_rules! rows {
    ($($module:ident $latency:literal $throughput:literal $iteration:ident $instruction:literal;)+) => {
        pub(super) static LOOPS: [CountedLoop; 24] = [ $(
            CountedLoop {
                name: $latency, isa: "x86-64", iteration: $iteration, instruction: $instruction, each: 1,
                symbol: concat!("x86_64::operation::", stringify!($module), "::latency"), needs: "nothing",
                present: || true, body: $module::latency, expected: reference::$module::latency_expected,
            },
            CountedLoop {
                name: $throughput, isa: "x86-64", iteration: $iteration, instruction: $instruction, each: 1,
                symbol: concat!("x86_64::operation::", stringify!($module), "::throughput"), needs: "nothing",
                present: || true, body: $module::throughput, expected: reference::$module::throughput_expected,
            },
        )+ ];
    };
}

rows! {
    add_i32 "add_latency_i32" "add_throughput_i32" ITERATION "add";
    add_i64 "add_latency_i64" "add_throughput_i64" ITERATION "add";
    add_f32 "add_latency_f32" "add_throughput_f32" ITERATION_FLOAT "addss";
    add_f64 "add_latency_f64" "add_throughput_f64" ITERATION_FLOAT "addsd";
    multiply_i32 "multiply_latency_i32" "multiply_throughput_i32" ITERATION "imul";
    multiply_i64 "multiply_latency_i64" "multiply_throughput_i64" ITERATION "imul";
    multiply_f32 "multiply_latency_f32" "multiply_throughput_f32" ITERATION_FLOAT "mulss";
    multiply_f64 "multiply_latency_f64" "multiply_throughput_f64" ITERATION_FLOAT "mulsd";
    divide_i32 "divide_latency_i32" "divide_throughput_i32" ITERATION "idiv";
    divide_i64 "divide_latency_i64" "divide_throughput_i64" ITERATION "idiv";
    divide_f32 "divide_latency_f32" "divide_throughput_f32" ITERATION_FLOAT "divss";
    divide_f64 "divide_latency_f64" "divide_throughput_f64" ITERATION_FLOAT "divsd";
}
