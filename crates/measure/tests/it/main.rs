//! Subject, session and judge, with workers in processes of their own. One binary, so that it is linked once.

mod engine;
mod judge;
mod limited;
mod outside;
mod plans;
mod references;
mod refinement;
mod session;
mod session_ended;
mod subject;
mod unshared_core;
