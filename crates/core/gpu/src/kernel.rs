//! The kernels: their text for each way to a device, and the bytes that each touches.

/// Words of a template, and what stands for them.
type Words = &'static [(&'static str, &'static str)];

/// One kernel. It has buffers first and then numbers of 64 bits.
pub struct Kernel {
    /// Its name in both texts.
    pub name: &'static str,
    /// Names of its buffers, and of its numbers.
    buffers: &'static str,
    numbers: &'static str,
    ptx: &'static str,
    /// OpenCL C, if the language has what the kernel needs.
    cl: Option<&'static str>,
    /// Words of its templates, replaced one after the other.
    words: &'static [Words],
    /// Least compute capability, ten times: 70 or 80.
    pub target: u32,
    /// Bytes that it touches of each buffer, from the numbers and the threads.
    pub(crate) needs: fn(&[u64], u64) -> Vec<u64>,
    /// Whether the contents of its buffers decide what it touches, so that only this crate may launch it.
    pub(crate) guarded: bool,
}

impl Kernel {
    /// How many numbers it has.
    pub(crate) fn scalars(&self) -> usize {
        self.numbers.split(' ').count()
    }

    fn worded(&self, template: &str) -> String {
        let words = self.words.iter().copied().flatten();
        words.fold(template.replace("NAME", self.name), |text, (word, by)| text.replace(word, by))
    }

    /// Its OpenCL C, if the language has what it needs.
    #[must_use]
    pub fn cl(&self) -> Option<String> {
        self.cl.map(|template| self.worded(template))
    }

    /// Its PTX: the head of all kernels, its arguments, and its template with repeated lines written out.
    #[must_use]
    pub fn ptx(&self) -> String {
        if self.ptx.contains(".entry") {
            return self.ptx.to_owned();
        }
        let names = || self.buffers.split(' ').chain(self.numbers.split(' '));
        let parameters: Vec<_> = names().map(|name| format!(".param .u64 {name}")).collect();
        let loads: String =
            names().map(|name| format!("    .reg .u64 %{name}; ld.param.u64 %{name}, [{name}];\n")).collect();
        let head = include_str!("kernels/head.ptx")
            .replace("TARGET", &self.target.to_string())
            .replace("PARAMETERS", &parameters.join(", "));
        let body = self.worded(&format!("{head}{loads}{}", self.ptx));
        body.lines().map(|line| repeated(line) + "\n").collect::<String>() + "    ret;\n}\n"
    }
}

/// A line `8 * text` is the text eight times, with the number of each for `#`; in a line `8 * 4 * text`, `@` is that of
/// the eight.
fn repeated(line: &str) -> String {
    let Some((times, text)) = line.split_once(" * ").and_then(|(n, text)| Some((n.trim().parse().ok()?, text))) else {
        return line.to_owned();
    };
    let inner = repeated(text);
    let mark = if inner == text { '#' } else { '@' };
    (0..times).map(|at: u32| inner.replace(mark, &at.to_string()) + " ").collect()
}

macro_rules! kernel {
    ($name:literal, $buffers:literal, $numbers:literal, $needs:expr) => {
        Kernel {
            cl: Some(include_str!(concat!("kernels/", $name, ".cl"))),
            ..kernel!($name without OpenCL, $buffers, $numbers, $needs)
        }
    };
    ($name:literal without OpenCL, $buffers:literal, $numbers:literal, $needs:expr) => {
        Kernel {
            name: $name,
            buffers: $buffers,
            numbers: $numbers,
            ptx: include_str!(concat!("kernels/", $name, ".ptx")),
            cl: None,
            words: &[],
            target: 70,
            needs: $needs,
            guarded: false,
        }
    };
}

const FMA: Kernel = kernel!("fma", "out", "a b n", |_, threads| vec![64 * threads]);
/// Instructions of matrix units, which OpenCL C lacks.
const MATRIX: Kernel = Kernel {
    target: 80,
    ..kernel!("matrix" without OpenCL, "a out", "n", |_, threads| vec![24 * threads, 8 * threads])
};

/// Multiply-adds with one number in a register, and with two of 16 bits.
#[rustfmt::skip]
const ONE: Words = &[
    ("BITS", "64"), ("VECTOR", "NUMBER"), (" LOWER", ""),
    ("REGISTER", "TYPE"), ("WORD", "TYPE"), ("FILLED", "%h"), ("OPERATION", "TYPE"),
];
#[rustfmt::skip]
const PAIRS: Words = &[
    ("BITS", "16"), ("VECTOR", "half2"), ("NUMBER", "half"), (" LOWER", ".x"),
    ("REGISTER", "b32"), ("WORD", "b16"), ("FILLED", "{%h, %h}"), ("OPERATION", "f16x2"), ("TYPE", "f16"),
    ("DOUBLE", "mov.b32 {%h, %l}, %f#; add.rn.f16 %h, %h, %l; cvt.f64.f16 %d, %h; mul.rn.f64 %d, %d, 0d3FE0000000000000;"),
];

/// Matrices whose elements fill registers of 32 bits, with sums of `f32` and of integers; and doubles.
#[rustfmt::skip]
const NARROW: Words = &[
    ("INPUT", "b32"), ("COUNT", "6"), ("SIZE", "4"), ("STRIDE", "24"),
    ("FIRST", "{%m0, %m1, %m2, %m3}"), ("SECOND", "{%m4, %m5}"),
    ("ALL", "%c#_0, %c#_1, %c#_2, %c#_3"), ("ELEMENTS", "4"),
    ("SUM", "f32"), ("ZERO", "0f00000000"), ("DOUBLE", "cvt.f64.f32"),
];
#[rustfmt::skip]
const INTEGERS: Words = &[
    ("SHAPE", "m16n8k32.row.col.s32.s8.s8.s32"), ("SUM", "s32"), ("ZERO", "0"), ("DOUBLE", "cvt.rn.f64.s32"),
];
#[rustfmt::skip]
const WIDE: Words = &[
    ("INPUT", "f64"), ("COUNT", "2"), ("SIZE", "8"), ("STRIDE", "16"), ("FIRST", "{%m0}"), ("SECOND", "{%m1}"),
    ("ALL", "%c#_0, %c#_1"), ("ELEMENTS", "2"), ("SHAPE", "m8n8k4.row.col.f64.f64.f64.f64"),
    ("SUM", "f64"), ("ZERO", "0d0000000000000000"), ("DOUBLE", "mov.f64"),
];

/// Every kernel.
pub static KERNELS: &[Kernel] = &[
    kernel!("pattern", "a", "seed n", |n, _| vec![n[1].saturating_mul(8)]),
    kernel!("copy", "a b", "n", |n, _| vec![n[0].saturating_mul(16); 2]),
    kernel!("triad", "a b c", "n", |n, _| vec![n[0].saturating_mul(16); 3]),
    kernel!("read", "a out", "n", |n, threads| vec![n[0].saturating_mul(16), 8 * threads]),
    kernel!("write", "a", "value n", |n, _| vec![n[1].saturating_mul(16)]),
    kernel!("link", "a", "n", |n, _| vec![n[0].saturating_mul(8)]),
    Kernel { guarded: true, ..kernel!("chase", "a out", "n", |_, _| vec![8, 16]) },
    kernel!("shared", "out", "stride n", |_, _| vec![16]),
    // OpenCL has no clock of the device.
    kernel!("tick" without OpenCL, "out", "n", |_, _| vec![24]),
    kernel!("atomic", "a", "n mask", |n, threads| vec![4 * n[1].min(threads.saturating_sub(1)).saturating_add(1)]),
    Kernel { name: "fma16", words: &[PAIRS], ..FMA },
    Kernel {
        name: "fma32",
        words: &[ONE, &[("NUMBER", "float"), ("TYPE", "f32"), ("DOUBLE", "cvt.f64.f32 %d, %f#;")]],
        ..FMA
    },
    Kernel {
        name: "fma64",
        words: &[ONE, &[("NUMBER", "double"), ("TYPE", "f64"), ("DOUBLE", "mov.f64 %d, %f#;")]],
        ..FMA
    },
    Kernel { name: "matrix_bf16", words: &[&[("SHAPE", "m16n8k16.row.col.f32.bf16.bf16.f32")], NARROW], ..MATRIX },
    Kernel { name: "matrix_fp16", words: &[&[("SHAPE", "m16n8k16.row.col.f32.f16.f16.f32")], NARROW], ..MATRIX },
    Kernel { name: "matrix_tf32", words: &[&[("SHAPE", "m16n8k8.row.col.f32.tf32.tf32.f32")], NARROW], ..MATRIX },
    Kernel { name: "matrix_int8", words: &[INTEGERS, NARROW], ..MATRIX },
    Kernel { name: "matrix_fp64", words: &[WIDE], needs: |_, threads| vec![16 * threads, 8 * threads], ..MATRIX },
    Kernel {
        guarded: true,
        ..kernel!("fit", "hits first guess out", "n", |n, _| {
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
