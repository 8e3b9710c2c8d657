//! How a verb ends: the one list of exit codes, which the help prints and the pages repeat.

use std::process::ExitCode;

/// How a verb ended; the number is what the shell sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitStatus {
    /// Everything that was asked for.
    Fine = 0,
    /// A difference or a regression was asked for and found.
    Found = 1,
    /// It could not be done.
    Failed = 2,
    /// What was asked could not be told from what was measured.
    Inconclusive = 3,
    /// Stopped from the keyboard: what shells use for a process ended by an interrupt, 128 and the signal's number.
    Stopped = 130,
}

impl ExitStatus {
    const ALL: [Self; 5] = [Self::Fine, Self::Found, Self::Failed, Self::Inconclusive, Self::Stopped];

    /// What scripts may rely on.
    const fn about(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Found => "a difference or a regression was asked for and found",
            Self::Failed => "could not do it: usage, bad input, nothing measured",
            Self::Inconclusive => "inconclusive: what was asked for could not be told, or nothing could be tested",
            Self::Stopped => "stopped by Ctrl-C; what was measured is kept",
        }
    }

    /// The table of the help, a line a code.
    pub(crate) fn table() -> String {
        let line = |exit: &Self| format!("  {:<3}  {}", *exit as u8, exit.about());
        format!("Exit codes:\n{}", Self::ALL.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(exit as u8)
    }
}
