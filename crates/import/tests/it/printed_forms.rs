//! Forms in which tools print the same results for people, and what printed digits leave open.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::{estimate, keys, near, noted, read_repeats, value};

#[test]
fn rates_of_openssl_in_cpu_time_are_no_launches_of_those_in_elapsed_time() {
    let part = |said: &str, rate: &str| {
        format!(
            "{said}Doing aes-128-cbc for 3s on 16 size blocks: 115261 aes-128-cbc's in 3.01s\n\
             The 'numbers' are in 1000s of bytes per second processed.\ntype             16 bytes\naes-128-cbc        {rate}k\n"
        )
    };
    let elapsed = "You have chosen to measure elapsed time instead of user CPU time.\n";
    let at = "openssl.throughput:algorithm=aes-128-cbc,block=16B";
    let run = &read_repeats("openssl-speed", &[part(elapsed, "570.50"), part("", "1570.50")].concat())[0];
    assert!(near(value(run, &format!("{at},time=elapsed")), 570_500.0), "{:?}", keys(run));
    assert!(near(value(run, &format!("{at},time=cpu")), 1_570_500.0));
    let run = &read_repeats("openssl-speed", &[part(elapsed, "570.50"), part(elapsed, "580.50")].concat())[0];
    assert_eq!((estimate(run, at).launches, run.session.notes.len()), (2, 0));
    let run = &read_repeats("openssl-speed", &part("", "570.50"))[0];
    assert!(near(value(run, at), 570_500.0) && noted(run, "per second of CPU time"));
    let device = "root@box:~# openssl speed -elapsed -evp aes-128-cbc -engine devcrypto\nEngine \"devcrypto\" set.\n";
    let run = &read_repeats("openssl-speed", &[part(device, "70.50"), part(elapsed, "580.50")].concat())[0];
    assert_eq!(keys(run), [format!("{at},engine=devcrypto"), format!("{at},engine=none")]);
}

#[test]
fn a_table_of_7_zip_without_its_title_does_not_state_its_threads() {
    let text = "                       Compressing  |                  Decompressing\n\
                Dict     Speed Usage    R/U Rating  |      Speed Usage    R/U Rating\n\
                \x20        KiB/s     %   MIPS   MIPS  |      KiB/s     %   MIPS   MIPS\n\n\
                22:       4500   100   4400   4390  |      51000   100   4390   4380\n\
                ----------------------------------  | ------------------------------\n\
                Avr:             100   4100   4090  |              100   4340   4330\n\
                Tot:             100   4220   4210\n";
    let run = &crate::common::import("x", text.as_bytes(), None, &model::Catalogue::default()).unwrap()[0];
    assert!(near(value(run, "seven_zip.rating:dictionaries=22,threads=unstated"), 4210e6), "{:?}", keys(run));
}
