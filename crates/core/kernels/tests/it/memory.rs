//! Arenas, shared memory and mapped files work as documented on any machine.

use std::io::Write;
use std::sync::atomic::Ordering;

use kernels::memory::{Arena, FileMap, Pages, PreparationHelpers, SharedCounters, huge_page_size, page_size};

#[test]
fn several_arenas_lie_behind_each_other_and_outlive_one_another() {
    for pages in [Pages::Base, Pages::System] {
        let mut all = Arena::several(5, 10_000, pages, &PreparationHelpers::none()).unwrap();
        let starts: Vec<usize> = all.iter().map(|arena| arena.bytes().as_ptr().addr()).collect();
        assert!(
            starts.windows(2).all(|two| two[1] - two[0] == 10_000_usize.next_multiple_of(page_size())),
            "{starts:?}"
        );
        for (arena, value) in all.iter_mut().zip(1..) {
            assert!(arena.len() == 10_000 && arena.bytes().iter().all(|byte| *byte == 0));
            arena.bytes_mut().fill(value);
        }
        let last = all.swap_remove(4);
        drop(all);
        assert!(last.bytes().iter().all(|byte| *byte == 5), "the mapping lives as long as a part of it");
    }
    let none = &PreparationHelpers::none();
    assert!(Arena::several(2, usize::MAX / 2, Pages::Base, none).is_err());
    assert!(Arena::several(usize::MAX, 2, Pages::Base, none).is_err());
}

#[test]
fn an_arena_is_zero_aligned_and_writable() {
    for pages in [Pages::Base, Pages::System] {
        let mut arena = Arena::reserve(1_000_003, pages).unwrap();
        assert_eq!(arena.len(), 1_000_003);
        assert_eq!(arena.bytes().as_ptr() as usize % page_size(), 0);
        assert!(arena.bytes().iter().all(|byte| *byte == 0));
        assert_eq!(arena.words().len(), 125_000);
        arena.doubles_mut()[124_999] = 1.5;
        assert_eq!(arena.words()[124_999], 1.5f64.to_bits());
        arena.discard().unwrap();
        assert!(arena.bytes().iter().all(|byte| *byte == 0));
    }
}

#[test]
fn impossible_sizes_are_errors() {
    for pages in [Pages::Base, Pages::Huge, Pages::System] {
        assert!(Arena::reserve(0, pages).is_err());
        assert!(Arena::reserve(usize::MAX, pages).is_err());
        assert!(Arena::reserve(usize::MAX / 2, pages).is_err());
    }
    assert!(SharedCounters::new(usize::MAX).is_err());
    assert!(SharedCounters::new(0).is_err());
}

#[test]
fn huge_pages_are_huge_or_say_why_not() {
    match Arena::populated(3 * huge_page_size() - 5, Pages::Huge) {
        Ok(arena) => {
            assert_eq!(arena.bytes().as_ptr() as usize % huge_page_size(), 0);
            assert!(arena.huge_share().unwrap().fraction() > 0.95);
        }
        Err(reason) => {
            let reason = reason.to_string();
            testing::lacks!("huge pages: {reason}");
            assert!(reason.starts_with("could not use huge pages"));
        }
    }
}

#[test]
fn counters_do_not_share_lines() {
    let counters = SharedCounters::new(3).unwrap();
    for (index, counter) in counters.iter().enumerate() {
        counter.store(index as u64 + 1, Ordering::Relaxed);
    }
    assert_eq!(counters.get(2).unwrap().load(Ordering::Relaxed), 3);
    assert!(counters.get(3).is_none());
    let address = |index| std::ptr::from_ref(counters.get(index).unwrap()) as usize;
    assert_eq!(address(1) - address(0), 128);
}

#[test]
fn a_mapped_file_sums_as_its_bytes_say() {
    let mut file = tempfile::tempfile().unwrap();
    let bytes: Vec<u8> = (0..page_size() * 3 + 13).map(|n| (n * 7) as u8).collect();
    file.write_all(&bytes).unwrap();
    let mut expected = 0u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        expected = expected.wrapping_add(u64::from_ne_bytes(word.try_into().unwrap()));
    }
    expected += words.remainder().iter().map(|byte| u64::from(*byte)).sum::<u64>();

    let mut map = FileMap::new(&file).unwrap();
    assert_eq!((map.len(), map.sum()), (bytes.len(), expected));
    assert_eq!(map.touch_pages().1, 4);
    for page in 0..4 {
        assert_eq!(map.touch_page(page), bytes[page * page_size()]);
    }
    assert!(std::panic::catch_unwind(|| map.touch_page(4)).is_err(), "there is no fifth page");
    map.forget().unwrap();
    assert_eq!(map.sum(), expected);
    assert_eq!(map.cached_bytes().unwrap(), (map.len() as u64).next_multiple_of(page_size() as u64));
    assert!(FileMap::new(&tempfile::tempfile().unwrap()).is_err());
}
