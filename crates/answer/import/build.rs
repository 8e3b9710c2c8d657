//! Embeds every directory of `published/` and every file of `formats/`: a new one needs no line of code.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let formats = here.join("formats");
    println!("cargo::rerun-if-changed={}", formats.display());
    let mut texts = Vec::new();
    for file in entries(&formats)? {
        println!("cargo::rerun-if-changed={}", file.display());
        texts.push(fs::read_to_string(file)?);
    }
    pack("formats.zlib", &texts)?;
    let published = here.join("../../../published").canonicalize()?;
    println!("cargo::rerun-if-changed={}", published.display());
    let mut texts = Vec::new();
    for folder in entries(&published)?.iter().filter(|path| path.join("evaluation.toml").is_file()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in entries(folder)? {
            println!("cargo::rerun-if-changed={}", file.display());
            texts.extend([name(folder), name(&file), fs::read_to_string(file)?]);
        }
    }
    pack("published.zlib", &texts)?;
    Ok(())
}

/// Compresses texts, with a zero byte between two of them: a quarter of their size.
fn pack(name: &str, texts: &[String]) -> std::io::Result<()> {
    let folder = env::var_os("OUT_DIR").unwrap_or_default();
    let file = fs::File::create(Path::new(&folder).join(name))?;
    let mut packed = flate2::write::ZlibEncoder::new(file, flate2::Compression::best());
    packed.write_all(texts.join("\0").as_bytes())?;
    packed.finish().map(drop)
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
