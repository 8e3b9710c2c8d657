//! Files of chunks whose results were lost.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{ProductFolder, sync};
use crate::{Error, Result};

/// Folder of such files.
pub(super) const ASIDE: &str = ".set-aside";

impl ProductFolder {
    /// Moves the files of a chunk whose result stopped counting away from those of its next one, and returns their new
    /// place; `None` if there are none.
    ///
    /// # Errors
    /// When they cannot be moved.
    pub fn set_aside(&self, chunk: u64) -> Result<Option<PathBuf>> {
        self.move_aside(&self.of_chunk(chunk))
    }

    /// The same for any directory.
    pub(super) fn move_aside(&self, from: &Path) -> Result<Option<PathBuf>> {
        if !from.exists() {
            return Ok(None);
        }
        let aside = self.folder.join(ASIDE);
        fs::create_dir_all(&aside).map_err(Error::file("make", &aside))?;
        let name = from.file_name().unwrap_or_default().to_string_lossy();
        let mut number = 0_u32;
        let to = loop {
            let to = aside.join(format!("{name}-{number}"));
            if !to.exists() {
                break to;
            }
            number += 1;
        };
        match fs::rename(from, &to) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::file("set aside", from)(error)),
        }
        sync(&aside)?;
        Ok(Some(to))
    }
}
