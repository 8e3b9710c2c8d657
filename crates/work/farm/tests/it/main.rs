//! Ledgers, leases, coordinators and their clients. One binary, so that it is linked once.

mod coordinator;
mod damage;
mod honesty;
mod ledger;
mod ledger_kept;
mod nodes;
mod relay;
