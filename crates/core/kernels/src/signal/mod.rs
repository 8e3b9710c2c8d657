//! Signals: handlers that count, sending signals to this process, and faults on protected pages.
//!
//! A handler here only adds to a static counter, so it is async-signal-safe by construction; callers cannot install
//! other handlers.

mod counted;
mod protection;

pub use counted::SignalCounter;
pub use protection::ProtectionFault;

/// Signals this crate sends or handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// For use by programs.
    User1,
    /// For use by programs.
    User2,
    /// Interrupted from the keyboard.
    Interrupt,
    /// The terminal was closed.
    HangUp,
    /// Request to end.
    Terminate,
    /// Ends immediately; cannot be handled.
    Kill,
    /// Stops; cannot be handled.
    Stop,
    /// Continues after a stop.
    Continue,
}

impl Signal {
    /// The number in the operating system.
    #[must_use]
    pub fn number(self) -> i32 {
        self.of_kernel().as_raw()
    }

    /// The signal in the library of system calls.
    #[must_use]
    pub fn of_kernel(self) -> rustix::process::Signal {
        match self {
            Self::User1 => rustix::process::Signal::USR1,
            Self::User2 => rustix::process::Signal::USR2,
            Self::Interrupt => rustix::process::Signal::INT,
            Self::HangUp => rustix::process::Signal::HUP,
            Self::Terminate => rustix::process::Signal::TERM,
            Self::Kill => rustix::process::Signal::KILL,
            Self::Stop => rustix::process::Signal::STOP,
            Self::Continue => rustix::process::Signal::CONT,
        }
    }
}
