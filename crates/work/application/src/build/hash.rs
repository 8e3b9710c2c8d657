//! SHA-256 of files and directories.

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

/// SHA-256 of a file's bytes.
pub(crate) fn hash_file(path: &Path) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    feed(&mut hash, path)?;
    Ok(hex(hash))
}

/// SHA-256 of sources: for every file, sorted by name, its path within the source, its length and its bytes.
pub(super) fn hash_sources(sources: &[std::path::PathBuf]) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    for source in sources {
        let mut files = Vec::new();
        collect(source, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(source).unwrap_or(&file);
            hash.update(name.as_os_str().as_encoded_bytes());
            hash.update([0]);
            hash.update(file.metadata()?.len().to_le_bytes());
            feed(&mut hash, &file)?;
        }
    }
    Ok(hex(hash))
}

fn collect(path: &Path, files: &mut Vec<std::path::PathBuf>) -> std::io::Result<()> {
    // A link is not followed: it may lead out of the sources or form a cycle.
    let kind = path.symlink_metadata()?.file_type();
    if kind.is_dir() {
        for entry in path.read_dir()? {
            collect(&entry?.path(), files)?;
        }
    } else if kind.is_file() {
        files.push(path.to_owned());
    }
    Ok(())
}

fn feed(hash: &mut Sha256, path: &Path) -> std::io::Result<()> {
    let mut file = std::fs::File::open(path)?;
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(()),
            read => hash.update(&piece[..read]),
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_and_what_changes_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(hash_file(&file).unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let sources = [folder.path().to_owned()];
        let before = hash_sources(&sources).unwrap();
        assert_eq!(hash_sources(&sources).unwrap(), before);
        std::fs::rename(&file, folder.path().join("b")).unwrap();
        assert_ne!(hash_sources(&sources).unwrap(), before);
    }
}
