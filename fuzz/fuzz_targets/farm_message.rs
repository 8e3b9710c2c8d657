//! Any bytes are a message of a pilot or of a coordinator, or refused. An accepted job can be cut into chunks.
#![no_main]

use farm::{FromCoordinator, FromPilot};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(message) = serde_json::from_slice::<FromPilot>(line) {
            let again = serde_json::to_vec(&message).expect("what was read can be said again");
            assert_eq!(serde_json::from_slice::<FromPilot>(&again).ok(), Some(message));
        }
        let Ok(message) = serde_json::from_slice::<FromCoordinator>(line) else { continue };
        let again = serde_json::to_vec(&message).expect("what was read can be said again");
        assert_eq!(serde_json::from_slice::<FromCoordinator>(&again).ok().as_ref(), Some(&message));
        let FromCoordinator::Welcome { job, .. } = message else { continue };
        if job.check().is_ok() {
            let last = job.cut(job.chunks() - 1).expect("the last chunk");
            assert!(last.first + last.events == job.first + job.events && job.cut(job.chunks()).is_none());
        }
    }
});
