//! A device in safe terms: memory that frees itself, launches, and work that runs at the same time.

use std::rc::Rc;

use crate::{Api, Error, Kernel};

/// What a device says about itself.
#[derive(Debug, Clone)]
pub struct About {
    /// The way to it.
    pub api: Api,
    /// Its name, as its driver says.
    pub name: String,
    /// Version of its driver, with the name of the platform for OpenCL.
    pub driver: String,
    /// Multiprocessors or compute units.
    pub units: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of its last-level cache; 0 if unknown.
    pub cache: u64,
    /// What a reader of every result must know, such as that it is a slice of a card.
    pub note: Option<String>,
}

/// Allocated memory of a back end, which alone makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle(pub usize);

/// What a device says about its state, as far as it does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sense {
    /// Energy used since the driver was loaded, joules.
    pub energy: Option<f64>,
    /// Why it runs slower than its clock allows, other than by its power limit: heat, or a signal of the board.
    pub throttled: Option<String>,
}

/// A launch with the handles of its buffers. Only this crate makes one.
#[derive(Debug)]
#[non_exhaustive]
pub struct CheckedLaunch {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Groups of threads.
    pub blocks: u32,
    /// Threads of a group.
    pub threads: u32,
    /// Its buffers.
    pub buffers: Vec<Handle>,
    /// Its numbers.
    pub scalars: Vec<u64>,
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A piece of work as a back end gets it.
pub enum Work<'a> {
    /// Launches of a kernel, one after the other.
    Launches(CheckedLaunch, u32),
    /// Bytes for the device, from an offset on.
    Write(Handle, usize, &'a [u8]),
    /// Bytes of the device, from an offset on.
    Read(Handle, usize, &'a mut [u8]),
}

/// Memory of the host, as the device copies it.
pub trait HostMemory {
    /// Its bytes.
    fn bytes(&mut self) -> &mut [u8];
}

/// Pageable memory.
impl HostMemory for Vec<u8> {
    fn bytes(&mut self) -> &mut [u8] {
        self
    }
}

/// One way to one device. Every method checks that it touches allocated memory only.
pub trait BackEnd {
    /// What it says about itself.
    fn about(&self) -> &About;

    /// Memory of the device.
    ///
    /// # Errors
    /// When there is too little, with the reason.
    fn allocate(&self, bytes: usize) -> Result<Handle, Error>;

    /// Frees memory of the device.
    fn release(&self, handle: Handle);

    /// Memory of the host that the device can reach without a copy.
    ///
    /// # Errors
    /// When there is too little.
    fn pin(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error>;

    /// Starts all pieces, each on a queue of its own (the first and the third share one), and waits for them.
    ///
    /// # Errors
    /// When one failed. None is running any more then.
    fn together(&self, work: &mut [Work<'_>]) -> Result<(), Error>;

    /// Seconds of `times` launches by the clock of the device.
    ///
    /// # Errors
    /// When one failed.
    fn timed(&self, launch: &CheckedLaunch, times: u32) -> Result<f64, Error>;

    /// Its present state.
    fn sense(&self) -> Sense {
        Sense::default()
    }
}

/// A device.
#[derive(Clone)]
pub struct Device(Rc<dyn BackEnd>);

/// Memory of a device.
pub struct Buffer {
    device: Rc<dyn BackEnd>,
    handle: Handle,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.device.release(self.handle);
    }
}

/// A launch of a kernel.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Groups of threads.
    pub blocks: u32,
    /// Threads of a group.
    pub threads: u32,
    /// Its buffers.
    pub buffers: &'a [&'a Buffer],
    /// Its numbers.
    pub scalars: &'a [u64],
}

impl Launch<'_> {
    pub(crate) fn checked(&self) -> CheckedLaunch {
        let buffers = self.buffers.iter().map(|buffer| buffer.handle).collect();
        let (kernel, blocks, threads) = (self.kernel, self.blocks, self.threads);
        CheckedLaunch { kernel, blocks, threads, buffers, scalars: self.scalars.to_vec() }
    }

    /// As work beside other work, so many times.
    ///
    /// # Errors
    /// When the kernel needs inputs that this crate must make.
    pub fn work(&self, times: u32) -> Result<Work<'static>, Error> {
        match self.kernel.guarded {
            true => Err(Error::new(format!("{} needs inputs that were checked", self.kernel.name))),
            false => Ok(Work::Launches(self.checked(), times)),
        }
    }
}

impl Buffer {
    /// The work of writing its first bytes.
    #[must_use]
    pub fn writing<'a>(&self, bytes: &'a [u8]) -> Work<'a> {
        Work::Write(self.handle, 0, bytes)
    }

    /// The work of reading its first bytes.
    #[must_use]
    pub fn reading<'a>(&self, bytes: &'a mut [u8]) -> Work<'a> {
        Work::Read(self.handle, 0, bytes)
    }

    /// Writes its first bytes.
    ///
    /// # Errors
    /// When that failed.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        self.device.together(&mut [self.writing(bytes)])
    }

    /// Reads words from a byte offset on.
    ///
    /// # Errors
    /// When that failed.
    pub fn words(&self, offset: usize, count: usize) -> Result<Vec<u64>, Error> {
        let mut bytes = vec![0; 8 * count];
        self.device.together(&mut [Work::Read(self.handle, offset, &mut bytes)])?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }
}

impl Device {
    /// The device behind a back end.
    #[must_use]
    pub fn new(back: Rc<dyn BackEnd>) -> Self {
        Self(back)
    }

    /// What it says about itself.
    #[must_use]
    pub fn about(&self) -> &About {
        self.0.about()
    }

    /// Its present state.
    #[must_use]
    pub fn sense(&self) -> Sense {
        self.0.sense()
    }

    /// Memory of the device, filled with a byte, so that no result of earlier work is taken for a new one.
    ///
    /// # Errors
    /// When there is too little.
    pub fn poisoned(&self, bytes: usize, poison: u8) -> Result<Buffer, Error> {
        let buffer = self.buffer(bytes)?;
        buffer.write(&vec![poison; bytes])?;
        Ok(buffer)
    }

    /// Memory of the device with any contents.
    ///
    /// # Errors
    /// When there is too little.
    pub fn buffer(&self, bytes: usize) -> Result<Buffer, Error> {
        Ok(Buffer { device: Rc::clone(&self.0), handle: self.0.allocate(bytes)? })
    }

    /// Memory of the host that the device can reach without a copy.
    ///
    /// # Errors
    /// When there is too little.
    pub fn pinned(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error> {
        self.0.pin(bytes)
    }

    /// Runs pieces of work at the same time.
    ///
    /// # Errors
    /// When one failed.
    pub fn together(&self, work: &mut [Work<'_>]) -> Result<(), Error> {
        self.0.together(work)
    }

    /// Seconds of `times` launches by the clock of the device.
    ///
    /// # Errors
    /// When one failed, or the kernel needs inputs that this crate must make.
    pub fn timed(&self, launch: &Launch<'_>, times: u32) -> Result<f64, Error> {
        launch.work(times)?;
        self.guarded(launch, times)
    }

    pub(crate) fn guarded(&self, launch: &Launch<'_>, times: u32) -> Result<f64, Error> {
        let seconds = self.0.timed(&launch.checked(), times)?;
        let possible = seconds.is_finite() && seconds > 0.0;
        possible
            .then_some(seconds)
            .ok_or_else(|| Error::new(format!("the device timed {} at {seconds} s", launch.kernel.name)))
    }
}
