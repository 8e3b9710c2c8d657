//! Signals: handlers that count, sending signals to this process, and faults on protected pages.
//!
//! A handler here only adds to a static counter, so it is async-signal-safe by construction; callers cannot install
//! other handlers.

mod counted;
mod protection;

pub use counted::SignalCounter;
pub use protection::ProtectionFault;

use crate::text;

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

    pub(crate) fn of_kernel(self) -> rustix::process::Signal {
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

/// Whether this process ignores a signal, such as that of a closed terminal after nohup(1).
#[must_use]
pub fn is_ignored(signal: Signal) -> bool {
    let status = text::read("/proc/self/status").unwrap_or_default();
    let mask = text::field(&status, "SigIgn").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    mask.is_some_and(|mask| mask >> (signal.number() - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_told_from_what_is_not() {
        assert!(!is_ignored(Signal::Kill) && !is_ignored(Signal::Stop), "these cannot be ignored");
        // SAFETY: no other test sends this signal; ignoring it has no other effect.
        unsafe { libc::signal(Signal::Continue.number(), libc::SIG_IGN) };
        assert!(is_ignored(Signal::Continue));
        // SAFETY: restores the default.
        unsafe { libc::signal(Signal::Continue.number(), libc::SIG_DFL) };
        assert!(!is_ignored(Signal::Continue));
    }
}
