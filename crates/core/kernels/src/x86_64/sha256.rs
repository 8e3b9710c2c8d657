//! SHA-256 by the SHA extensions, after Intel's description of the instructions (Gulley and others, "Intel SHA
//! Extensions", 2013). The state is stored as ABEF in `xmm1` and CDGH in `xmm2`. One instruction does two rounds with
//! the words in `xmm0`, and `xmm3` to `xmm6` contain the last sixteen words of the schedule.

use super::counted::counted;
use crate::LoopCost;
use crate::reference::sha256::{ROUND, START};

/// An iteration is a block of 64 bytes; its operations are the executions of `sha256rnds2`. The constants are read too, but
/// are not payload.
pub(super) const ITERATION: LoopCost =
    LoopCost { elements: 1, bytes_read: 64, bytes_written: 0, loads: 20, stores: 0, flops: 0, ops: 32 };

pub(super) fn present() -> bool {
    std::arch::is_x86_feature_detected!("sha") && std::arch::is_x86_feature_detected!("ssse3")
}

/// The constants of the rounds, and the initial state as FEBA and HGDC.
#[repr(C, align(64))]
struct Sha256Constants([u32; 64], [u32; 8]);

static CONSTANTS: Sha256Constants = {
    let [a, b, c, d, e, f, g, h] = START;
    Sha256Constants(ROUND, [f, e, b, a, h, g, d, c])
};

/// Four rounds with the words in `$w`, whose constants begin at `$at`.
macro_rules! rounds {
    ($w:literal, $at:literal) => {
        concat!(
            "movdqa xmm0, ",
            $w,
            "\n paddd xmm0, [rdx + ",
            $at,
            "]\n sha256rnds2 xmm2, xmm1\n \
             pshufd xmm0, xmm0, 0x0e\n sha256rnds2 xmm1, xmm2\n"
        )
    };
}

/// Computes the next four words of the schedule, which replace the oldest, `$a`.
macro_rules! schedule {
    ($a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            "movdqa xmm9, ",
            $d,
            "\n palignr xmm9, ",
            $c,
            ", 4\n sha256msg1 ",
            $a,
            ", ",
            $b,
            "\n paddd ",
            $a,
            ", xmm9\n \
             sha256msg2 ",
            $a,
            ", ",
            $d,
            "\n"
        )
    };
}

/// Sixteen rounds, each word replaced after its use.
macro_rules! sixteen {
    ($one:literal, $two:literal, $three:literal, $four:literal) => {
        concat!(
            rounds!("xmm3", $one),
            schedule!("xmm3", "xmm4", "xmm5", "xmm6"),
            rounds!("xmm4", $two),
            schedule!("xmm4", "xmm5", "xmm6", "xmm3"),
            rounds!("xmm5", $three),
            schedule!("xmm5", "xmm6", "xmm3", "xmm4"),
            rounds!("xmm6", $four),
            schedule!("xmm6", "xmm3", "xmm4", "xmm5")
        )
    };
}

counted!(
    repeat,
    "lea rdx, [rip + {constants}]\n movdqa xmm1, [rdx + 256]\n movdqa xmm2, [rdx + 272]",
    concat!(
        "movdqa xmm7, xmm1\n movdqa xmm8, xmm2\n movdqa xmm3, [rsi]\n movdqa xmm4, [rsi + 16]\n movdqa xmm5, [rsi + 32]\n \
         movdqa xmm6, [rsi + 48]\n",
        sixteen!("0", "16", "32", "48"),
        sixteen!("64", "80", "96", "112"),
        sixteen!("128", "144", "160", "176"),
        rounds!("xmm3", "192"),
        rounds!("xmm4", "208"),
        rounds!("xmm5", "224"),
        rounds!("xmm6", "240"),
        "paddd xmm1, xmm7\n paddd xmm2, xmm8"
    ),
    "paddq xmm1, xmm2\n pshufd xmm2, xmm1, 0xee\n paddq xmm1, xmm2\n movq rax, xmm1",
    constants = sym CONSTANTS
);
