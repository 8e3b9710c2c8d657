//! Programs of a few instructions, for results that start one: they must start equally everywhere, without a compiler.
//! They are therefore assembled here by hand.
//!
//! Numbers of system calls: `syscall(2)`. Each instruction's assembly is written next to its bytes.

mod chain;
mod dynamic;
mod elf;
mod hello;

pub(crate) use chain::CHAIN;
use dynamic::DynamicNames;
pub(crate) use dynamic::system_true;
pub(crate) use hello::HELLO;

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use model::Parameters;

use crate::{Parameter, Unsupported};

/// How a program is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linking {
    /// It is complete.
    Static,
    /// The kernel starts the system's loader, which maps and starts the C library and then the program.
    Dynamic,
}

impl Linking {
    /// The parameter of results that start programs: dynamic, as programs usually are, or static.
    pub(crate) const PARAMETER: Parameter = Parameter::choice("linking", &["dynamic", "static"], &["dynamic"]);

    /// The value at a set of parameters.
    pub(crate) fn at(parameters: &Parameters) -> Result<Self, Unsupported> {
        Ok(if parameters.choice("linking")? == "static" { Self::Static } else { Self::Dynamic })
    }
}

/// Architectures with listings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Architecture {
    X86_64,
    Aarch64,
}

impl Architecture {
    /// The architecture of this process.
    fn here() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86_64),
            "aarch64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// Number of the ELF header.
    fn number(self) -> u16 {
        match self {
            Self::X86_64 => 62,
            Self::Aarch64 => 183,
        }
    }
}

/// Instructions of one architecture, each with its assembly.
struct InstructionListing {
    machine: Architecture,
    instructions: &'static [(&'static [u8], &'static str)],
}

pub(crate) struct ListedProgram {
    name: &'static str,
    listings: &'static [&'static InstructionListing],
    /// Data after the instructions.
    data: &'static [u8],
}

impl ListedProgram {
    /// Writes the program into a directory, executable: without a loader, or dynamically linked to the C library of
    /// this system, which it does not call.
    ///
    /// # Errors
    /// When this architecture has no listing, the names of loader and library are unknown, or the file could not be
    /// written.
    pub(crate) fn write_into(&self, directory: &Path, linking: Linking) -> Result<PathBuf, Unsupported> {
        let here = Architecture::here().filter(|_| cfg!(target_os = "linux"));
        let listing = self.listings.iter().find(|listing| Some(listing.machine) == here).ok_or_else(|| {
            Unsupported::new(format!("the {} program is not written for this system and architecture", self.name))
        })?;
        let names = if linking == Linking::Dynamic { Some(dynamic::names()?) } else { None };
        let path =
            directory.join(if names.is_some() { format!("{}-dynamic", self.name) } else { self.name.to_owned() });
        let refuse = |error| Unsupported::new(format!("could not write {}: {error}", path.display()));
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o755).open(&path).map_err(refuse)?;
        file.write_all(&self.assemble(listing, names.as_ref())).map_err(refuse)?;
        Ok(path)
    }

    /// The whole executable.
    fn assemble(&self, listing: &InstructionListing, names: Option<&DynamicNames>) -> Vec<u8> {
        let mut code: Vec<u8> = listing.instructions.iter().flat_map(|(bytes, _)| bytes.iter().copied()).collect();
        code.extend(self.data);
        elf::executable(listing.machine.number(), &code, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(file: &[u8], at: usize, bytes: usize) -> u64 {
        file[at..at + bytes].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    #[test]
    fn headers_describe_the_file() {
        for (program, listing) in all() {
            let file = program.assemble(listing, None);
            assert_eq!(number(&file, 18, 2), u64::from(listing.machine.number()));
            assert_eq!(number(&file, 24, 8), elf::BASE + elf::entry(false) as u64, "entry");
            assert_eq!(number(&file, 52, 2), elf::HEADER as u64);
            assert_eq!(number(&file, elf::HEADER, 4), 1, "PT_LOAD");
            assert_eq!(number(&file, elf::HEADER + 32, 8), file.len() as u64, "file size");
            assert_eq!(number(&file, elf::HEADER + 16, 8), elf::BASE);
            assert!(file.ends_with(program.data));
        }
    }

    fn all() -> impl Iterator<Item = (&'static ListedProgram, &'static InstructionListing)> {
        [&HELLO, &CHAIN].into_iter().flat_map(|program| program.listings.iter().map(move |listing| (program, *listing)))
    }

    /// Offset of an instruction, or of the data after the last one.
    fn offset(listing: &InstructionListing, index: usize) -> i64 {
        listing.instructions[..index].iter().map(|(bytes, _)| bytes.len() as i64).sum()
    }

    /// Bits `from..from + count` of an instruction of four bytes.
    fn bits(listing: &InstructionListing, index: usize, from: u32, count: u32) -> i64 {
        let word = u32::from_le_bytes(listing.instructions[index].0.try_into().unwrap());
        i64::from(word >> from & ((1 << count) - 1))
    }

    #[test]
    fn addresses_refer_to_the_greeting() {
        let [x86, arm] = HELLO.listings else { panic!("two listings") };
        // lea: the displacement counts from the next instruction.
        assert_eq!(offset(x86, 3) + i64::from(x86.instructions[2].0[3]), offset(x86, 10));
        // adr: immlo in bits 29-30, immhi in bits 5-23, from the instruction itself.
        assert_eq!(offset(arm, 2) + (bits(arm, 2, 5, 19) << 2 | bits(arm, 2, 29, 2)), offset(arm, 9));
    }

    #[test]
    fn jumps_lead_to_the_end() {
        let [x86, arm] = CHAIN.listings else { panic!("two listings") };
        // je and jmp: one byte, from the next instruction. To the status 0, and past it.
        assert_eq!(offset(x86, 3) + i64::from(x86.instructions[2].0[1]), offset(x86, 11));
        assert_eq!(offset(x86, 11) + i64::from(x86.instructions[10].0[1]), offset(x86, 12));
        // cbz: bits 5-23 in words; b: bits 0-25 in words.
        assert_eq!(offset(arm, 2) + 4 * bits(arm, 2, 5, 19), offset(arm, 12));
        assert_eq!(offset(arm, 11) + 4 * bits(arm, 11, 0, 26), offset(arm, 13));
    }

    #[test]
    fn a_dynamic_program_names_what_the_system_has() {
        for (program, listing) in all() {
            let names = DynamicNames { loader: "/lib/ld.so".to_owned(), library: "libc.so.6".to_owned() };
            let file = program.assemble(listing, Some(&names));
            assert_eq!(dynamic::read(&file), Some(names), "as it was written");
            assert_eq!(number(&file, 24, 8), elf::BASE + elf::entry(true) as u64, "entry");
            assert!(file[elf::entry(true)..].starts_with(listing.instructions[0].0));
        }
    }

    #[test]
    fn a_dynamic_program_is_started_by_the_loader_with_the_library() {
        let directory = tempfile::tempdir().unwrap();
        let written = HELLO.write_into(directory.path(), Linking::Dynamic);
        let (path, names) = match (written, dynamic::names()) {
            (Ok(path), Ok(names)) => (path, names),
            (Err(not_measured), _) | (_, Err(not_measured)) => return testing::skip!("{not_measured}"),
        };
        let output = run(&path, std::process::Stdio::piped());
        assert_eq!(output.stdout, hello::GREETING);
        assert!(output.status.success());
        if names.library == "libc.so.6" {
            // ld.so(8): with this variable it lists its mapped libraries instead of starting the program.
            let listed = retried(
                std::process::Command::new(&path)
                    .env("LD_TRACE_LOADED_OBJECTS", "1")
                    .stdout(std::process::Stdio::piped()),
            );
            assert!(String::from_utf8_lossy(&listed.stdout).contains("libc.so.6 => /"), "{listed:?}");
        }
        let chain = CHAIN.write_into(directory.path(), Linking::Dynamic).unwrap();
        assert!(retried(std::process::Command::new(&chain).arg("xxx")).status.success());
    }

    #[test]
    fn the_chain_succeeds_and_fails_if_it_cannot_continue() {
        let directory = tempfile::tempdir().unwrap();
        let path = match CHAIN.write_into(directory.path(), Linking::Static) {
            Ok(path) => path,
            Err(not_measured) => return testing::skip!("{not_measured}"),
        };
        for links in [0, 1, 20] {
            let mut command = std::process::Command::new(&path);
            command.arg("x".repeat(links));
            assert!(retried(&mut command).status.success(), "{links} links");
        }
        // Its own path does not exist.
        let mut command = std::process::Command::new(&path);
        std::os::unix::process::CommandExt::arg0(command.arg("x"), "/nonexistent");
        assert_eq!(retried(&mut command).status.code(), Some(1));
    }

    #[test]
    fn it_greets_and_ends_with_1_if_it_could_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = match HELLO.write_into(directory.path(), Linking::Static) {
            Ok(path) => path,
            Err(not_measured) => return testing::skip!("{not_measured}"),
        };
        let output = run(&path, std::process::Stdio::piped());
        assert_eq!(output.stdout, hello::GREETING);
        assert!(output.status.success());
        // Writing to a full device fails, and the status reports it.
        if let Ok(full) = fs::File::options().write(true).open("/dev/full") {
            assert_eq!(run(&path, full.into()).status.code(), Some(1));
        }
    }

    fn run(path: &Path, output: std::process::Stdio) -> std::process::Output {
        retried(std::process::Command::new(path).stdout(output))
    }

    /// A thread that forks while this one writes the file keeps it open for a moment, and the kernel then refuses to
    /// execute it.
    fn retried(command: &mut std::process::Command) -> std::process::Output {
        for _ in 0..50 {
            match command.spawn() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                child => return child.unwrap().wait_with_output().unwrap(),
            }
        }
        panic!("the program stayed busy");
    }
}
