//! Any bytes are a control message of network tests, or refused. An accepted test keeps within its limits.
#![no_main]

use network::serve::{FromClient, FromServer, ServeLimits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(message) = serde_json::from_slice::<FromClient>(bytes) {
        if let FromClient::Test(test) = &message {
            let limits = ServeLimits::default();
            if test.check(&limits).is_ok() {
                assert!(test.seconds <= limits.seconds && test.record >= 1 && test.record <= 1 << 20);
            }
        }
        // What was read can be said again. A number that JSON cannot hold was never read.
        assert!(serde_json::to_vec(&message).is_ok());
    }
    let _ = serde_json::from_slice::<FromServer>(bytes);
});
