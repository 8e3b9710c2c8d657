//! How this process takes signals.

use kernels::signal::Signal;
use kernels::text;

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
