//! Byte dot products on the tiles of AMX: four chains in `tmm0` to `tmm3`.
//!
//! Linux grants a process the tile registers on request only (Documentation/arch/x86/xstate.rst), because they enlarge
//! every signal frame.

use std::arch::x86_64::__cpuid_count;
use std::sync::OnceLock;

use crate::LoopCost;
use crate::counted_loop::CountedLoop;
use crate::peak::{SIGNED, UNSIGNED};

const CHAINS: u64 = 4;
/// Rows of a tile, and 32-bit lanes of a row.
const ROWS: usize = 16;
/// Multiplications and additions per instruction: 16 by 16 lanes of 64 products.
const EACH: u64 = 2 * 16 * 16 * 64;

/// Palette 1 with eight full tiles (Intel SDM, volume 1, 18.3).
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes_a_row: [u16; 16],
    rows: [u8; 16],
}

static CONFIGURATION: Configuration = Configuration {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    bytes_a_row: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// One row of each operand; with a stride of zero all rows of a tile are equal.
#[repr(C, align(64))]
struct TileRow([u8; 64]);

static UNSIGNED_ROW: TileRow = TileRow([UNSIGNED as u8; 64]);
static SIGNED_ROW: TileRow = TileRow([SIGNED as u8; 64]);

/// # Safety
/// [`present`] must have returned true.
#[inline(never)]
unsafe fn int8_dot(iterations: u64) -> u64 {
    let mut lanes = [[0_u32; 16 * ROWS]; CHAINS as usize];
    // SAFETY: the loads read the statics, the stores fill the four arrays with 16 rows of 64 bytes each, every register
    // written is declared, and the tiles are released.
    unsafe {
        std::arch::asm!(
            "ldtilecfg [{configuration}]",
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "tileloadd tmm4, [{a} + {stride}]",
            "tileloadd tmm5, [{b} + {stride}]",
            "test {iterations}, {iterations}",
            "jz 3f",
            ".p2align 6",
            "2:",
            "tdpbusd tmm0, tmm4, tmm5",
            "tdpbusd tmm1, tmm4, tmm5",
            "tdpbusd tmm2, tmm4, tmm5",
            "tdpbusd tmm3, tmm4, tmm5",
            "dec {iterations}",
            "jnz 2b",
            "3:",
            "mov {stride:e}, 64",
            "tilestored [{lanes} + {stride}], tmm0",
            "add {lanes}, 1024",
            "tilestored [{lanes} + {stride}], tmm1",
            "add {lanes}, 1024",
            "tilestored [{lanes} + {stride}], tmm2",
            "add {lanes}, 1024",
            "tilestored [{lanes} + {stride}], tmm3",
            "tilerelease",
            configuration = in(reg) &raw const CONFIGURATION,
            a = in(reg) &raw const UNSIGNED_ROW,
            b = in(reg) &raw const SIGNED_ROW,
            stride = inout(reg) 0_u64 => _,
            iterations = inout(reg) iterations => _,
            lanes = inout(reg) lanes.as_mut_ptr() => _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _, out("tmm4") _, out("tmm5") _,
            options(nostack),
        );
    }
    lanes.iter().flatten().map(|lane| u64::from(*lane)).sum()
}

/// Every lane gains 64 products per iteration.
fn expected(iterations: u64) -> u64 {
    let step = 64 * i64::from(UNSIGNED as u8) * i64::from(SIGNED as u8 as i8);
    let lane = iterations.wrapping_mul(step.cast_unsigned()) as u32;
    u64::from(lane) * CHAINS * 16 * ROWS as u64
}

/// Whether the CPU has AMX for bytes and the system permits its use; determined once.
fn present() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| has_instructions() && permitted())
}

/// AMX-TILE and AMX-INT8: leaf 7, EDX bits 24 and 25.
fn has_instructions() -> bool {
    __cpuid_count(0, 0).eax >= 7 && (__cpuid_count(7, 0).edx >> 24) & 0b11 == 0b11
}

fn permitted() -> bool {
    const REQUEST_PERMISSION: libc::c_ulong = 0x1023;
    const TILE_DATA: libc::c_ulong = 18;
    // SAFETY: takes two numbers and changes only the permissions of this process.
    unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0 }
}

pub(super) static LOOPS: [CountedLoop; 1] = [CountedLoop {
    name: "int8_dot",
    isa: "amx",
    iteration: LoopCost {
        elements: CHAINS,
        ops: CHAINS * EACH,
        bytes_read: 0,
        bytes_written: 0,
        loads: 0,
        stores: 0,
        flops: 0,
    },
    instruction: "tdpbusd",
    each: EACH,
    symbol: "x86_64::amx::int8_dot",
    needs: "AMX-INT8, or the system does not permit this process to use its tiles",
    present,
    body: int8_dot,
    expected,
}];
