//! Run documents as files: reading is bounded and names the position of an error; writing is atomic.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use model::{DocumentPosition, Run};

use crate::access::writable;
use crate::pack::{GZIP_MAGIC, ZSTD_MAGIC, pack, unpack};
use crate::{Error, StoreErrorKind};

/// Largest document that is read, bytes. A full suite of forty samples has about 20 MiB.
pub const DOCUMENT_LIMIT: u64 = 256 << 20;

/// The text of a run, after a check that it can be read back.
///
/// # Errors
/// When it holds a number that JSON cannot (not finite) or contradicts itself.
pub fn render_document(run: &Run) -> Result<String, Error> {
    let refuse = |source| Error::Unsavable { id: run.id.clone(), source };
    let text = model::render_run(run).map_err(refuse)?;
    model::parse_run(&text).map_err(refuse)?;
    Ok(text)
}

/// The text of a run, compressed by zstd, after a check that it can be read back.
///
/// # Errors
/// As [`render_document`], and when the compressor has no memory.
pub fn pack_document(run: &Run) -> Result<Vec<u8>, Error> {
    let refuse = |error: &io::Error| Error::io("pack the run document", Path::new(&run.id), error);
    pack(&render_document(run)?).map_err(|error| refuse(&error))
}

/// Reads a run document from a file: JSON, or JSON compressed by zstd. Links are followed; pipes can be read.
///
/// # Errors
/// When the file cannot be read, is too large, or is not a run document; the text names the position.
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

/// Reads a run document from bytes of a file or of standard input; `place` names them in errors.
///
/// # Errors
/// When they are too large or not a run document; the text names the position.
pub fn parse_document(bytes: &[u8], place: &str) -> Result<Run, Error> {
    let too_large = || Error::TooLarge { place: place.to_owned(), limit: DOCUMENT_LIMIT };
    let refuse = |trouble| Error::Place { action: "read the run document", place: place.to_owned(), trouble };
    if bytes.len() as u64 > DOCUMENT_LIMIT {
        return Err(too_large());
    }
    let plain = decompressed(bytes, DOCUMENT_LIMIT).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(),
        io::ErrorKind::Unsupported => refuse(StoreErrorKind::Foreign(error.to_string())),
        _ => refuse(StoreErrorKind::Corrupt(error.to_string())),
    })?;
    let plain = plain.as_ref();
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

/// The content of bytes that may be compressed by zstd.
///
/// # Errors
/// When it has more than `limit` bytes ([`io::ErrorKind::FileTooLarge`]), is compressed by gzip
/// ([`io::ErrorKind::Unsupported`]), or is damaged.
pub fn decompressed(bytes: &[u8], limit: u64) -> io::Result<Cow<'_, [u8]>> {
    if bytes.starts_with(&GZIP_MAGIC) {
        let how = "it is compressed by gzip; run gunzip on it first";
        return Err(io::Error::new(io::ErrorKind::Unsupported, how));
    }
    if bytes.starts_with(&ZSTD_MAGIC) { unpack(bytes, limit).map(Cow::Owned) } else { Ok(Cow::Borrowed(bytes)) }
}

/// Line and column of a byte.
fn place_of(bytes: &[u8], at: usize) -> DocumentPosition {
    let before = &bytes[..at.min(bytes.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    DocumentPosition { line, column: at - line_start + 1 }
}

/// Writes a run document to a file atomically: a reader finds the old file or the new one. A name that ends in `.zst`
/// is compressed by zstd. A link is followed, so that its target is replaced; a pipe or a device is written directly.
///
/// # Errors
/// When the run could not be read back, or the file cannot be written. An older file of that name then stays unchanged.
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
    write_file(path, bytes).map_err(|error| refuse(&error))
}

/// Writes a file as a whole: where that fails, an older file of that name stays unchanged, and none is begun. A device
/// or a pipe is written to, and a link followed.
///
/// # Errors
/// When the file cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => write_through(path, bytes),
        _ => replace(&link_target(path), bytes),
    }
}

/// Whether a document can be put at this path, as far as that is known before it is written. Removes leftovers of
/// killed writers from its directory.
///
/// # Errors
/// When its directory is missing, none, or may not be written, or the path is a directory.
pub fn check_destination(path: &Path) -> Result<(), Error> {
    let refuse = |at: &Path, error: io::Error| Error::io("save the run document", at, &error);
    if path.is_dir() {
        return Err(refuse(path, io::ErrorKind::IsADirectory.into()));
    }
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        // A device or a pipe is written to where it is.
        return Ok(());
    }
    let target = link_target(path);
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => {
            remove_abandoned(folder);
            writable(folder).map_err(|error| refuse(path, error))
        }
        Ok(_) => Err(refuse(folder, io::ErrorKind::NotADirectory.into())),
        Err(error) => Err(Error::io("save the run document in", folder, &error)),
    }
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.write_all(bytes)?;
    file.flush()
}

/// The file behind a link, followed as long as it is one, even when the last one points to a missing file.
fn link_target(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&target) else { break };
        target = target.parent().map_or_else(|| next.clone(), |parent| parent.join(&next));
    }
    target
}

/// Replaces a file atomically: writes a new file in its directory, syncs it, renames it over the old one, and syncs the
/// directory (rename(2): "there is no point at which another process attempting to access newpath will find it
/// missing").
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    // The number in the name distinguishes a killed process's leftovers from files in progress (`prony doctor`).
    let prefix = format!("{BEGUN}{}-", std::process::id());
    builder.prefix(&prefix).suffix(PART);
    // Opened here, so that an error has no path: the name of this file would tell the user nothing.
    let mut file = builder.make_in(directory, |path| {
        use std::os::unix::fs::OpenOptionsExt;
        File::options().write(true).create_new(true).mode(0o666).open(path)
    })?;
    // Processes of other hosts and containers do not see this one: to them the lock says that it writes.
    let _ = file.as_file().try_lock();
    file.as_file_mut().write_all(bytes)?;
    // The file keeps its permissions.
    if let Ok(found) = fs::metadata(path) {
        file.as_file().set_permissions(found.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_directory(directory)
}

/// Beginning and end of the name of a file in progress; the number of its process is in between.
const BEGUN: &str = ".prony-";
const PART: &str = ".part";

/// Removes leftovers of killed writers from a directory: files whose process does not run here, and that no other host
/// holds locked. A file that cannot be removed stays.
fn remove_abandoned(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let writer = name.to_str().and_then(|name| name.strip_prefix(BEGUN)?.strip_suffix(PART)?.split_once('-'));
        let Some(pid) = writer.and_then(|(pid, _)| pid.parse::<u32>().ok()) else { continue };
        let runs = Path::new("/proc").join(pid.to_string()).exists();
        let free = || File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if !runs && entry.file_type().is_ok_and(|kind| kind.is_file()) && free() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Makes a rename durable. Some file systems refuse to sync a directory (EINVAL) and offer no other way; that is not an
/// error.
fn sync_directory(directory: &Path) -> io::Result<()> {
    match File::open(directory)?.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}
