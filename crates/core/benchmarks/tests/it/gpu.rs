//! The benchmarks of accelerators on a device that every machine can have, the CPU through OpenCL; and devices that cheat.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::cell::Cell;
use std::rc::Rc;

use benchmarks::{BenchmarkContext, Readings, SampleSetting, Trial};
use gpu::{About, Api, BackEnd, CheckedLaunch, Device, Error, Handle, HostMemory, Sense, Work};

/// Every benchmark at small parameters, and the kernel that does its work.
const FAMILY: &[(&str, &str, &str)] = &[
    ("gpu.triad", "array=256KiB", "triad"),
    ("gpu.copy", "array=256KiB", "copy"),
    ("gpu.read", "array=256KiB", "read"),
    ("gpu.write", "array=256KiB", "write"),
    ("gpu.load_latency", "working_set=16KiB", "chase"),
    ("gpu.shared_latency", "", "shared"),
    ("gpu.fma", "type=fp32", "fma32"),
    ("gpu.fma", "type=fp64", "fma64"),
    ("gpu.atomic", "words=one", "atomic"),
    ("gpu.atomic", "words=own", "atomic"),
    ("gpu.host_copy", "direction=to_device,memory=pinned,size=64KiB", "-"),
    ("gpu.host_copy", "direction=from_device,memory=pageable,size=64KiB", "-"),
    ("gpu.host_copy", "direction=both,memory=pinned,size=4B", "-"),
    ("gpu.launch", "mode=round_trip", "atomic"),
    ("gpu.launch", "mode=queue", "atomic"),
    ("gpu.overlap", "", "fma32"),
    ("gpu.reconstruct", "", "fit"),
    ("gpu.energy", "", "fit"),
];
/// Those that need instructions that only CUDA's driver offers: here by a device that computes them on the host.
const OF_CUDA: &[(&str, &str, &str)] = &[
    ("gpu.matrix", "type=bf16", "matrix_bf16"),
    ("gpu.matrix", "type=fp16", "matrix_fp16"),
    ("gpu.matrix", "type=tf32", "matrix_tf32"),
    ("gpu.matrix", "type=int8", "matrix_int8"),
    ("gpu.matrix", "type=fp64", "matrix_fp64"),
    ("gpu.clock", "", "tick"),
];

/// How a device cheats.
#[derive(Clone, Copy, PartialEq)]
enum Fraud {
    None,
    /// It does not launch the kernel of the benchmark, and does not copy.
    Lazy(&'static str),
    /// It alters what is read.
    Wrong,
}

/// A device in front of another one that cheats from a moment on. It has a counter of energy, and may be hot.
struct Front {
    inner: Rc<dyn BackEnd>,
    fraud: Rc<Cell<Fraud>>,
    joules: Cell<f64>,
    throttled: Option<String>,
}

impl Front {
    fn of(inner: Rc<dyn BackEnd>) -> (Self, Rc<Cell<Fraud>>) {
        let fraud = Rc::new(Cell::new(Fraud::None));
        (Self { inner, fraud: Rc::clone(&fraud), joules: Cell::new(0.0), throttled: None }, fraud)
    }

    /// Whether it leaves this launch out. Arrays are poisoned by the kernel `write`, which is no work then.
    fn leaves_out(&self, launch: &CheckedLaunch) -> bool {
        let poison = launch.scalars.first() == Some(&0xa5a5_a5a5_a5a5_a5a5);
        matches!(self.fraud.get(), Fraud::Lazy(kernel) if kernel == launch.kernel.name && !poison)
    }
}

impl BackEnd for Front {
    fn about(&self) -> &About {
        self.inner.about()
    }

    fn allocate(&self, bytes: usize) -> Result<Handle, Error> {
        self.inner.allocate(bytes)
    }

    fn release(&self, handle: Handle) {
        self.inner.release(handle);
    }

    fn pin(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error> {
        self.inner.pin(bytes)
    }

    fn together(&self, work: &mut [Work<'_>]) -> Result<(), Error> {
        for piece in work.iter_mut() {
            let lazy = match piece {
                Work::Launches(launch, _) => self.leaves_out(launch),
                // A lazy copy leaves the target as it was: poisoned.
                Work::Write(..) | Work::Read(..) => self.fraud.get() == Fraud::Lazy("-"),
            };
            if !lazy {
                self.inner.together(std::slice::from_mut(piece))?;
            }
            if let (Work::Read(_, _, bytes), Fraud::Wrong) = (piece, self.fraud.get()) {
                bytes
                    .iter_mut()
                    .enumerate()
                    .filter(|(at, _)| [0, 6].contains(&(at % 8)))
                    .for_each(|(_, byte)| *byte ^= 1);
            }
        }
        Ok(())
    }

    fn timed(&self, launch: &CheckedLaunch, times: u32) -> Result<f64, Error> {
        self.joules.set(self.joules.get() + 1.0);
        if self.leaves_out(launch) { Ok(1e-3) } else { self.inner.timed(launch, times) }
    }

    fn sense(&self) -> Sense {
        Sense { energy: Some(self.joules.get()), throttled: self.throttled.clone() }
    }
}

/// A device that computes on the host what only CUDA's driver offers.
struct Emulator {
    about: About,
    memory: std::cell::RefCell<Vec<Vec<u8>>>,
}

impl Emulator {
    fn new() -> Self {
        let (name, driver) = ("an emulator".to_owned(), "1".to_owned());
        let about = About { api: Api::Cuda, name, driver, units: 1, memory: 1 << 30, cache: 0, note: None };
        Self { about, memory: std::cell::RefCell::default() }
    }

    /// Sum of the lanes' elements of the first matrix, times the second one's, of a warp.
    fn product(kernel: &str, warp: &[u8]) -> f64 {
        let (first, bytes) = if kernel == "matrix_fp64" { (8, 16) } else { (16, 24) };
        let value = |bytes: &[u8]| -> Vec<f64> {
            let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
            let half = |bits: u16, bias: i32, mantissa: u32| {
                if bits == 0 { 0.0 } else { 2f64.powi(i32::from(bits >> mantissa) - bias) }
            };
            match kernel {
                "matrix_bf16" => bytes.chunks(2).map(|b| half(u16::from_le_bytes([b[0], b[1]]), 127, 7)).collect(),
                "matrix_fp16" => bytes.chunks(2).map(|b| half(u16::from_le_bytes([b[0], b[1]]), 15, 10)).collect(),
                "matrix_tf32" => bytes.chunks(4).map(|b| f64::from(f32::from_bits(word(b)))).collect(),
                "matrix_int8" => bytes.iter().map(|b| f64::from(*b as i8)).collect(),
                _ => bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
            }
        };
        let ones: f64 = warp.chunks(bytes).flat_map(|lane| value(&lane[..first])).sum();
        // Every element of the second matrix is the same; it has eight columns.
        ones * 8.0 * value(&warp[first..bytes])[0]
    }

    fn run(&self, launch: &CheckedLaunch) {
        let mut memory = self.memory.borrow_mut();
        let threads = (launch.blocks * launch.threads) as usize;
        let name = launch.kernel.name;
        if name.starts_with("matrix") {
            let (input, n) = (memory[launch.buffers[0].0].clone(), launch.scalars[0]);
            let out = &mut memory[launch.buffers[1].0];
            out.fill(0);
            let warps = threads / 32;
            for (at, warp) in input.chunks(input.len() / warps).enumerate() {
                // Eight sums of two products in each turn, all in the first lane.
                let sum = Self::product(name, warp) * 16.0 * n as f64;
                out[256 * at..][..8].copy_from_slice(&sum.to_le_bytes());
            }
        } else if name == "tick" {
            let n = launch.scalars[0];
            for (at, word) in [n, 2 * n, n].into_iter().enumerate() {
                memory[launch.buffers[0].0][8 * at..][..8].copy_from_slice(&word.to_le_bytes());
            }
        } else {
            let [_, by, n] = launch.scalars[..] else { panic!("{name} is not emulated") };
            for at in 0..8 * threads {
                let value = (at / 8 % 16 + at % 8) as f64 + (by * n * 32) as f64;
                memory[launch.buffers[0].0][8 * at..][..8].copy_from_slice(&value.to_le_bytes());
            }
        }
    }
}

impl BackEnd for Emulator {
    fn about(&self) -> &About {
        &self.about
    }

    fn allocate(&self, bytes: usize) -> Result<Handle, Error> {
        self.memory.borrow_mut().push(vec![0; bytes]);
        Ok(Handle(self.memory.borrow().len() - 1))
    }

    fn release(&self, handle: Handle) {
        self.memory.borrow_mut()[handle.0].clear();
    }

    fn pin(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error> {
        Ok(Box::new(vec![0; bytes]))
    }

    fn together(&self, work: &mut [Work<'_>]) -> Result<(), Error> {
        for piece in work {
            match piece {
                Work::Launches(launch, times) => (0..*times).for_each(|_| self.run(launch)),
                Work::Write(handle, at, bytes) => {
                    self.memory.borrow_mut()[handle.0][*at..][..bytes.len()].copy_from_slice(bytes);
                }
                Work::Read(handle, at, bytes) => {
                    let length = bytes.len();
                    bytes.copy_from_slice(&self.memory.borrow()[handle.0][*at..][..length]);
                }
            }
        }
        Ok(())
    }

    fn timed(&self, launch: &CheckedLaunch, times: u32) -> Result<f64, Error> {
        (0..times).for_each(|_| self.run(launch));
        Ok(1e-4 * launch.scalars.last().copied().unwrap_or(1).max(1) as f64)
    }
}

fn prepare(id: &str, parameters: &str, device: Device) -> Result<Box<dyn Readings>, String> {
    let benchmark = benchmarks::find(id).unwrap();
    let part = format!("{parameters}{}api=opencl,device=0", if parameters.is_empty() { "" } else { "," });
    let at = benchmark.complete(&part.parse().unwrap()).unwrap().remove(0);
    let mut context = BenchmarkContext::new(SampleSetting {
        seed: 7,
        cpus: Vec::new(),
        allowed: vec![0],
        cache: 0,
        directory: ".".into(),
        variant: None,
        calibrating: false,
    });
    context.shared("gpu:opencl:0", || Ok(device)).unwrap();
    match (benchmark.prepare)(&at, &mut context) {
        Ok(Trial::Readings(readings)) => Ok(readings),
        Ok(_) => panic!("{id} reads its own values"),
        Err(reason) => Err(reason.to_string()),
    }
}

/// The CPU as a device; it must be there.
fn cpu() -> Option<Rc<dyn BackEnd>> {
    match Api::OpenCl.open(0) {
        Ok(device) => Some(device),
        Err(reason) => {
            testing::skip!("{reason}; Debian: pocl-opencl-icd, ocl-icd-libopencl1");
            None
        }
    }
}

/// Honest work is accepted, and every fraud is refused.
fn conforms((id, parameters, kernel): &(&'static str, &str, &'static str), inner: Rc<dyn BackEnd>) {
    let (front, fraud) = Front::of(inner);
    let mut readings = prepare(id, parameters, Device::new(Rc::new(front))).unwrap();
    let values = readings.read().unwrap_or_else(|fault| panic!("{id} at {parameters}: {fault}"));
    let possible = |value: &f64| value.is_finite() && *value >= 0.0 && (*value > 0.0 || *id == "gpu.overlap");
    assert!(!values.is_empty() && values.iter().all(possible), "{id} at {parameters}: {values:?}");
    assert_eq!(readings.throttled(), None);
    for (cheat, name) in [(Fraud::Lazy(kernel), "does not work"), (Fraud::Wrong, "computes wrongly")] {
        fraud.set(cheat);
        assert!(readings.read().is_err(), "{id} at {parameters} does not notice a device that {name}");
    }
    fraud.set(Fraud::None);
    assert!(readings.read().is_ok(), "{id} at {parameters}");
}

#[test]
fn every_benchmark_works_on_a_cpu_and_notices_a_device_that_cheats() {
    let Some(device) = cpu() else { return };
    FAMILY.iter().for_each(|one| conforms(one, Rc::clone(&device)));
}

#[test]
fn instructions_of_cuda_alone_are_checked_too() {
    OF_CUDA.iter().for_each(|one| conforms(one, Rc::new(Emulator::new())));
}

#[test]
fn every_benchmark_of_the_family_is_tested_here() {
    for benchmark in benchmarks::all().filter(|benchmark| benchmark.family() == "gpu") {
        assert!(FAMILY.iter().chain(OF_CUDA).any(|(id, ..)| *id == benchmark.id), "{}", benchmark.id);
    }
}

#[test]
fn what_opencl_lacks_is_not_measured_and_says_why() {
    let Some(device) = cpu() else { return };
    let why = |id: &str, parameters: &str| prepare(id, parameters, Device::new(Rc::clone(&device))).err().unwrap();
    assert_eq!(why("gpu.matrix", "type=bf16"), "OpenCL C has no instructions for matrix_bf16");
    assert_eq!(why("gpu.clock", ""), "OpenCL C has no instructions for tick");
    assert_eq!(why("gpu.energy", ""), "the device reports no energy");
    let huge = why("gpu.triad", "array=16GiB");
    assert!(huge.starts_with("the device lacks memory: 16384 MiB asked, at most"), "{huge}");
}

#[test]
fn a_hot_device_is_reported_until_it_was_asked() {
    let (front, _) = Front::of(Rc::new(Emulator::new()));
    let hot = Front { throttled: Some("its temperature".to_owned()), ..front };
    let mut readings = prepare("gpu.matrix", "type=int8", Device::new(Rc::new(hot))).unwrap();
    assert!(readings.read().is_ok());
    assert_eq!(readings.throttled().as_deref(), Some("its temperature"));
    assert_eq!(readings.throttled(), None);
}
