//! The smallest program: it writes a greeting and ends with status 0, or 1 if writing failed.

use super::{Architecture, InstructionListing, ListedProgram};

pub(crate) static HELLO: ListedProgram =
    ListedProgram { name: "hello", listings: &[&X86_64, &AARCH64], data: GREETING };

pub(super) const GREETING: &[u8] = b"hello, world\n";

static X86_64: InstructionListing = InstructionListing {
    machine: Architecture::X86_64,
    instructions: &[
        (&[0xb8, 0x01, 0x00, 0x00, 0x00], "mov eax, 1 (write)"),
        (&[0xbf, 0x01, 0x00, 0x00, 0x00], "mov edi, 1 (standard output)"),
        (&[0x48, 0x8d, 0x35, 0x17, 0x00, 0x00, 0x00], "lea rsi, [rip+23] (the greeting)"),
        (&[0xba, 0x0d, 0x00, 0x00, 0x00], "mov edx, 13"),
        (&[0x0f, 0x05], "syscall"),
        (&[0x31, 0xff], "xor edi, edi"),
        (&[0x83, 0xf8, 0x0d], "cmp eax, 13"),
        (&[0x40, 0x0f, 0x95, 0xc7], "setne dil"),
        (&[0xb8, 0x3c, 0x00, 0x00, 0x00], "mov eax, 60 (exit)"),
        (&[0x0f, 0x05], "syscall"),
    ],
};

static AARCH64: InstructionListing = InstructionListing {
    machine: Architecture::Aarch64,
    instructions: &[
        (&[0x08, 0x08, 0x80, 0xd2], "mov x8, #64 (write)"),
        (&[0x20, 0x00, 0x80, 0xd2], "mov x0, #1 (standard output)"),
        (&[0xe1, 0x00, 0x00, 0x10], "adr x1, #28 (the greeting)"),
        (&[0xa2, 0x01, 0x80, 0xd2], "mov x2, #13"),
        (&[0x01, 0x00, 0x00, 0xd4], "svc #0"),
        (&[0x1f, 0x34, 0x00, 0xf1], "cmp x0, #13"),
        (&[0xe0, 0x07, 0x9f, 0x1a], "cset w0, ne"),
        (&[0xa8, 0x0b, 0x80, 0xd2], "mov x8, #93 (exit)"),
        (&[0x01, 0x00, 0x00, 0xd4], "svc #0"),
    ],
};
