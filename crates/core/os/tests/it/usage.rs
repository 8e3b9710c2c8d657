//! Counters of a process's resources, as documented on any machine.

use kernels::memory::{Arena, Pages, page_size};
use os::usage::{Usage, Who, available_bytes};

#[test]
fn first_touch_faults_once_a_base_page() {
    let mut arena = Arena::reserve(64 * page_size(), Pages::Base).unwrap();
    let before = Usage::of(Who::Thread).unwrap();
    assert_eq!(arena.populate(), 64);
    let first = Usage::of(Who::Thread).unwrap();
    assert!(first.since(&before).minor_faults >= 64);
    assert_eq!(arena.populate(), 64);
    assert!(Usage::of(Who::Thread).unwrap().since(&first).minor_faults < 64);
    assert_eq!(arena.huge_share().unwrap().huge, 0);
    arena.verify_pages().unwrap();
}

#[test]
fn the_machine_has_memory() {
    assert!(available_bytes().unwrap() > 1 << 20);
}
