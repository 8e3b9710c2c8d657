//! Signals: handlers that count, sending to oneself, blocking, and faults on protected pages.
//!
//! A handler here only adds to a static counter, so it is async-signal-safe by construction; no handler of the
//! caller's is ever installed.

mod counted;
mod mask;
mod protection;

pub use counted::SignalCounter;
pub use mask::Blocked;
pub use protection::ProtectionFault;

/// Signals this crate sends or handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// Free for a program's use.
    User1,
    /// Free for a program's use.
    User2,
    /// A timer ran out.
    Alarm,
    /// A child ended or stopped.
    Child,
    /// Interrupted from the keyboard.
    Interrupt,
    /// The terminal was closed.
    HangUp,
    /// Please end.
    Terminate,
    /// Ends at once; cannot be handled.
    Kill,
    /// Stops; cannot be handled.
    Stop,
    /// Goes on after a stop.
    Continue,
}

impl Signal {
    /// The operating system's number.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::User1 => libc::SIGUSR1,
            Self::User2 => libc::SIGUSR2,
            Self::Alarm => libc::SIGALRM,
            Self::Child => libc::SIGCHLD,
            Self::Interrupt => libc::SIGINT,
            Self::HangUp => libc::SIGHUP,
            Self::Terminate => libc::SIGTERM,
            Self::Kill => libc::SIGKILL,
            Self::Stop => libc::SIGSTOP,
            Self::Continue => libc::SIGCONT,
        }
    }
}
