//! Exit codes of all commands, which the help prints and the pages repeat.

use std::process::ExitCode;

/// How a command ended; the number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitStatus {
    /// Everything that was requested.
    Fine = 0,
    /// A difference or a regression was requested and found.
    Found = 1,
    /// The command failed.
    Failed = 2,
    /// The measurements do not answer the request.
    Inconclusive = 3,
    /// Stopped from the keyboard: the code that shells use for a process ended by an interrupt, 128 and the number of
    /// the signal.
    Stopped = 130,
}

impl ExitStatus {
    const ALL: [Self; 5] = [Self::Fine, Self::Found, Self::Failed, Self::Inconclusive, Self::Stopped];

    /// Meaning for scripts.
    const fn about(self) -> &'static str {
        match self {
            Self::Fine => "success",
            Self::Found => "found: a regression, a difference or a failed check",
            Self::Failed => "error: wrong usage or input, or nothing could be measured",
            Self::Inconclusive => "inconclusive: not enough evidence either way",
            Self::Stopped => "stopped by Ctrl-C; what was measured is kept",
        }
    }

    /// The table of the help, one line per code.
    pub(crate) fn table() -> String {
        let line = |exit: &Self| format!("  {:<3}  {}", *exit as u8, exit.about());
        format!("Exit codes:\n{}", Self::ALL.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

/// The user stopped a command before it had anything to keep.
#[derive(Debug)]
pub(crate) struct StoppedEarly(pub(crate) &'static str);

impl std::fmt::Display for StoppedEarly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for StoppedEarly {}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(exit as u8)
    }
}
