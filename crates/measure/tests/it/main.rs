//! Subject, session and verdict, with workers in processes of their own. One binary, so that it is linked once.

mod coverage;
mod engine;
mod free_core;
mod judge;
mod limited;
mod outside;
mod plans;
mod references;
mod session;
mod session_ended;
mod subject;
mod tightening;
