//! The interface between a benchmark and the harness, which reads the clock.

use std::fmt;

/// Why a benchmark cannot be measured here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(String);

impl Unsupported {
    /// A reason, as a clause that follows "not measured: ".
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// Adds to a reason the limit of a control group or of this process that refused, and the network interface that
/// benchmarks share.
fn with_limit(reason: String, kind: Option<std::io::ErrorKind>, errno: Option<i32>) -> String {
    if kind == Some(std::io::ErrorKind::NetworkUnreachable) {
        return format!("the loopback interface is down: {reason}");
    }
    match os::process::limit_behind(errno) {
        Some(limit) => format!("{reason}; {limit}"),
        None => reason,
    }
}

impl From<kernels::Error> for Unsupported {
    fn from(error: kernels::Error) -> Self {
        Self(with_limit(error.to_string(), error.kind(), error.errno()))
    }
}

impl From<model::Error> for Unsupported {
    fn from(error: model::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for Unsupported {
    fn from(error: std::io::Error) -> Self {
        Self(with_limit(error.to_string(), Some(error.kind()), error.raw_os_error()))
    }
}

/// Why a measurement failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BenchmarkError(String);

impl BenchmarkError {
    /// With its reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// Succeeds if the token of the work equals the expected one.
    ///
    /// # Errors
    /// When it does not, with both values.
    pub fn unless_equal<T: PartialEq + fmt::Debug>(found: T, expected: T) -> Result<(), Self> {
        if found == expected {
            Ok(())
        } else {
            Err(Self(format!("the work was not done as declared: found {found:?}, expected {expected:?}")))
        }
    }
}

impl From<kernels::Error> for BenchmarkError {
    fn from(error: kernels::Error) -> Self {
        Self(with_limit(error.to_string(), error.kind(), error.errno()))
    }
}

impl From<gpu::Error> for BenchmarkError {
    fn from(error: gpu::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<gpu::Error> for Unsupported {
    fn from(error: gpu::Error) -> Self {
        Self(error.to_string())
    }
}

/// An error during preparation means that the benchmark cannot be measured.
impl From<BenchmarkError> for Unsupported {
    fn from(fault: BenchmarkError) -> Self {
        Self(fault.0)
    }
}

impl From<std::io::Error> for BenchmarkError {
    fn from(error: std::io::Error) -> Self {
        Self(with_limit(error.to_string(), Some(error.kind()), error.raw_os_error()))
    }
}

/// Result of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchWork {
    /// Operations done. Usually the requested number; if the operating system counts them (page faults), the true
    /// count.
    pub ops: u64,
    /// A value that only the real work could have produced: a sum, a position, a count.
    pub token: u64,
}

/// Cost of one operation by construction, verified by tests.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DeclaredCost {
    /// Bytes read from memory by the program.
    pub bytes_read: f64,
    /// Bytes written to memory by the program.
    pub bytes_written: f64,
    /// Arithmetic operations, dependent loads or calls, as the `about` of the benchmark defines.
    pub operations: f64,
}

/// A piece of work that the harness can repeat and time.
pub trait Kernel {
    /// Does `ops` operations. The clock runs around this call, so it must do nothing else.
    ///
    /// # Errors
    /// When the work failed.
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError>;

    /// Outside the clock, after every batch: verifies the work.
    ///
    /// # Errors
    /// When the work was not done.
    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError>;

    /// Outside the clock, before every batch: restores the initial state (removes files, drains queues). `ops` are
    /// requested next.
    ///
    /// # Errors
    /// When that failed.
    fn ready(&mut self, ops: u64) -> Result<(), BenchmarkError> {
        let _ = ops;
        Ok(())
    }

    /// Outside the clock, right before it starts, after the harness has read the counters of the process: takes back
    /// what those system calls displaced from the first cache. It must be short, and leave the state as it is.
    fn settle(&mut self) {}

    /// Amount of the unit of the metric per operation: bytes for a data rate.
    fn amount(&self) -> f64 {
        1.0
    }

    /// Operations come in multiples of this: a lap of a chain, a pass over an array.
    fn granule(&self) -> u64 {
        1
    }

    /// Bytes that an operation moves through the caches, for a kernel that shares a sample with others. Its batches
    /// would otherwise pay for the others' data in the caches, above all written lines. 0 if that does not matter.
    fn displaces(&self) -> u64 {
        0
    }

    /// Cost of one operation by construction, if it is known.
    fn declared(&self) -> Option<DeclaredCost> {
        None
    }

    /// Number of batches in which other threads took the CPU that the kernel's operation offers. Their time includes
    /// that of these threads. 0 for all other kernels.
    fn handed_over(&self) -> u32 {
        0
    }

    /// After the batches: times single operations into `record`, for benchmarks with a distribution.
    ///
    /// # Errors
    /// When the work failed.
    fn each(&mut self, record: &mut Recorder) -> Result<(), BenchmarkError> {
        let _ = record;
        Ok(())
    }
}

/// A benchmark that reads its own values because a timed batch would not give the result, such as the delay of a timer.
pub trait Readings {
    /// One batch of readings, each in the unit of the result. The median of the readings of a sample is its value.
    ///
    /// # Errors
    /// When the work failed or was not done.
    fn read(&mut self) -> Result<Vec<f64>, BenchmarkError>;

    /// Why a device ran slower than it can, if it did since the last call: the sample does not count then.
    fn throttled(&mut self) -> Option<String> {
        None
    }

    /// Whether the result includes quantiles of the readings.
    fn distribution(&self) -> bool {
        false
    }
}

/// The result of preparation.
pub enum Trial {
    /// Work that is timed directly.
    One(Box<dyn Kernel>),
    /// The result is the difference: the two alternate by batch in one sample, in the order ABBA.
    Paired {
        /// Work including the overhead.
        work: Box<dyn Kernel>,
        /// The overhead alone.
        overhead: Box<dyn Kernel>,
    },
    /// Work that reads its own values.
    Readings(Box<dyn Readings>),
}

impl Trial {
    /// Work that is timed directly.
    #[must_use]
    pub fn one(kernel: impl Kernel + 'static) -> Self {
        Self::One(Box::new(kernel))
    }

    /// A difference of two kernels.
    #[must_use]
    pub fn paired(work: impl Kernel + 'static, overhead: impl Kernel + 'static) -> Self {
        Self::Paired { work: Box::new(work), overhead: Box::new(overhead) }
    }

    /// Why a device ran slower than it can, if it did since the last call.
    #[must_use]
    pub fn throttled(&mut self) -> Option<String> {
        match self {
            Self::Readings(readings) => readings.throttled(),
            Self::One(_) | Self::Paired { .. } => None,
        }
    }

    /// Batches of the work so far in which other threads took the CPU that it offered.
    #[must_use]
    pub fn handed_over(&self) -> u32 {
        match self {
            Self::One(kernel) => kernel.handed_over(),
            Self::Paired { work, .. } => work.handed_over(),
            Self::Readings(_) => 0,
        }
    }
}

/// Times of single operations.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    nanos: Vec<u64>,
    most: usize,
}

impl Recorder {
    /// A recorder with a capacity.
    #[must_use]
    pub fn with_capacity(most: usize) -> Self {
        Self { nanos: Vec::with_capacity(most), most }
    }

    /// Remaining capacity.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.most - self.nanos.len()
    }

    /// Times one operation.
    ///
    /// # Errors
    /// The error of the operation.
    pub fn time(&mut self, operation: impl FnOnce() -> Result<(), BenchmarkError>) -> Result<(), BenchmarkError> {
        let began = kernels::clock::now();
        operation()?;
        let ended = kernels::clock::now();
        if self.remaining() > 0 {
            self.nanos.push(ended - began);
        }
        Ok(())
    }

    /// Adds a time that another clock measured, nanoseconds.
    pub fn add(&mut self, nanos: u64) {
        if self.remaining() > 0 {
            self.nanos.push(nanos);
        }
    }

    /// The recorded times, nanoseconds.
    #[must_use]
    pub fn nanos(&self) -> &[u64] {
        &self.nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_a_loopback_is_told_what_is_missing() {
        let unreachable = || std::io::Error::from(std::io::ErrorKind::NetworkUnreachable);
        assert!(Unsupported::from(unreachable()).to_string().starts_with("the loopback interface is down: "));
        assert!(BenchmarkError::from(unreachable()).to_string().starts_with("the loopback interface is down: "));
        let other = BenchmarkError::from(std::io::Error::from(std::io::ErrorKind::NotFound));
        assert!(!other.to_string().contains("loopback"));
    }
}
