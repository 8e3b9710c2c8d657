//! Programs of a few instructions, for figures that start one: they must start equally everywhere, without a compiler.
//! They are therefore assembled here by hand: an ELF header, two program headers, the instructions and their data.
//!
//! Format: System V ABI, chapters 4 and 5; numbers of system calls: `syscall(2)`. The assembly of each instruction is
//! given beside its bytes.

mod chain;
mod hello;

pub(crate) use chain::CHAIN;
pub(crate) use hello::HELLO;

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::Unsupported;

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

/// A program.
pub(crate) struct ListedProgram {
    name: &'static str,
    listings: &'static [&'static InstructionListing],
    /// Data after the instructions.
    data: &'static [u8],
}

/// Load address: above the lowest addresses, which Linux does not map.
const BASE: u64 = 0x40_0000;
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const CODE: usize = HEADER + 2 * PROGRAM_HEADER;

impl ListedProgram {
    /// Writes the program into a directory, executable.
    ///
    /// # Errors
    /// When this architecture has no listing, or the file could not be written.
    pub(crate) fn write_into(&self, directory: &Path) -> Result<PathBuf, Unsupported> {
        let here = Architecture::here().filter(|_| cfg!(target_os = "linux"));
        let listing = self.listings.iter().find(|listing| Some(listing.machine) == here).ok_or_else(|| {
            Unsupported::new(format!("the {} program is not written for this system and architecture", self.name))
        })?;
        let path = directory.join(self.name);
        let refuse = |error| Unsupported::new(format!("could not write {}: {error}", path.display()));
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o755).open(&path).map_err(refuse)?;
        file.write_all(&self.assemble(listing)).map_err(refuse)?;
        Ok(path)
    }

    /// The whole executable.
    fn assemble(&self, listing: &InstructionListing) -> Vec<u8> {
        let code: Vec<u8> = listing.instructions.iter().flat_map(|(bytes, _)| bytes.iter().copied()).collect();
        let size = (CODE + code.len() + self.data.len()) as u64;
        // 64 bits, little-endian, version 1, System V.
        let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let short = |file: &mut Vec<u8>, value: u16| file.extend(value.to_le_bytes());
        let word = |file: &mut Vec<u8>, value: u32| file.extend(value.to_le_bytes());
        let long = |file: &mut Vec<u8>, value: u64| file.extend(value.to_le_bytes());
        short(&mut file, 2); // an executable
        short(&mut file, listing.machine.number());
        word(&mut file, 1);
        long(&mut file, BASE + CODE as u64); // entry
        long(&mut file, HEADER as u64); // program headers
        long(&mut file, 0); // no section headers
        word(&mut file, 0); // no flags
        for value in [HEADER as u16, PROGRAM_HEADER as u16, 2, 64, 0, 0] {
            short(&mut file, value);
        }
        // PT_LOAD, readable and executable: the whole file. PT_GNU_STACK: a stack that is not executable.
        for (kind, flags, at, bytes, align) in [(1, 5, BASE, size, 0x1000), (0x6474_e551, 6, 0, 0, 16)] {
            word(&mut file, kind);
            word(&mut file, flags);
            for value in [0, at, at, bytes, bytes, align] {
                long(&mut file, value);
            }
        }
        file.extend(code);
        file.extend(self.data);
        file
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
            let file = program.assemble(listing);
            assert_eq!(number(&file, 18, 2), u64::from(listing.machine.number()));
            assert_eq!(number(&file, 24, 8), BASE + CODE as u64, "entry");
            assert_eq!(number(&file, 52, 2), HEADER as u64);
            assert_eq!(number(&file, HEADER, 4), 1, "PT_LOAD");
            assert_eq!(number(&file, HEADER + 32, 8), file.len() as u64, "file size");
            assert_eq!(number(&file, HEADER + 16, 8), BASE);
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
    fn the_chain_succeeds_and_fails_if_it_cannot_continue() {
        let directory = tempfile::tempdir().unwrap();
        let path = match CHAIN.write_into(directory.path()) {
            Ok(path) => path,
            Err(unfit) => return testing::skip!("{unfit}"),
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
        let path = match HELLO.write_into(directory.path()) {
            Ok(path) => path,
            Err(unfit) => return testing::skip!("{unfit}"),
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

    /// A thread that forks while this one writes the file keeps it open for a moment; the kernel then refuses to
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
