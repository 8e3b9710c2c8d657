//! Tests of a site: pushing, what hostile clients send, and pages in a browser.

#[cfg(feature = "postgres")]
#[path = "../../../../core/store/tests/it/common/server.rs"]
mod postgres_server;

mod common;
mod hostile;
mod many;
mod pages;
mod tls;
