//! Paths in JSON as their bytes, since the name of a file need not be UTF-8.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(path.as_os_str().as_bytes())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Vec::deserialize(deserializer).map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
}

/// The same of many paths.
pub(crate) mod many {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    use super::{Deserialize, Deserializer, OsString, PathBuf, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| path.as_os_str().as_bytes()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let paths: Vec<Vec<u8>> = Vec::deserialize(deserializer)?;
        Ok(paths.into_iter().map(|bytes| PathBuf::from(OsString::from_vec(bytes))).collect())
    }
}
