//! The memory of a back end: what a handle stands for, and the bytes that may be touched through it.

use std::cell::RefCell;

use crate::Error;
use crate::device::{CheckedLaunch, Handle};

/// Allocations of a device, by handle. A handle that was released stands for nothing.
#[derive(Default)]
pub(crate) struct Allocations(RefCell<Vec<Option<(usize, usize)>>>);

impl Allocations {
    /// Keeps the address (or object) of so many bytes.
    pub(crate) fn keep(&self, address: usize, bytes: usize) -> Handle {
        let mut all = self.0.borrow_mut();
        all.push(Some((address, bytes)));
        Handle(all.len() - 1)
    }

    /// Forgets an allocation and returns its address.
    pub(crate) fn forget(&self, handle: Handle) -> Option<usize> {
        self.0.borrow_mut().get_mut(handle.0)?.take().map(|(address, _)| address)
    }

    /// The address of an allocation of which `bytes` from `offset` on are touched.
    pub(crate) fn address(&self, handle: Handle, offset: usize, bytes: usize) -> Result<usize, Error> {
        let (address, size) =
            self.0.borrow().get(handle.0).copied().flatten().ok_or_else(|| Error::new("the memory was released"))?;
        let end = offset.checked_add(bytes).filter(|end| *end <= size);
        end.map(|_| address)
            .ok_or_else(|| Error::new(format!("{bytes} bytes at {offset} are beyond the {size} allocated")))
    }

    /// The addresses of a launch's buffers, each as large as the kernel needs it.
    pub(crate) fn of(&self, launch: &CheckedLaunch) -> Result<Vec<usize>, Error> {
        let threads = u64::from(launch.blocks) * u64::from(launch.threads);
        let needs = if launch.scalars.len() == launch.kernel.scalars() && threads > 0 {
            Some((launch.kernel.needs)(&launch.scalars, threads))
        } else {
            None
        };
        let needs = needs.filter(|needs| needs.len() == launch.buffers.len()).ok_or_else(|| {
            Error::new(format!("{} was launched with other arguments than it has", launch.kernel.name))
        })?;
        let whole = |need: u64| usize::try_from(need).unwrap_or(usize::MAX);
        launch.buffers.iter().zip(needs).map(|(handle, need)| self.address(*handle, 0, whole(need))).collect()
    }
}
