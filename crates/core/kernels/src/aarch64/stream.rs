//! Streaming kernels in NEON, one double at a time, and through the integer registers.
//!
//! One macro generates the loop (`walk!`); only the text of one step differs. The pointers of the streams are `x0` to
//! `x3` into a, `x10` to `x13` into b and `x20` to `x23` into c, so that in a step the assembler's `.irp` selects them
//! by the number `\s` of the stream; `\o` is the offset in the iteration, in bytes. A step uses a pair of registers.
//! Streaming stores are `stnp`, a hint that the CPU may ignore.

use crate::stream_variant::{Body, Stores, StreamKind, StreamPass, Variant, Width};

/// The text of one step of a kind, by register.
#[rustfmt::skip]
macro_rules! step {
    (neon, Copy, $st:literal) => { concat!("ldp q0, q1, [x1\\s, #\\o]\n", $st, " q0, q1, [x\\s, #\\o]") };
    (neon, Scale, $st:literal) => {
        concat!("ldp q0, q1, [x1\\s, #\\o]\n fmul v0.2d, v0.2d, v16.2d\n fmul v1.2d, v1.2d, v16.2d\n ", $st, " q0, q1, [x\\s, #\\o]")
    };
    (neon, Add, $st:literal) => {
        concat!("ldp q0, q1, [x1\\s, #\\o]\n ldp q2, q3, [x2\\s, #\\o]\n fadd v0.2d, v0.2d, v2.2d\n fadd v1.2d, v1.2d, v3.2d\n ",
                $st, " q0, q1, [x\\s, #\\o]")
    };
    (neon, Triad, $st:literal) => {
        concat!("ldp q0, q1, [x2\\s, #\\o]\n ldp q2, q3, [x1\\s, #\\o]\n fmul v0.2d, v0.2d, v16.2d\n fmul v1.2d, v1.2d, v16.2d\n \
                 fadd v0.2d, v0.2d, v2.2d\n fadd v1.2d, v1.2d, v3.2d\n ", $st, " q0, q1, [x\\s, #\\o]")
    };
    (neon, Write, $st:literal) => { concat!($st, " q16, q16, [x\\s, #\\o]") };
    (neon, Read, $st:literal) => {
        "ldp q0, q1, [x1\\s, #\\o]\n add v4.2d, v4.2d, v0.2d\n add v5.2d, v5.2d, v1.2d"
    };
    (double, Copy, $st:literal) => { concat!("ldp d0, d1, [x1\\s, #\\o]\n", $st, " d0, d1, [x\\s, #\\o]") };
    (double, Scale, $st:literal) => {
        concat!("ldp d0, d1, [x1\\s, #\\o]\n fmul d0, d0, d16\n fmul d1, d1, d16\n ", $st, " d0, d1, [x\\s, #\\o]")
    };
    (double, Add, $st:literal) => {
        concat!("ldp d0, d1, [x1\\s, #\\o]\n ldp d2, d3, [x2\\s, #\\o]\n fadd d0, d0, d2\n fadd d1, d1, d3\n ", $st, " d0, d1, [x\\s, #\\o]")
    };
    (double, Triad, $st:literal) => {
        concat!("ldp d0, d1, [x2\\s, #\\o]\n ldp d2, d3, [x1\\s, #\\o]\n fmul d0, d0, d16\n fmul d1, d1, d16\n \
                 fadd d0, d0, d2\n fadd d1, d1, d3\n ", $st, " d0, d1, [x\\s, #\\o]")
    };
    (double, Write, $st:literal) => { concat!($st, " d16, d16, [x\\s, #\\o]") };
    (double, Read, $st:literal) => { "ldp d0, d1, [x1\\s, #\\o]\n fadd d4, d4, d0\n fadd d5, d5, d1" };
    (integer, Copy, $st:literal) => { concat!("ldp x4, x5, [x1\\s, #\\o]\n", $st, " x4, x5, [x\\s, #\\o]") };
    (integer, Write, $st:literal) => { concat!($st, " x6, x6, [x\\s, #\\o]") };
    (integer, Read, $st:literal) => { "ldp x4, x5, [x1\\s, #\\o]\n add x6, x6, x4\n add x7, x7, x5" };
}

/// Before the first iteration: the sums cleared, or q spread from `d16` (`x6` has it already).
#[rustfmt::skip]
macro_rules! before {
    (integer, Read) => { "mov x6, xzr\n mov x7, xzr" };
    ($any:ident, Read) => { "movi v4.2d, #0\n movi v5.2d, #0" };
    ($any:ident, $kind:ident) => { "dup v16.2d, v16.d[0]" };
}

/// After the last iteration: the sum in `x6`.
#[rustfmt::skip]
macro_rules! after {
    (neon, Read) => { "add v4.2d, v4.2d, v5.2d\n addp d4, v4.2d\n fmov x6, d4" };
    (double, Read) => { "fadd d4, d4, d5\n fmov x6, d4" };
    (integer, Read) => { "add x6, x6, x7" };
    ($any:ident, $kind:ident) => { "" };
}

/// A function that walks the arrays: the step at each of `$places` in each of `$streams`, advancing `$bytes` per iteration.
macro_rules! walk {
    ($name:ident, $isa:ident, $kind:ident, $st:literal, $streams:literal, $places:literal, $bytes:literal) => {
        #[inline(never)]
        pub(super) unsafe fn $name(walk: &StreamPass) -> u64 {
            let result: u64;
            // SAFETY: each stream accesses `span` bytes from its start in whole iterations, which `StreamPass` guarantees to
            // be inside the arrays. Every register written is declared.
            unsafe {
                std::arch::asm!(
                    before!($isa, $kind),
                    "2:",
                    "mov {left}, {span}",
                    ".p2align 5",
                    "3:",
                    concat!(".irp s, ", $streams),
                    concat!(".irp o, ", $places),
                    step!($isa, $kind, $st),
                    ".endr\n .endr",
                    concat!(".irp s, ", $streams),
                    concat!("add x\\s, x\\s, #", $bytes, "\n add x1\\s, x1\\s, #", $bytes, "\n add x2\\s, x2\\s, #", $bytes),
                    ".endr",
                    concat!("subs {left}, {left}, #", $bytes),
                    "b.ne 3b",
                    concat!(".irp s, ", $streams),
                    "sub x\\s, x\\s, {span}\n sub x1\\s, x1\\s, {span}\n sub x2\\s, x2\\s, {span}",
                    ".endr",
                    "subs {passes}, {passes}, #1",
                    "b.ne 2b",
                    after!($isa, $kind),
                    span = in(reg) walk.span,
                    left = out(reg) _,
                    passes = inout(reg) walk.passes => _,
                    inout("x0") walk.a => _,
                    inout("x1") walk.a.wrapping_byte_add(walk.span) => _,
                    inout("x2") walk.a.wrapping_byte_add(2 * walk.span) => _,
                    inout("x3") walk.a.wrapping_byte_add(3 * walk.span) => _,
                    inout("x10") walk.b => _,
                    inout("x11") walk.b.wrapping_byte_add(walk.span) => _,
                    inout("x12") walk.b.wrapping_byte_add(2 * walk.span) => _,
                    inout("x13") walk.b.wrapping_byte_add(3 * walk.span) => _,
                    inout("x20") walk.c => _,
                    inout("x21") walk.c.wrapping_byte_add(walk.span) => _,
                    inout("x22") walk.c.wrapping_byte_add(2 * walk.span) => _,
                    inout("x23") walk.c.wrapping_byte_add(3 * walk.span) => _,
                    out("x4") _, out("x5") _, out("x7") _,
                    inout("x6") walk.q.to_bits() => result,
                    inout("v16") walk.q => _,
                    out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
                    options(nostack),
                );
            }
            result
        }
    };
}

/// One row of the table.
macro_rules! row {
    ($isa:ident, $width:ident, $unit:literal, $kind:ident, $module:ident, $name:ident, $stores:ident, $streams:literal, $bytes:literal) => {
        Variant {
            kind: StreamKind::$kind,
            name: concat!(stringify!($isa), "_", stringify!($name)),
            width: Width::$width,
            stores: Stores::$stores,
            streams: $streams,
            iteration: StreamKind::$kind.iteration($streams * $bytes, $unit),
            symbol: concat!("aarch64::stream::", stringify!($isa), "::", stringify!($module), "::", stringify!($name)),
            present: || true,
            body: Body::Assembly($name),
        }
    };
}

/// Kinds in one set of registers: functions and rows. `$unit` is the size of one load or store.
macro_rules! kinds {
    ($isa:ident, $width:ident, $unit:literal, $places1:literal by $bytes1:literal, $places4:literal by $bytes4:literal:
     $( $kind:ident $module:ident $($streaming:ident)? ),+) => {
        pub(super) mod $isa {
            $( pub(in super::super) mod $module {
                use super::super::*;
                walk!(normal_x1, $isa, $kind, "stp", "0", $places1, $bytes1);
                walk!(normal_x4, $isa, $kind, "stp", "0, 1, 2, 3", $places4, $bytes4);
                $( kinds!(@ $streaming $isa, $kind, $places1 by $bytes1, $places4 by $bytes4); )?
                pub(crate) static ROWS: &[Variant] = &[
                    row!($isa, $width, $unit, $kind, $module, normal_x1, Normal, 1, $bytes1),
                    row!($isa, $width, $unit, $kind, $module, normal_x4, Normal, 4, $bytes4),
                    $(
                        row!($isa, $width, $unit, $kind, $module, streaming_x1, $streaming, 1, $bytes1),
                        row!($isa, $width, $unit, $kind, $module, streaming_x4, $streaming, 4, $bytes4),
                    )?
                ];
            } )+
            pub(in super::super) static ALL: &[&[super::Variant]] = &[$( $module::ROWS ),+];
        }
    };
    (@ Streaming $isa:ident, $kind:ident, $places1:literal by $bytes1:literal, $places4:literal by $bytes4:literal) => {
        walk!(streaming_x1, $isa, $kind, "stnp", "0", $places1, $bytes1);
        walk!(streaming_x4, $isa, $kind, "stnp", "0, 1, 2, 3", $places4, $bytes4);
    };
}

kinds!(neon, Vector128, 32, "0, 32, 64, 96" by 128, "0, 32" by 64:
    Copy copy Streaming, Scale scale Streaming, Add add Streaming, Triad triad Streaming, Read read, Write write Streaming);
kinds!(double, Double, 16, "0, 16, 32, 48" by 64, "0, 16, 32, 48" by 64:
    Copy copy, Scale scale, Add add, Triad triad, Read read, Write write);
kinds!(integer, Integer, 16, "0, 16, 32, 48" by 64, "0, 16, 32, 48" by 64:
    Copy copy Streaming, Read read, Write write Streaming);

/// By set of registers, then kind.
pub(crate) static VARIANTS: [&[&[Variant]]; 3] = [neon::ALL, double::ALL, integer::ALL];
