//! Ledgers, leases, and coordinators with all who come to them. One binary, so that it is linked once.

mod coordinator;
mod ledger;
#[cfg(feature = "postgres")]
mod postgres;
mod relay;
