//! Ledgers, leases, coordinators and their clients. One binary, so that it is linked once.

mod coordinator;
mod ledger;
#[cfg(feature = "postgres")]
mod postgres;
mod relay;
