//! Serving, laboratories, and events built between nodes. One binary, so that it is linked once.

mod build;
mod lab;
mod limits;
mod payload;
mod serve;
mod serve_rates;
