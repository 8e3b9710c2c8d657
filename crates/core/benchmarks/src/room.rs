//! Checks for the memory that a sample needs before allocating it: a control group kills a process that exceeds its
//! limit.

use model::spoken_size;
use os::process::LimitedResource;

use crate::Unsupported;

/// Refuses what needs more than three quarters of the memory that is available; nothing where that is not known.
///
/// # Errors
/// When it does, with both sizes.
pub(crate) fn require_memory(bytes: u64) -> Result<(), Unsupported> {
    require_of(bytes, os::usage::available_bytes().unwrap_or(u64::MAX))
}

fn require_of(bytes: u64, available: u64) -> Result<(), Unsupported> {
    if bytes <= available / 4 * 3 {
        return Ok(());
    }
    let [needed, free] = [bytes, available].map(spoken_size);
    Err(Unsupported::new(format!("it needs {needed} of memory and {free} are available")))
}

/// Refuses files that are longer than this process may write: the kernel ends those that do, by a signal.
///
/// # Errors
/// When it does, with both sizes.
pub(crate) fn require_length(bytes: u64) -> Result<(), Unsupported> {
    length_of(bytes, os::process::limit(LimitedResource::FileSize))
}

fn length_of(bytes: u64, most: Option<u64>) -> Result<(), Unsupported> {
    let Some(most) = most.filter(|most| bytes > *most) else { return Ok(()) };
    let [needed, most] = [bytes, most].map(spoken_size);
    Err(Unsupported::new(format!("it needs a file of {needed}, and none may be longer than {most} (ulimit -f)")))
}

#[cfg(test)]
mod tests {
    use model::MIB;

    use super::*;

    #[test]
    fn no_file_is_longer_than_this_process_may_write() {
        assert_eq!((length_of(64 * MIB, None), length_of(64 * MIB, Some(64 * MIB))), (Ok(()), Ok(())));
        let refused = length_of(64 * MIB, Some(MIB)).unwrap_err().to_string();
        assert_eq!(refused, "it needs a file of 64 MiB, and none may be longer than 1 MiB (ulimit -f)");
    }

    #[test]
    fn a_quarter_of_what_is_available_is_left() {
        assert_eq!(require_of(75 * MIB, 100 * MIB), Ok(()));
        let refused = require_of(64 * MIB, 37 * MIB + 5).unwrap_err();
        assert_eq!(refused.to_string(), "it needs 64 MiB of memory and 37.0 MiB are available");
        assert!(require_memory(u64::MAX).is_err());
    }
}
