//! The smallest program there is: it greets on its output and ends with status 0, or 1 where greeting failed.
//!
//! Figures that start a program must start the same one everywhere, and a compiler cannot be assumed. So the program is
//! assembled here, by hand: an ELF header, two program headers, and a few instructions per architecture.
//! Format: System V ABI, chapters 4 and 5; numbers of system calls: `syscall(2)`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::Unfit;

const GREETING: &[u8; 13] = b"hello, world\n";
/// Where the program is loaded: above the lowest addresses that Linux lets nobody map.
const BASE: u64 = 0x40_0000;
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const CODE: usize = HEADER + 2 * PROGRAM_HEADER;

/// Instructions of one architecture: the ELF machine number, and each instruction's bytes beside its assembly.
struct Listing {
    machine: u16,
    /// Flags of the ELF header: the floating-point ABI, where an architecture has several.
    flags: u32,
    instructions: &'static [(&'static [u8], &'static str)],
}

#[cfg(target_arch = "x86_64")]
const HERE: Option<&Listing> = Some(&X86_64);
#[cfg(target_arch = "aarch64")]
const HERE: Option<&Listing> = Some(&AARCH64);
#[cfg(target_arch = "riscv64")]
const HERE: Option<&Listing> = Some(&RISCV64);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
const HERE: Option<&Listing> = None;

#[cfg(any(test, target_arch = "x86_64"))]
static X86_64: Listing = Listing {
    machine: 62,
    flags: 0,
    instructions: &[
        (&[0xb8, 0x01, 0x00, 0x00, 0x00], "mov eax, 1 (write)"),
        (&[0xbf, 0x01, 0x00, 0x00, 0x00], "mov edi, 1 (standard output)"),
        (&[0x48, 0x8d, 0x35, 0x17, 0x00, 0x00, 0x00], "lea rsi, [rip+23] (the greeting)"),
        (&[0xba, 0x0d, 0x00, 0x00, 0x00], "mov edx, 13"),
        (&[0x0f, 0x05], "syscall"),
        (&[0x31, 0xff], "xor edi, edi"),
        (&[0x83, 0xf8, 0x0d], "cmp eax, 13"),
        (&[0x40, 0x0f, 0x95, 0xc7], "setne dil"),
        (&[0xb8, 0x3c, 0x00, 0x00, 0x00], "mov eax, 60 (exit)"),
        (&[0x0f, 0x05], "syscall"),
    ],
};

#[cfg(any(test, target_arch = "aarch64"))]
static AARCH64: Listing = Listing {
    machine: 183,
    flags: 0,
    instructions: &[
        (&[0x08, 0x08, 0x80, 0xd2], "mov x8, #64 (write)"),
        (&[0x20, 0x00, 0x80, 0xd2], "mov x0, #1 (standard output)"),
        (&[0xe1, 0x00, 0x00, 0x10], "adr x1, #28 (the greeting)"),
        (&[0xa2, 0x01, 0x80, 0xd2], "mov x2, #13"),
        (&[0x01, 0x00, 0x00, 0xd4], "svc #0"),
        (&[0x1f, 0x34, 0x00, 0xf1], "cmp x0, #13"),
        (&[0xe0, 0x07, 0x9f, 0x1a], "cset w0, ne"),
        (&[0xa8, 0x0b, 0x80, 0xd2], "mov x8, #93 (exit)"),
        (&[0x01, 0x00, 0x00, 0xd4], "svc #0"),
    ],
};

#[cfg(any(test, target_arch = "riscv64"))]
static RISCV64: Listing = Listing {
    machine: 243,
    // EF_RISCV_FLOAT_ABI_DOUBLE, as the distributions' programs say.
    flags: 4,
    instructions: &[
        (&[0x93, 0x08, 0x00, 0x04], "li a7, 64 (write)"),
        (&[0x13, 0x05, 0x10, 0x00], "li a0, 1 (standard output)"),
        (&[0x97, 0x05, 0x00, 0x00], "auipc a1, 0"),
        (&[0x93, 0x85, 0x05, 0x02], "addi a1, a1, 32 (the greeting)"),
        (&[0x13, 0x06, 0xd0, 0x00], "li a2, 13"),
        (&[0x73, 0x00, 0x00, 0x00], "ecall"),
        (&[0x13, 0x05, 0x35, 0xff], "addi a0, a0, -13"),
        (&[0x33, 0x35, 0xa0, 0x00], "snez a0, a0"),
        (&[0x93, 0x08, 0xd0, 0x05], "li a7, 93 (exit)"),
        (&[0x73, 0x00, 0x00, 0x00], "ecall"),
    ],
};

/// The whole executable.
fn assemble(listing: &Listing) -> Vec<u8> {
    let code: Vec<u8> = listing.instructions.iter().flat_map(|(bytes, _)| bytes.iter().copied()).collect();
    let size = (CODE + code.len() + GREETING.len()) as u64;
    // 64 bits, little-endian, version 1, System V.
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let short = |file: &mut Vec<u8>, value: u16| file.extend(value.to_le_bytes());
    let word = |file: &mut Vec<u8>, value: u32| file.extend(value.to_le_bytes());
    let long = |file: &mut Vec<u8>, value: u64| file.extend(value.to_le_bytes());
    short(&mut file, 2); // an executable
    short(&mut file, listing.machine);
    word(&mut file, 1);
    long(&mut file, BASE + CODE as u64); // entry
    long(&mut file, HEADER as u64); // program headers
    long(&mut file, 0); // no section headers
    word(&mut file, listing.flags);
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
    file.extend(GREETING);
    file
}

/// Writes the program into a directory.
///
/// # Errors
/// Where this architecture has no listing, or the directory takes no file.
pub(crate) fn write_into(directory: &Path) -> Result<PathBuf, Unfit> {
    let listing = HERE.ok_or_else(|| Unfit::new("the hello program is not written for this architecture"))?;
    if !cfg!(target_os = "linux") {
        return Err(Unfit::new("the hello program is written for Linux"));
    }
    let path = directory.join("hello");
    let refuse = |error| Unfit::new(format!("could not write {}: {error}", path.display()));
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o755).open(&path).map_err(refuse)?;
    file.write_all(&assemble(listing)).map_err(refuse)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(file: &[u8], at: usize, bytes: usize) -> u64 {
        file[at..at + bytes].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    #[test]
    fn headers_describe_the_file() {
        for listing in [&X86_64, &AARCH64, &RISCV64] {
            let file = assemble(listing);
            assert_eq!(number(&file, 18, 2), u64::from(listing.machine));
            assert_eq!(number(&file, 24, 8), BASE + CODE as u64, "entry");
            assert_eq!(number(&file, 52, 2), HEADER as u64);
            assert_eq!(number(&file, HEADER, 4), 1, "PT_LOAD");
            assert_eq!(number(&file, HEADER + 32, 8), file.len() as u64, "file size");
            assert_eq!(number(&file, HEADER + 16, 8), BASE);
            assert!(file.ends_with(GREETING));
        }
    }

    /// The address in each listing is relative; it must lead to the greeting.
    #[test]
    fn addresses_lead_to_the_greeting() {
        let length = |listing: &Listing| listing.instructions.iter().map(|(bytes, _)| bytes.len()).sum::<usize>();
        let offset = |listing: &Listing, index: usize| -> usize {
            listing.instructions[..index].iter().map(|(bytes, _)| bytes.len()).sum()
        };
        // lea: the displacement counts from the next instruction.
        assert_eq!(offset(&X86_64, 3) + X86_64.instructions[2].0[3] as usize, length(&X86_64));
        // adr: immlo in bits 29-30, immhi in bits 5-23, from the instruction itself.
        let adr = u32::from_le_bytes(AARCH64.instructions[2].0.try_into().unwrap());
        let immediate = (adr >> 5 & 0x7_ffff) << 2 | adr >> 29 & 3;
        assert_eq!(offset(&AARCH64, 2) + immediate as usize, length(&AARCH64));
        // auipc takes its own address; addi adds bits 20-31.
        let addi = u32::from_le_bytes(RISCV64.instructions[3].0.try_into().unwrap());
        assert_eq!(offset(&RISCV64, 2) + (addi >> 20) as usize, length(&RISCV64));
    }

    #[test]
    fn it_greets_and_ends_well_and_says_when_it_could_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = match write_into(directory.path()) {
            Ok(path) => path,
            Err(unfit) => return eprintln!("SKIPPED: {unfit}"),
        };
        let output = run(&path, std::process::Stdio::piped());
        assert_eq!(output.stdout, GREETING);
        assert!(output.status.success());
        // Writing to a full device fails, and the status says so.
        if let Ok(full) = fs::File::options().write(true).open("/dev/full") {
            assert_eq!(run(&path, full.into()).status.code(), Some(1));
        }
    }

    /// A thread that forks while this one writes the file holds it open for a moment, and the kernel then refuses it.
    fn run(path: &Path, output: std::process::Stdio) -> std::process::Output {
        let mut command = std::process::Command::new(path);
        command.stdout(output);
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
