//! Kernels and system calls against reports of the system. One binary, so that it is linked once.

mod counted;
mod disassembly;
mod file;
mod machine_code;
#[cfg(target_arch = "aarch64")]
mod machine_code_arm;
mod memory;
mod programs;
mod ring;
mod stream;
