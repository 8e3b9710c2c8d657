//! The kernels: their text for each way to a device, and the bytes that each touches.

/// One kernel. It has buffers first and then numbers of 64 bits, as its text says.
pub struct Kernel {
    /// Its name in both texts.
    pub name: &'static str,
    /// PTX.
    pub ptx: &'static str,
    /// OpenCL C, if the language has what the kernel needs.
    pub cl: Option<&'static str>,
    /// Least compute capability, ten times: 70 or 80.
    pub target: u32,
    /// Numbers that it has.
    pub(crate) scalars: usize,
    /// Bytes that it touches of each buffer, from the numbers and the threads.
    pub(crate) needs: fn(&[u64], u64) -> Vec<u64>,
    /// Whether the contents of its buffers decide what it touches, so that only this crate may launch it.
    pub(crate) guarded: bool,
}

macro_rules! kernel {
    ($name:literal, $scalars:literal, $needs:expr) => {
        Kernel {
            name: $name,
            ptx: include_str!(concat!("kernels/", $name, ".ptx")),
            cl: Some(include_str!(concat!("kernels/", $name, ".cl"))),
            target: 70,
            scalars: $scalars,
            needs: $needs,
            guarded: false,
        }
    };
}

/// Instructions of matrix units, which OpenCL C lacks: so many bytes of input for each thread.
macro_rules! matrix {
    ($name:literal, $bytes:literal) => {
        Kernel {
            name: $name,
            ptx: include_str!(concat!("kernels/", $name, ".ptx")),
            cl: None,
            target: 80,
            scalars: 1,
            needs: |_, threads| vec![$bytes * threads, 8 * threads],
            guarded: false,
        }
    };
}

const FMA: fn(&[u64], u64) -> Vec<u64> = |_, threads| vec![64 * threads];

/// Every kernel.
pub static KERNELS: &[Kernel] = &[
    kernel!("pattern", 2, |n, _| vec![n[1].saturating_mul(8)]),
    kernel!("copy", 1, |n, _| vec![n[0].saturating_mul(16); 2]),
    kernel!("triad", 1, |n, _| vec![n[0].saturating_mul(16); 3]),
    kernel!("read", 1, |n, threads| vec![n[0].saturating_mul(16), 8 * threads]),
    kernel!("write", 2, |n, _| vec![n[1].saturating_mul(16)]),
    kernel!("link", 1, |n, _| vec![n[0].saturating_mul(8)]),
    Kernel { guarded: true, ..kernel!("chase", 1, |_, _| vec![8, 16]) },
    kernel!("shared", 2, |_, _| vec![16]),
    // OpenCL has no clock of the device.
    Kernel {
        name: "tick",
        ptx: include_str!("kernels/tick.ptx"),
        cl: None,
        target: 70,
        scalars: 1,
        needs: |_, _| vec![24],
        guarded: false,
    },
    kernel!("atomic", 2, |n, threads| vec![4 * n[1].min(threads.saturating_sub(1)).saturating_add(1)]),
    kernel!("fma16", 3, FMA),
    kernel!("fma32", 3, FMA),
    kernel!("fma64", 3, FMA),
    matrix!("matrix_bf16", 24),
    matrix!("matrix_fp16", 24),
    matrix!("matrix_tf32", 24),
    matrix!("matrix_int8", 24),
    matrix!("matrix_fp64", 16),
    Kernel {
        guarded: true,
        ..kernel!("fit", 1, |n, _| {
            vec![0, n[0].saturating_add(1).saturating_mul(8), n[0].saturating_mul(24), n[0].saturating_mul(32)]
        })
    },
];

/// A kernel by name.
///
/// # Panics
/// If there is none: names are constants of the program.
#[must_use]
#[expect(clippy::expect_used, reason = "the invariant holds")]
pub fn kernel(name: &str) -> &'static Kernel {
    KERNELS.iter().find(|kernel| kernel.name == name).expect("names of kernels are constants of the program")
}
