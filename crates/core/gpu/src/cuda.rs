//! Back end of NVIDIA's driver, `libcuda.so.1`, with kernels in PTX.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

use crate::allocations::Allocations;
use crate::device::{About, BackEnd, CheckedLaunch, Handle, HostMemory, Sense, Work};
use crate::nvml::Card;
use crate::symbols::functions;
use crate::{Api, Error, Kernel};

/// Any object of the driver.
type Object = *mut c_void;

functions! { Driver, "libcuda.so.1", "NVIDIA driver", "the NVIDIA driver is too old";
    cuInit(u32);
    cuDriverGetVersion(*mut i32);
    cuGetErrorName(i32, *mut *const c_char);
    cuDeviceGetCount(*mut i32);
    cuDeviceGet(*mut i32, i32);
    cuDeviceGetName(*mut c_char, i32, i32);
    cuDeviceGetPCIBusId(*mut c_char, i32, i32);
    cuDeviceGetAttribute(*mut i32, i32, i32);
    cuDeviceTotalMem_v2(*mut usize, i32);
    cuCtxCreate_v2(*mut Object, u32, i32);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemAlloc_v2(*mut u64, usize);
    cuMemFree_v2(u64);
    cuMemAllocHost_v2(*mut Object, usize);
    cuMemFreeHost(Object);
    cuMemcpyHtoDAsync_v2(u64, *const c_void, usize, Object);
    cuMemcpyDtoHAsync_v2(Object, u64, usize, Object);
    cuModuleLoadDataEx(*mut Object, *const c_void, u32, *mut i32, *mut Object);
    cuModuleGetFunction(*mut Object, Object, *const c_char);
    cuLaunchKernel(Object, u32, u32, u32, u32, u32, u32, u32, Object, *mut Object, *mut Object);
    cuStreamCreate(*mut Object, u32);
    cuStreamSynchronize(Object);
    cuEventCreate(*mut Object, u32);
    cuEventRecord(Object, Object);
    cuEventSynchronize(Object);
    cuEventElapsedTime(*mut f32, Object, Object);
}

/// Oldest driver that knows the PTX of the kernels: CUDA 11.0.
const OLDEST: i32 = 11_000;
/// Results of the driver that have a sentence of their own.
const OUT_OF_MEMORY: i32 = 2;
const UNAVAILABLE: i32 = 46;
const NO_DEVICE: i32 = 100;
const PTX_REFUSED: [i32; 3] = [200, 218, 222];
const MISMATCH: i32 = 803;
/// Attributes of a device.
const CACHE: i32 = 38;
const BUS: i32 = 37;
const UNITS: i32 = 16;
const MAJOR: i32 = 75;
const MINOR: i32 = 76;
/// Options of the compiler of PTX: a buffer for its log, and the bytes of it.
const LOG: [i32; 2] = [5, 6];
/// A queue that does not wait for others.
const OWN_QUEUE: u32 = 1;

/// One device with its context.
pub(crate) struct Cuda {
    driver: &'static Driver,
    about: About,
    card: Option<Card>,
    /// Compute capability, ten times.
    capability: u32,
    queues: [Object; 2],
    events: [Object; 2],
    allocations: Allocations,
    functions: RefCell<HashMap<&'static str, Object>>,
}

/// The driver, ready for calls.
fn driver() -> Result<&'static Driver, Error> {
    let driver = Driver::get()?;
    let mut version = 0;
    // SAFETY: a number is written to a local one.
    unsafe { (driver.cuDriverGetVersion)(&mut version) };
    if version < OLDEST {
        let (major, minor) = (version / 1000, version % 1000 / 10);
        return Err(Error::new(format!(
            "the NVIDIA driver is too old: it is of CUDA {major}.{minor}, and 11.0 is needed"
        )));
    }
    // SAFETY: the first call, without pointers.
    match unsafe { (driver.cuInit)(0) } {
        0 => Ok(driver),
        NO_DEVICE => Err(Error::new("the NVIDIA driver finds no device (in MIG mode, make a slice first)")),
        MISMATCH => Err(Error::new(
            "the NVIDIA driver's library and kernel module are of different versions; reboot, or load the module again",
        )),
        code => Err(driver.error("the NVIDIA driver does not start", code)),
    }
}

/// Number of devices.
pub(crate) fn count() -> Result<usize, Error> {
    let driver = driver()?;
    let mut count = 0;
    // SAFETY: a number is written to a local one.
    driver.check("the devices could not be counted", unsafe { (driver.cuDeviceGetCount)(&mut count) })?;
    usize::try_from(count)
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| Error::new("the NVIDIA driver finds no device"))
}

/// What the driver says about a card without making a context.
pub(crate) struct CardAttributes {
    pub(crate) name: String,
    pub(crate) bus: String,
    pub(crate) version: String,
    /// Compute capability, ten times.
    pub(crate) capability: u32,
    pub(crate) units: f64,
    pub(crate) memory: f64,
    pub(crate) cache: f64,
    pub(crate) bus_bits: f64,
    device: i32,
}

/// The attributes of a card.
pub(crate) fn attributes(index: usize) -> Result<CardAttributes, Error> {
    let (driver, count) = (driver()?, count()?);
    if index >= count {
        return Err(Error::new(format!("there is no device {index}: the NVIDIA driver has {count}, from 0")));
    }
    let (mut device, mut version, mut memory) = (0, 0, 0);
    let number = i32::try_from(index).unwrap_or(i32::MAX);
    // SAFETY: numbers are written to local ones.
    unsafe {
        driver.check("the device could not be found", (driver.cuDeviceGet)(&mut device, number))?;
        (driver.cuDriverGetVersion)(&mut version);
        (driver.cuDeviceTotalMem_v2)(&mut memory, device);
    }
    let of = |attribute| driver.attribute(attribute, device);
    Ok(CardAttributes {
        name: driver.text(driver.cuDeviceGetName, device),
        bus: driver.text(driver.cuDeviceGetPCIBusId, device),
        version: format!("CUDA {}.{}", version / 1000, version % 1000 / 10),
        capability: u32::try_from(of(MAJOR) * 10 + of(MINOR)).unwrap_or(0),
        units: of(UNITS) as f64,
        memory: memory as f64,
        cache: of(CACHE) as f64,
        bus_bits: of(BUS) as f64,
        device,
    })
}

impl Driver {
    fn error(&self, what: &str, code: i32) -> Error {
        let mut name = null();
        // SAFETY: the driver writes a pointer to a text that it keeps.
        let known = unsafe { (self.cuGetErrorName)(code, &mut name) } == 0 && !name.is_null();
        // SAFETY: such a text ends with zero.
        let name = if known { unsafe { CStr::from_ptr(name) }.to_string_lossy() } else { "unknown".into() };
        Error::new(format!("{what}: {name} ({code})"))
    }

    fn check(&self, what: &str, code: i32) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(self.error(what, code)) }
    }

    /// A text of a device, by the function that writes it.
    fn text(&self, write: unsafe extern "C" fn(*mut c_char, i32, i32) -> i32, device: i32) -> String {
        let mut text = [0_u8; 128];
        // SAFETY: at most 127 bytes and a zero are written into 128.
        unsafe { write(text.as_mut_ptr().cast(), 127, device) };
        CStr::from_bytes_until_nul(&text).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn attribute(&self, attribute: i32, device: i32) -> u64 {
        let mut value = 0;
        // SAFETY: a number is written to a local one.
        unsafe { (self.cuDeviceGetAttribute)(&mut value, attribute, device) };
        u64::try_from(value).unwrap_or(0)
    }
}

impl Cuda {
    pub(crate) fn open(index: usize) -> Result<Self, Error> {
        let (driver, card, mut context) = (driver()?, attributes(index)?, null_mut());
        // SAFETY: an object is written to a local pointer; it stays the thread's context until the process ends.
        match unsafe { (driver.cuCtxCreate_v2)(&mut context, 0, card.device) } {
            0 => {}
            UNAVAILABLE => {
                return Err(Error::new(format!(
                    "device {index} is in exclusive mode, and another process uses it; end that, or set the mode by nvidia-smi -c 0"
                )));
            }
            code => return Err(driver.error(&format!("device {index} could not be used"), code)),
        }
        let slice = card.name.contains("MIG");
        let about = About {
            api: Api::Cuda,
            driver: card.version,
            units: card.units as u32,
            memory: card.memory as u64,
            cache: card.cache as u64,
            note: slice.then(|| format!("a MIG slice, not the whole card: {}", card.name)),
            name: card.name,
        };
        let (mut queues, mut events) = ([null_mut(); 2], [null_mut(); 2]);
        for (queue, event) in queues.iter_mut().zip(&mut events) {
            // SAFETY: objects of the present context are written to local pointers.
            unsafe {
                driver.check("a queue could not be made", (driver.cuStreamCreate)(queue, OWN_QUEUE))?;
                driver.check("an event could not be made", (driver.cuEventCreate)(event, 0))?;
            }
        }
        let (capability, card) = (card.capability, Card::at(&card.bus));
        let (allocations, functions) = (Allocations::default(), RefCell::default());
        Ok(Self { driver, about, card, capability, queues, events, allocations, functions })
    }

    /// An error of a call, or that the card is gone, which the driver reports in many ways.
    fn failed(&self, what: &str, code: i32) -> Error {
        if self.card.as_ref().is_some_and(Card::is_lost) {
            return Error::new(format!("the card fell off the bus while it worked: {what}"));
        }
        self.driver.error(what, code)
    }

    fn check(&self, what: &str, code: i32) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(self.failed(what, code)) }
    }

    fn lacking(&self, bytes: usize, code: i32) -> Error {
        let (mut free, mut all) = (0, 0);
        if code != OUT_OF_MEMORY {
            return self.failed("the device gave no memory", code);
        }
        // SAFETY: numbers are written to local ones.
        unsafe { (self.driver.cuMemGetInfo_v2)(&mut free, &mut all) };
        let mib = |bytes: usize| bytes >> 20;
        Error::new(format!("the device lacks memory: {} MiB asked, {} of {} MiB free", mib(bytes), mib(free), mib(all)))
    }

    fn function(&self, kernel: &'static Kernel) -> Result<Object, Error> {
        if let Some(known) = self.functions.borrow().get(kernel.name) {
            return Ok(*known);
        }
        if self.capability < kernel.target {
            let [has, needs] = [self.capability, kernel.target].map(|x| format!("{}.{}", x / 10, x % 10));
            return Err(Error::new(format!(
                "the device has compute capability {has}, and {} needs {needs}",
                kernel.name
            )));
        }
        let (mut module, mut function, mut log) = (null_mut(), null_mut(), vec![0_u8; 4096]);
        let text = CString::new(kernel.ptx()).map_err(|_| Error::new("a kernel contains a zero"))?;
        let (mut options, mut values) = (LOG, [log.as_mut_ptr().cast(), log.len() as *mut c_void]);
        // SAFETY: the text ends with zero; the two options name a buffer of this length, which outlives the call.
        let code = unsafe {
            let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
            (self.driver.cuModuleLoadDataEx)(&mut module, text.as_ptr().cast(), 2, options, values)
        };
        if PTX_REFUSED.contains(&code) {
            let log = CStr::from_bytes_until_nul(&log).map(CStr::to_string_lossy).unwrap_or_default();
            let line = log.lines().find(|line| !line.trim().is_empty()).unwrap_or("no reason given").trim().to_owned();
            return Err(Error::new(format!("the driver refused {}.ptx: {line}", kernel.name)));
        }
        self.check("a kernel could not be loaded", code)?;
        let name = CString::new(kernel.name).map_err(|_| Error::new("a name contains a zero"))?;
        // SAFETY: the module was loaded and is never unloaded; the name ends with zero.
        let code = unsafe { (self.driver.cuModuleGetFunction)(&mut function, module, name.as_ptr()) };
        self.check("a kernel could not be found", code)?;
        self.functions.borrow_mut().insert(kernel.name, function);
        Ok(function)
    }

    fn launch(&self, launch: &CheckedLaunch, times: u32, queue: Object) -> Result<(), Error> {
        let function = self.function(launch.kernel)?;
        let buffers = self.allocations.of(launch)?.into_iter().map(|address| address as u64);
        let mut values: Vec<u64> = buffers.chain(launch.scalars.iter().copied()).collect();
        let mut arguments: Vec<Object> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        for _ in 0..times {
            // SAFETY: the kernel has these arguments, 8 bytes each, and touches of its buffers the bytes that `of`
            // found to be allocated; where contents decide, `inputs` made them. Arguments are copied by the call.
            let code = unsafe {
                let (blocks, threads) = (launch.blocks, launch.threads);
                let (arguments, none) = (arguments.as_mut_ptr(), null_mut());
                (self.driver.cuLaunchKernel)(function, blocks, 1, 1, threads, 1, 1, 0, queue, arguments, none)
            };
            self.check("a kernel could not be started", code)?;
        }
        Ok(())
    }

    fn start(&self, work: &mut Work<'_>, queue: Object) -> Result<(), Error> {
        match work {
            Work::Launches(launch, times) => self.launch(launch, *times, queue),
            Work::Write(handle, offset, bytes) => {
                let at = self.allocations.address(*handle, *offset, bytes.len())? + *offset;
                // SAFETY: so many bytes are allocated there, and `together` waits before the borrow of the others ends.
                let code =
                    unsafe { (self.driver.cuMemcpyHtoDAsync_v2)(at as u64, bytes.as_ptr().cast(), bytes.len(), queue) };
                self.check("a copy to the device failed", code)
            }
            Work::Read(handle, offset, bytes) => {
                let at = self.allocations.address(*handle, *offset, bytes.len())? + *offset;
                // SAFETY: as above, with the borrow for writing.
                let code = unsafe {
                    (self.driver.cuMemcpyDtoHAsync_v2)(bytes.as_mut_ptr().cast(), at as u64, bytes.len(), queue)
                };
                self.check("a copy from the device failed", code)
            }
        }
    }

    fn wait(&self, queue: Object) -> Result<(), Error> {
        // SAFETY: a queue of this context.
        self.check("the device failed", unsafe { (self.driver.cuStreamSynchronize)(queue) })
    }
}

/// Memory of the host that the driver pinned.
struct PinnedByDriver {
    driver: &'static Driver,
    at: Object,
    bytes: usize,
}

impl HostMemory for PinnedByDriver {
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the driver gave so many bytes, set to zero, to this object alone; work that touches them has a borrow.
        unsafe { std::slice::from_raw_parts_mut(self.at.cast(), self.bytes) }
    }
}

impl Drop for PinnedByDriver {
    fn drop(&mut self) {
        // SAFETY: the driver gave it, and nothing borrows it any more.
        unsafe { (self.driver.cuMemFreeHost)(self.at) };
    }
}

impl BackEnd for Cuda {
    fn about(&self) -> &About {
        &self.about
    }

    fn allocate(&self, bytes: usize) -> Result<Handle, Error> {
        let mut at = 0;
        // SAFETY: an address is written to a local number.
        match unsafe { (self.driver.cuMemAlloc_v2)(&mut at, bytes.max(8)) } {
            0 => Ok(self.allocations.keep(usize::try_from(at).unwrap_or(0), bytes)),
            code => Err(self.lacking(bytes, code)),
        }
    }

    fn release(&self, handle: Handle) {
        if let Some(address) = self.allocations.forget(handle) {
            // SAFETY: the driver gave it, it is freed once, and no work is left that touches it.
            unsafe { (self.driver.cuMemFree_v2)(address as u64) };
        }
    }

    fn pin(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error> {
        let mut at: Object = null_mut();
        // SAFETY: an address is written to a local pointer.
        let code = unsafe { (self.driver.cuMemAllocHost_v2)(&mut at, bytes) };
        self.check("the host gave no memory for copies", code)?;
        // SAFETY: the driver gave so many bytes.
        unsafe { at.cast::<u8>().write_bytes(0, bytes) };
        Ok(Box::new(PinnedByDriver { driver: self.driver, at, bytes }))
    }

    fn together(&self, work: &mut [Work<'_>]) -> Result<(), Error> {
        let mut pieces = work.iter_mut().zip(self.queues.iter().cycle());
        let started = pieces.try_for_each(|(piece, queue)| self.start(piece, *queue));
        let ended = self.queues.map(|queue| self.wait(queue));
        started.and(ended.into_iter().collect())
    }

    fn timed(&self, launch: &CheckedLaunch, times: u32) -> Result<f64, Error> {
        let ([queue, _], [began, ended]) = (self.queues, self.events);
        let record = |event| {
            // SAFETY: an event and a queue of this context.
            self.check("the device could not be timed", unsafe { (self.driver.cuEventRecord)(event, queue) })
        };
        self.function(launch.kernel)?;
        let started = record(began).and_then(|()| self.launch(launch, times, queue)).and_then(|()| record(ended));
        self.wait(queue)?;
        started?;
        let mut milliseconds = 0.0;
        // SAFETY: both events were recorded and have passed; a number is written to a local one.
        let code = unsafe {
            (self.driver.cuEventSynchronize)(ended);
            (self.driver.cuEventElapsedTime)(&mut milliseconds, began, ended)
        };
        self.check("the device could not be timed", code)?;
        Ok(f64::from(milliseconds) * 1e-3)
    }

    fn sense(&self) -> Sense {
        self.card.as_ref().map(Card::sense).unwrap_or_default()
    }
}
