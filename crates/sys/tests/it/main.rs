//! Kernels and system calls against reports of the system. One binary, so that it is linked once.

mod cgroup;
mod disassembly;
mod file;
mod kernel_counted;
mod kernel_disassembly;
#[cfg(target_arch = "aarch64")]
mod kernel_disassembly_arm;
mod kernel_programs;
mod kernel_ring;
mod kernel_stream;
mod memory;
mod supervised;
mod topology;
