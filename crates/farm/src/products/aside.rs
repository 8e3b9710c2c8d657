//! Files of chunks whose results were lost.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use super::{ProductFolder, sync};
use crate::{Error, Result};

/// Where such files are kept.
pub(super) const ASIDE: &str = ".set-aside";

impl ProductFolder {
    /// Moves the files of a chunk whose result does not count any more out of the way of those of its next one, and
    /// says where they are now; `None` if there are none.
    ///
    /// # Errors
    /// When they cannot be moved.
    pub fn set_aside(&self, chunk: u64) -> Result<Option<PathBuf>> {
        let (from, aside) = (self.of_chunk(chunk), self.folder.join(ASIDE));
        if !from.exists() {
            return Ok(None);
        }
        fs::create_dir_all(&aside).map_err(Error::file("make", &aside))?;
        let mut number = 0_u32;
        let to = loop {
            let to = aside.join(format!("chunk-{chunk:09}-{number}"));
            if !to.exists() {
                break to;
            }
            number += 1;
        };
        match fs::rename(&from, &to) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::file("set aside", &from)(error)),
        }
        sync(&aside)?;
        Ok(Some(to))
    }
}
