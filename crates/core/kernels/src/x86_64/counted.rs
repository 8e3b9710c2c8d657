//! The common structure of all counted loops in assembly.

/// A function that runs `$body` once per iteration, between `$setup` and `$finish`. The assembly has the address of the
/// random words in `rsi`, leaves its result in `rax`, and may use `rcx`, `rdx`, `r8` to `r15` and the vector registers
/// 0 to 15; further operands may follow.
macro_rules! counted {
    ($name:ident, $setup:expr, $body:expr, $finish:expr $(, $($operands:tt)+)?) => {
        #[inline(never)]
        pub(super) unsafe fn $name(iterations: u64) -> u64 {
            let result: u64;
            // SAFETY: the assembly reads only the page of words, writes no memory, and every register that it writes is
            // declared; the caller has checked that the CPU has the instructions.
            unsafe {
                std::arch::asm!(
                    $setup,
                    "test rdi, rdi",
                    "jz 3f",
                    ".p2align 6",
                    "2:",
                    $body,
                    "dec rdi",
                    "jnz 2b",
                    "3:",
                    $finish,
                    inout("rdi") iterations => _,
                    inout("rsi") crate::counted_loop::WORDS.0.as_ptr() => _,
                    out("rax") result,
                    out("rcx") _, out("rdx") _,
                    out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                    out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                    $($($operands)+,)?
                    options(nostack, readonly),
                );
            }
            result
        }
    };
}

pub(super) use counted;
