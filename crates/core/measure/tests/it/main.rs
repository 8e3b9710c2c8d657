//! Subject, session and verdict, with workers in processes of their own. One binary, so that it is linked once.

mod coverage;
mod free_core;
mod limited;
mod outside;
mod plans;
mod sensors;
mod session;
mod session_ended;
mod subject;
mod tightening;
mod verdict;
mod workers;
