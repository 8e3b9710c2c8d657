//! Run documents as files: read with a bound and with the place of what is wrong, written in one step.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use model::{DocumentPosition, Run};

use crate::pack::{GZIP_MAGIC, ZSTD_MAGIC, pack, unpack};
use crate::{Error, StoreErrorKind};

/// Most bytes that are read as one document: a full suite of forty launches has about 20 MiB.
pub const DOCUMENT_LIMIT: u64 = 256 << 20;

/// The text of a run, after checking that it reads back.
///
/// # Errors
/// When it holds what JSON cannot (a number that is not finite) or contradicts itself.
pub fn render_document(run: &Run) -> Result<String, Error> {
    let refuse = |source| Error::Unsavable { id: run.id.clone(), source };
    let text = model::render_run(run).map_err(refuse)?;
    model::parse_run(&text).map_err(refuse)?;
    Ok(text)
}

/// Reads a run document from a file: JSON, or JSON packed by zstd. Links are followed; pipes can be read.
///
/// # Errors
/// When the file cannot be read, is too large, or is no run document; the text says where it is wrong.
pub fn load_document(path: &Path) -> Result<Run, Error> {
    let refuse = |error: &io::Error| Error::io("read the run document", path, error);
    if path.is_dir() {
        return Err(refuse(&io::ErrorKind::IsADirectory.into()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| refuse(&error))?;
    file.take(DOCUMENT_LIMIT + 1).read_to_end(&mut bytes).map_err(|error| refuse(&error))?;
    parse_document(&bytes, &path.display().to_string())
}

/// Reads a run document from bytes, as they come from a file or from standard input; `place` names them in errors.
///
/// # Errors
/// When they are too large or no run document; the text says where it is wrong.
pub fn parse_document(bytes: &[u8], place: &str) -> Result<Run, Error> {
    let too_large = || Error::TooLarge { place: place.to_owned(), limit: DOCUMENT_LIMIT };
    let damaged = |how: String| Error::Place {
        action: "read the run document",
        place: place.to_owned(),
        trouble: StoreErrorKind::Corrupt(how),
    };
    if bytes.len() as u64 > DOCUMENT_LIMIT {
        return Err(too_large());
    }
    if bytes.starts_with(&GZIP_MAGIC) {
        let how = "it is packed by gzip; unpack it with gunzip first".to_owned();
        return Err(Error::Place {
            action: "read the run document",
            place: place.to_owned(),
            trouble: StoreErrorKind::Foreign(how),
        });
    }
    let unpacked;
    let plain = if bytes.starts_with(&ZSTD_MAGIC) {
        unpacked = unpack(bytes, DOCUMENT_LIMIT).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => too_large(),
            _ => damaged(error.to_string()),
        })?;
        &unpacked
    } else {
        bytes
    };
    let document = |source| Error::Document { place: place.to_owned(), source };
    if plain.iter().all(u8::is_ascii_whitespace) {
        let reason = "it is empty".to_owned();
        return Err(document(model::Error::Document { reason, place: DocumentPosition { line: 1, column: 1 } }));
    }
    let text = std::str::from_utf8(plain).map_err(|error| {
        let reason = "it is not UTF-8".to_owned();
        document(model::Error::Document { reason, place: place_of(plain, error.valid_up_to()) })
    })?;
    model::parse_run(text).map_err(document)
}

/// Line and column of a byte.
fn place_of(bytes: &[u8], at: usize) -> DocumentPosition {
    let before = &bytes[..at.min(bytes.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    DocumentPosition { line, column: at - line_start + 1 }
}

/// Writes a run document to a file in one step: who looks finds the file before or the file after. A name that ends in
/// `.zst` is packed by zstd. A link is followed, so that its target is replaced; a pipe or a device is written to directly.
///
/// # Errors
/// When the run would not read back, or the file cannot be written; an older file of that name is then as before.
pub fn save_document(path: &Path, run: &Run) -> Result<(), Error> {
    let text = render_document(run)?;
    let refuse = |error: &io::Error| Error::io("save the run document", path, error);
    let packed;
    let bytes = if path.extension().is_some_and(|extension| extension == "zst") {
        packed = pack(&text).map_err(|error| refuse(&error))?;
        &packed
    } else {
        text.as_bytes()
    };
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => write_through(path, bytes),
        _ => replace(&link_target(path), bytes),
    }
    .map_err(|error| refuse(&error))
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.write_all(bytes)?;
    file.flush()
}

/// The file behind a link, followed while it is one, also when the last one points at nothing yet.
fn link_target(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&target) else { break };
        target = target.parent().map_or_else(|| next.clone(), |parent| parent.join(&next));
    }
    target
}

/// Puts bytes into a file in one step: a new file beside it, made durable, then renamed over it, then the directory made
/// durable (rename(2): "there is no point at which another process attempting to access newpath will find it missing").
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".prony-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_directory(directory)
}

/// Makes a rename durable. Some file systems refuse to sync a directory (EINVAL); they have no other way, so that is no error.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(directory)?.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}
