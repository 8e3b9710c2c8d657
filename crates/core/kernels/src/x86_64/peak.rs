//! Peak rates of fused multiply-adds and byte dot products: twelve chains in `\v`0 to `\v`11.

use super::counted::counted;
use crate::LoopCost;
use crate::counted_loop::CountedLoop;
use crate::peak::{self, CHAINS};

/// One loop: `$v` is the register prefix, `$one` initialises chain `\k` from `eax`, `$constants` sets registers 14 and
/// 15, `$step` works on chain `\k`.
macro_rules! chains {
    ($name:ident, "zmm", $one:literal, $constants:literal, $step:literal $(, $constant:ident = $value:expr)*) => {
        chains!(@ $name, "zmm", $one, $constants, $step, "vextracti64x4 ymm1, zmm0, 1\n vpaddq ymm0, ymm0, ymm1\n" $(, $constant = $value)*);
    };
    ($name:ident, "ymm", $one:literal, $constants:literal, $step:literal $(, $constant:ident = $value:expr)*) => {
        chains!(@ $name, "ymm", $one, $constants, $step, "" $(, $constant = $value)*);
    };
    (@ $name:ident, $v:literal, $one:literal, $constants:literal, $step:literal, $fold:literal $(, $constant:ident = $value:expr)*) => {
        counted!(
            $name,
            concat!(".irp k, 0,1,2,3,4,5,6,7,8,9,10,11\n mov eax, \\k\n ", $one, "\n .endr\n", $constants),
            concat!(".irp k, 0,1,2,3,4,5,6,7,8,9,10,11\n ", $step, "\n .endr"),
            concat!(
                ".irp k, 1,2,3,4,5,6,7,8,9,10,11\n vpaddq ", $v, "0, ", $v, "0, ", $v, "\\k\n .endr\n", $fold,
                "vextracti128 xmm1, ymm0, 1\n vpaddq xmm0, xmm0, xmm1\n vpshufd xmm1, xmm0, 0xee\n vpaddq xmm0, xmm0, xmm1\n \
                 vmovq rax, xmm0\n vzeroupper"
            )
            $(, $constant = const $value)*
        );
    };
}

mod avx512 {
    use super::*;
    chains!(
        fma_f64,
        "zmm",
        "vcvtsi2sd xmm\\k, xmm15, eax\n vbroadcastsd zmm\\k, xmm\\k",
        "mov eax, 1\n vcvtsi2sd xmm14, xmm14, eax\n vbroadcastsd zmm14, xmm14\n vmovapd zmm15, zmm14",
        "vfmadd213pd zmm\\k, zmm14, zmm15"
    );
    chains!(
        fma_f32,
        "zmm",
        "vcvtsi2ss xmm\\k, xmm15, eax\n vbroadcastss zmm\\k, xmm\\k",
        "mov eax, 1\n vcvtsi2ss xmm14, xmm14, eax\n vbroadcastss zmm14, xmm14\n vmovapd zmm15, zmm14",
        "vfmadd213ps zmm\\k, zmm14, zmm15"
    );
    chains!(
        int8_dot,
        "zmm",
        "vpbroadcastd zmm\\k, eax",
        "mov eax, {unsigned} * 0x1010101\n vpbroadcastd zmm14, eax\n mov eax, {signed} * 0x1010101\n vpbroadcastd zmm15, eax",
        "vpdpbusd zmm\\k, zmm14, zmm15",
        unsigned = peak::UNSIGNED,
        signed = peak::SIGNED
    );
}

mod avx2 {
    use super::*;
    chains!(
        fma_f64,
        "ymm",
        "vcvtsi2sd xmm\\k, xmm15, eax\n vbroadcastsd ymm\\k, xmm\\k",
        "mov eax, 1\n vcvtsi2sd xmm14, xmm14, eax\n vbroadcastsd ymm14, xmm14\n vmovapd ymm15, ymm14",
        "vfmadd213pd ymm\\k, ymm14, ymm15"
    );
    chains!(
        fma_f32,
        "ymm",
        "vcvtsi2ss xmm\\k, xmm15, eax\n vbroadcastss ymm\\k, xmm\\k",
        "mov eax, 1\n vcvtsi2ss xmm14, xmm14, eax\n vbroadcastss ymm14, xmm14\n vmovapd ymm15, ymm14",
        "vfmadd213ps ymm\\k, ymm14, ymm15"
    );
    chains!(
        int8_dot,
        "ymm",
        "vmovd xmm\\k, eax\n vpbroadcastd ymm\\k, xmm\\k",
        "mov eax, {unsigned} * 0x1010101\n vmovd xmm14, eax\n vpbroadcastd ymm14, xmm14\n \
         mov eax, {signed} * 0x1010101\n vmovd xmm15, eax\n vpbroadcastd ymm15, xmm15",
        "{{vex}} vpdpbusd ymm\\k, ymm14, ymm15",
        unsigned = peak::UNSIGNED,
        signed = peak::SIGNED
    );
}

/// An iteration in which the instruction of each chain does `each` operations, `flops` of them floating-point.
const fn iteration(each: u64, flops: u64) -> LoopCost {
    LoopCost {
        elements: CHAINS,
        ops: CHAINS * each,
        flops: CHAINS * flops,
        bytes_read: 0,
        bytes_written: 0,
        loads: 0,
        stores: 0,
    }
}

macro_rules! row {
    ($isa:ident $name:ident $instruction:literal, $each:literal, $flops:literal, $needs:literal, $present:expr, $expected:expr) => {
        CountedLoop {
            name: stringify!($name),
            isa: stringify!($isa),
            iteration: iteration($each, $flops),
            instruction: $instruction,
            each: $each,
            symbol: concat!("x86_64::peak::", stringify!($isa), "::", stringify!($name)),
            needs: $needs,
            present: $present,
            body: $isa::$name,
            expected: $expected,
        }
    };
}

fn has_avx512() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
}

fn has_fma() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

fn has_avx512_vnni() -> bool {
    has_avx512() && std::arch::is_x86_feature_detected!("avx512vnni")
}

fn has_avx_vnni() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("avxvnni")
}

pub(super) static LOOPS: [CountedLoop; 6] = [
    row!(avx512 fma_f64 "vfmadd213pd", 16, 16, "AVX-512F", has_avx512, peak::fma_f64_expected::<8>),
    row!(avx512 fma_f32 "vfmadd213ps", 32, 32, "AVX-512F", has_avx512, peak::fma_f32_expected::<8>),
    row!(avx512 int8_dot "vpdpbusd", 128, 0, "AVX-512 VNNI", has_avx512_vnni, peak::int8_dot_expected::<8>),
    row!(avx2 fma_f64 "vfmadd213pd", 8, 8, "AVX2 and FMA", has_fma, peak::fma_f64_expected::<4>),
    row!(avx2 fma_f32 "vfmadd213ps", 16, 16, "AVX2 and FMA", has_fma, peak::fma_f32_expected::<4>),
    row!(avx2 int8_dot "vpdpbusd", 64, 0, "AVX-VNNI", has_avx_vnni, peak::int8_dot_expected::<4>),
];
