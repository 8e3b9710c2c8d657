//! Embeds every directory of `published/` and every file of `formats/`: a new one needs no line of code.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let formats = here.join("formats");
    println!("cargo::rerun-if-changed={}", formats.display());
    let mut code = "&[".to_owned();
    for file in entries(&formats)? {
        println!("cargo::rerun-if-changed={}", file.display());
        write!(code, "include_str!({:?}), ", file.display().to_string())?;
    }
    code.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("formats.rs"), code)?;
    let published = here.join("../../../published").canonicalize()?;
    println!("cargo::rerun-if-changed={}", published.display());
    let mut code = "&[".to_owned();
    for folder in entries(&published)?.iter().filter(|path| path.join("evaluation.toml").is_file()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        write!(code, "({:?}, &[", name(folder))?;
        for file in entries(folder)? {
            println!("cargo::rerun-if-changed={}", file.display());
            write!(code, "({:?}, include_str!({:?})), ", name(&file), file.display().to_string())?;
        }
        code.push_str("]), ");
    }
    code.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("published.rs"), code)?;
    Ok(())
}

/// Entries of a directory, sorted, so that builds are reproducible.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    entries.sort();
    Ok(entries)
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
