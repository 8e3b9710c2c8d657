//! Any lines are messages between a driver and its agents, or refused. A job that an agent accepts has a finite number
//! of fragments.
#![no_main]

use launcher::agent::Hello;
use network::build::{BuildReply, BuildRequest};
use launcher::line::receive;
use launcher::suite::{SuiteReply, SuiteRequest};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};

/// Reads all messages of one kind; what was read can be said again.
fn messages<T: DeserializeOwned + Serialize>(mut bytes: &[u8], mut each: impl FnMut(T)) {
    while !bytes.is_empty() {
        match receive::<T>(&mut bytes, 1 << 16) {
            Ok(Some(message)) => {
                assert!(serde_json::to_vec(&message).is_ok());
                each(message);
            }
            Ok(None) => return,
            Err(_) => {}
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    messages::<Hello>(bytes, |hello| {
        let _ = hello.address_of("eth0");
    });
    messages::<SuiteRequest>(bytes, drop);
    messages::<SuiteReply>(bytes, |message| {
        if let SuiteReply::Saved(run) | SuiteReply::Ended(run, _) = message {
            // A node's data are checked before they are stored.
            let _ = model::render_run(&run);
        }
    });
    messages::<BuildReply>(bytes, drop);
    messages::<BuildRequest>(bytes, |message| {
        if let BuildRequest::Be(order) = message
            && order.job.check().is_ok()
        {
            let last = (order.job.events - 1, order.job.senders - 1);
            assert!(order.job.length(last.0, last.1) <= 16 << 24 && order.job.chunks(last.0, last.1) >= 1);
            let _ = order.job.check_loss(order.job.receivers - 1);
        }
    });
});
