//! Importers on genuine outputs, published tables and hostile bytes. One binary, so that it is linked once.

mod cipher_tools;
mod common;
mod compute_tools;
mod disk_tools;
mod formats;
mod harness_tables;
mod harnesses;
mod host_tools;
mod hostile;
mod link_tools;
mod machine_tools;
mod machines;
mod memory_tools;
mod network_tools;
mod parallel_tools;
mod published;
mod request_tools;
mod samples;
mod server_tools;
mod spec_cpu;
mod system_tools;
mod throughput_tools;
mod tools;
mod unread;
mod wakeup_tools;
mod whole_files;
