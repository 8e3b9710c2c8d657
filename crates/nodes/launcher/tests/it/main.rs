//! Agents that are scripts. One binary, so that it is linked once.

mod launcher;
mod suite;
