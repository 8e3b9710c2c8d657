//! Accelerators through CUDA's driver and OpenCL. Their libraries are loaded at run time, so that one program runs with
//! and without them and needs no toolkit. Kernels are text: PTX for CUDA's driver and OpenCL C. A file is one kernel, or
//! the template of those that differ in the type of their numbers alone.
//!
//! [`Device`] is safe: a kernel declares which bytes it touches, and a launch that would touch others is refused.

#![warn(clippy::undocumented_unsafe_blocks)]

mod allocations;
mod cuda;
mod device;
mod facts;
mod inputs;
mod kernel;
mod nvml;
mod opencl;
mod symbols;

use std::rc::Rc;

pub use device::{About, BackEnd, Buffer, CheckedLaunch, Device, Handle, HostMemory, Launch, Sense, Work};
pub use facts::facts;
pub use inputs::{Ring, Tracks};
pub use kernel::{KERNELS, Kernel, kernel};

/// Why a device cannot be used, as a clause that follows "not measured: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    /// With its reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// The way to a device. Results of two of them are never compared silently: it is a parameter of every result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// NVIDIA's driver.
    Cuda,
    /// Everything else: the OpenCL devices of all platforms, GPUs first.
    OpenCl,
}

impl Api {
    /// All of them, the preferred one first.
    pub const ALL: [Self; 2] = [Self::Cuda, Self::OpenCl];

    /// Its name in parameters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::OpenCl => "opencl",
        }
    }

    /// The way with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }

    /// Number of its devices here.
    ///
    /// # Errors
    /// When there is none, with the reason.
    pub fn count(self) -> Result<usize, Error> {
        match self {
            Self::Cuda => cuda::count(),
            Self::OpenCl => opencl::count(),
        }
    }

    /// The back end of a device.
    ///
    /// # Errors
    /// When it is not there or cannot be used, with the reason.
    pub fn open(self, index: usize) -> Result<Rc<dyn BackEnd>, Error> {
        match self {
            Self::Cuda => Ok(Rc::new(cuda::Cuda::open(index)?)),
            Self::OpenCl => Ok(Rc::new(opencl::OpenCl::open(index)?)),
        }
    }
}

/// The first way that has a device here, and the number of its devices; `None` without any.
#[must_use]
pub fn present() -> Option<(Api, usize)> {
    Api::ALL.into_iter().find_map(|api| api.count().ok().map(|count| (api, count)))
}
