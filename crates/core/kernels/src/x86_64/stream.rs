//! Streaming kernels in SSE2, AVX2 and AVX-512F, and through the integer registers.
//!
//! One macro generates the loop (`walk!`); the text of one step and the names in it differ between instruction sets. In
//! a step the assembler's `.irp` replaces `\i`, the index register of the stream, `\o`, the offset in the iteration, `\r`,
//! the register or suffix of the width, and `\ld` and `\st`, the load and the store. Every step uses the same register:
//! with renaming that is equivalent to many. A name that a step does not use is "-", because an `.irp` over an empty
//! list assembles nothing.

use crate::stream_variant::{Body, Stores, StreamKind, StreamPass, Variant, Width};

/// The text of one step of a kind, by encoding.
#[rustfmt::skip]
macro_rules! step {
    (legacy, Copy) => { "\\ld xmm0, [{b} + \\i + \\o]\n \\st [{a} + \\i + \\o], xmm0" };
    (legacy, Scale) => { "\\ld xmm0, [{b} + \\i + \\o]\n mul\\r xmm0, xmm15\n \\st [{a} + \\i + \\o], xmm0" };
    (legacy, Add) => {
        "\\ld xmm0, [{b} + \\i + \\o]\n \\ld xmm1, [{c} + \\i + \\o]\n add\\r xmm0, xmm1\n \\st [{a} + \\i + \\o], xmm0"
    };
    (legacy, Triad) => {
        "\\ld xmm0, [{c} + \\i + \\o]\n mul\\r xmm0, xmm15\n \\ld xmm1, [{b} + \\i + \\o]\n add\\r xmm0, xmm1\n \
         \\st [{a} + \\i + \\o], xmm0"
    };
    (legacy, Write) => { "\\st [{a} + \\i + \\o], xmm15" };
    (vex, Copy) => { "\\ld \\r\\()0, [{b} + \\i + \\o]\n \\st [{a} + \\i + \\o], \\r\\()0" };
    (vex, Scale) => { "vmulpd \\r\\()0, \\r\\()15, [{b} + \\i + \\o]\n \\st [{a} + \\i + \\o], \\r\\()0" };
    (vex, Add) => {
        "\\ld \\r\\()0, [{b} + \\i + \\o]\n vaddpd \\r\\()0, \\r\\()0, [{c} + \\i + \\o]\n \
         \\st [{a} + \\i + \\o], \\r\\()0"
    };
    (vex, Triad) => {
        "vmulpd \\r\\()0, \\r\\()15, [{c} + \\i + \\o]\n vaddpd \\r\\()0, \\r\\()0, [{b} + \\i + \\o]\n \
         \\st [{a} + \\i + \\o], \\r\\()0"
    };
    (vex, Write) => { "\\st [{a} + \\i + \\o], \\r\\()15" };
    (general, Copy) => { "mov {t}, [{b} + \\i + \\o]\n \\st [{a} + \\i + \\o], {t}" };
    (general, Write) => { "\\st [{a} + \\i + \\o], {t}" };
    (general, Read) => {
        "add {t}, [{b} + \\i + \\o]\n add {u}, [{b} + \\i + \\o + 8]\n \
         add {a}, [{b} + \\i + \\o + 16]\n add {c}, [{b} + \\i + \\o + 24]"
    };
}

/// A function that walks the arrays: `$before` once, then `$step` for each of `$places` in each of the streams,
/// advancing `$bytes` per iteration, then `$after`.
macro_rules! walk {
    ($name:ident, x1, $names:tt, $before:expr, $step:expr, $after:expr, $places:literal, $bytes:literal) => {
        walk!(@ $name, $names, $before, $step, $after, $places, "{i0}", "", concat!("add {i0}, ", $bytes));
    };
    ($name:ident, x4, $names:tt, $before:expr, $step:expr, $after:expr, $places:literal, $bytes:literal) => {
        walk!(@ $name, $names, $before, $step, $after, $places, "{i0}, {i1}, {i2}, {i3}",
            "xor {i1:e}, {i1:e}\n mov {i2}, {start}\n neg {i2}\n lea {i3}, [{i2} + {i2}]",
            concat!("add {i1}, ", $bytes, "\n add {i2}, ", $bytes, "\n add {i3}, ", $bytes, "\n add {i0}, ", $bytes));
    };
    (@ $name:ident, ($r:literal, $ld:literal, $st:literal), $before:expr, $step:expr, $after:expr, $places:literal,
     $indices:literal, $starts:literal, $advance:expr) => {
        #[inline(never)]
        pub(super) unsafe fn $name(walk: &StreamPass) -> u64 {
            let result: u64;
            // SAFETY: each stream accesses `span` bytes from its start in whole iterations, which `StreamPass` guarantees to
            // be inside the arrays and aligned for the stores. Every register written is declared.
            unsafe {
                std::arch::asm!(
                    "/* {a} {b} {c} {i0} {i1} {i2} {i3} {t} {u} */",
                    $before,
                    "2:",
                    "mov {i0}, {start}",
                    $starts,
                    ".p2align 5",
                    "3:",
                    concat!(".irp r, ", $r),
                    concat!(".irp ld, ", $ld),
                    concat!(".irp st, ", $st),
                    concat!(".irp i, ", $indices),
                    concat!(".irp o, ", $places),
                    $step,
                    ".endr\n .endr\n .endr\n .endr\n .endr",
                    $advance,
                    "jnz 3b",
                    "dec {passes}",
                    "jnz 2b",
                    $after,
                    // The index of the first stream runs from -span to 0, so the bases are the ends of that stream.
                    a = inout(reg) walk.a.wrapping_byte_add(walk.span) => _,
                    b = in(reg) walk.b.wrapping_byte_add(walk.span),
                    c = inout(reg) walk.c.wrapping_byte_add(walk.span) => _,
                    start = in(reg) walk.span.wrapping_neg(),
                    passes = inout(reg) walk.passes => _,
                    i0 = out(reg) _,
                    i1 = out(reg) _,
                    i2 = out(reg) _,
                    i3 = out(reg) _,
                    t = inout(reg) walk.q.to_bits() => result,
                    u = out(reg) _,
                    inout("xmm15") walk.q => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    options(nostack),
                );
            }
            result
        }
    };
}

/// One row of the table.
macro_rules! row {
    ($kind:ident, $isa:ident, $width:ident, $unit:literal, $module:ident, $name:ident, $stores:ident, $streams:literal,
     $bytes:literal) => {
        Variant {
            kind: StreamKind::$kind,
            name: concat!(stringify!($isa), "_", stringify!($name)),
            width: Width::$width,
            stores: Stores::$stores,
            streams: $streams,
            iteration: StreamKind::$kind.iteration($streams * $bytes, $unit),
            symbol: concat!("x86_64::stream::", stringify!($isa), "::", stringify!($module), "::", stringify!($name)),
            present: $isa::present,
            body: Body::Assembly($name),
        }
    };
}

/// The kinds that store, in one instruction set: functions and rows.
macro_rules! storing {
    ($isa:ident: $( $kind:ident $module:ident )+, $set:tt) => { $( storing!(@ $kind, $module, $isa, $set); )+ };
    (@ $kind:ident, $module:ident, $isa:ident,
     ($width:ident, $unit:literal, $encoding:ident, $r:literal, $ld:literal, $st:literal $(or $streaming:ident $nt:literal)?,
      $before:literal, $after:literal, $places1:literal by $bytes1:literal, $places4:literal by $bytes4:literal)) => {
        pub(super) mod $module {
            use super::super::*;
            walk!(normal_x1, x1, ($r, $ld, $st), $before, step!($encoding, $kind), $after, $places1, $bytes1);
            walk!(normal_x4, x4, ($r, $ld, $st), $before, step!($encoding, $kind), $after, $places4, $bytes4);
            $(
                walk!(streaming_x1, x1, ($r, $ld, $nt), $before, step!($encoding, $kind), concat!("sfence\n", $after),
                    $places1, $bytes1);
                walk!(streaming_x4, x4, ($r, $ld, $nt), $before, step!($encoding, $kind), concat!("sfence\n", $after),
                    $places4, $bytes4);
            )?
            pub(in super::super) static ROWS: &[Variant] = &[
                row!($kind, $isa, $width, $unit, $module, normal_x1, Normal, 1, $bytes1),
                row!($kind, $isa, $width, $unit, $module, normal_x4, Normal, 4, $bytes4),
                $(
                    row!($kind, $isa, $width, $unit, $module, streaming_x1, $streaming, 1, $bytes1),
                    row!($kind, $isa, $width, $unit, $module, streaming_x4, $streaming, 4, $bytes4),
                )?
            ];
        }
    };
}

/// The reading kernel of one instruction set: `$add` adds the data at offset `\o` to accumulator `\o`.
macro_rules! reading {
    ($isa:ident, $width:ident, $unit:literal, $r:literal, $before:expr, $add:expr, $after:expr,
     $places1:literal by $bytes1:literal, $places4:literal by $bytes4:literal) => {
        pub(super) mod read {
            use super::super::*;
            walk!(normal_x1, x1, ($r, "-", "-"), $before, $add, $after, $places1, $bytes1);
            walk!(normal_x4, x4, ($r, "-", "-"), $before, $add, $after, $places4, $bytes4);
            pub(in super::super) static ROWS: &[Variant] = &[
                row!(Read, $isa, $width, $unit, read, normal_x1, Normal, 1, $bytes1),
                row!(Read, $isa, $width, $unit, read, normal_x4, Normal, 4, $bytes4),
            ];
        }
    };
}

mod avx512 {
    pub(super) fn present() -> bool {
        std::arch::is_x86_feature_detected!("avx512f")
    }
    storing!(avx512: Copy copy Scale scale Add add Triad triad Write write,
        (Vector512, 64, vex, "zmm", "vmovupd", "vmovupd" or Streaming "vmovntpd", "vbroadcastsd zmm15, xmm15", "vzeroupper",
         "0, 64, 128, 192, 256, 320, 384, 448" by 512, "0" by 64));
    reading!(avx512, Vector512, 64, "zmm",
        ".irp o, 0,1,2,3,4,5,6,7\n vpxor xmm\\o, xmm\\o, xmm\\o\n .endr",
        "vpaddq \\r\\()\\o, \\r\\()\\o, [{b} + \\i + 64*\\o]",
        ".irp o, 1,2,3,4,5,6,7\n vpaddq zmm0, zmm0, zmm\\o\n .endr\n vextracti64x4 ymm1, zmm0, 1\n vpaddq ymm0, ymm0, ymm1\n \
         vextracti128 xmm1, ymm0, 1\n vpaddq xmm0, xmm0, xmm1\n vpshufd xmm1, xmm0, 0xee\n vpaddq xmm0, xmm0, xmm1\n \
         vmovq {t}, xmm0\n vzeroupper",
        "0, 1, 2, 3, 4, 5, 6, 7" by 512, "0" by 64);
}

mod avx2 {
    pub(super) fn present() -> bool {
        std::arch::is_x86_feature_detected!("avx2")
    }
    storing!(avx2: Copy copy Scale scale Add add Triad triad Write write,
        (Vector256, 32, vex, "ymm", "vmovupd", "vmovupd" or Streaming "vmovntpd", "vbroadcastsd ymm15, xmm15", "vzeroupper",
         "0, 32, 64, 96, 128, 160, 192, 224" by 256, "0, 32" by 64));
    reading!(avx2, Vector256, 32, "ymm",
        ".irp o, 0,1,2,3,4,5,6,7\n vpxor xmm\\o, xmm\\o, xmm\\o\n .endr",
        "vpaddq \\r\\()\\o, \\r\\()\\o, [{b} + \\i + 32*\\o]",
        ".irp o, 1,2,3,4,5,6,7\n vpaddq ymm0, ymm0, ymm\\o\n .endr\n vextracti128 xmm1, ymm0, 1\n vpaddq xmm0, xmm0, xmm1\n \
         vpshufd xmm1, xmm0, 0xee\n vpaddq xmm0, xmm0, xmm1\n vmovq {t}, xmm0\n vzeroupper",
        "0, 1, 2, 3, 4, 5, 6, 7" by 256, "0, 1" by 64);
}

mod sse2 {
    pub(super) fn present() -> bool {
        true
    }
    storing!(sse2: Copy copy Scale scale Add add Triad triad Write write,
        (Vector128, 16, legacy, "pd", "movupd", "movupd" or Streaming "movntpd", "unpcklpd xmm15, xmm15", "",
         "0, 16, 32, 48, 64, 80, 96, 112" by 128, "0, 16, 32, 48" by 64));
    reading!(sse2, Vector128, 16, "xmm",
        ".irp o, 0,1,2,3,4,5,6,7\n pxor xmm\\o, xmm\\o\n .endr",
        "paddq \\r\\()\\o, [{b} + \\i + 16*\\o]",
        ".irp o, 1,2,3,4,5,6,7\n paddq xmm0, xmm\\o\n .endr\n pshufd xmm1, xmm0, 0xee\n paddq xmm0, xmm1\n movq {t}, xmm0",
        "0, 1, 2, 3, 4, 5, 6, 7" by 128, "0, 1, 2, 3" by 64);
}

mod double {
    pub(super) fn present() -> bool {
        true
    }
    storing!(double: Copy copy Scale scale Add add Triad triad Write write,
        (Double, 8, legacy, "sd", "movsd", "movsd", "", "", "0, 8, 16, 24, 32, 40, 48, 56" by 64,
         "0, 8, 16, 24, 32, 40, 48, 56" by 64));
    reading!(double, Double, 8, "xmm",
        ".irp o, 0,1,2,3,4,5,6,7\n pxor xmm\\o, xmm\\o\n .endr",
        "addsd \\r\\()\\o, qword ptr [{b} + \\i + 8*\\o]",
        ".irp o, 1,2,3,4,5,6,7\n addsd xmm0, xmm\\o\n .endr\n movq {t}, xmm0",
        "0, 1, 2, 3, 4, 5, 6, 7" by 64, "0, 1, 2, 3, 4, 5, 6, 7" by 64);
}

mod integer {
    pub(super) fn present() -> bool {
        true
    }
    storing!(integer: Copy copy Write write,
        (Integer, 8, general, "-", "-", "mov" or Streaming "movnti", "", "", "0, 8, 16, 24, 32, 40, 48, 56" by 64,
         "0, 8, 16, 24, 32, 40, 48, 56" by 64));
    reading!(integer, Integer, 8, "-", "xor {t:e}, {t:e}\n xor {u:e}, {u:e}\n xor {a:e}, {a:e}\n xor {c:e}, {c:e}",
        step!(general, Read), "add {t}, {u}\n add {a}, {c}\n add {t}, {a}", "0, 32" by 64, "0, 32" by 64);
}

pub(crate) static VARIANTS: [&[Variant]; 27] = [
    avx512::copy::ROWS,
    avx512::scale::ROWS,
    avx512::add::ROWS,
    avx512::triad::ROWS,
    avx512::read::ROWS,
    avx512::write::ROWS,
    avx2::copy::ROWS,
    avx2::scale::ROWS,
    avx2::add::ROWS,
    avx2::triad::ROWS,
    avx2::read::ROWS,
    avx2::write::ROWS,
    sse2::copy::ROWS,
    sse2::scale::ROWS,
    sse2::add::ROWS,
    sse2::triad::ROWS,
    sse2::read::ROWS,
    sse2::write::ROWS,
    double::copy::ROWS,
    double::scale::ROWS,
    double::add::ROWS,
    double::triad::ROWS,
    double::read::ROWS,
    double::write::ROWS,
    integer::copy::ROWS,
    integer::read::ROWS,
    integer::write::ROWS,
];
