//! What a probe hands to the harness, which holds the clock.

use std::fmt;

/// Why a probe cannot be measured here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(String);

impl Unsupported {
    /// With its reason, as a clause that follows "not measured: ".
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl From<sys::Error> for Unsupported {
    fn from(error: sys::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<model::Error> for Unsupported {
    fn from(error: model::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for Unsupported {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Why a measurement went wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProbeError(String);

impl ProbeError {
    /// With its reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// Fine when the work's token is what it should be.
    ///
    /// # Errors
    /// When it is not, with both.
    pub fn unless_equal<T: PartialEq + fmt::Debug>(found: T, expected: T) -> Result<(), Self> {
        if found == expected {
            Ok(())
        } else {
            Err(Self(format!("the work was not done as declared: found {found:?}, expected {expected:?}")))
        }
    }
}

impl From<sys::Error> for ProbeError {
    fn from(error: sys::Error) -> Self {
        Self(error.to_string())
    }
}

/// What goes wrong while a probe prepares keeps it from being measured.
impl From<ProbeError> for Unsupported {
    fn from(fault: ProbeError) -> Self {
        Self(fault.0)
    }
}

impl From<std::io::Error> for ProbeError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// What a batch did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchWork {
    /// Operations done. Usually the number asked for; where the operating system counts (page faults), the true count.
    pub ops: u64,
    /// Something that only the real work could have produced: a sum, a position, a count.
    pub token: u64,
}

/// What one operation costs by construction, which tests hold the kernel to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DeclaredCost {
    /// Bytes read from memory by the program.
    pub bytes_read: f64,
    /// Bytes written to memory by the program.
    pub bytes_written: f64,
    /// Arithmetic operations, loads of a chain, calls: what the probe's `about` says that it counts.
    pub operations: f64,
}

/// A piece of work that the harness can repeat and time.
pub trait Kernel {
    /// Does `ops` operations. The clock runs around this call: nothing else belongs in it.
    ///
    /// # Errors
    /// When the work could not be done.
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError>;

    /// Outside the clock, after every batch: was that really the work?
    ///
    /// # Errors
    /// When it was not.
    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError>;

    /// Outside the clock, before every batch: puts things back (removes files, drains queues). `ops` will be asked for next.
    ///
    /// # Errors
    /// When it could not.
    fn ready(&mut self, ops: u64) -> Result<(), ProbeError> {
        let _ = ops;
        Ok(())
    }

    /// How much of what the metric counts one operation is: bytes for a data rate.
    fn amount(&self) -> f64 {
        1.0
    }

    /// Operations come in multiples of this: a lap of a chain, a pass over an array.
    fn granule(&self) -> u64 {
        1
    }

    /// What one operation costs by construction, where that can be said.
    fn declared(&self) -> Option<DeclaredCost> {
        None
    }

    /// After the batches: times single operations into `record`, for probes whose distribution matters.
    ///
    /// # Errors
    /// When the work could not be done.
    fn each(&mut self, record: &mut Recorder) -> Result<(), ProbeError> {
        let _ = record;
        Ok(())
    }
}

/// Something that reads its own values, where timing a batch would not give the figure: how late a timer fires.
pub trait Readings {
    /// One batch of readings, each in the figure's unit. The median of a launch's readings is its value.
    ///
    /// # Errors
    /// When the work could not be done, or was not.
    fn read(&mut self) -> Result<Vec<f64>, ProbeError>;

    /// Whether quantiles of the readings are part of the figure.
    fn distribution(&self) -> bool {
        false
    }
}

/// What preparation yields.
pub enum Trial {
    /// Work that is timed as it is.
    One(Box<dyn Kernel>),
    /// The figure is the difference: both take turns batch by batch in one launch, in the order ABBA.
    Paired {
        /// Work with the overhead in it.
        work: Box<dyn Kernel>,
        /// The overhead alone.
        overhead: Box<dyn Kernel>,
    },
    /// Work that reads its own values.
    Readings(Box<dyn Readings>),
}

impl Trial {
    /// Work that is timed as it is.
    #[must_use]
    pub fn one(kernel: impl Kernel + 'static) -> Self {
        Self::One(Box::new(kernel))
    }

    /// A difference of two.
    #[must_use]
    pub fn paired(work: impl Kernel + 'static, overhead: impl Kernel + 'static) -> Self {
        Self::Paired { work: Box::new(work), overhead: Box::new(overhead) }
    }
}

/// Times of single operations.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    nanos: Vec<u64>,
    most: usize,
}

impl Recorder {
    /// Room for so many.
    #[must_use]
    pub fn with_room(most: usize) -> Self {
        Self { nanos: Vec::with_capacity(most), most }
    }

    /// How many more it takes.
    #[must_use]
    pub fn room(&self) -> usize {
        self.most - self.nanos.len()
    }

    /// Times one operation.
    ///
    /// # Errors
    /// What the operation said.
    pub fn time(&mut self, operation: impl FnOnce() -> Result<(), ProbeError>) -> Result<(), ProbeError> {
        let began = sys::clock::now();
        operation()?;
        let ended = sys::clock::now();
        if self.room() > 0 {
            self.nanos.push(ended - began);
        }
        Ok(())
    }

    /// Adds a time that was taken elsewhere, nanoseconds.
    pub fn add(&mut self, nanos: u64) {
        if self.room() > 0 {
            self.nanos.push(nanos);
        }
    }

    /// What was recorded, nanoseconds.
    #[must_use]
    pub fn nanos(&self) -> &[u64] {
        &self.nanos
    }
}
