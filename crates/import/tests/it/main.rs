//! Importers on genuine outputs, published tables and hostile bytes. One binary, so that it is linked once.

mod cases;
mod common;
mod compute_tools;
mod formats;
mod harness_tables;
mod harnesses;
mod host_tools;
mod hostile;
mod link_tools;
mod logs;
mod machine_tools;
mod machines;
mod memory_tools;
mod network_tools;
mod pages;
mod parallel_tools;
mod printed_forms;
mod published;
mod request_tools;
mod server_tools;
mod settings_apart;
mod throughput_tools;
mod tools;
mod unread;
mod whole_files;
