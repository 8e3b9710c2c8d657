//! Prony: finds out what machines can really do, says how sure it is, and helps people decide.
#![forbid(unsafe_code)]

fn main() {}
