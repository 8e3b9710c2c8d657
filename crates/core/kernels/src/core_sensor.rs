//! Short loops of instructions on registers that measure the clock of the core and contention on it.
//!
//! The **clock sensor** is one chain of dependent adds, one per cycle: its time is the clock. The **contention
//! sensor** is six independent chains, with as many adds per cycle as the integer units of the core execute. Another
//! guest's thread on the same core hardly affects the first but slows down the second. The ratio of their times
//! therefore shows whether the core is shared, at any clock. No counter of the system shows either to a guest.
//!
//! The **issue sensor** is instructions that do nothing. Only the front end of the core limits them: it issues them at
//! its full width, or shares that with another thread. So a core on which this thread reaches the documented width has
//! no second thread. This identifies the ratio of an exclusive core where nothing else does.

use model::{SensorLengths, SensorReading};

use crate::error::{Error, Result};
use crate::{clock, emulation};

#[cfg(target_arch = "x86_64")]
use super::native::issue_sensor;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::native::{clock_sensor, contention_sensor};

/// Adds per iteration of the loop of the clock sensor.
pub const CLOCK_ITERATION: u32 = 120;
/// Adds per iteration of the loop of the contention sensor.
pub const CONTENTION_ITERATION: u32 = 180;
/// Independent chains of the contention sensor.
pub const CHAINS: u32 = 6;
/// Instructions per iteration of the loop of the issue sensor, the two of the loop itself included.
pub const ISSUE_ITERATION: u32 = 240;

/// Time of either sensor, nanoseconds: long compared to a reading of the clock, short compared to a batch.
const WANTED_NANOS: u64 = 12_000;
/// Longest time that a coarse clock may require, nanoseconds.
const LONGEST_NANOS: u64 = 60_000;
/// Fewest ticks of the clock in a sensor reading: an error of one tick is a quarter of a percent.
const FEWEST_TICKS: u64 = 400;
/// Readings for calibration; the fastest one counts.
const CALIBRATING: u32 = 24;
/// Plausible clocks of a CPU, hertz. Other values did not execute one add per cycle.
const PLAUSIBLE_CLOCK: std::ops::RangeInclusive<f64> = 0.2e9..=8e9;
/// Whether this architecture has an issue sensor: others have no cores with several threads that we know of.
const HAS_ISSUE: bool = cfg!(target_arch = "x86_64");
/// Largest plausible cycles per add of six chains, with at least two integer units and maximum contention.
const LARGEST_RATIO: f64 = 0.8;

/// Times of both sensors, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreReading {
    /// Time of the clock sensor, nanoseconds.
    pub clock_nanos: u32,
    /// Time of the contention sensor, nanoseconds.
    pub contention_nanos: u32,
}

/// Reads the sensors, with lengths calibrated once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreSensors {
    lengths: SensorLengths,
}

impl CoreSensors {
    /// Finds lengths of 10 to 15 us on the present CPU.
    ///
    /// # Errors
    /// When this machine cannot have sensors: another architecture, an emulator, a clock that is too coarse, or
    /// implausible times.
    pub fn calibrate() -> Result<Self> {
        let refuse = |why: String| Error::refused("calibrate the sensors", why);
        if let Some(emulator) = emulation::emulator() {
            return Err(refuse(format!("{emulator} translates instructions, so that adds take no time of their own")));
        }
        let wanted = WANTED_NANOS.max(FEWEST_TICKS * clock::tick());
        if wanted > LONGEST_NANOS {
            return Err(refuse("the clock is too coarse".to_owned()));
        }
        let first = Self {
            lengths: SensorLengths {
                clock: 100 * CLOCK_ITERATION,
                contention: 200 * CONTENTION_ITERATION,
                issue: if HAS_ISSUE { 200 * ISSUE_ITERATION } else { 0 },
            },
        };
        let fastest = first.fastest()?;
        let scaled = |adds: u32, nanos: u32, iteration: u32| {
            let iterations = f64::from(adds / iteration) * wanted as f64 / f64::from(nanos.max(1));
            iteration * (iterations.round().clamp(1.0, 1e5) as u32)
        };
        let found = Self {
            lengths: SensorLengths {
                clock: scaled(first.lengths.clock, fastest.clock_nanos, CLOCK_ITERATION),
                contention: scaled(first.lengths.contention, fastest.contention_nanos, CONTENTION_ITERATION),
                issue: if HAS_ISSUE { scaled(first.lengths.issue, first.fastest_issue(), ISSUE_ITERATION) } else { 0 },
            },
        };
        let fastest = found.fastest()?;
        let (clock_nanos, contention_nanos) = (fastest.clock_nanos, fastest.contention_nanos);
        let (clock, ratio) = (found.lengths.hertz(clock_nanos), found.lengths.ratio(clock_nanos, contention_nanos));
        if !PLAUSIBLE_CLOCK.contains(&clock) {
            return Err(refuse(format!("an add a cycle would be a clock of {:.2} GHz", clock * 1e-9)));
        }
        if ratio > LARGEST_RATIO {
            return Err(refuse(format!("six chains of adds take {ratio:.2} cycles an add, as on an emulated CPU")));
        }
        Ok(found)
    }

    /// References of known lengths.
    ///
    /// # Errors
    /// When this architecture has none.
    pub fn of(lengths: SensorLengths) -> Result<Self> {
        let one = Self { lengths };
        one.read().map(|_| one)
    }

    /// Number of their adds.
    #[must_use]
    pub const fn lengths(&self) -> SensorLengths {
        self.lengths
    }

    /// Reads both, the clock sensor first.
    ///
    /// # Errors
    /// When this architecture has none.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub fn read(&self) -> Result<CoreReading> {
        let nanos = |from: u64, to: u64| u32::try_from(to - from).unwrap_or(u32::MAX);
        let began = clock::now();
        std::hint::black_box(clock_sensor::run(u64::from(self.lengths.clock / CLOCK_ITERATION)));
        let between = clock::now();
        std::hint::black_box(contention_sensor::run(u64::from(self.lengths.contention / CONTENTION_ITERATION)));
        let ended = clock::now();
        Ok(CoreReading { clock_nanos: nanos(began, between), contention_nanos: nanos(between, ended) })
    }

    /// Reads both, the clock sensor first.
    ///
    /// # Errors
    /// When this architecture has none.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn read(&self) -> Result<CoreReading> {
        Err(Error::refused("read the sensors", "this program has none for this architecture"))
    }

    /// Reads the issue sensor, nanoseconds: 0 where this architecture or an earlier part of the run has none.
    #[must_use]
    pub fn read_issue(&self) -> u32 {
        if !HAS_ISSUE || self.lengths.issue == 0 {
            return 0;
        }
        let began = clock::now();
        #[cfg(target_arch = "x86_64")]
        issue_sensor::run(u64::from(self.lengths.issue / ISSUE_ITERATION));
        u32::try_from(clock::now() - began).unwrap_or(u32::MAX)
    }

    /// Reads all three, for readings between samples.
    ///
    /// # Errors
    /// When this architecture has none.
    pub fn read_all(&self) -> Result<SensorReading> {
        let core = self.read()?;
        Ok(SensorReading { clock: core.clock_nanos, contention: core.contention_nanos, issue: self.read_issue() })
    }

    fn fastest_issue(&self) -> u32 {
        (0..=CALIBRATING).map(|_| self.read_issue()).min().unwrap_or(0)
    }

    /// The least time of each over many readings, without the first, which loads the code.
    fn fastest(&self) -> Result<CoreReading> {
        let mut least = CoreReading { clock_nanos: u32::MAX, contention_nanos: u32::MAX };
        self.read()?;
        for _ in 0..CALIBRATING {
            let one = self.read()?;
            least.clock_nanos = least.clock_nanos.min(one.clock_nanos);
            least.contention_nanos = least.contention_nanos.min(one.contention_nanos);
        }
        Ok(least)
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    #[test]
    fn every_declared_add_is_done() {
        for iterations in [1_u64, 7, 500] {
            assert_eq!(clock_sensor::run(iterations), 1 + 3 * iterations * u64::from(CLOCK_ITERATION));
            let all = u64::from(CHAINS) + 3 * iterations * u64::from(CONTENTION_ITERATION);
            assert_eq!(contention_sensor::run(iterations), all);
            #[cfg(target_arch = "x86_64")]
            assert_eq!(issue_sensor::run(iterations), 0, "iterations are left");
        }
    }

    #[test]
    fn more_instructions_are_issued_than_adds_are_executed() {
        let found = match CoreSensors::calibrate() {
            Ok(found) if HAS_ISSUE => found,
            Ok(_) => return testing::lacks!("this architecture has no issue sensor"),
            Err(why) => return testing::lacks!("{why}"),
        };
        let lengths = found.lengths();
        assert_eq!(lengths.issue % ISSUE_ITERATION, 0);
        testing::attempts(20, || {
            let mut rates: Vec<f64> = (0..20)
                .filter_map(|_| found.read_all().ok())
                .filter_map(|read| lengths.issued(read.clock, read.issue))
                .collect();
            rates.sort_by(f64::total_cmp);
            let rate = rates[rates.len() / 2];
            testing::hold!((1.0..17.0).contains(&rate), "{rate} instructions per cycle");
            Ok(())
        });
        let none = CoreSensors::of(SensorLengths { issue: 0, ..lengths }).unwrap();
        assert_eq!((none.read_issue(), none.read_all().unwrap().issue), (0, 0), "an earlier part of the run had none");
    }

    #[test]
    fn lengths_are_calibrated_once_and_read_anywhere() {
        let found = match CoreSensors::calibrate() {
            Ok(found) => found,
            Err(why) => return testing::lacks!("{why}"),
        };
        let lengths = found.lengths();
        assert_eq!((lengths.clock % CLOCK_ITERATION, lengths.contention % CONTENTION_ITERATION), (0, 0));
        testing::attempts(20, || {
            let read = CoreSensors::of(lengths).unwrap().fastest().unwrap();
            let (clock, contention) = (read.clock_nanos, read.contention_nanos);
            testing::hold!((6_000..60_000).contains(&clock), "{clock} ns");
            testing::hold!((6_000..60_000).contains(&contention), "{contention} ns");
            let ratio = lengths.ratio(clock, contention);
            testing::hold!((0.08..LARGEST_RATIO).contains(&ratio), "{ratio} cycles an add");
            testing::hold!(PLAUSIBLE_CLOCK.contains(&lengths.hertz(clock)), "{clock} ns are no clock");
            Ok(())
        });
    }
}
