//! Finding programs as execvp(3) finds them.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Directories that are searched where the environment names none, as init scripts and `env -i` leave it (execvp(3)).
const WITHOUT_PATH: &str = "/bin:/usr/bin";

/// The program that a name starts: the first file of that name in the search path that may be executed. A name with a
/// slash is a path itself.
#[must_use]
pub fn program_named(name: &str) -> Option<PathBuf> {
    among(name, &search_path())
}

/// Where programs are searched.
#[must_use]
pub fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| WITHOUT_PATH.into())
}

fn among(name: &str, path: &OsStr) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|file| may_be_executed(file));
    }
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| may_be_executed(file))
}

fn may_be_executed(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|entry| entry.is_file() && entry.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_file_that_may_be_executed_is_found() {
        let home = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|folder| home.path().join(folder));
        for (folder, mode) in [(&first, 0o644), (&second, 0o755)] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("tool"), "").unwrap();
            std::fs::set_permissions(folder.join("tool"), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([&first, &second]).unwrap();
        assert_eq!(among("tool", &path), Some(second.join("tool")));
        assert_eq!(among("first", OsStr::new(home.path())), None, "a directory is no program");
        assert_eq!(among(&second.join("tool").to_string_lossy(), OsStr::new("")), Some(second.join("tool")));
        assert_eq!(among(&first.join("tool").to_string_lossy(), &path), None);
        assert!(among("sh", OsStr::new(WITHOUT_PATH)).is_some(), "a shell is in the directories of execvp(3)");
    }
}
