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

use std::mem::MaybeUninit;

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

/// Whether this process ignores a signal, such as that of a closed terminal after nohup(1).
#[must_use]
pub fn is_ignored(signal: Signal) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks for the present action and changes nothing; the structure is writable, and zeros are a valid value.
    let action = unsafe {
        libc::sigaction(signal.number(), std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
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
