//! What cryptsetup prints of ciphers.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{estimate, import_repeats, keys, near, noted, read_repeats, refused_as, text, value};

#[test]
fn cryptsetup_reads_ciphers_and_hashes() {
    let run = &import_repeats("cryptsetup.txt")[0];
    for (key, expected) in [
        ("cryptsetup.pbkdf2:hash=sha1,key=256bit", 1e6),
        ("cryptsetup.encryption:cipher=aes-cbc,key=128bit", 1000.5 * 1_048_576.0),
        ("cryptsetup.decryption:cipher=aes-xts,key=512bit", 2500.5 * 1_048_576.0),
    ] {
        assert!(near(value(run, key), expected), "{key} {:?}", keys(run));
    }
    assert_eq!(run.figures.len(), 5);
    assert!(noted(run, "not available: PBKDF2 with whirlpool") && noted(run, "argon2"));
    assert!(noted(run, "not available: serpent-cbc with keys of 128b"));
    let one = text("cryptsetup.txt");
    let run = &read_repeats("cryptsetup", &[&one[..], &one.replace("1000.5", "1200.5")].concat())[0];
    assert_eq!(estimate(run, "cryptsetup.encryption:cipher=aes-cbc,key=128bit").launches, 2);
    for (from, to, expected) in [
        ("1000.5 MiB/s", "1000.5 GiB/s", "its unit is not known at line 6"),
        ("| Encryption", "| Encoding", "the heading of its table is not known at line 5"),
        ("iterations per second", "rounds per second", "the line has no iterations per second at line 2"),
        ("      3000.5 MiB/s", "", "the row does not follow its heading, or its unit is not known at line 6"),
        ("3000.5 MiB/s", "3000.5 MiB/s 4", "the row does not follow its heading, or its unit is not known at line 6"),
    ] {
        let error = refused_as("cryptsetup", &one.replacen("|      Enc", "| Enc", 1).replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
}
