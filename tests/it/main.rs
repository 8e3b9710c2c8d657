//! Every command through the real program. One binary, so that it is linked once.

mod app;
mod circles;
mod common;
mod decide;
mod docs;
mod evaluations;
mod explain;
mod farm;
#[cfg(feature = "postgres")]
mod farm_postgres;
mod farm_slurm;
mod farm_ssh;
mod fleet;
mod house;
mod net;
mod network_files;
mod outside;
mod rate;
mod reference;
mod resume;
mod run;
mod sessions;
mod sessions_disk;
mod structure;
mod tape;
mod time;
mod unused;
mod verbs;
