//! The arithmetic tests of the BYTE benchmark, with fixed instructions.
//!
//! `ecx` is i, `r8` or `xmm4` is z, `r11` the total of the iterations.

use super::counted::counted;
use crate::arithmetic::{self as byte, ITERATION, ITERATION_EMPTY, ITERATION_FLOAT};
use crate::counted_loop::CountedLoop;

counted!(
    empty,
    "xor r11d, r11d",
    "mov ecx, 2\n .p2align 4\n 4: inc ecx\n cmp ecx, 102\n jne 4b\n add r11, rcx",
    "mov rax, r11"
);

counted!(
    short,
    "xor r11d, r11d",
    "mov ecx, 2\n xor r8d, r8d\n .p2align 4\n 4: movsx r10d, cx\n mov r9d, r10d\n imul r9d, r9d\n movsx r9d, r9w\n \
     lea r12d, [r9 - 1]\n mov eax, r9d\n cdq\n idiv r12d\n add r8d, eax\n movsx r8d, r8w\n inc ecx\n cmp ecx, 102\n jne 4b\n \
     add r10d, r9d\n add r10d, r8d\n movzx r10d, r10w\n add r11, r10",
    "mov rax, r11"
);

counted!(
    int,
    "xor r11d, r11d",
    "mov ecx, 2\n xor r8d, r8d\n .p2align 4\n 4: mov r10d, ecx\n mov r9d, r10d\n imul r9d, r9d\n lea r12d, [r9 - 1]\n \
     mov eax, r9d\n cdq\n idiv r12d\n add r8d, eax\n inc ecx\n cmp ecx, 102\n jne 4b\n \
     add r10d, r9d\n add r10d, r8d\n add r11, r10",
    "mov rax, r11"
);

counted!(
    long,
    "xor r11d, r11d",
    "mov ecx, 2\n xor r8d, r8d\n .p2align 4\n 4: movsxd r10, ecx\n mov r9, r10\n imul r9, r9\n lea r12, [r9 - 1]\n \
     mov rax, r9\n cqo\n idiv r12\n add r8, rax\n inc ecx\n cmp ecx, 102\n jne 4b\n add r10, r9\n add r10, r8\n add r11, r10",
    "mov rax, r11"
);

counted!(
    float,
    "xor r11d, r11d\n mov eax, 1\n cvtsi2ss xmm15, eax",
    "mov ecx, 2\n xorps xmm4, xmm4\n .p2align 4\n 4: xorps xmm0, xmm0\n cvtsi2ss xmm0, ecx\n movaps xmm1, xmm0\n \
     mulss xmm1, xmm1\n movaps xmm2, xmm1\n subss xmm2, xmm15\n movaps xmm3, xmm1\n divss xmm3, xmm2\n addss xmm4, xmm3\n \
     inc ecx\n cmp ecx, 102\n jne 4b\n addss xmm0, xmm1\n addss xmm0, xmm4\n movd eax, xmm0\n add r11, rax",
    "mov rax, r11"
);

counted!(
    double,
    "xor r11d, r11d\n mov eax, 1\n cvtsi2sd xmm15, eax",
    "mov ecx, 2\n xorpd xmm4, xmm4\n .p2align 4\n 4: xorpd xmm0, xmm0\n cvtsi2sd xmm0, ecx\n movapd xmm1, xmm0\n \
     mulsd xmm1, xmm1\n movapd xmm2, xmm1\n subsd xmm2, xmm15\n movapd xmm3, xmm1\n divsd xmm3, xmm2\n addsd xmm4, xmm3\n \
     inc ecx\n cmp ecx, 102\n jne 4b\n addsd xmm0, xmm1\n addsd xmm0, xmm4\n movq rax, xmm0\n add r11, rax",
    "mov rax, r11"
);

macro_rules! row {
    ($name:literal, $module:ident, $iteration:expr, $instruction:literal, $each:literal) => {
        CountedLoop {
            name: $name,
            isa: "x86-64",
            iteration: $iteration,
            instruction: $instruction,
            each: $each,
            symbol: concat!("x86_64::arithmetic::", stringify!($module)),
            needs: "nothing",
            present: || true,
            body: $module,
            expected: byte::$module::expected,
        }
    };
}

pub(super) static LOOPS: [CountedLoop; 6] = [
    row!("arithmetic_empty", empty, ITERATION_EMPTY, "inc", 1),
    row!("arithmetic_short", short, ITERATION, "idiv", 4),
    row!("arithmetic_int", int, ITERATION, "idiv", 4),
    row!("arithmetic_long", long, ITERATION, "idiv", 4),
    row!("arithmetic_float", float, ITERATION_FLOAT, "divss", 4),
    row!("arithmetic_double", double, ITERATION_FLOAT, "divsd", 4),
];
