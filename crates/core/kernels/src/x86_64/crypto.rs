//! AES rounds, SHA-256 blocks, bit counts and checksums by their special instructions.

use super::counted::counted;
use crate::counted_loop::CountedLoop;
use crate::{LoopCost, bits, peak, sha256};
use std::arch::is_x86_feature_detected;

const NOTHING: LoopCost =
    LoopCost { elements: 0, bytes_read: 0, bytes_written: 0, loads: 0, stores: 0, flops: 0, ops: 0 };

counted!(
    aes_latency,
    "mov rax, {state}\n movq xmm0, rax\n punpcklqdq xmm0, xmm0\n mov rax, {key}\n movq xmm15, rax\n punpcklqdq xmm15, xmm15",
    ".rept 12\n aesenc xmm0, xmm15\n .endr",
    "pshufd xmm1, xmm0, 0xee\n paddq xmm0, xmm1\n movq rax, xmm0",
    state = const peak::AES_STATE, key = const peak::AES_KEY
);

counted!(
    aes_throughput,
    "mov rax, {state}\n movq xmm0, rax\n punpcklqdq xmm0, xmm0\n mov rax, {key}\n movq xmm15, rax\n punpcklqdq xmm15, xmm15\n \
     .irp k, 1,2,3,4,5,6,7,8,9,10,11\n movdqa xmm\\k, xmm0\n .endr",
    ".irp k, 0,1,2,3,4,5,6,7,8,9,10,11\n aesenc xmm\\k, xmm15\n .endr",
    ".irp k, 1,2,3,4,5,6,7,8,9,10,11\n paddq xmm0, xmm\\k\n .endr\n pshufd xmm1, xmm0, 0xee\n paddq xmm0, xmm1\n movq rax, xmm0",
    state = const peak::AES_STATE, key = const peak::AES_KEY
);

counted!(
    aes_throughput_wide,
    "mov rax, {state}\n vpbroadcastq zmm0, rax\n mov rax, {key}\n vpbroadcastq zmm15, rax\n \
     .irp k, 1,2,3,4,5,6,7,8,9,10,11\n vmovdqa64 zmm\\k, zmm0\n .endr",
    ".irp k, 0,1,2,3,4,5,6,7,8,9,10,11\n vaesenc zmm\\k, zmm\\k, zmm15\n .endr",
    ".irp k, 1,2,3,4,5,6,7,8,9,10,11\n vpaddq zmm0, zmm0, zmm\\k\n .endr\n vextracti64x4 ymm1, zmm0, 1\n vpaddq ymm0, ymm0, ymm1\n \
     vextracti128 xmm1, ymm0, 1\n vpaddq xmm0, xmm0, xmm1\n vpshufd xmm1, xmm0, 0xee\n vpaddq xmm0, xmm0, xmm1\n \
     vmovq rax, xmm0\n vzeroupper",
    state = const peak::AES_STATE, key = const peak::AES_KEY
);

counted!(
    aes_throughput_avx2,
    "mov rax, {state}\n vmovq xmm0, rax\n vpbroadcastq ymm0, xmm0\n mov rax, {key}\n vmovq xmm15, rax\n \
     vpbroadcastq ymm15, xmm15\n .irp k, 1,2,3,4,5,6,7,8,9,10,11\n vmovdqa ymm\\k, ymm0\n .endr",
    ".irp k, 0,1,2,3,4,5,6,7,8,9,10,11\n vaesenc ymm\\k, ymm\\k, ymm15\n .endr",
    ".irp k, 1,2,3,4,5,6,7,8,9,10,11\n vpaddq ymm0, ymm0, ymm\\k\n .endr\n vextracti128 xmm1, ymm0, 1\n \
     vpaddq xmm0, xmm0, xmm1\n vpshufd xmm1, xmm0, 0xee\n vpaddq xmm0, xmm0, xmm1\n vmovq rax, xmm0\n vzeroupper",
    state = const peak::AES_STATE, key = const peak::AES_KEY
);

counted!(
    popcount,
    "xor eax, eax\n xor ecx, ecx",
    ".irp o, 0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480\n popcnt r8, [rsi + \\o]\n popcnt r9, [rsi + \\o + 8]\n \
     popcnt r10, [rsi + \\o + 16]\n popcnt r11, [rsi + \\o + 24]\n add rax, r8\n add rcx, r9\n add rax, r10\n add rcx, r11\n .endr",
    "add rax, rcx"
);

counted!(
    popcount_wide,
    "vpxor xmm8, xmm8, xmm8\n vpxor xmm9, xmm9, xmm9",
    ".irp o, 0,128,256,384\n vpopcntq zmm0, [rsi + \\o]\n vpopcntq zmm1, [rsi + \\o + 64]\n vpaddq zmm8, zmm8, zmm0\n \
     vpaddq zmm9, zmm9, zmm1\n .endr",
    "vpaddq zmm0, zmm8, zmm9\n vextracti64x4 ymm1, zmm0, 1\n vpaddq ymm0, ymm0, ymm1\n vextracti128 xmm1, ymm0, 1\n \
     vpaddq xmm0, xmm0, xmm1\n vpshufd xmm1, xmm0, 0xee\n vpaddq xmm0, xmm0, xmm1\n vmovq rax, xmm0\n vzeroupper"
);

counted!(
    crc32c,
    "mov r8d, -1\n mov r9d, -1\n mov r10d, -1\n mov r11d, -1",
    ".irp o, 0,8,16,24,32,40,48,56\n crc32 r8, qword ptr [rsi + \\o]\n crc32 r9, qword ptr [rsi + \\o + 64]\n \
     crc32 r10, qword ptr [rsi + \\o + 128]\n crc32 r11, qword ptr [rsi + \\o + 192]\n .endr",
    "lea rax, [r8 + r9]\n add rax, r10\n add rax, r11"
);

const CRC_STEPS: u64 = (peak::CRC_CHAINS * peak::CRC_WORDS) as u64;

macro_rules! row {
    ($name:literal, $isa:literal, $iteration:expr, $instruction:literal, $each:expr, $symbol:literal, $needs:literal,
     $present:expr, $body:expr, $expected:expr) => {
        CountedLoop {
            name: $name,
            isa: $isa,
            iteration: $iteration,
            instruction: $instruction,
            each: $each,
            symbol: concat!("x86_64::", $symbol),
            needs: $needs,
            present: $present,
            body: $body,
            expected: $expected,
        }
    };
}

/// Operations are rounds of a 16-byte block, counted words, 8-byte steps of a checksum, and hashed blocks.
pub(super) static LOOPS: [CountedLoop; 8] = [
    row!(
        "aes_latency",
        "aes",
        LoopCost { elements: peak::AES_ROUNDS, ops: peak::AES_ROUNDS, ..NOTHING },
        "aesenc",
        1,
        "crypto::aes_latency",
        "AES-NI",
        || is_x86_feature_detected!("aes"),
        aes_latency,
        peak::aes_latency_expected
    ),
    row!(
        "aes_throughput",
        "vaes",
        LoopCost { elements: 48, ops: 48, ..NOTHING },
        "vaesenc",
        4,
        "crypto::aes_throughput_wide",
        "VAES and AVX-512F",
        || is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx512f"),
        aes_throughput_wide,
        peak::aes_throughput_expected::<4>
    ),
    // Zen 3 and the cores of desktops since Alder Lake have these instructions without AVX-512.
    row!(
        "aes_throughput",
        "vaes_avx2",
        LoopCost { elements: 24, ops: 24, ..NOTHING },
        "vaesenc",
        2,
        "crypto::aes_throughput_avx2",
        "VAES and AVX2",
        || is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx2"),
        aes_throughput_avx2,
        peak::aes_throughput_expected::<2>
    ),
    row!(
        "aes_throughput",
        "aes",
        LoopCost { elements: 12, ops: 12, ..NOTHING },
        "aesenc",
        1,
        "crypto::aes_throughput",
        "AES-NI",
        || is_x86_feature_detected!("aes"),
        aes_throughput,
        peak::aes_throughput_expected::<1>
    ),
    row!(
        "popcount",
        "avx512",
        LoopCost { loads: bits::ITERATION.loads / 8, ..bits::ITERATION },
        "vpopcntq",
        8,
        "crypto::popcount_wide",
        "AVX-512 VPOPCNTDQ",
        || is_x86_feature_detected!("avx512vpopcntdq") && is_x86_feature_detected!("avx512f"),
        popcount_wide,
        bits::popcount_expected
    ),
    row!(
        "popcount",
        "popcnt",
        bits::ITERATION,
        "popcnt",
        1,
        "crypto::popcount",
        "POPCNT",
        || is_x86_feature_detected!("popcnt"),
        popcount,
        bits::popcount_expected
    ),
    row!(
        "crc32c",
        "sse4.2",
        LoopCost { elements: CRC_STEPS, ops: CRC_STEPS, loads: CRC_STEPS, bytes_read: 8 * CRC_STEPS, ..NOTHING },
        "crc32",
        1,
        "crypto::crc32c",
        "SSE4.2",
        || is_x86_feature_detected!("sse4.2"),
        crc32c,
        peak::crc32c_expected
    ),
    row!(
        "sha256",
        "sha",
        super::sha256::ITERATION,
        "sha256rnds2",
        1,
        "sha256::repeat",
        "the SHA extensions",
        super::sha256::present,
        super::sha256::repeat,
        sha256::expected
    ),
];
