//! Importers on genuine outputs, published tables and hostile bytes. One binary, so that it is linked once.

mod cases;
mod common;
mod formats;
mod harness_tables;
mod harnesses;
mod hostile;
mod logs;
mod machines;
mod pages;
mod published;
mod tools;
mod unread;
