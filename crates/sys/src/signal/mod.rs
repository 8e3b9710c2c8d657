//! Signals: handlers that count, sending signals to this process, blocking, and faults on protected pages.
//!
//! A handler here only adds to a static counter, so it is async-signal-safe by construction; callers cannot install
//! other handlers.

mod counted;
mod mask;
mod protection;

pub use counted::SignalCounter;
pub use mask::Blocked;
pub use protection::ProtectionFault;

/// Signals this crate sends or handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// For use by programs.
    User1,
    /// For use by programs.
    User2,
    /// A timer expired.
    Alarm,
    /// A child ended or stopped.
    Child,
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
