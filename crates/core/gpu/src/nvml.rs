//! What NVIDIA's management library, `libnvidia-ml.so.1`, says about a card.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;

use crate::device::Sense;
use crate::symbols::functions;

type Object = *mut c_void;

functions! { Library, "libnvidia-ml.so.1", "NVIDIA management library", "the NVIDIA management library is too old";
    nvmlInit_v2();
    nvmlSystemGetDriverVersion(*mut c_char, u32);
    nvmlDeviceGetHandleByPciBusId_v2(*const c_char, *mut Object);
    nvmlDeviceGetClockInfo(Object, u32, *mut u32);
    nvmlDeviceGetMaxClockInfo(Object, u32, *mut u32);
    nvmlDeviceGetApplicationsClock(Object, u32, *mut u32);
    nvmlDeviceGetPowerUsage(Object, *mut u32);
    nvmlDeviceGetEnforcedPowerLimit(Object, *mut u32);
    nvmlDeviceGetTemperature(Object, u32, *mut u32);
    nvmlDeviceGetEccMode(Object, *mut u32, *mut u32);
    nvmlDeviceGetTotalEccErrors(Object, u32, u32, *mut u64);
    nvmlDeviceGetRemappedRows(Object, *mut u32, *mut u32, *mut u32, *mut u32);
    nvmlDeviceGetCurrPcieLinkGeneration(Object, *mut u32);
    nvmlDeviceGetCurrPcieLinkWidth(Object, *mut u32);
    nvmlDeviceGetMaxPcieLinkGeneration(Object, *mut u32);
    nvmlDeviceGetMaxPcieLinkWidth(Object, *mut u32);
    nvmlDeviceGetMigMode(Object, *mut u32, *mut u32);
    nvmlDeviceGetPersistenceMode(Object, *mut u32);
    nvmlDeviceGetCurrentClocksThrottleReasons(Object, *mut u64);
    nvmlDeviceGetTotalEnergyConsumption(Object, *mut u64);
}

/// The card is gone.
const LOST: i32 = 15;
/// The clock of the multiprocessors, and that of the memory.
pub(crate) const CORE: u32 = 1;
pub(crate) const MEMORY: u32 = 2;
/// Reasons for a lower clock that are no choice of the user, with their bits.
const THROTTLED: [(u64, &str); 4] =
    [(0x08, "a signal of the board"), (0x20, "its temperature"), (0x40, "its temperature"), (0x80, "a power brake")];

/// A card, by its place on the bus.
pub(crate) struct Card {
    library: &'static Library,
    handle: Object,
}

impl Card {
    /// `None` if the library or the card is not there: results do not need it.
    pub(crate) fn at(bus: &str) -> Option<Self> {
        let (library, bus, mut handle) = (Library::get().ok()?, CString::new(bus).ok()?, null_mut());
        // SAFETY: the text ends with zero; an object is written to a local pointer.
        let found = unsafe {
            (library.nvmlInit_v2)() == 0 && (library.nvmlDeviceGetHandleByPciBusId_v2)(bus.as_ptr(), &mut handle) == 0
        };
        found.then_some(Self { library, handle })
    }

    /// Version of the driver.
    pub(crate) fn driver(&self) -> Option<String> {
        let mut text = [0_u8; 96];
        // SAFETY: at most 96 bytes are written into 96.
        let code = unsafe { (self.library.nvmlSystemGetDriverVersion)(text.as_mut_ptr().cast(), 96) };
        let text = CStr::from_bytes_until_nul(&text).ok().filter(|_| code == 0)?;
        Some(text.to_string_lossy().into_owned())
    }

    /// A number of a function that writes one.
    fn number(&self, write: unsafe extern "C" fn(Object, *mut u32) -> i32) -> Option<f64> {
        let mut value = 0;
        // SAFETY: the handle is the library's; a number is written to a local one.
        let code = unsafe { write(self.handle, &mut value) };
        (code == 0).then_some(f64::from(value))
    }

    /// The same of a function with a kind: a clock in hertz, say.
    fn of_kind(&self, write: unsafe extern "C" fn(Object, u32, *mut u32) -> i32, kind: u32) -> Option<f64> {
        let mut value = 0;
        // SAFETY: as above.
        let code = unsafe { write(self.handle, kind, &mut value) };
        (code == 0).then_some(f64::from(value))
    }

    /// Clock now, at most, and as applications ask for it, hertz.
    pub(crate) fn clocks(&self, kind: u32) -> [Option<f64>; 3] {
        let library = self.library;
        [library.nvmlDeviceGetClockInfo, library.nvmlDeviceGetMaxClockInfo, library.nvmlDeviceGetApplicationsClock]
            .map(|write| self.of_kind(write, kind).map(|megahertz| megahertz * 1e6))
    }

    /// Power now and its limit, watts.
    pub(crate) fn power(&self) -> [Option<f64>; 2] {
        [self.library.nvmlDeviceGetPowerUsage, self.library.nvmlDeviceGetEnforcedPowerLimit]
            .map(|write| self.number(write).map(|milliwatts| milliwatts * 1e-3))
    }

    /// Temperature, degrees Celsius.
    pub(crate) fn temperature(&self) -> Option<f64> {
        self.of_kind(self.library.nvmlDeviceGetTemperature, 0)
    }

    /// Generation and width of its link now, and at most.
    pub(crate) fn link(&self) -> [Option<f64>; 4] {
        let library = self.library;
        [
            library.nvmlDeviceGetCurrPcieLinkGeneration,
            library.nvmlDeviceGetCurrPcieLinkWidth,
            library.nvmlDeviceGetMaxPcieLinkGeneration,
            library.nvmlDeviceGetMaxPcieLinkWidth,
        ]
        .map(|write| self.number(write))
    }

    /// Whether the driver keeps it ready without a user.
    pub(crate) fn persistence(&self) -> Option<bool> {
        self.number(self.library.nvmlDeviceGetPersistenceMode).map(|on| on > 0.0)
    }

    /// Whether memory has error correction, and whether the card is in slices.
    pub(crate) fn modes(&self) -> [Option<bool>; 2] {
        [self.library.nvmlDeviceGetEccMode, self.library.nvmlDeviceGetMigMode].map(|write| {
            let (mut now, mut next) = (0, 0);
            // SAFETY: numbers are written to local ones.
            let code = unsafe { write(self.handle, &mut now, &mut next) };
            (code == 0).then_some(now == 1)
        })
    }

    /// Errors of memory over its life: corrected and uncorrected.
    pub(crate) fn errors(&self) -> [Option<f64>; 2] {
        [0, 1].map(|kind| {
            let mut count = 0;
            // SAFETY: a number is written to a local one.
            let code = unsafe { (self.library.nvmlDeviceGetTotalEccErrors)(self.handle, kind, 1, &mut count) };
            (code == 0).then_some(count as f64)
        })
    }

    /// Rows of memory that were replaced.
    pub(crate) fn remapped(&self) -> Option<f64> {
        let [mut corrected, mut uncorrected, mut pending, mut failed] = [0; 4];
        // SAFETY: numbers are written to local ones.
        let code = unsafe {
            let of = self.library.nvmlDeviceGetRemappedRows;
            of(self.handle, &mut corrected, &mut uncorrected, &mut pending, &mut failed)
        };
        (code == 0).then(|| f64::from(corrected) + f64::from(uncorrected))
    }

    /// Whether it is gone.
    pub(crate) fn is_lost(&self) -> bool {
        let mut value = 0;
        // SAFETY: a number is written to a local one.
        unsafe { (self.library.nvmlDeviceGetTemperature)(self.handle, 0, &mut value) == LOST }
    }

    /// Energy used, and why the clock is lower than it could be.
    pub(crate) fn sense(&self) -> Sense {
        let (mut millijoules, mut reasons) = (0, 0);
        // SAFETY: numbers are written to local ones.
        let codes = unsafe {
            [
                (self.library.nvmlDeviceGetTotalEnergyConsumption)(self.handle, &mut millijoules),
                (self.library.nvmlDeviceGetCurrentClocksThrottleReasons)(self.handle, &mut reasons),
            ]
        };
        let why = THROTTLED.iter().find(|(bit, _)| codes[1] == 0 && reasons & bit != 0);
        Sense {
            energy: (codes[0] == 0).then_some(millijoules as f64 * 1e-3),
            throttled: why.map(|(_, reason)| (*reason).to_owned()),
        }
    }
}
