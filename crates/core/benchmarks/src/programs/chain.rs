//! A program that executes itself again, once for every byte of its argument, and then ends with status 0.
//!
//! Its stack starts with the argument count, the pointers to path and argument, a null, and the environment (System V
//! ABI, chapter 3). It advances the pointer to its argument by one byte and executes its own path with the rest.

use super::{Architecture, InstructionListing, ListedProgram};

pub(crate) static CHAIN: ListedProgram = ListedProgram { name: "chain", listings: &[&X86_64, &AARCH64], data: b"" };

static X86_64: InstructionListing = InstructionListing {
    machine: Architecture::X86_64,
    instructions: &[
        (&[0x48, 0x8b, 0x74, 0x24, 0x10], "mov rsi, [rsp+16] (the argument)"),
        (&[0x80, 0x3e, 0x00], "cmp byte ptr [rsi], 0"),
        (&[0x74, 0x22], "je +34 (xor edi, edi)"),
        (&[0x48, 0xff, 0x44, 0x24, 0x10], "inc qword ptr [rsp+16]"),
        (&[0x48, 0x8b, 0x7c, 0x24, 0x08], "mov rdi, [rsp+8] (the path)"),
        (&[0x48, 0x8d, 0x74, 0x24, 0x08], "lea rsi, [rsp+8] (the arguments)"),
        (&[0x48, 0x8d, 0x54, 0x24, 0x20], "lea rdx, [rsp+32] (the environment)"),
        (&[0xb8, 0x3b, 0x00, 0x00, 0x00], "mov eax, 59 (execve)"),
        (&[0x0f, 0x05], "syscall"),
        (&[0xbf, 0x01, 0x00, 0x00, 0x00], "mov edi, 1 (it returned: it failed)"),
        (&[0xeb, 0x02], "jmp +2 (mov eax, 60)"),
        (&[0x31, 0xff], "xor edi, edi"),
        (&[0xb8, 0x3c, 0x00, 0x00, 0x00], "mov eax, 60 (exit)"),
        (&[0x0f, 0x05], "syscall"),
    ],
};

static AARCH64: InstructionListing = InstructionListing {
    machine: Architecture::Aarch64,
    instructions: &[
        (&[0xe0, 0x0b, 0x40, 0xf9], "ldr x0, [sp, #16] (the argument)"),
        (&[0x01, 0x00, 0x40, 0x39], "ldrb w1, [x0]"),
        (&[0x41, 0x01, 0x00, 0x34], "cbz w1, #40 (mov x0, #0)"),
        (&[0x00, 0x04, 0x00, 0x91], "add x0, x0, #1"),
        (&[0xe0, 0x0b, 0x00, 0xf9], "str x0, [sp, #16]"),
        (&[0xe0, 0x07, 0x40, 0xf9], "ldr x0, [sp, #8] (the path)"),
        (&[0xe1, 0x23, 0x00, 0x91], "add x1, sp, #8 (the arguments)"),
        (&[0xe2, 0x83, 0x00, 0x91], "add x2, sp, #32 (the environment)"),
        (&[0xa8, 0x1b, 0x80, 0xd2], "mov x8, #221 (execve)"),
        (&[0x01, 0x00, 0x00, 0xd4], "svc #0"),
        (&[0x20, 0x00, 0x80, 0xd2], "mov x0, #1 (it returned: it failed)"),
        (&[0x02, 0x00, 0x00, 0x14], "b #8 (mov x8, #93)"),
        (&[0x00, 0x00, 0x80, 0xd2], "mov x0, #0"),
        (&[0xa8, 0x0b, 0x80, 0xd2], "mov x8, #93 (exit)"),
        (&[0x01, 0x00, 0x00, 0xd4], "svc #0"),
    ],
};
