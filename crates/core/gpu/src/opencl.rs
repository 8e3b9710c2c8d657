//! Back end of OpenCL, `libOpenCL.so.1`, with kernels in OpenCL C 1.2.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};

use crate::allocations::Allocations;
use crate::device::{About, BackEnd, CheckedLaunch, Handle, HostMemory, Work};
use crate::symbols::functions;
use crate::{Api, Error, Kernel};

/// Any object of OpenCL.
type Object = *mut c_void;

functions! { Library, "libOpenCL.so.1", "OpenCL", "OpenCL is too old";
    clGetPlatformIDs(u32, *mut Object, *mut u32);
    clGetPlatformInfo(Object, u32, usize, Object, *mut usize);
    clGetDeviceIDs(Object, u64, u32, *mut Object, *mut u32);
    clGetDeviceInfo(Object, u32, usize, Object, *mut usize);
    clReleaseMemObject(Object);
    clReleaseEvent(Object);
    clEnqueueReadBuffer(Object, Object, u32, usize, usize, Object, u32, *const Object, *mut Object);
    clEnqueueWriteBuffer(Object, Object, u32, usize, usize, *const c_void, u32, *const Object, *mut Object);
    clBuildProgram(Object, u32, *const Object, *const c_char, Object, Object);
    clGetProgramBuildInfo(Object, Object, u32, usize, Object, *mut usize);
    clSetKernelArg(Object, u32, usize, *const c_void);
    clEnqueueNDRangeKernel(Object, Object, u32, *const usize, *const usize, *const usize, u32, *const Object, *mut Object);
    clEnqueueUnmapMemObject(Object, Object, Object, u32, *const Object, *mut Object);
    clFlush(Object);
    clFinish(Object);
    clGetEventProfilingInfo(Object, u32, usize, Object, *mut usize);
    clCreateContext(*const isize, u32, *const Object, Object, Object, *mut i32) -> Object;
    clCreateCommandQueue(Object, Object, u64, *mut i32) -> Object;
    clCreateBuffer(Object, u64, usize, Object, *mut i32) -> Object;
    clCreateProgramWithSource(Object, u32, *const *const c_char, *const usize, *mut i32) -> Object;
    clCreateKernel(Object, *const c_char, *mut i32) -> Object;
    clEnqueueMapBuffer(Object, Object, u32, u64, usize, usize, u32, *const Object, *mut Object, *mut i32) -> Object;
}

/// Kinds of devices in the order of their numbers: GPUs, accelerators, then CPUs.
const KINDS: [u64; 3] = [1 << 2, 1 << 3, 1 << 1];
/// What is asked of a device, a platform, a program and an event.
const NAME: u32 = 0x102b;
const UNITS: u32 = 0x1002;
const MEMORY: u32 = 0x101f;
const CACHE: u32 = 0x101e;
const LARGEST: u32 = 0x1010;
const DRIVER: u32 = 0x102d;
const EXTENSIONS: u32 = 0x1030;
const PLATFORM_NAME: u32 = 0x0902;
const LOG: u32 = 0x1183;
const STARTED: u32 = 0x1282;
const ENDED: u32 = 0x1283;
/// A queue whose work is timed.
const PROFILING: u64 = 1 << 1;
/// Memory for reading and writing; memory of the host.
const READ_WRITE: u64 = 1;
const OF_HOST: u64 = 1 << 4;
/// A mapping for reading and writing.
const MAPPED: u64 = 3;
/// Results with a sentence of their own.
const LACKING: [i32; 3] = [-4, -5, -6];

/// Platform and device of each device, GPUs first.
fn devices() -> Result<Vec<(Object, Object)>, Error> {
    // Platforms start at the first question, and not all bear two at a time.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _asking = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let library = Library::get()?;
    let (mut platforms, mut count) = ([null_mut(); 16], 0);
    // SAFETY: at most 16 objects are written into 16.
    let code = unsafe { (library.clGetPlatformIDs)(16, platforms.as_mut_ptr(), &mut count) };
    let platforms = &platforms[..if code == 0 { count.min(16) as usize } else { 0 }];
    let mut found = Vec::new();
    for (kind, platform) in KINDS.iter().flat_map(|kind| platforms.iter().map(move |platform| (kind, platform))) {
        let (mut devices, mut count) = ([null_mut(); 64], 0);
        // SAFETY: at most 64 objects are written into 64.
        if unsafe { (library.clGetDeviceIDs)(*platform, *kind, 64, devices.as_mut_ptr(), &mut count) } == 0 {
            found.extend(devices.iter().take(count as usize).map(|device| (*platform, *device)));
        }
    }
    if found.is_empty() { Err(Error::new("OpenCL has no device here")) } else { Ok(found) }
}

/// Number of devices.
pub(crate) fn count() -> Result<usize, Error> {
    devices().map(|devices| devices.len())
}

/// The bytes of an answer to a question about an object.
fn ask(
    about: unsafe extern "C" fn(Object, u32, usize, Object, *mut usize) -> i32,
    object: Object,
    what: u32,
) -> Vec<u8> {
    let (mut bytes, mut length) = (vec![0_u8; 1 << 16], 0);
    // SAFETY: at most as many bytes are written as there are.
    let code = unsafe { about(object, what, bytes.len(), bytes.as_mut_ptr().cast(), &mut length) };
    bytes.truncate(if code == 0 { length } else { 0 });
    bytes
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').trim().to_owned()
}

/// A number of four or eight bytes; 0 if there is none.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn at(all: &[(Object, Object)], index: usize) -> Result<(Object, Object), Error> {
    let found = all.get(index).copied();
    found.ok_or_else(|| Error::new(format!("there is no device {index}: OpenCL has {}, from 0", all.len())))
}

/// What a device says about itself.
pub(crate) fn about(index: usize) -> Result<About, Error> {
    let (platform, device) = at(&devices()?, index)?;
    Ok(describe(Library::get()?, platform, device))
}

fn describe(library: &Library, platform: Object, device: Object) -> About {
    let of_device = |what| ask(library.clGetDeviceInfo, device, what);
    let platform = text(&ask(library.clGetPlatformInfo, platform, PLATFORM_NAME));
    About {
        api: Api::OpenCl,
        name: text(&of_device(NAME)),
        driver: format!("{platform} {}", text(&of_device(DRIVER))),
        units: u32::try_from(number(&of_device(UNITS))).unwrap_or(0),
        memory: number(&of_device(MEMORY)),
        cache: number(&of_device(CACHE)),
        note: None,
    }
}

/// One device with its queues.
pub(crate) struct OpenCl {
    library: &'static Library,
    about: About,
    device: Object,
    context: Object,
    queues: [Object; 2],
    largest: u64,
    extensions: String,
    allocations: Allocations,
    kernels: RefCell<HashMap<&'static str, Object>>,
}

fn check(what: &str, code: i32) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error::new(format!("{what}: OpenCL error {code}"))) }
}

impl OpenCl {
    pub(crate) fn open(index: usize) -> Result<Self, Error> {
        let (library, all) = (Library::get()?, devices()?);
        let (platform, device) = at(&all, index)?;
        let about = describe(library, platform, device);
        let (mut code, mut queues) = (0, [null_mut(); 2]);
        // SAFETY: one device is read; the error is written to a local number.
        let context = unsafe { (library.clCreateContext)(null(), 1, &device, null_mut(), null_mut(), &mut code) };
        check("the device could not be used", code)?;
        for queue in &mut queues {
            // SAFETY: an object is made of the context and its device.
            *queue = unsafe { (library.clCreateCommandQueue)(context, device, PROFILING, &mut code) };
            check("a queue could not be made", code)?;
        }
        let of_device = |what| ask(library.clGetDeviceInfo, device, what);
        let (largest, extensions) = (number(&of_device(LARGEST)), text(&of_device(EXTENSIONS)));
        let (allocations, kernels) = (Allocations::default(), RefCell::default());
        Ok(Self { library, about, device, context, queues, largest, extensions, allocations, kernels })
    }

    fn kernel(&self, kernel: &'static Kernel) -> Result<Object, Error> {
        if let Some(known) = self.kernels.borrow().get(kernel.name) {
            return Ok(*known);
        }
        let source =
            kernel.cl().ok_or_else(|| Error::new(format!("OpenCL C has no instructions for {}", kernel.name)))?;
        for extension in ["cl_khr_fp64", "cl_khr_fp16"] {
            let wanted = if extension.ends_with("64") { source.contains("double") } else { source.contains("half") };
            if wanted && !self.extensions.contains(extension) {
                return Err(Error::new(format!("the device lacks {extension}")));
            }
        }
        let (mut code, start, length) = (0, source.as_ptr().cast::<c_char>(), source.len());
        let name = CString::new(kernel.name).map_err(|_| Error::new("a name contains a zero"))?;
        // SAFETY: one text of this length is read; the error is written to a local number.
        let program = unsafe { (self.library.clCreateProgramWithSource)(self.context, 1, &start, &length, &mut code) };
        check("a kernel could not be loaded", code)?;
        // SAFETY: the program is built for the one device; the options end with zero.
        let code_of_build = unsafe {
            let options = c"-cl-std=CL1.2".as_ptr();
            (self.library.clBuildProgram)(program, 1, &self.device, options, null_mut(), null_mut())
        };
        if code_of_build != 0 {
            let (mut log, mut length) = (vec![0_u8; 1 << 16], 0);
            // SAFETY: at most as many bytes are written as there are.
            let code = unsafe {
                let (bytes, room) = (log.as_mut_ptr().cast(), log.len());
                (self.library.clGetProgramBuildInfo)(program, self.device, LOG, room, bytes, &mut length)
            };
            log.truncate(if code == 0 { length } else { 0 });
            let line = text(&log).lines().next().unwrap_or("no reason given").to_owned();
            return Err(Error::new(format!("the driver refused {}.cl: {line}", kernel.name)));
        }
        // SAFETY: the program was built; the name ends with zero.
        let made = unsafe { (self.library.clCreateKernel)(program, name.as_ptr(), &mut code) };
        check("a kernel could not be found", code)?;
        self.kernels.borrow_mut().insert(kernel.name, made);
        Ok(made)
    }

    /// Starts launches; returns the events of the first and the last if they are to be timed.
    fn launch(&self, launch: &CheckedLaunch, times: u32, queue: Object, timed: bool) -> Result<[Object; 2], Error> {
        let kernel = self.kernel(launch.kernel)?;
        let buffers = self.allocations.of(launch)?.into_iter().map(|object| object as u64);
        for (index, value) in (0..).zip(buffers.chain(launch.scalars.iter().copied())) {
            // SAFETY: every argument of a kernel is of 8 bytes, a memory object or a number, and is copied.
            let code = unsafe { (self.library.clSetKernelArg)(kernel, index, 8, std::ptr::from_ref(&value).cast()) };
            check("a kernel has other arguments", code)?;
        }
        let [local, blocks] = [launch.threads, launch.blocks].map(|count| count as usize);
        let (global, mut events) = (local * blocks, [null_mut(); 2]);
        for turn in 0..times {
            let event = match turn {
                0 if timed => &mut events[0],
                _ if timed && turn + 1 == times => &mut events[1],
                _ => null_mut(),
            };
            // SAFETY: the kernel touches of its buffers the bytes that `of` found to be allocated; where contents
            // decide, `inputs` made them. One dimension is read of each size.
            let code = unsafe {
                (self.library.clEnqueueNDRangeKernel)(queue, kernel, 1, null(), &global, &local, 0, null(), event)
            };
            check("a kernel could not be started", code)?;
        }
        Ok(events)
    }

    fn start(&self, work: &mut Work<'_>, queue: Object) -> Result<(), Error> {
        match work {
            Work::Launches(launch, times) => self.launch(launch, *times, queue, false).map(|_| ()),
            Work::Write(handle, offset, bytes) => {
                let object = self.allocations.address(*handle, *offset, bytes.len())? as Object;
                let (from, length) = (bytes.as_ptr().cast(), bytes.len());
                // SAFETY: so many bytes are allocated there, and `together` waits before the borrow of the others ends.
                let code = unsafe {
                    (self.library.clEnqueueWriteBuffer)(queue, object, 0, *offset, length, from, 0, null(), null_mut())
                };
                check("a copy to the device failed", code)
            }
            Work::Read(handle, offset, bytes) => {
                let object = self.allocations.address(*handle, *offset, bytes.len())? as Object;
                let (to, length) = (bytes.as_mut_ptr().cast(), bytes.len());
                // SAFETY: as above, with the borrow for writing.
                let code = unsafe {
                    (self.library.clEnqueueReadBuffer)(queue, object, 0, *offset, length, to, 0, null(), null_mut())
                };
                check("a copy from the device failed", code)
            }
        }
    }

    fn wait(&self, queue: Object) -> Result<(), Error> {
        // SAFETY: a queue of this context.
        check("the device failed", unsafe { (self.library.clFinish)(queue) })
    }

    fn object(&self, flags: u64, bytes: usize) -> Result<Object, Error> {
        let mut code = 0;
        // SAFETY: no memory of the host is given; the error is written to a local number.
        let object = unsafe { (self.library.clCreateBuffer)(self.context, flags, bytes.max(8), null_mut(), &mut code) };
        if LACKING.contains(&code) || bytes as u64 > self.largest {
            let [asked, most] = [bytes as u64, self.largest].map(|bytes| bytes >> 20);
            return Err(Error::new(format!(
                "the device lacks memory: {asked} MiB asked, at most {most} MiB in one piece"
            )));
        }
        check("the device gave no memory", code).map(|()| object)
    }
}

/// Memory of the host that a mapped object keeps.
struct Mapped {
    library: &'static Library,
    queue: Object,
    object: Object,
    at: *mut u8,
    bytes: usize,
}

impl HostMemory for Mapped {
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the object is mapped at this address, set to zero, for this value alone, until it is dropped.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.bytes) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the object was mapped here, and nothing borrows the mapping any more.
        unsafe {
            (self.library.clEnqueueUnmapMemObject)(self.queue, self.object, self.at.cast(), 0, null(), null_mut());
            (self.library.clFinish)(self.queue);
            (self.library.clReleaseMemObject)(self.object);
        }
    }
}

impl BackEnd for OpenCl {
    fn about(&self) -> &About {
        &self.about
    }

    fn allocate(&self, bytes: usize) -> Result<Handle, Error> {
        Ok(self.allocations.keep(self.object(READ_WRITE, bytes)? as usize, bytes))
    }

    fn release(&self, handle: Handle) {
        if let Some(object) = self.allocations.forget(handle) {
            // SAFETY: the object was made by `allocate`, and is released once.
            unsafe { (self.library.clReleaseMemObject)(object as Object) };
        }
    }

    fn pin(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error> {
        let (object, queue, mut code) = (self.object(READ_WRITE | OF_HOST, bytes)?, self.queues[0], 0);
        // SAFETY: the whole object is mapped and waited for; the error is written to a local number.
        let at = unsafe {
            let none = null_mut();
            (self.library.clEnqueueMapBuffer)(queue, object, 1, MAPPED, 0, bytes, 0, null(), none, &mut code)
        };
        check("the host gave no memory for copies", code)?;
        // SAFETY: so many bytes are mapped.
        unsafe { at.cast::<u8>().write_bytes(0, bytes) };
        Ok(Box::new(Mapped { library: self.library, queue, object, at: at.cast(), bytes }))
    }

    fn together(&self, work: &mut [Work<'_>]) -> Result<(), Error> {
        let start = |(piece, queue): (&mut Work<'_>, &Object)| {
            self.start(piece, *queue)?;
            // SAFETY: a queue of this context.
            check("the device failed", unsafe { (self.library.clFlush)(*queue) })
        };
        let started = work.iter_mut().zip(self.queues.iter().cycle()).try_for_each(start);
        let ended = self.queues.map(|queue| self.wait(queue));
        started.and(ended.into_iter().collect())
    }

    fn timed(&self, launch: &CheckedLaunch, times: u32) -> Result<f64, Error> {
        let events = self.launch(launch, times, self.queues[0], true);
        self.wait(self.queues[0])?;
        let [first, last] = events?;
        let moment = |event, what| number(&ask(self.library.clGetEventProfilingInfo, event, what));
        let (began, ended) = (moment(first, STARTED), moment(if last.is_null() { first } else { last }, ENDED));
        for event in [first, last].into_iter().filter(|event| !event.is_null()) {
            // SAFETY: the events of this launch, each released once.
            unsafe { (self.library.clReleaseEvent)(event) };
        }
        Ok(ended.saturating_sub(began) as f64 * 1e-9)
    }
}
