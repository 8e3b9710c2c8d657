//! Manifests and samples of applications. One binary, so that it is linked once.

mod campaign;
mod launch;
mod manifest;
