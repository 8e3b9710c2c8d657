//! Any bytes are a control message of network tests, the beginning of one, or refused; and a test that is accepted keeps
//! within its limits.
#![no_main]

use fleet::serve::Limits;
use fleet::serve::message::{FromClient, FromServer, decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some((message, length))) = decode::<FromClient>(bytes) {
        assert!(length <= bytes.len());
        if let FromClient::Test(test) = &message {
            let limits = Limits::default();
            if test.check(&limits).is_ok() {
                assert!(test.seconds <= limits.seconds && test.record >= 1 && test.record <= 1 << 20);
            }
        }
        // What was read can be said again. A number that JSON cannot hold was never read.
        assert!(encode(&message).is_ok());
    }
    let _ = decode::<FromServer>(bytes);
});
