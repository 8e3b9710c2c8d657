//! The files of an evaluation: embedded in the program, or in a directory that the user names.

use std::path::Path;
use std::sync::LazyLock;

use crate::{Error, embedded};

/// The directories of `published/`: name, and each file's name and text.
static EMBEDDED: LazyLock<Vec<EmbeddedFolder>> = LazyLock::new(|| {
    let mut folders: Vec<EmbeddedFolder> = Vec::new();
    let mut texts = embedded::texts(include_bytes!(concat!(env!("OUT_DIR"), "/published.zlib"))).into_iter();
    while let (Some(folder), Some(file), Some(text)) = (texts.next(), texts.next(), texts.next()) {
        match folders.last_mut() {
            Some((name, files)) if *name == folder => files.push((file, text)),
            _ => folders.push((folder, vec![(file, text)])),
        }
    }
    folders
});

type EmbeddedFolder = (String, Vec<(String, String)>);

/// The file that describes an evaluation.
pub(super) const DESCRIPTION: &str = "evaluation.toml";
/// Longest file that is read, bytes.
const LONGEST: u64 = 4 << 20;

/// The files of one evaluation.
pub(super) enum Folder<'a> {
    /// Shipped with the program.
    Embedded { name: &'static str, files: &'static [(String, String)] },
    /// A directory of the user.
    Disk(&'a Path),
}

impl Folder<'_> {
    /// Every evaluation that ships with the program.
    pub(super) fn embedded() -> impl Iterator<Item = Folder<'static>> {
        EMBEDDED.iter().map(|(name, files)| Folder::Embedded { name, files })
    }

    /// Name of the evaluation.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Embedded { name, .. } => (*name).to_owned(),
            Self::Disk(path) => {
                let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
                path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
            }
        }
    }

    /// The text of one of its files.
    pub(super) fn text(&self, file: &str) -> Result<String, Error> {
        let failed = |reason: String| Error::EvaluationFile { file: file.to_owned(), reason };
        match self {
            Self::Embedded { files, .. } => {
                let found = files.iter().find(|(name, _)| *name == file);
                found.map(|(_, text)| text.clone()).ok_or_else(|| failed("it does not exist".to_owned()))
            }
            Self::Disk(folder) => {
                let path = folder.join(file);
                // A file name with a path would read outside of the directory.
                if Path::new(file).components().count() != 1 {
                    return Err(failed("its name contains a path".to_owned()));
                }
                let length = std::fs::metadata(&path).map_err(|error| failed(error.to_string()))?.len();
                if length > LONGEST {
                    return Err(failed(format!("it has {length} bytes; at most {LONGEST} are read")));
                }
                std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))
            }
        }
    }
}
